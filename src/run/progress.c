#include "src/base/clock.h"
#include "src/base/error.h"
#include "src/run/run.h"

#define GOOD "\033[32m"
#define BAD  "\033[33m"
#define BOLD "\033[1m"
#define DIM  "\033[2m"

struct progress_lines {
	int64_t started_ms; /* clock_ticks() */
	bool colour;
};

/* Text of agents must not control the terminal: control characters, C1 ones too, become `?`. */
static void add_clean(struct buf *b, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];
		bool c1 = c == 0xc2 && i + 1 < text.n && (unsigned char)text.p[i + 1] < 0xa0;

		buf_addc(b, c == '\n' ? ' ' : c1 || c < 0x20 || c == 0x7f ? '?' : (char)c);
		i += c1;
	}
}

/* `colour` may be NULL. */
static void add_column(const struct progress_lines *s, struct buf *b, const char *colour, int width,
	struct str text)
{
	int fill = width - (int)text.n;

	if (s->colour && colour)
		buf_adds(b, colour);
	add_clean(b, text);
	if (s->colour && colour)
		buf_adds(b, "\033[0m");
	buf_addf(b, "%*s", fill > 0 ? fill : 0, "");
}

static void add_time(const struct progress_lines *s, struct buf *b)
{
	int64_t ms = clock_ticks() - s->started_ms;
	char text[32];

	(void)snprintf(text, sizeof(text), "%6.2fs  ", (double)ms / 1000);
	add_column(s, b, DIM, 0, str_of(text));
}

/* The middle of `ADR-7/researching/1`. */
static struct str state_of(const char *id)
{
	struct str s = str_of(id);

	s = str_sub(s, str_find(s, STR("/")), s.n);
	s = s.n ? str_sub(s, 1, s.n) : str_of(id);
	return str_sub(s, 0, str_find(s, STR("/")));
}

/* The first result word of a format is the good one. */
static bool is_good(const json *action, const char *word)
{
	const char *words = json_get_str(action, "result_format");

	return strncmp(words, word, strlen(word)) == 0 && strchr(" |", words[strlen(word)]);
}

static void print_action(void *data, const json *action, const char *word)
{
	const struct progress_lines *s = data;
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	const char *agent = json_get_str(action, "agent"),
		   *trigger = json_get_str(action, "trigger");
	const char *colour = *word && is_good(action, word) ? GOOD : BAD;

	add_time(s, &line);
	add_column(s, &line, NULL, 14, state_of(json_get_str(action, "id")));
	buf_adds(&line, "  ");
	add_column(s, &line, NULL, 14, str_of(agent ? agent : "script"));
	buf_adds(&line, "  ");
	add_column(s, &line, colour, 17, *word ? str_of(word) : STR("no answer"));
	buf_adds(&line, "  ");
	add_column(s, &line, DIM, 0,
		str_of(trigger ? trigger : json_get_str(action, "write_section")));
	error_log("%s", line.s);
}

static void print_done(void *data, const json *done)
{
	const struct progress_lines *s = data;
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	bool good = strcmp(json_get_str(done, "result"), "success") == 0;

	add_time(s, &line);
	add_column(s, &line, good ? BOLD GOOD : BOLD BAD, 14, good ? STR("done") : STR("failed"));
	buf_adds(&line, "  ");
	add_column(s, &line, NULL, 0, str_of(json_get_str(done, "reason")));
	error_log("%s", line.s);
}

struct run_progress run_progress_lines(void)
{
	static struct progress_lines lines;
	const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");

	lines.started_ms = clock_ticks();
	lines.colour = isatty(STDERR_FILENO) && !(no_colour && *no_colour) && term &&
		       strcmp(term, "dumb") != 0;
	return (struct run_progress){print_action, print_done, &lines};
}
