#include <limits.h>
#include <sys/stat.h>
#include "src/sys/path.h"
#include "src/machine/action.h"
#include "src/verify/history.h"

enum { REV_DIGITS = 15 };

int history_rev(const char *text, int64_t *rev, struct error *err)
{
	size_t n = strspn(text, "0123456789");

	*rev = n && n <= REV_DIGITS && !text[n] ? strtoll(text, NULL, 10) : 0;
	if (*rev > 0)
		return 0;
	return error_set(err, ERR_USAGE, "a revision is a whole number from 1, not '%.60s'", text);
}

int history_split(
	struct arena *a, const char *given, const char **file, int64_t *rev, struct error *err)
{
	const char *at = strrchr(given, '@');

	*file = given;
	*rev = 0;
	if (!at || path_exists(given))
		return 0;
	*file = arena_dup(a, (struct str){given, (size_t)(at - given)});
	return history_rev(at + 1, rev, err);
}

static void set_place(struct arena *a, const char *path, struct history_place *place)
{
	struct str base = path_base(path);

	place->path = arena_dup(a, str_of(path));
	place->dir = arena_dup(a, path_dir(path));
	place->name = arena_dup(a, str_ends(base, ".md") ? str_sub(base, 0, base.n - 3) : base);
}

int history_find(struct arena *a, const char *given, struct history_place *place, struct error *err)
{
	struct str s = str_of(given);
	char real[PATH_MAX];

	if (str_utf8_fault(s) || !path_base(given).n || s.n > PATH_MAX - 64)
		return error_set(err, ERR_USAGE, "'%.200s' is not a file name", given);
	if (str_ends(s, ".events.jsonl"))
		given = arena_printf(a, "%.*s.md", (int)(s.n - strlen(".events.jsonl")), s.p);
	if (realpath(given, real)) {
		set_place(a, real, place);
		return 0;
	}
	given = path_absolute(a, given);
	if (realpath(arena_dup(a, path_dir(given)), real))
		given = path_join(a, real, path_base(given).p);
	set_place(a, given, place);
	return 0;
}

int history_open(struct history *p, const struct history_place *place, struct error *err)
{
	*p = (struct history){.place = place};
	return store_log_open(&p->log, disk_real(), place->dir, place->name, err);
}

void history_close(struct history *p)
{
	store_log_close(&p->log);
	buf_release(&p->before);
	buf_release(&p->document);
}

int history_next(struct history *p, struct error *err)
{
	struct store_commit *c = &p->commit;
	int rc = store_log_next(p->log, c, err);
	struct buf old;

	if (rc <= 0)
		return rc;
	p->was = p->there;
	p->changed = c->document_key != NULL; /* there is one; it may have been renamed */
	if (!p->changed)
		return 1;
	old = p->before;
	p->before = p->document;
	p->document = old;
	p->there = !c->removed;
	p->made = c->rev;
	buf_clear(&p->document);
	if (p->there)
		buf_add(&p->document, c->document);
	return 1;
}

static int hand_over(struct history *p, struct buf *out, int64_t *made)
{
	*out = p->document;
	p->document = (struct buf)BUF_INIT;
	if (made)
		*made = p->made;
	return 0;
}

int history_document(const struct history_place *place, int64_t rev, struct buf *out, int64_t *made,
	struct error *err)
{
	CLEANUP(history_close) struct history p = {0};
	int64_t last = 0;
	int rc;

	if (history_open(&p, place, err) < 0)
		return -1;
	while (last < rev && (rc = history_next(&p, err)) != 0) {
		if (rc < 0)
			return -1;
		last = p.commit.rev;
	}
	if (last < rev)
		return error_set(err, ERR_INPUT, "'%s' has no revision %lld: the last is %lld",
			place->path, (long long)rev, (long long)last);
	if (p.there)
		return hand_over(&p, out, made);
	return error_set(
		err, ERR_INPUT, "'%s' was not there at revision %lld", place->path, (long long)rev);
}

int history_now(const struct history_place *place, struct buf *out, bool *there, struct error *err)
{
	bool missing;

	if (context_read(disk_real(), place->path, out, &missing, err) < 0)
		return -1;
	*there = !missing;
	return 0;
}

static bool is_good(const struct history *p)
{
	struct context doc = {0};
	json *actions = NULL;
	struct error ignored;
	bool good = context_parse(&doc, p->place->path, buf_str(&p->document), &ignored) == 0 &&
		    action_load(&doc, &actions, &ignored) == 0;

	json_free(&actions);
	context_release(&doc);
	return good;
}

