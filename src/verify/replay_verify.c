#include "src/store/file/delta.h"
#include "src/verify/memory_disk.h"
#include "src/verify/replay_internal.h"

enum { SHOWN_MAX = 300 };

struct verification {
	struct arena *arena;
	struct replay_result *v;
	struct recorded_operations ops;
	struct replay redo;
	struct buf result;             /* what the journal on the disk has gained */
	struct buf document;           /* as the commit under comparison left it on the disk */
	struct buf recorded, replayed; /* events of one commit */
};

static void verification_close(struct verification *p)
{
	recorded_close(&p->ops);
	replay_close(&p->redo);
	buf_release(&p->result);
	buf_release(&p->document);
	buf_release(&p->recorded);
	buf_release(&p->replayed);
}

static void take(struct verification *p, const struct recorded_operation *op)
{
	struct replay_result *v = p->v;
	const char *name = *op->list[0].op ? op->list[0].op : "unknown";
	size_t i = 0;

	while (i < v->n_taken && strcmp(v->taken[i].op, name) != 0)
		i++;
	if (i == REPLAY_KEPT_KINDS)
		i--;
	else if (i == v->n_taken)
		v->taken[v->n_taken++].op = arena_dup(p->arena, str_of(name));
	v->taken[i].n += op->n;
}

/* A line for people: short, and nothing that a terminal would take for a command. */
static const char *shown(struct verification *p, struct str line)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	buf_add(&text, str_sub(line, 0, line.n < SHOWN_MAX ? line.n : SHOWN_MAX));
	if (line.n > SHOWN_MAX)
		buf_adds(&text, "...");
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.s[i] < ' ' || text.s[i] == 127)
			text.s[i] = '?';
	buf_utf8_repair(&text);
	return arena_dup(p->arena, buf_str(&text));
}

static void differs(struct verification *p, const struct recorded_commit *c, const char *what,
	struct str recorded, struct str replayed)
{
	struct replay_difference *d = &p->v->first;
	const char *by = json_get_str(c->note, "by");
	struct str a, b;

	if (p->v->differ++)
		return;
	*d = (struct replay_difference){.rev = c->rev,
		.op = arena_dup(p->arena, str_of(c->op)),
		.what = arena_dup(p->arena, str_of(what))};
	if (by && strcmp(by, DEV_TEAM_VERSION) != 0)
		d->by = arena_dup(p->arena, str_of(by));
	d->line = history_diff_first(recorded, replayed, &a, &b);
	d->recorded = shown(p, a);
	d->replayed = shown(p, b);
}

/* 1: the commit in `region` changed the document, which p->document is now. */
static int apply(struct verification *p, struct str region)
{
	CLEANUP(json_free) json *change = NULL;
	struct buf text = BUF_INIT;
	struct error ignored;
	struct str line;

	while (str_line(&region, &line))
		if (str_starts(line, "{\"change\":"))
			break;
		else
			line.n = 0;
	if (!line.n || json_parse(&change, line, &ignored) < 0)
		return 0;
	if (json_is_array(json_get(change, "delta")))
		(void)delta_apply(
			json_get(change, "delta"), buf_str(&p->document), &text, &ignored);
	buf_release(&p->document);
	p->document = text;
	return 1;
}

static bool same_events(struct verification *p, struct str recorded, struct str replayed)
{
	buf_clear(&p->recorded);
	buf_clear(&p->replayed);
	journal_region_events(recorded, &p->recorded);
	journal_region_events(replayed, &p->replayed);
	return str_eq(buf_str(&p->recorded), buf_str(&p->replayed));
}

static void compare_one(
	struct verification *p, const struct recorded_commit *c, struct str replayed)
{
	struct str recorded = str_sub(buf_str(&p->ops.journal), c->from, c->to);
	bool changed = apply(p, replayed) > 0;

	if (!str_eq(buf_str(&p->document), buf_str(&c->document)))
		differs(p, c, "document", buf_str(&c->document), buf_str(&p->document));
	else if (changed != c->changed)
		differs(p, c, changed ? "it was saved" : "it was not saved", (struct str){0},
			(struct str){0});
	else if (!same_events(p, recorded, replayed))
		differs(p, c, "events", buf_str(&p->recorded), buf_str(&p->replayed));
}

/* What more was saved than recorded does not count: the process was killed there. */
static void compare(struct verification *p, const struct recorded_operation *op)
{
	struct str rest = buf_str(&p->result), region;

	buf_clear(&p->document);
	buf_add(&p->document, buf_str(&op->before));
	for (size_t i = 0; i < op->n; i++) {
		if (journal_next_region(&rest, &region))
			compare_one(p, &op->list[i], region);
		else
			differs(p, &op->list[i],
				p->redo.err.code ? p->redo.err.text : "nothing was saved",
				(struct str){0}, (struct str){0});
	}
}

