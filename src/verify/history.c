/* history.c: the revisions of a document: one of them, all of them as a list, their differences. */
#include <limits.h>
#include "src/base/json.h"
#include "src/base/number.h"
#include "src/machine/action.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/verify/history.h"

#define REV_MAX 999999999999999
#define HAND    "hand" /* the actor of edits by hand */

/* ---- names ---- */

int history_rev(const char *text, int64_t *rev, struct error *err)
{
	uint64_t n;

	if (!number_parse(str_of(text), 1, REV_MAX, &n))
		return error_set(
			err, ERR_USAGE, "a revision is a whole number from 1, not '%.60s'", text);
	*rev = (int64_t)n;
	return 0;
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

void history_set_place(struct arena *a, const char *path, struct history_place *place)
{
	struct str base = path_base(path);

	place->path = arena_dup(a, str_of(path));
	place->dir = arena_dup(a, path_dir(path));
	place->name = arena_dup(a, str_ends(base, ".md") ? str_sub(base, 0, base.n - 3) : base);
	place->journal = arena_printf(a, "%s/%s" STORE_JOURNAL_SUFFIX, place->dir, place->name);
}

int history_find(struct arena *a, const char *given, struct history_place *place, struct error *err)
{
	struct str s = str_of(given);

	if (str_utf8_fault(s) || !path_base(given).n || s.n > PATH_MAX - 64)
		return error_set(err, ERR_USAGE, "'%.200s' is not a file name", given);
	if (str_ends(s, STORE_JOURNAL_SUFFIX))
		given = arena_printf(a, "%.*s.md", (int)(s.n - strlen(STORE_JOURNAL_SUFFIX)), s.p);
	given = path_real(a, given);
	history_set_place(a, given, place);
	if (!path_exists(given) && !str_ends(str_of(given), ".md") && !path_exists(place->journal))
		return error_set(err, ERR_INPUT,
			"no document '%s': 'dev-team context path ID' prints that of a work item",
			given);
	return 0;
}

/* ---- one revision ---- */

int history_open(struct history *p, const struct history_place *place,
	const struct store_range *range, struct error *err)
{
	*p = (struct history){.place = place};
	if (store_open(&p->store, store_backend(), place->dir, place->name, STORE_HISTORY, 0, err) <
		0)
		return -1;
	return store_history(p->store, range, &p->reader, err) == STORE_OK ? 0 : -1;
}

void history_close(struct history *p)
{
	store_history_close(&p->reader);
	store_close(&p->store);
	buf_release(&p->before);
	buf_release(&p->document);
}

int history_next(struct history *p, struct error *err)
{
	struct store_commit *c = &p->commit;
	int rc = store_history_next(p->reader, c, err);
	struct buf old = p->before;

	if (rc <= 0)
		return rc;
	p->changed = c->document != NULL; /* there is one; it may have been renamed */
	if (!p->changed)
		return 1;
	p->before = p->document;
	p->document = old;
	p->there = !c->removed;
	buf_clear(&p->document);
	buf_add(&p->document, c->text);
	return 1;
}

/* The newest change of the document up to `rev`: 1, 0 when there is none, -1. */
static int find_change(
	struct history *p, const struct history_place *place, int64_t rev, struct error *err)
{
	const struct store_range range = {.from = rev, .backwards = true, .texts = true};
	int rc = history_open(p, place, &range, err) < 0 ? -1 : 1;

	if (rc > 0 && rev > store_revision(p->store))
		return error_set(err, ERR_INPUT, "'%s' has no revision %lld: the last is %lld",
			place->path, (long long)rev, (long long)store_revision(p->store));
	while (rc > 0 && !p->changed)
		rc = history_next(p, err);
	return rc;
}

int history_document(const struct history_place *place, int64_t rev, struct buf *out, int64_t *made,
	struct error *err)
{
	CLEANUP(history_close) struct history p = {0};

	if (find_change(&p, place, rev, err) < 0)
		return -1;
	if (!p.there)
		return error_set(err, ERR_INPUT, "'%s' was not there at revision %lld", place->path,
			(long long)rev);
	if (made)
		*made = p.commit.rev;
	*out = p.document;
	p.document = (struct buf)BUF_INIT;
	return 0;
}

/* `rev` 0: as it is now. */
static int text_at(struct arena *a, const struct history_place *place, int64_t rev,
	struct buf *text, const char **name, struct error *err)
{
	struct str base = path_base(place->path);
	bool missing;

	if (rev) {
		*name = arena_printf(a, "%.*s@%lld", (int)base.n, base.p, (long long)rev);
		return history_document(place, rev, text, NULL, err);
	}
	*name = arena_dup(a, base);
	if (context_read(store_backend(), place->path, text, &missing, err) < 0)
		return -1;
	return !missing ? 0 : error_set(err, ERR_INPUT, "no context file '%s'", place->path);
}

int history_diff(struct arena *a, const struct history_place *place, int64_t from, int64_t to,
	struct buf *out, struct error *err)
{
	CLEANUP(buf_release) struct buf before = BUF_INIT, after = BUF_INIT;
	const char *name_before, *name_after;

	if (text_at(a, place, from, &before, &name_before, err) < 0 ||
		text_at(a, place, to, &after, &name_after, err) < 0)
		return -1;
	return git_diff_texts(out, name_before, buf_str(&before), name_after, buf_str(&after), err);
}

static bool verify_history_is_good(const struct history *p, const char *state)
{
	CLEANUP(context_release) struct context doc = {0};
	CLEANUP(json_free) json *actions = NULL;
	struct error ignored;

	return context_parse(&doc, p->place->path, buf_str(&p->document), &ignored) == 0 &&
	       (!state || str_is(context_get(&doc, "state"), state)) &&
	       action_load(&doc, &actions, &ignored) == 0;
}

int history_last_good(const struct history_place *place, const char *state, struct buf *out,
	int64_t *made, struct error *err)
{
	const struct store_range newest = {.backwards = true, .texts = true};
	CLEANUP(history_close) struct history p = {0};
	int rc = history_open(&p, place, &newest, err) < 0 ? -1 : 1;

	while (rc > 0 && (rc = history_next(&p, err)) > 0) {
		if (!p.changed || !verify_history_is_good(&p, state))
			continue;
		buf_add(out, buf_str(&p.document));
		*made = p.commit.rev;
		return 0;
	}
	return rc < 0 ? -1
		      : error_set(err, ERR_STATE,
				"no revision of '%s' is good: there is nothing to restore",
				place->path);
}

/* ---- events ---- */

static int read_events(
	const struct history *p, int64_t after, history_event *each, void *data, struct error *err)
{
	struct str rest = p->commit.events, line;

	while (str_line(&rest, &line)) {
		CLEANUP(json_free) json *event = NULL;

		if (json_parse(&event, line, err) < 0)
			return error_prefix(err, "an event of '%s'", p->place->journal);
		if (json_get_int(event, "seq", 0) > after)
			each(data, event, line);
	}
	return 0;
}

int history_events(struct arena *a, const char *given, int64_t after, int64_t last,
	history_event *each, void *data, struct error *err)
{
	CLEANUP(history_close) struct history p = {0};
	struct history_place place;
	struct store_range range = {0};
	int rc;

	if (history_find(a, given, &place, err) < 0 || history_open(&p, &place, &range, err) < 0)
		return -1;
	if (last && store_last_seq(p.store) - last > after)
		after = store_last_seq(p.store) - last;
	range.after_seq = after;
	store_history_close(&p.reader);
	if (store_history(p.store, &range, &p.reader, err) != STORE_OK)
		return -1;
	while ((rc = history_next(&p, err)) > 0)
		if (read_events(&p, after, each, data, err) < 0)
			return -1;
	return rc;
}

/* ---- differences ---- */

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

struct history_lines {
	VEC(struct str) lines;
};

static void sort_lines(struct arena *a, struct history_lines *l, struct str text)
{
	while (text.n) {
		struct str line = whole_line(text);

		vec_push_in(a, &l->lines, line);
		text = str_sub(text, line.n, text.n);
	}
	vec_sort(&l->lines, by_bytes);
}

void history_diff_count(struct str from, struct str to, size_t *added, size_t *removed)
{
	CLEANUP(arena_release) struct arena arena = {0};
	struct history_lines a = {0}, b = {0};
	size_t i = 0, k = 0;

	*added = *removed = 0;
	sort_lines(&arena, &a, from);
	sort_lines(&arena, &b, to);
	while (i < a.lines.n || k < b.lines.n) {
		int order = i == a.lines.n   ? 1
			    : k == b.lines.n ? -1
					     : by_bytes(&a.lines.items[i], &b.lines.items[k]);

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

/* ---- the list ---- */

struct history_listing {
	struct history history;
	struct arena arena;
	const char *state; /* as the present commit left it; NULL: there is no document */
	struct buf *out;
};

/* One line of the list, from a commit or from the file as it is. */
struct history_row {
	int64_t rev; /* 0: `now` */
	const char *ts, *who, *op;
	const char *from, *to; /* states; NULL: none */
	const char *broken;    /* why the document cannot be read; NULL: it can */
	bool hand, changed;
	size_t added, removed, bytes;
	struct str events;
};

static void listing_close(struct history_listing *l)
{
	history_close(&l->history);
	arena_release(&l->arena);
}

/* Strips the work item's id prefix. */
static const char *short_id(const struct history_listing *l, const char *id)
{
	size_t n = strlen(l->history.place->name);

	return strncmp(id, l->history.place->name, n) == 0 && id[n] == '/' ? id + n + 1 : id;
}

static const char *fork_of(struct history_listing *l, const json *note)
{
	const char *file = json_get_str(note, "file");
	struct str base = path_base(file ? file : "?");

	return arena_printf(&l->arena, "fork of %.*s@%lld", (int)base.n, base.p,
		(long long)json_get_int(note, "rev", 0));
}

/* What was done, in a few words. */
static const char *op_text(struct history_listing *l, const json *note, const char *op)
{
	const char *action = json_get_str(note, "action"), *key = json_get_str(note, "key");

	if (json_is_true(json_get(note, "cancel")))
		return "cancel";
	if (json_is_true(json_get(note, "take_over")))
		return arena_printf(&l->arena, "%s --take-over", op);
	if (json_is_true(json_get(note, "returned")))
		return arena_printf(&l->arena, "%s --returned", op);
	if (strcmp(op, "edit") == 0)
		return "edited by hand";
	if (strcmp(op, "removed") == 0)
		return "removed by hand";
	if (strcmp(op, "restore") == 0)
		return arena_printf(
			&l->arena, "restore of %lld", (long long)json_get_int(note, "to", 0));
	if (strcmp(op, "fork") == 0)
		return fork_of(l, note);
	if (strcmp(op, "record") == 0 && action)
		return arena_printf(&l->arena, "record %s", short_id(l, action));
	if (strcmp(op, "set") == 0 && key)
		return arena_printf(&l->arena, "set %s", key);
	return op;
}

/* *broken: why there is none. */
static const char *verify_history_state_of(
	struct history_listing *l, struct str text, const char **broken)
{
	CLEANUP(context_release) struct context doc = {0};
	struct error err;
	char line[sizeof(err.file) + sizeof(err.text) + 64];

	*broken = NULL;
	if (context_parse(&doc, l->history.place->path, text, &err) == 0)
		return arena_dup(&l->arena, context_get(&doc, "state"));
	error_format(&err, line, sizeof(line));
	*broken = arena_dup(&l->arena, str_of(line));
	return NULL;
}

static void set_change(struct history_listing *l, struct history_row *r, struct str from,
	struct str to, bool there)
{
	r->changed = true;
	r->from = l->state;
	r->to = there ? verify_history_state_of(l, to, &r->broken) : NULL;
	r->bytes = to.n;
	history_diff_count(from, to, &r->added, &r->removed);
	l->state = r->to;
}

static struct history_row row_of(struct history_listing *l)
{
	const struct history *p = &l->history;
	const struct store_commit *c = &p->commit;
	const char *op = json_get_str(c->note, "op"), *owner = json_get_str(c->note, "owner");
	struct history_row r = {.rev = c->rev, .ts = c->ts, .events = c->events};

	r.who = owner ? owner : c->actor;
	r.hand = c->actor && strcmp(c->actor, HAND) == 0;
	r.op = op ? op_text(l, c->note, op) : NULL;
	r.from = r.to = l->state;
	if (p->changed)
		set_change(l, &r, buf_str(&p->before), buf_str(&p->document), p->there);
	return r;
}

static const char *verify_history_type_of(struct history_listing *l, const json *event)
{
	const char *type = json_get_str(event, "type");

	return type ? arena_dup(&l->arena, str_of(type)) : "?";
}

/* `dispatch signoff/1 signoff/2, effect push` */
static void verify_history_add_events(struct history_listing *l, struct str events)
{
	static const char *const details[] = {"action", "effect", "key"};
	const char *last = "";

	for (json *e; (e = store_next_event(&events, "")); json_free(&e)) {
		const char *type = verify_history_type_of(l, e);

		if (strcmp(type, last) != 0)
			buf_addf(l->out, "%s%s", *last ? ", " : "  ", type);
		last = type;
		for (size_t i = 0; i < COUNT(details); i++) {
			const char *detail = json_get_str(e, details[i]);

			if (detail)
				buf_addf(l->out, " %s", short_id(l, detail));
		}
	}
}

static const char *state_text(struct history_listing *l, const struct history_row *r)
{
	if (r->broken)
		return "(broken)";
	if (!r->to)
		return r->changed ? "(gone)" : "-";
	if (!r->from || strcmp(r->from, r->to) == 0)
		return r->to;
	return arena_printf(&l->arena, "%s -> %s", r->from, r->to);
}

static void verify_history_add_line(struct history_listing *l, const struct history_row *r)
{
	char rev[24] = "now", change[48] = "";

	if (r->rev)
		(void)snprintf(rev, sizeof(rev), "%lld", (long long)r->rev);
	if (r->changed)
		(void)snprintf(change, sizeof(change), "+%zu -%zu", r->added, r->removed);
	buf_addf(l->out, "%c%6s  %-20s  %-12s  %-28s  %-30s  %8s", r->hand ? '!' : ' ', rev,
		r->ts ? r->ts : "", r->who ? r->who : "-", r->op ? r->op : "-", state_text(l, r),
		change);
	verify_history_add_events(l, r->events);
	while (l->out->s[l->out->len - 1] == ' ')
		l->out->s[--l->out->len] = '\0';
	buf_addc(l->out, '\n');
}

static void add_json(struct history_listing *l, const struct history_row *r, const json *note)
{
	const char *op = json_get_str(note, "op");
	json *types = json_array(), *j;
	struct str events = r->events;

	for (json *e; (e = store_next_event(&events, "")); json_free(&e))
		json_push_str(types, str_of(verify_history_type_of(l, e)));
	j = JSON_OBJECT(JSON_IF(r->rev, JSON_INT("rev", r->rev)),
		JSON_IF(r->ts, JSON_TEXT("ts", r->ts)), JSON_IF(r->who, JSON_TEXT("who", r->who)),
		JSON_IF(op, JSON_TEXT("op", op)), JSON_IF(r->op, JSON_TEXT("does", r->op)),
		JSON_BOOL("hand", r->hand), JSON_IF(r->from, JSON_TEXT("from", r->from)),
		JSON_IF(r->to, JSON_TEXT("to", r->to)),
		JSON_IF(r->broken, JSON_TEXT("broken", r->broken)),
		JSON_IF(r->changed, JSON_INT("added", r->added)),
		JSON_IF(r->changed, JSON_INT("removed", r->removed)),
		JSON_IF(r->changed, JSON_INT("bytes", r->bytes)), JSON_VALUE("events", types));
	json_print_line(l->out, j);
}

/* The next command that writes will take it into the history. */
static int add_now(struct history_listing *l, bool as_json, struct error *err)
{
	CLEANUP(buf_release) struct buf now = BUF_INIT;
	struct history *p = &l->history;
	struct history_row r = {.who = HAND, .op = "not in the history yet", .hand = true};
	bool missing;

	if (context_read(store_backend(), p->place->path, &now, &missing, err) < 0)
		return -1;
	if (missing != p->there && str_eq(buf_str(&now), buf_str(&p->document)))
		return 0;
	set_change(l, &r, buf_str(&p->document), buf_str(&now), !missing);
	if (as_json)
		add_json(l, &r, NULL);
	else
		verify_history_add_line(l, &r);
	return 0;
}

/* *from: the first of the last `last` commits. */
static int verify_history_find_last(
	const struct history_place *place, int64_t last, int64_t *from, struct error *err)
{
	CLEANUP(history_close) struct history p = {0};
	int rc;

	if (history_open(&p, place, &(struct store_range){.backwards = true}, err) < 0)
		return -1;
	for (*from = 0; last > 0; last--) {
		if ((rc = history_next(&p, err)) <= 0)
			return rc;
		*from = p.commit.rev;
	}
	return 0;
}

/* The document before the first row. */
static int read_before(struct history_listing *l, int64_t from, struct error *err)
{
	CLEANUP(history_close) struct history p = {0};
	const char *broken;
	int rc = from > 1 ? find_change(&p, l->history.place, from - 1, err) : 0;

	l->history.there = p.there;
	buf_add(&l->history.document, buf_str(&p.document));
	l->state = p.there ? verify_history_state_of(l, buf_str(&p.document), &broken) : NULL;
	return rc < 0 ? -1 : 0;
}

int history_list(const struct history_place *place, int64_t last, bool as_json, struct buf *out,
	struct error *err)
{
	CLEANUP(listing_close) struct history_listing l = {.out = out};
	struct store_range range = {.texts = true};
	int rc;

	if ((last && verify_history_find_last(place, last, &range.from, err) < 0) ||
		history_open(&l.history, place, &range, err) < 0 ||
		read_before(&l, range.from, err) < 0)
		return -1;
	while ((rc = history_next(&l.history, err)) > 0) {
		struct history_row r = row_of(&l);

		if (as_json)
			add_json(&l, &r, l.history.commit.note);
		else
			verify_history_add_line(&l, &r);
	}
	return rc < 0 ? -1 : add_now(&l, as_json, err);
}
