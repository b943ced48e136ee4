#include "src/verify/sequel.h"

enum { MOMENT = 16 }; /* bytes of a moment in a file's name: 20270115T080000Z */

const char *const sequel_names[SEQUEL_ALL] = {
	"another state", "another array", "other dispatches", "other texts"};

/* Times, and the numbers behind them in names of files. */
static size_t moment_at(struct str s, size_t i)
{
	size_t n = 0;

	while (i + n < s.n && strchr("0123456789-:TZ", s.p[i + n]))
		n++;
	return n >= MOMENT && s.p[i] == '2' && s.p[i + 1] == '0' ? n : 0;
}

/* How often it was saved is no matter. */
static bool no_matter(struct str line)
{
	return str_starts(line, "revision: ");
}

static void add_texts(struct buf *out, struct str doc)
{
	struct str line;

	while (str_line(&doc, &line)) {
		if (no_matter(line))
			continue;
		for (size_t i = 0, n; i < line.n; i += n ? n : 1) {
			n = moment_at(line, i);
			buf_addc(out, n ? '@' : line.p[i]);
		}
		buf_addc(out, '\n');
	}
}

/* The ids, one a line; *twice: the first that is there before. */
static void add_dispatches(struct arena *a, struct buf *out, struct str journal, const char **twice)
{
	static const char opening[] = "\"type\":\"dispatch\",\"action\":";
	struct str line;

	buf_addc(out, '\n');
	while (str_line(&journal, &line)) {
		size_t from = str_find(line, str_of(opening)) + strlen(opening), n;
		const char *id;

		if (from >= line.n)
			continue;
		n = str_find(str_sub(line, from, line.n), STR(",\""));
		id = arena_printf(a, "\n%.*s\n", (int)n, line.p + from);
		if (!*twice && str_find(buf_str(out), str_of(id)) < out->len)
			*twice = arena_dup(a, str_sub(line, from, from + n));
		buf_adds(out, id + 1);
	}
}

void sequel_of(struct arena *a, struct play *p, const struct stage_call *call, struct sequel *out)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, shown = BUF_INIT;
	CLEANUP(buf_release) struct buf doc = BUF_INIT, journal = BUF_INIT;
	CLEANUP(json_free) json *printed = NULL;
	struct error err;

	*out = (struct sequel){.part = {"", "", "", ""}};
	p->stage->world = (struct stage_world){.specs = 1, .running = p->stage->world.running};
	if (play_call(p, call, &printed, &err) < 0) {
		add_texts(&text, str_of(err.text));
		out->part[SEQUEL_STATE] = arena_dup(a, str_trim(buf_str(&text)));
		return;
	}
	out->part[SEQUEL_STATE] = arena_dup(a, buf_str(&p->key));
	json_print(&text, printed);
	add_texts(&shown, buf_str(&text));
	out->part[SEQUEL_PRINTED] = arena_dup(a, str_trim(buf_str(&shown)));
	buf_clear(&text);
	if (stage_journal(p->stage, &journal))
		add_dispatches(a, &text, buf_str(&journal), &out->twice);
	out->part[SEQUEL_DISPATCHED] = arena_dup(a, buf_str(&text));
	buf_clear(&text);
	if (stage_document(p->stage, &doc))
		add_texts(&text, buf_str(&doc));
	out->part[SEQUEL_TEXTS] = arena_dup(a, buf_str(&text));
}

enum sequel_part sequel_differs(const struct sequel *a, const struct sequel *b)
{
	enum sequel_part i = 0;

	while (i < SEQUEL_ALL && strcmp(a->part[i], b->part[i]) == 0)
		i++;
	return i;
}