/* Byte for byte the same journal, and so the same documents: the sums are in it. */
static bool is_same(struct verification *p, const struct recorded_operation *op)
{
	const struct recorded_commit *last = recorded_last(op);
	size_t from = op->list[0].from;
	bool there;

	if (!str_eq(buf_str(&p->result), str_sub(buf_str(&p->ops.journal), from, last->to)))
		return false;
	buf_clear(&p->document);
	there = memory_disk_get(p->redo.disk, p->redo.path, &p->document);
	return there == last->there && str_eq(buf_str(&p->document), buf_str(&last->document));
}

/* It is an input; but that the store finds it and tells it is proved too. */
static bool is_by_hand(const struct recorded_operation *op)
{
	return strcmp(op->list[0].op, "edit") == 0 || strcmp(op->list[0].op, "removed") == 0;
}

static int prove(struct verification *p, struct error *err)
{
	const struct recorded_operation *op = &p->ops.now;
	struct str journal = buf_str(&p->ops.journal);
	int rc = replay_run(&p->redo, journal, op, err);

	if (rc > 0)
		rc = replay_written(&p->redo, &p->result, err) < 0 ? -1 : 1;
	if (rc < 0)
		return -1;
	if (rc == 0) {
		take(p, op);
		return replay_adopt(&p->redo, journal, op, err);
	}
	if (is_by_hand(op))
		take(p, op);
	else
		p->v->redone += op->n;
	if (is_same(p, op)) {
		p->redo.at = recorded_last(op)->to;
		return 0;
	}
	compare(p, op);
	return replay_adopt(&p->redo, journal, op, err);
}

int replay_verify(struct arena *a, const struct history_place *place, struct replay_result *v,
	struct error *err)
{
	CLEANUP(verification_close) struct verification p = {.arena = a, .v = v};
	int rc;

	*v = (struct replay_result){.place = place};
	replay_init(&p.redo, place);
	if (recorded_open(&p.ops, place, err) < 0)
		return -1;
	while ((rc = recorded_next(&p.ops, err)) > 0)
		if (prove(&p, err) < 0)
			return -1;
	v->commits = p.ops.commits;
	v->events = p.ops.events;
	v->old = p.ops.old;
	return rc;
}

/* ---- report ---- */

static const char *taken_name(const char *op)
{
	static const char *const names[][2] = {
		{"edit", "edited by hand"},
		{"removed", "removed by hand"},
		{"import", "taken over without a journal"},
		{"fork", "the beginning of a fork"},
		{"record", "answers that changed nothing"},
		{"exec", "calls of exec that renewed a lease"},
	};

	for (size_t i = 0; i < COUNT(names); i++)
		if (strcmp(names[i][0], op) == 0)
			return names[i][1];
	return op;
}

static void tell_first(const struct replay_result *v, struct buf *out)
{
	const struct replay_difference *d = &v->first;

	buf_addf(out, "revision %lld (%s)", (long long)d->rev, *d->op ? d->op : "unknown");
	if (d->line)
		buf_addf(out, ", line %zu of the %s:\n  recorded: %s\n  replayed: %s\n", d->line,
			d->what, d->recorded, d->replayed);
	else
		buf_addf(out, ": %s\n", d->what);
	if (d->by)
		buf_addf(out, "  it was written by version %s, this is %s\n", d->by,
			DEV_TEAM_VERSION);
}

static void tell_json(const struct replay_result *v, struct buf *out)
{
	CLEANUP(json_free) json *j = json_object();
	json *taken = json_object(), *first = json_object();
	const struct replay_difference *d = &v->first;

	json_put_str(j, "file", str_of(v->place->path));
	json_put_bool(j, "same", !v->differ);
	json_put_int(j, "commits", (int64_t)v->commits);
	json_put_int(j, "events", (int64_t)v->events);
	json_put_int(j, "old_events", (int64_t)v->old);
	json_put_int(j, "replayed", (int64_t)v->redone);
	for (size_t i = 0; i < v->n_taken; i++)
		json_put_int(taken, v->taken[i].op, (int64_t)v->taken[i].n);
	json_put(j, "taken", taken);
	json_put_int(j, "differ", (int64_t)v->differ);
	if (v->differ) {
		json_put_int(first, "rev", d->rev);
		json_put_str(first, "op", str_of(d->op));
		json_put_str(first, "what", str_of(d->what));
	}
	if (d->line) {
		json_put_int(first, "line", (int64_t)d->line);
		json_put_str(first, "recorded", str_of(d->recorded));
		json_put_str(first, "replayed", str_of(d->replayed));
	}
	if (d->by)
		json_put_str(first, "by", str_of(d->by));
	json_put(j, "first", first);
	json_print(out, j);
	buf_addc(out, '\n');
}

void replay_report(const struct replay_result *v, bool as_json, struct buf *out)
{
	if (as_json) {
		tell_json(v, out);
		return;
	}
	buf_addf(out, "%s: %zu commits, %zu events; %zu replayed, %zu differ\n", v->place->path,
		v->commits, v->events, v->redone, v->differ);
	if (v->old)
		buf_addf(out, "taken as they are: %zu, events of format 1\n", v->old);
	for (size_t i = 0; i < v->n_taken; i++)
		buf_addf(out, "taken as they are: %zu, %s\n", v->taken[i].n,
			taken_name(v->taken[i].op));
	if (v->differ)
		tell_first(v, out);
}