int history_last_good(
	const struct history_place *place, struct buf *out, int64_t *made, struct error *err)
{
	CLEANUP(history_close) struct history p = {0};
	int rc;

	*made = 0;
	if (history_open(&p, place, err) < 0)
		return -1;
	while ((rc = history_next(&p, err)) > 0) {
		if (!p.changed || !p.there || !is_good(&p))
			continue;
		buf_clear(out);
		buf_add(out, buf_str(&p.document));
		*made = p.commit.rev;
	}
	if (rc < 0)
		return -1;
	if (*made)
		return 0;
	return error_set(err, ERR_STATE, "no revision of '%s' is good: there is nothing to restore",
		place->path);
}

#define EVENTS_MAX ((size_t)1 << 30)

/* The lines of the store itself (log.h). They are most of the bytes, and their checksums, which
 * store_log_next() verifies, say more about them than their syntax. */
#define COMMIT_LINE "{\"commit\":"
#define CHANGE_LINE "{\"change\":"

/* The journal lies where the document really is. */
static char *journal_path(struct arena *a, const char *given)
{
	char real[PATH_MAX];
	struct str s = str_of(given);
	struct stat st;

	if (str_ends(s, ".events.jsonl"))
		return arena_dup(a, s);
	if (lstat(given, &st) == 0 && S_ISLNK(st.st_mode) && realpath(given, real))
		s = str_of(real);
	if (str_ends(s, ".md"))
		s.n -= 3;
	return arena_printf(a, "%.*s.events.jsonl", (int)s.n, s.p);
}

/* Cuts lines that are being written or were cut by a kill; all whole lines count where there is no
 * commit at all. */
static struct str committed_lines(struct str text)
{
	size_t whole = 0;

	for (size_t end = text.n, start; end; end = start) {
		const char *newline = end > 1 ? memrchr(text.p, '\n', end - 1) : NULL;

		start = newline ? (size_t)(newline - text.p) + 1 : 0;
		if (text.p[end - 1] != '\n')
			continue;
		whole = whole ? whole : end;
		if (str_starts(str_sub(text, start, end), COMMIT_LINE))
			return str_sub(text, 0, end);
	}
	return str_sub(text, 0, whole);
}

int history_events(
	struct arena *a, const char *given, history_event *each, void *data, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char *path = journal_path(a, given);
	struct str rest, line;
	unsigned n = 0;
	bool missing;

	if (sys_read_file(&text, path, EVENTS_MAX, &missing, err) < 0)
		return missing ? error_set(err, ERR_INPUT, "no events file '%s'", path) : -1;
	rest = committed_lines(buf_str(&text));
	while (str_line(&rest, &line)) {
		CLEANUP(json_free) json *event = NULL;

		n++;
		if (str_starts(line, COMMIT_LINE) || str_starts(line, CHANGE_LINE))
			continue;
		if (json_parse(&event, line, err) < 0)
			return error_at(err, path, n, err->col, "this is not an event");
		if (json_get(event, "type"))
			each(data, event, line);
	}
	return 0;
}

/* ---- differences ---- */

struct sorted_lines {
	struct str *list;
	size_t n;
};

static int by_bytes(const void *a, const void *b)
{
	const struct str *x = a, *y = b;
	int order = memcmp(x->p, y->p, x->n < y->n ? x->n : y->n);

	return order ? order : (x->n > y->n) - (x->n < y->n);
}

static struct str whole_line(struct str text)
{
	const char *end = text.n ? memchr(text.p, '\n', text.n) : NULL;

	return str_sub(text, 0, end ? (size_t)(end - text.p) + 1 : text.n);
}

static void lines_init(struct sorted_lines *l, struct str text)
{
	size_t n = 0, most = 1;

	for (size_t i = 0; i < text.n; i++)
		most += text.p[i] == '\n';
	l->list = xmalloc(most * sizeof(*l->list));
	while (text.n) {
		l->list[n] = whole_line(text);
		text = str_sub(text, l->list[n++].n, text.n);
	}
	l->n = n;
	qsort(l->list, n, sizeof(*l->list), by_bytes);
}

/* The length of the common start, in whole lines. */
static size_t shared_start(struct str a, struct str b)
{
	size_t line = 0;

	for (size_t i = 0; i < a.n && i < b.n && a.p[i] == b.p[i]; i++)
		if (a.p[i] == '\n')
			line = i + 1;
	return line;
}

