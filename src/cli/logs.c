#include <fcntl.h>
#include "src/cli/cli.h"
#include "src/machine/action.h"
#include "src/run/run.h"
#include "src/run/status.h"
#include "src/sys/path.h"
#include "src/sys/secrets.h"
#include "src/verify/history.h"

enum { PIECE = 64 << 10, LOOK_MS = 250, VALUE_MAX = 4000 };

struct logs_options {
	struct cli_item item;
	bool follow, raw;
};

static const struct option options[] = {
	OPTION_FLAG_LETTER(struct logs_options, follow, "follow", 'f',
		"show what comes until the item ends; ends with Ctrl-C"),
	OPTION_FLAG(struct logs_options, raw, "raw",
		"show the events of an agent's program as they are, not as text"),
	OPTION_END,
};

/* The output of one action. */
struct log_stream {
	const char *id, *who, *result; /* result NULL: no answer yet */
	const char *path;              /* NULL: a script whose log is not known yet */
	off_t at;                      /* how far it was shown */
	struct buf partial;            /* a line that has not ended */
	bool shown;
};

struct log_view {
	struct arena *arena;
	const struct logs_options *options;
	const char *document, *action; /* action NULL: all */
	VEC(struct log_stream) streams;
	int64_t seq; /* of the last event that was seen */
	struct secrets secrets;
	size_t current; /* the stream below the last heading, from 1 */
	struct buf *out;
};

/* ---- which actions there are ---- */

static struct log_stream *find_stream(struct log_view *v, const char *id)
{
	for (size_t i = 0; id && i < v->streams.n; i++)
		if (strcmp(v->streams.items[i].id, id) == 0)
			return &v->streams.items[i];
	return NULL;
}

static void add_stream(struct log_view *v, const json *event)
{
	const char *id = json_dup(v->arena, event, "action"),
		   *agent = json_dup(v->arena, event, "agent");

	if (!id || find_stream(v, id) || (v->action && strcmp(v->action, id) != 0))
		return;
	vec_push_in(v->arena, &v->streams,
		(struct log_stream){.id = id,
			.who = agent ? agent : "script",
			.path = agent ? run_log_path(v->arena, v->document, id) : NULL});
}

/* The document and its events name a log as seen from their directory. */
static void logs_set_path(struct log_view *v, struct log_stream *s, const char *log)
{
	if (log)
		s->path = path_join(v->arena, arena_dup(v->arena, path_dir(v->document)), log);
}

/* A history_event. */
static void logs_take_event(void *data, const json *event, struct str line)
{
	struct log_view *v = data;
	struct log_stream *s = find_stream(v, json_get_str(event, "action"));

	(void)line;
	v->seq = json_get_int(event, "seq", v->seq);
	if (json_str_is(event, "type", "dispatch"))
		add_stream(v, event);
	if (!s || !json_str_is(event, "type", "answer"))
		return;
	s->result = json_dup(v->arena, event, "result");
	if (!s->path)
		logs_set_path(v, s, json_get_str(event, "log"));
}

/* The log of a script that has no answer yet is named by the document. */
static void find_open_logs(struct log_view *v)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(json_free) json *actions = NULL;
	struct error ignored;

	if (context_open(&f, v->document, CONTEXT_READ_ONLY, &ignored) < 0 ||
		action_load(&f.doc, &actions, &ignored) < 0)
		return;
	for (const json *a = json_first(actions); a; a = json_next(a)) {
		struct log_stream *s = find_stream(v, json_get_str(a, "id"));

		if (s && !s->path)
			logs_set_path(v, s, json_get_str(a, "log_file"));
	}
}

/* ---- what they print ---- */

static void logs_add_heading(struct log_view *v, const struct log_stream *s)
{
	size_t place = (size_t)(s - v->streams.items) + 1;

	if (v->action || v->current == place)
		return;
	buf_addf(v->out, "%s==> %s, %s%s%s <==\n", v->current ? "\n" : "", s->id, s->who,
		s->result ? ": " : "", s->result ? s->result : "");
	v->current = place;
}

/* The members of an event that people read. */
static void add_values(struct buf *out, const json *value)
{
	static const char *const shown[] = {"text", "name", "tool", "tool_name", "command",
		"file_path", "path", "pattern", "description", "result", "content", "message",
		"output", "aggregated_output", "error", NULL};

	for (const json *m = json_first(value); m; m = json_next(m)) {
		const char *key = json_key(m), *text = json_text(m);

		if (text && *text && (!key || str_in(str_of(key), shown))) {
			buf_adds(out, "  ");
			buf_add(out, str_cut(str_of(text), VALUE_MAX));
		} else if (!text) {
			add_values(out, m);
		}
	}
}

/* An event of an agent's program is one JSON object; one without text for people is left out. */
static void logs_add_line(struct log_view *v, const struct log_stream *s, struct str line)
{
	CLEANUP(json_free) json *event = NULL;
	CLEANUP(buf_release) struct buf text = BUF_INIT, masked = BUF_INIT;
	struct error ignored;

	secrets_mask(&v->secrets, line, &masked);
	if (!v->options->raw && str_starts(line, "{") &&
		json_parse(&event, buf_str(&masked), &ignored) == 0) {
		const char *type = json_get_str(event, "type");

		add_values(&text, event);
		if (!text.len)
			return;
		logs_add_heading(v, s);
		buf_addf(v->out, "%s%s\n", type ? type : "", text.s + (type ? 0 : 2));
		return;
	}
	logs_add_heading(v, s);
	buf_add(v->out, buf_str(&masked));
	buf_addc(v->out, '\n');
}

