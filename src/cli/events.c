#include <limits.h>
#include <sys/stat.h>
#include "src/base/json.h"
#include "src/sys/path.h"
#include "src/cli/common.h"

#define EVENTS_MAX ((size_t)1 << 30)

enum { JSON };

static const struct option_spec options[] = {
	[JSON] = {"json", NULL, "the lines as they are", false},
	{0},
};

static const struct {
	const char *key, *before;
} shown[] = {
	{"file", " "},
	{"of", "@"},
	{"state", " in "},
	{"from", " "},
	{"to", " -> "},
	{"owner", " -> "},
	{"trigger", ", "},
	{"action", " "},
	{"agent", ", "},
	{"command", ", "},
	{"effect", " "},
	{"key", " "},
	{"value", " = "},
	{"result", ": "},
	{"policy", ", policy "},
	{"rule", ": "},
	{"workflow", " "},
	{"change", " "},
	{"entry", ", "},
	{"reason", "; "},
	{"kept", "; kept in "},
};

/* Revisions are numbers, all else that is shown is text. */
static const char *value_of(const json *e, const char *key, char number[24])
{
	int64_t n = json_get_int(e, key, -1);

	if (n < 0)
		return json_get_str(e, key);
	(void)snprintf(number, 24, "%lld", (long long)n);
	return number;
}

static void add_event(struct buf *out, const json *e)
{
	char number[24];
	const char *ts = json_get_str(e, "ts"), *type = json_get_str(e, "type");
	bool first = true;

	buf_addf(out, "%6lld  %s  %-10s", (long long)json_get_int(e, "seq", 0), ts ? ts : "?",
		type ? type : "?");
	for (size_t i = 0; i < COUNT(shown); i++) {
		const char *text = value_of(e, shown[i].key, number);

		if (strcmp(shown[i].key, "owner") == 0 && !json_get(e, "from"))
			continue; /* of each dispatch; only a change is worth a look */
		if (text && *text)
			buf_addf(out, "%s%s", first ? " " : shown[i].before, text);
		first = first && !(text && *text);
	}
	buf_addc(out, '\n');
}

static void add_line(struct invocation *in, const json *e, struct str line)
{
	if (!json_get(e, "type"))
		return;
	if (!in->args->value[JSON]) {
		add_event(in->out, e);
		return;
	}
	buf_add(in->out, line);
	buf_addc(in->out, '\n');
}

/*
 * Lines without their commit behind them are being written, or were cut by a kill: they are no
 * events yet, whatever they look like. (Before format 2 there were no commits.)
 */
static int add_lines(struct invocation *in, const char *path, struct str text, struct error *err)
{
	size_t committed = 0;
	unsigned n = 0;
	bool damaged = false;
	struct error bad = {0};
	struct str line;

	while (text.n && memchr(text.p, '\n', text.n) && str_line(&text, &line) && !damaged) {
		CLEANUP(json_free) json *e = NULL;

		n++;
		if (json_parse(&e, line, err) < 0) {
			if (!bad.code)
				error_at(&bad, path, n, err->col, "this is not an event");
			continue;
		}
		add_line(in, e, line);
		if (!json_get(e, "commit"))
			continue;
		committed = in->out->len;
		damaged = bad.code != 0;
	}
	if (damaged || (bad.code && !committed)) {
		*err = bad;
		return -1;
	}
	if (committed)
		buf_cut(in->out, committed);
	return 0;
}

static bool is_link(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

/* The document's path is as good as the journal's, which lies where the document really is. */
static char *journal_path(struct arena *a, const char *given)
{
	char real[PATH_MAX];
	struct str s = str_of(given);

	if (str_ends(s, ".events.jsonl"))
		return arena_dup(a, s);
	if (is_link(given) && realpath(given, real))
		s = str_of(real);
	if (str_ends(s, ".md"))
		s.n -= 3;
	return arena_printf(a, "%.*s.events.jsonl", (int)s.n, s.p);
}

static int run(struct invocation *in, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char *path = journal_path(in->arena, in->args->words[0]);
	bool missing;

	if (file_read(&text, path, EVENTS_MAX, &missing, err) < 0)
		return missing ? error_set(err, ERR_INPUT, "no events file '%s'", path) : -1;
	return add_lines(in, path, buf_str(&text), err);
}

const struct verb verb_events = {
	.name = "events",
	.synopsis = "FILE [--json]",
	.about = "what has happened to a work item",
	.details = "FILE is the work item's document or its events file. Without --json a line for "
		   "people each.",
	.options = options,
	.min_words = 1,
	.max_words = 1,
	.run = run,
};
