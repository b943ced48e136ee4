#include "src/sys/path.h"
#include "src/verify/replay_internal.h"

#define JOURNAL_MAX ((size_t)1 << 30)

bool journal_next_region(struct str *rest, struct str *region)
{
	struct str all = *rest;
	const char *nl;

	while (all.n && (nl = memchr(all.p, '\n', all.n)) != NULL) {
		bool commit = str_starts(all, "{\"commit\":");

		all = str_sub(all, (size_t)(nl - all.p) + 1, all.n);
		if (!commit)
			continue;
		*region = str_sub(*rest, 0, rest->n - all.n);
		*rest = all;
		return true;
	}
	return false;
}

void journal_region_events(struct str region, struct buf *out)
{
	struct str line;

	while (str_line(&region, &line)) {
		if (!str_starts(line, "{\"seq\":"))
			continue;
		buf_add(out, line);
		buf_addc(out, '\n');
	}
}

static void commit_clear(struct recorded_commit *c)
{
	json_free(&c->note);
	json_free(&c->events);
	buf_clear(&c->document);
}

int recorded_open(
	struct recorded_operations *o, const struct history_place *place, struct error *err)
{
	struct arena a = {0};
	int rc;

	*o = (struct recorded_operations){0};
	if (history_open(&o->history, place, err) < 0)
		return -1;
	rc = sys_read_file(&o->journal,
		arena_printf(&a, "%s/%s.events.jsonl", place->dir, place->name), JOURNAL_MAX, NULL,
		err);
	arena_release(&a);
	return rc;
}

void recorded_close(struct recorded_operations *o)
{
	for (size_t i = 0; i < o->now.cap; i++) {
		commit_clear(&o->now.list[i]);
		buf_release(&o->now.list[i].document);
	}
	free(o->now.list);
	buf_release(&o->now.before);
	buf_release(&o->journal);
	history_close(&o->history);
}

static struct recorded_commit *commit_new(struct recorded_operation *op)
{
	if (op->n == op->cap) {
		size_t cap = op->cap ? op->cap * 2 : 4;

		op->list = xrealloc(op->list, cap * sizeof(*op->list));
		memset(op->list + op->cap, 0, (cap - op->cap) * sizeof(*op->list));
		op->cap = cap;
	}
	commit_clear(&op->list[op->n]);
	return &op->list[op->n++];
}

static const char *op_of(const json *note)
{
	const char *op = json_get_str(note, "op");

	return op ? op : "";
}

static void copy(struct recorded_operations *o, struct recorded_commit *c)
{
	const struct history *h = &o->history;
	struct str rest = str_sub(buf_str(&o->journal), h->commit.at, o->journal.len), region;

	c->rev = h->commit.rev;
	c->from = h->commit.at;
	c->to = journal_next_region(&rest, &region) ? c->from + region.n : o->journal.len;
	c->note = h->commit.note ? json_copy(h->commit.note) : NULL;
	c->events = h->commit.events ? json_copy(h->commit.events) : NULL;
	(void)snprintf(c->ts, sizeof(c->ts), "%s", h->commit.ts ? h->commit.ts : "");
	c->op = op_of(c->note);
	c->part = json_get_int(c->note, "part", 1);
	c->changed = h->changed;
	(void)snprintf(c->key, sizeof(c->key), "%s", h->changed ? h->commit.document_key : "");
	c->there = h->there;
	buf_add(&c->document, buf_str(&h->document));
}

/* Skips the events of before the first commit, which nothing was kept with. */
static int look_ahead(struct recorded_operations *o, struct error *err)
{
	int rc = 1;

	while (!o->ahead && (rc = history_next(&o->history, err)) > 0) {
		o->events += json_len(o->history.commit.events);
		o->ahead = o->history.commit.rev > 0;
		o->old += o->ahead ? 0 : json_len(o->history.commit.events);
		o->commits += o->ahead;
	}
	return rc;
}

int recorded_next(struct recorded_operations *o, struct error *err)
{
	struct recorded_operation *op = &o->now;
	const struct store_commit *next = &o->history.commit;
	int rc = look_ahead(o, err);

	if (rc <= 0)
		return rc;
	op->n = 0;
	buf_clear(&op->before);
	buf_add(&op->before,
		buf_str(o->history.changed ? &o->history.before : &o->history.document));
	do {
		copy(o, commit_new(op));
		o->ahead = false;
		rc = look_ahead(o, err);
	} while (rc > 0 && json_get_int(next->note, "part", 1) == recorded_last(op)->part + 1 &&
		 strcmp(op_of(next->note), recorded_last(op)->op) == 0);
	return rc < 0 ? -1 : 1;
}
