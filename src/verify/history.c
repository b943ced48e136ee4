#include <limits.h>
#include <sys/stat.h>
#include "src/sys/path.h"
#include "src/machine/actions.h"
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

	if (utf8_fault(s) || !path_base(given).n || s.n > PATH_MAX - 64)
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
		    actions_load(&doc, &actions, &ignored) == 0;

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

/* Length of the committed lines of `text`; of all whole lines where there is no commit at all. */
static int find_committed(const char *path, struct str text, size_t *length, struct error *err)
{
	struct str rest = text, line;
	struct error bad = {0};
	unsigned n = 0;

	*length = 0;
	while (rest.n && memchr(rest.p, '\n', rest.n) && str_line(&rest, &line)) {
		CLEANUP(json_free) json *e = NULL;

		n++;
		if (json_parse(&e, line, err) < 0 && !bad.code)
			error_at(&bad, path, n, err->col, "this is not an event");
		if (!e || !json_get(e, "commit"))
			continue;
		if (bad.code)
			return *err = bad, -1;
		*length = text.n - rest.n;
	}
	if (*length)
		return 0;
	*length = text.n - rest.n;
	return bad.code ? (*err = bad, -1) : 0;
}

int history_committed(struct arena *a, const char *given, struct buf *out, struct error *err)
{
	char *path = journal_path(a, given);
	bool missing;
	size_t n;

	if (file_read(out, path, EVENTS_MAX, &missing, err) < 0)
		return missing ? error_set(err, ERR_INPUT, "no events file '%s'", path) : -1;
	if (find_committed(path, buf_str(out), &n, err) < 0)
		return -1;
	buf_cut(out, n);
	return 0;
}
