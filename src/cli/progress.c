#include <sys/ioctl.h>
#include "src/base/clock.h"
#include "src/cli/cli.h"
#include "src/event/usage.h"
#include "src/run/run.h"

#define GOOD "\033[32m"
#define BAD  "\033[33m"
#define BOLD "\033[1m"
#define DIM  "\033[2m"

enum { COLUMNS = 80, AGENT = 17, WORD = 17 };

struct working {
	char *id, *agent;
	int64_t since; /* clock_ticks() */
};

/* What has begun and not ended, and what has. */
static struct progress {
	VEC(struct working) working;
	size_t ended, totalled; /* totalled: those of the last total */
	struct usage used;
	int64_t ms; /* of the last report */
} progress;

static bool wants_colour(void)
{
	const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDERR_FILENO) && !(no_colour && *no_colour) && term &&
	       strcmp(term, "dumb") != 0;
}

/* ---- lines ---- */

/* Text of agents must not control the terminal. `colour` may be NULL. */
static void add_column(bool colours, struct buf *b, const char *colour, int width, struct str text)
{
	int fill = width - (int)text.n;

	if (colours && colour)
		buf_adds(b, colour);
	buf_add_printable(b, text, SIZE_MAX);
	if (colours && colour)
		buf_adds(b, "\033[0m");
	if (width)
		buf_addf(b, "%*s  ", fill > 0 ? fill : 0, "");
}

static void add_time(bool colours, struct buf *line, int64_t ms)
{
	char time[32];

	(void)snprintf(time, sizeof(time), "%6.2fs  ", (double)ms / 1000);
	add_column(colours, line, DIM, 0, str_of(time));
}

static const char *agent_of(const json *action)
{
	const char *agent = json_get_str(action, "agent");

	return agent ? agent : "script";
}

/* `word`: what it does or has answered. */
static void add_action(
	bool colours, struct buf *line, const json *action, const char *word, const char *colour)
{
	const char *trigger = json_get_str(action, "trigger");
	struct str agent = str_of(agent_of(action));
	/* A long name takes its space from the next column. */
	int over = agent.n > AGENT ? (int)(agent.n - AGENT) : 0;

	add_column(colours, line, NULL, 14, run_action_state(json_get_str(action, "id")));
	add_column(colours, line, NULL, AGENT, agent);
	add_column(colours, line, colour, over < WORD ? WORD - over : 1, str_of(word));
	add_column(colours, line, DIM, 0,
		str_of(trigger ? trigger : json_get_str(action, "write_section")));
}

static void progress_add_result(bool colours, struct buf *line, const struct run_report *p)
{
	CLEANUP(buf_release) struct buf cost = BUF_INIT;
	const char *words = json_get_str(p->action, "result_format");
	size_t n = strlen(p->word);
	/* The first result word of a format is the good one. */
	bool good = n && strncmp(words, p->word, n) == 0 && strchr(" |", words[n]);

	add_action(colours, line, p->action, n ? p->word : "no answer", good ? GOOD : BAD);
	buf_adds(&cost, "  ");
	usage_describe_time(&cost, p->usage->ms);
	buf_adds(&cost, "  ");
	usage_describe(&cost, p->usage);
	add_column(colours, line, DIM, 0, (struct str){cost.s, str_trim(buf_str(&cost)).n + 2});
}

/* Below the line of what it explains. */
static void log_detail(const char *name, const char *text)
{
	struct str rest = str_of(text ? text : ""), one;

	for (; str_line(&rest, &one); name = "") {
		CLEANUP(buf_release) struct buf line = BUF_INIT;

		buf_adds(&line, "         ");
		add_column(wants_colour(), &line, DIM, 14, str_of(name));
		add_column(false, &line, NULL, 0, one);
		error_log("%s", line.s);
	}
}

static void log_refuted(void *data, const char *fault)
{
	(void)data;
	log_detail("does not count", fault);
}