static size_t shared_end(struct str a, struct str b)
{
	size_t line = 0;

	for (size_t i = 0; i < a.n && i < b.n && a.p[a.n - 1 - i] == b.p[b.n - 1 - i]; i++)
		if (a.p[a.n - 1 - i] == '\n')
			line = i;
	return line;
}

void history_diff_count(struct str from, struct str to, size_t *added, size_t *removed)
{
	size_t start = shared_start(from, to), end, i = 0, k = 0;
	CLEANUP(base_free) struct str *old = NULL, *new = NULL;
	struct sorted_lines a, b;

	*added = *removed = 0;
	from = str_sub(from, start, from.n);
	to = str_sub(to, start, to.n);
	end = shared_end(from, to);
	lines_init(&a, str_sub(from, 0, from.n - end));
	lines_init(&b, str_sub(to, 0, to.n - end));
	old = a.list;
	new = b.list;
	while (i < a.n || k < b.n) {
		int order = i == a.n ? 1 : k == b.n ? -1 : by_bytes(&old[i], &new[k]);

		*removed += order < 0;
		*added += order > 0;
		i += order <= 0;
		k += order >= 0;
	}
}

static struct str without_end(struct str line)
{
	return str_sub(line, 0, line.n - (line.n && line.p[line.n - 1] == '\n'));
}

size_t history_diff_first(
	struct str from, struct str to, struct str *line_from, struct str *line_to)
{
	size_t n = 0;

	*line_from = *line_to = (struct str){"", 0};
	while (from.n || to.n) {
		*line_from = whole_line(from);
		*line_to = whole_line(to);
		n++;
		if (!str_eq(*line_from, *line_to)) {
			*line_from = without_end(*line_from);
			*line_to = without_end(*line_to);
			return n;
		}
		from = str_sub(from, line_from->n, from.n);
		to = str_sub(to, line_to->n, to.n);
	}
	return 0;
}

/* ---- restore ---- */

/* 1: the document is good; 0: it is broken or missing; -1. */
static int open_any(struct context_file *f, const char *path, struct error *err)
{
	CLEANUP(json_free) json *actions = NULL;

	if (context_open(f, path, CONTEXT_MAY_CREATE, err) < 0)
		return f->store && err->code == ERR_INPUT ? 0 : -1;
	return !f->created && action_load(&f->doc, &actions, err) == 0;
}

static int find(const struct history_place *place, int64_t rev, struct buf *text, int64_t *made,
	struct error *err)
{
	if (rev)
		return history_document(place, rev, text, made, err);
	return history_last_good(place, text, made, err);
}

/* 1: the document has this text already; 0; -1. */
static int is_there(const struct history_place *place, struct str text, struct error *err)
{
	CLEANUP(buf_release) struct buf now = BUF_INIT;
	bool there;

	if (history_now(place, &now, &there, err) < 0)
		return err->code == ERR_SYSTEM ? -1 : 0;
	return there && str_eq(buf_str(&now), text);
}

int history_restore_into(struct context_file *f, int64_t to, struct str text, struct error *err)
{
	json_put_int(context_op(f, "restore"), "to", to);
	json_put_int(context_event(f, "restored"), "to", to);
	return context_replace(f, text, err);
}

/* Opening a document that never existed would create a directory, a lock and a journal. */
static int check_there(const struct history_place *place, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	bool there;

	if (path_check_exists(place->path, &there, err) < 0)
		return -1;
	if (!there &&
		path_check_exists(arena_printf(&a, "%s/%s.events.jsonl", place->dir, place->name),
			&there, err) < 0)
		return -1;
	return there ? 0 : error_set(err, ERR_INPUT, "no context file '%s'", place->path);
}

int history_restore(const struct history_place *place, int64_t rev, struct history_restored *result,
	struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int good = check_there(place, err);

	*result = (struct history_restored){0};
	if (good < 0 || (good = open_any(&f, place->path, err)) < 0)
		return -1;
	if (good && !rev)
		return 0;
	if (find(place, rev, &text, &result->to, err) < 0)
		return -1;
	if ((good = is_there(place, buf_str(&text), err)) != 0)
		return good < 0 ? -1 : 0;
	result->replaced = store_revision(f.store);
	return history_restore_into(&f, result->to, buf_str(&text), err);
}