static void show_piece(struct log_view *v, struct log_stream *s, struct str piece, bool at_end)
{
	struct str rest, line;

	buf_add(&s->partial, piece);
	buf_utf8_repair(&s->partial);
	rest = buf_str(&s->partial);
	while (rest.n && (at_end || memchr(rest.p, '\n', rest.n)) && str_line(&rest, &line))
		logs_add_line(v, s, line);
	if (s->partial.len)
		memmove(s->partial.s, rest.p, rest.n);
	buf_cut(&s->partial, rest.n);
}

static int flush(struct log_view *v, struct error *err)
{
	return v->options->follow ? cli_flush(v->out, err) : 0;
}

/* Shows what is new in it. */
static int show_stream(struct log_view *v, struct log_stream *s, struct error *err)
{
	CLEANUP(base_close)
	int fd = s->path ? open(s->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
	CLEANUP(base_free) char *piece = xmalloc(PIECE);
	ssize_t n;

	while (fd >= 0 && (n = pread(fd, piece, PIECE, s->at)) > 0) {
		s->at += n;
		s->shown = true;
		show_piece(v, s, (struct str){piece, (size_t)n}, false);
		if (flush(v, err) < 0)
			return -1;
	}
	if (s->result && s->partial.len)
		show_piece(v, s, (struct str){"", 0}, true);
	if (s->result && fd >= 0 && !s->shown) {
		logs_add_heading(v, s);
		buf_adds(v->out, "(no output)\n");
		s->shown = true;
	}
	return flush(v, err);
}

static int logs_look(struct log_view *v, struct error *err)
{
	if (history_events(v->arena, v->document, v->seq, 0, logs_take_event, v, err) < 0)
		return -1;
	find_open_logs(v);
	for (size_t i = 0; i < v->streams.n; i++)
		if (show_stream(v, &v->streams.items[i], err) < 0)
			return -1;
	return 0;
}

/* ---- the verb ---- */

/* Nothing more will come. */
static bool logs_is_over(struct log_view *v)
{
	CLEANUP(json_free) json *item = NULL;
	const struct log_stream *one = v->action ? find_stream(v, v->action) : NULL;

	if (one && one->result)
		return true;
	if (status_run_active(v->arena, v->document))
		return false;
	item = status_item(v->document, true);
	return !json_str_is(item, "status", "works") && !json_str_is(item, "status", "idle");
}

static int logs_follow(struct log_view *v, struct error *err)
{
	int fd, rc;

	if (run_interrupt_begin(&fd, err) < 0)
		return -1;
	while ((rc = logs_look(v, err)) == 0 && !logs_is_over(v) && !run_interrupt_wait(LOOK_MS))
		;
	if (rc == 0 && !run_interrupt_caught())
		rc = logs_look(v, err); /* what came before the end */
	run_interrupt_end();
	return rc;
}

static void close_streams(struct log_view *v)
{
	for (size_t i = 0; i < v->streams.n; i++)
		buf_release(&v->streams.items[i].partial);
}

/* An action that was requested, but has no file: its agent was none of `run`. */
static int refuse_empty(const struct log_view *v, struct error *err)
{
	bool any = false;

	for (size_t i = 0; i < v->streams.n; i++)
		any |= v->streams.items[i].shown;
	if (v->action && !v->streams.n)
		return error_set(err, ERR_INPUT,
			"'%.200s' was never requested; 'dev-team events' lists the actions",
			v->action);
	return any ? 0
		   : error_set(err, ERR_INPUT,
			     "no output was kept: the agents of a session show theirs in the "
			     "client, and scripted answers print nothing");
}

static int logs_run(struct invocation *in, struct error *err)
{
	const struct logs_options *o = in->values;
	struct log_view v = {.arena = in->arena,
		.options = o,
		.action = in->n > 1 ? in->words[1] : NULL,
		.out = in->out};
	int rc;

	if (cli_find_item(in, &v.document, err) < 0)
		return -1;
	if (v.action && !strchr(v.action, '/'))
		return error_set(err, ERR_USAGE,
			"'%.100s' is no action: it is written '%s/STATE/NUMBER'", v.action,
			in->words[0]);
	secrets_add(in->arena, &v.secrets, (const char *const *)environ, NULL);
	rc = o->follow ? logs_follow(&v, err) : logs_look(&v, err);
	for (size_t i = 0; rc == 0 && i < v.streams.n; i++)
		if (v.streams.items[i].partial.len)
			show_piece(&v, &v.streams.items[i], (struct str){"", 0}, true);
	if (rc == 0 && !o->follow)
		rc = refuse_empty(&v, err);
	close_streams(&v);
	return rc;
}

const struct verb verb_logs = {
	.name = "logs",
	.group = "Everyday",
	.about = "show what the agents and scripts of a work item printed",
	.also = "log tail",
	.details = "ACTION is the id of one action, such as ADR-1/validating/2; without it all are "
		   "shown, each below a heading. Secrets are masked. The output of agents that a "
		   "session of the client runs is in the client.",
	.examples = "dev-team logs ADR-1 -f\n"
		    "dev-team logs ADR-1 ADR-1/validating/2",
	.words = "ID [ACTION]",
	.options = {options, cli_item_options},
	.size = sizeof(struct logs_options),
	.run = logs_run,
};
