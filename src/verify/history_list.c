#include "context/context.h"
#include "src/base/json.h"
#include "src/sys/path.h"
#include "src/verify/history.h"

#define HAND "hand" /* the actor of what people did to the file */

struct history_listing {
	struct history history;
	struct arena arena;
	const char *state; /* as the present commit left it; NULL: there is no document */
	struct buf *out;
};

/* One line of the list, from a commit or from the file as it is. */
struct history_row {
	int64_t rev; /* 0: `now`, or what was before the first commit */
	const char *ts, *who, *op;
	const char *from, *to; /* states; NULL: none */
	const char *broken;    /* why the document cannot be read; NULL: it can */
	bool hand, changed;
	size_t added, removed, bytes;
	const json *events;
};

static void listing_close(struct history_listing *l)
{
	history_close(&l->history);
	arena_release(&l->arena);
}

/* Less the work item's own name, which stands in front of every id. */
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
static const char *state_of(struct history_listing *l, struct str text, const char **broken)
{
	struct context doc = {0};
	struct error err;
	char line[sizeof(err.file) + sizeof(err.text) + 64];
	const char *state = NULL;

	*broken = NULL;
	if (context_parse(&doc, l->history.place->path, text, &err) == 0) {
		state = arena_dup(&l->arena, context_get(&doc, "state"));
	} else {
		error_format(&err, line, sizeof(line));
		*broken = arena_dup(&l->arena, str_of(line));
	}
	context_release(&doc);
	return state;
}

static void set_change(struct history_listing *l, struct history_row *r, struct str from,
	struct str to, bool there)
{
	r->changed = true;
	r->from = l->state;
	r->to = there ? state_of(l, to, &r->broken) : NULL;
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
	r.op = !c->rev ? "before the first commit" : op ? op_text(l, c->note, op) : NULL;
	r.from = r.to = l->state;
	if (p->changed)
		set_change(l, &r, buf_str(&p->before), buf_str(&p->document), p->there);
	return r;
}

/* `dispatch signoff/1 signoff/2, effect push` */
static void add_events(struct history_listing *l, const json *events)
{
	static const char *const details[] = {"action", "effect", "key"};
	const char *last = "";

	for (const json *e = json_first(events); e; e = json_next(e)) {
		const char *type = json_get_str(e, "type");

		type = type ? type : "?";
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

static void add_line(struct history_listing *l, const struct history_row *r)
{
	char rev[24] = "now", change[48] = "";

	if (r->rev || !r->changed)
		(void)snprintf(rev, sizeof(rev), "%lld", (long long)r->rev);
	if (r->changed)
		(void)snprintf(change, sizeof(change), "+%zu -%zu", r->added, r->removed);
	buf_addf(l->out, "%c%6s  %-20s  %-12s  %-28s  %-30s  %8s", r->hand ? '!' : ' ', rev,
		r->ts ? r->ts : "", r->who ? r->who : "-", r->op ? r->op : "-", state_text(l, r),
		change);
	add_events(l, r->events);
	while (l->out->s[l->out->len - 1] == ' ')
		l->out->s[--l->out->len] = '\0';
	buf_addc(l->out, '\n');
}

static void put_text(json *j, const char *key, const char *text)
{
	if (text && !str_utf8_fault(str_of(text)))
		json_put_str(j, key, str_of(text));
}

static void put_change(json *j, const struct history_row *r)
{
	put_text(j, "from", r->from);
	put_text(j, "to", r->to);
	put_text(j, "broken", r->broken);
	if (!r->changed)
		return;
	json_put_int(j, "added", (int64_t)r->added);
	json_put_int(j, "removed", (int64_t)r->removed);
	json_put_int(j, "bytes", (int64_t)r->bytes);
}

static void add_json(struct history_listing *l, const struct history_row *r, const json *note)
{
	CLEANUP(json_free) json *j = json_object();
	json *types = json_array();

	if (r->rev || !r->changed)
		json_put_int(j, "rev", r->rev);
	put_text(j, "ts", r->ts);
	put_text(j, "who", r->who);
	put_text(j, "op", json_get_str(note, "op"));
	put_text(j, "does", r->op);
	json_put_bool(j, "hand", r->hand);
	put_change(j, r);
	for (const json *e = json_first(r->events); e; e = json_next(e))
		json_push_str(
			types, str_of(json_get_str(e, "type") ? json_get_str(e, "type") : "?"));
	json_put(j, "events", types);
	json_print(l->out, j);
	buf_addc(l->out, '\n');
}

/* The next command that writes will take it into the history. */
static int add_now(struct history_listing *l, bool as_json, struct error *err)
{
	CLEANUP(buf_release) struct buf now = BUF_INIT;
	struct history *p = &l->history;
	struct history_row r = {.who = HAND, .op = "not in the history yet", .hand = true};
	bool there;

	if (history_now(p->place, &now, &there, err) < 0)
		return -1;
	if (there == p->there && str_eq(buf_str(&now), buf_str(&p->document)))
		return 0;
	set_change(l, &r, buf_str(&p->document), buf_str(&now), there);
	if (as_json)
		add_json(l, &r, NULL);
	else
		add_line(l, &r);
	return 0;
}

int history_list(
	const struct history_place *place, bool as_json, struct buf *out, struct error *err)
{
	CLEANUP(listing_close) struct history_listing l = {.out = out};
	int rc;

	if (history_open(&l.history, place, err) < 0)
		return -1;
	while ((rc = history_next(&l.history, err)) > 0) {
		struct history_row r = row_of(&l);

		if (as_json)
			add_json(&l, &r, l.history.commit.note);
		else
			add_line(&l, &r);
	}
	return rc < 0 ? -1 : add_now(&l, as_json, err);
}