static void log_done(const json *done)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	const char *until = json_get_str(done, "until");
	bool waits = json_str_is(done, "result", "waiting") || json_get(done, "question"),
	     good = waits || json_str_is(done, "result", "success"), colours = wants_colour();

	add_time(colours, &line, progress.ms);
	add_column(colours, &line, good ? BOLD GOOD : BOLD BAD, 14,
		waits  ? STR("waits")
		: good ? STR("done")
		       : STR("failed"));
	add_column(colours, &line, NULL, 0, str_of(json_get_str(done, "reason")));
	error_log("%s", line.s);
	log_detail("until", until);
	log_detail("limit", json_get_str(done, "limit"));
	log_detail("log", json_get_str(done, "log"));
	log_detail("last words", json_get_str(done, "last_words"));
	log_detail("to continue", json_get_str(done, "continue"));
}

static void log_total(void)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;

	if (progress.ended == progress.totalled)
		return;
	progress.totalled = progress.ended;
	buf_addf(&line, "%zu action%s, ", progress.ended, progress.ended == 1 ? "" : "s");
	usage_describe_time(&line, progress.ms);
	buf_adds(&line, ", ");
	usage_describe(&line, &progress.used);
	if (str_ends(buf_str(&line), ", "))
		buf_cut(&line, line.len - 2);
	log_detail("total", line.s);
}

/* ---- the line with what works now ---- */

static bool is_live(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

static size_t columns(void)
{
	struct winsize size;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col
									       : COLUMNS;
}

static void progress_draw(void)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;

	for (size_t i = 0; i < progress.working.n; i++) {
		const struct working *w = &progress.working.items[i];

		buf_addf(&line, "%s%s, %s, ", i ? "; " : "", w->id, w->agent);
		usage_describe_time(&line, (clock_ticks() - w->since) / 1000 * 1000);
	}
	/* The last column stays free, so that no terminal wraps the line. */
	if (line.len)
		buf_cut(&line, str_cut(buf_str(&line), columns() - 1).n);
	error_status_line(line.s);
}

static void progress_add_working(const char *id, const char *agent)
{
	vec_push(&progress.working, (struct working){.id = str_dup(str_of(id)),
					    .agent = str_dup(str_of(agent)),
					    .since = clock_ticks()});
}

static void remove_working(size_t i)
{
	free(progress.working.items[i].id);
	free(progress.working.items[i].agent);
	vec_remove(&progress.working, i);
}

static void end_working(const char *id)
{
	for (size_t i = 0; i < progress.working.n; i++)
		if (strcmp(id, progress.working.items[i].id) == 0) {
			remove_working(i);
			return;
		}
}

/* ---- reports ---- */

static void log_action(const struct run_report *p)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	const char *id = json_get_str(p->action, "id");
	bool colours = wants_colour();

	add_time(colours, &line, p->ms);
	if (p->several)
		add_column(colours, &line, NULL, 10, str_sub(str_of(id), 0, strcspn(id, "/")));
	if (p->word)
		progress_add_result(colours, &line, p);
	else
		add_action(colours, &line, p->action, "begins", DIM);
	error_log("%s", line.s);
}

static void progress_report(const struct run_report *p)
{
	progress.ms = p->ms;
	switch (p->what) {
	case RUN_REPORT_BEGIN:
		progress_add_working(json_get_str(p->action, "id"), agent_of(p->action));
		log_action(p);
		break;
	case RUN_REPORT_END:
		end_working(json_get_str(p->action, "id"));
		progress.ended++;
		usage_add(&progress.used, p->usage);
		log_action(p);
		break;
	case RUN_REPORT_DONE:
		log_done(p->action);
		break;
	case RUN_REPORT_OVER:
		while (progress.working.n)
			remove_working(0);
		error_status_line(NULL);
		log_total();
		vec_release(&progress.working);
		return;
	case RUN_REPORT_TICK:
		break;
	}
	if (is_live())
		progress_draw();
}

void progress_listen(struct run_request *q)
{
	progress = (struct progress){.used = USAGE_NONE};
	q->report = progress_report;
	q->call.refuted = log_refuted;
}
