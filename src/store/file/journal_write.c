/*
 * journal_write.c: one commit. Documents are staged first; then the transaction's lines are
 * appended, and their sync is the commit point; then the documents are renamed into place.
 */
#include "src/base/clock.h"
#include "src/store/file/internal.h"

/* ---- the plan ---- */

void plan_expired_keys(
	struct commit_plan *p, struct arena *a, const struct file_store *f, uint64_t lease)
{
	for (size_t i = 0; i < f->state.keys.n; i++) {
		const struct state_entry *e = &f->state.keys.items[i];

		/* Copied: the state's own key is freed while the lines are printed. */
		if (e->lease == lease)
			vec_push_in(a, &p->changes,
				(struct planned_change){
					.key = arena_dup(a, str_of(e->key)), .del = true});
	}
}

/* Also shortens leases that a clock which was set back would make too long. */
void plan_begin(struct commit_plan *p, struct arena *a, const struct file_store *f)
{
	p->now = clock_now();
	for (size_t i = 0; i < f->state.leases.n; i++) {
		struct state_lease l = f->state.leases.items[i];
		int64_t until = state_lease_end(&l, p->now);

		if (until == l.until && state_lease_alive(&l, p->now))
			continue;
		if (!state_lease_alive(&l, p->now)) {
			plan_expired_keys(p, a, f, l.id);
			l.ttl = 0;
		}
		l.until = until;
		vec_push_in(a, &p->leases, l);
	}
}

void plan_lease(struct commit_plan *p, struct arena *a, struct state_lease l)
{
	for (size_t i = 0; i < p->leases.n; i++) {
		if (p->leases.items[i].id == l.id && p->leases.items[i].ttl) {
			p->leases.items[i] = l;
			return;
		}
	}
	vec_push_in(a, &p->leases, l);
}

/* ---- lines: events and changes of documents ---- */

static int64_t offset(const struct file_store *f, const struct buf *out)
{
	return f->end + f->shift + (int64_t)out->len;
}

static void print_event(
	struct buf *out, const json *event, int64_t seq, int64_t rev, const char *ts)
{
	size_t at;

	buf_addf(out, "{\"seq\":%lld,\"rev\":%lld,", (long long)seq, (long long)rev);
	if (!json_get(event, "ts"))
		buf_addf(out, "\"ts\":\"%s\",", ts);
	at = out->len;
	json_print(out, event);
	memmove(out->s + at, out->s + at + 1, out->len - at); /* the object's own brace */
	out->len--;
	if (out->len == at + 1) { /* an object without members */
		out->s[at - 1] = '}';
		out->len--;
	}
	buf_addc(out, '\n');
}

static void begin_change(struct file_store *f, const struct state_entry *e, struct buf *out)
{
	buf_addf(out, FILE_CHANGE "%lld,\"key\":", (long long)f->state.rev);
	json_print_text(out, str_of(e->key));
	if (e->sum[0])
		buf_addf(out, ",\"from\":\"%s\"", e->sum);
}

/* A rebuild reads everything since the last whole text, so that must not grow without bound. */
static bool wants_whole(const struct state_entry *e, const struct planned_change *c)
{
	int64_t most = 4 * (int64_t)c->value.n;

	return !e->sum[0] || !c->delta || !c->delta->n ||
	       e->since > (most > FILE_WHOLE ? most : FILE_WHOLE);
}

static void print_text(struct file_store *f, struct state_entry *e, struct str text,
	const struct delta *delta, struct buf *out)
{
	static const struct delta nothing;
	int64_t at = offset(f, out);

	begin_change(f, e, out);
	memcpy(e->before, e->sum, sizeof(e->before));
	digest_text(text, e->sum);
	buf_addf(out, ",\"to\":\"%s\",\"delta\":", e->sum);
	delta_print(out, delta ? delta : &nothing, text);
	buf_adds(out, "}\n");
	e->since = delta ? e->since + (offset(f, out) - at) : 0;
	e->whole = delta ? e->whole : at;
}

/* The caller's delta is checked if the text before is known: a wrong one would be found only when
 * the history is read. */
static const struct delta *delta_of(const struct planned_change *c, struct delta *own)
{
	if (!c->before)
		return c->delta;
	if (c->delta && delta_holds(c->delta, buf_str(c->before), c->value))
		return c->delta;
	delta_between(own, buf_str(c->before), c->value);
	return own;
}

static void print_change(
	struct file_store *f, const struct planned_change *c, bool by_hand, struct buf *out)
{
	CLEANUP(delta_release) struct delta own = {0};
	struct state_entry *e = state_find(&f->state, c->key);
	struct planned_change with_delta = *c;

	if (c->del) {
		if (!e)
			return;
		begin_change(f, e, out);
		buf_adds(out, "}\n");
		return;
	}
	e = e ? e : state_put(&f->state, c->key, (struct str){0});
	e->document = true;
	if (!by_hand)
		e->slot = c->slot;
	with_delta.delta = delta_of(c, &own);
	print_text(f, e, c->value, wants_whole(e, &with_delta) ? NULL : with_delta.delta, out);
}

/* Every document as a whole text, so that no earlier line is needed. They do not change. */
static int print_all_documents(struct file_store *f, struct buf *out, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	for (size_t i = 0; i < f->state.keys.n; i++) {
		struct state_entry *e = &f->state.keys.items[i];
		char before[DIGEST_TEXT];

		if (!e->document)
			continue;
		if (document_rebuild(f, e, &text, err) < 0)
			return -1;
		memcpy(before, e->before, sizeof(before));
		print_text(f, e, buf_str(&text), NULL, out);
		memcpy(e->before, before, sizeof(before));
	}
	return 0;
}

/* ---- lines: the commit ---- */

/* Opens a member before its first item, puts a comma before the others. */
static void begin_item(struct buf *out, bool *open, const char *begin)
{
	buf_adds(out, *open ? "," : begin);
	*open = true;
}

static void close_member(struct buf *out, bool open, char bracket)
{
	if (open)
		buf_addc(out, bracket);
}

static void print_gone(const struct file_store *f, const struct commit_plan *p, struct buf *out)
{
	bool open = false;

	for (size_t i = 0; i < p->changes.n && !p->external; i++) {
		const struct planned_change *c = &p->changes.items[i];
		const struct state_entry *e =
			c->del && key_is_document(c->key) ? state_find(&f->state, c->key) : NULL;

		if (!e)
			continue;
		begin_item(out, &open, ",\"gone\":{");
		json_print_text(out, str_of(c->key));
		buf_addf(out, ":\"%s\"", e->sum);
	}
	close_member(out, open, '}');
}

static void print_deleted(struct file_store *f, const struct commit_plan *p, struct buf *out)
{
	bool open = false;

	for (size_t i = 0; i < p->changes.n; i++) {
		const struct planned_change *c = &p->changes.items[i];

		if (!c->del || !state_find(&f->state, c->key))
			continue;
		begin_item(out, &open, ",\"del\":[");
		json_print_text(out, str_of(c->key));
		state_delete(&f->state, c->key);
	}
	close_member(out, open, ']');
}

static void stamp(struct file_store *f, struct state_entry *e)
{
	e->mod = f->state.rev;
	e->create = e->create ? e->create : e->mod;
}

static void print_put(struct file_store *f, const struct commit_plan *p, struct buf *out)
{
	bool open = false;

	for (size_t i = 0; i < p->changes.n; i++) {
		const struct planned_change *c = &p->changes.items[i];
		struct state_entry *e;

		if (c->del || key_is_document(c->key))
			continue;
		e = state_put(&f->state, c->key, c->value.p ? c->value : STR(""));
		e->lease = c->lease;
		stamp(f, e);
		begin_item(out, &open, ",\"put\":{");
		state_print_entry(out, e);
	}
	close_member(out, open, '}');
}

static void print_documents(struct file_store *f, const struct commit_plan *p, struct buf *out)
{
	bool open = false;

	for (size_t i = 0; i < p->changes.n; i++) {
		const struct planned_change *c = &p->changes.items[i];
		struct state_entry *e =
			c->del || !key_is_document(c->key) ? NULL : state_find(&f->state, c->key);

		if (!e)
			continue;
		stamp(f, e);
		begin_item(out, &open, ",\"doc\":{");
		state_print_entry(out, e);
	}
	close_member(out, open, '}');
}

static void print_leases(struct file_store *f, const struct commit_plan *p, struct buf *out)
{
	bool open = false;

	for (size_t i = 0; i < p->leases.n; i++) {
		const struct state_lease *l = &p->leases.items[i];

		state_set_lease(&f->state, *l);
		if (!l->ttl)
			continue;
		begin_item(out, &open, ",\"lease\":{");
		state_print_lease(out, l);
	}
	close_member(out, open, '}');
	open = false;
	for (size_t i = 0; i < p->leases.n; i++) {
		if (p->leases.items[i].ttl)
			continue;
		begin_item(out, &open, ",\"over\":[");
		buf_addf(out, "\"%llu\"", (unsigned long long)p->leases.items[i].id);
	}
	close_member(out, open, ']');
}

static void print_head(
	struct file_store *f, const struct commit_plan *p, const char *ts, struct buf *out)
{
	struct store_state *s = &f->state;
	int64_t at = offset(f, out);

	buf_addf(out, FILE_COMMIT "%lld,\"format\":%d,\"ts\":\"%s\"", (long long)s->rev,
		FILE_FORMAT, ts);
	if (p->actor) {
		buf_adds(out, ",\"actor\":");
		json_print_text(out, str_of(p->actor));
	}
	buf_addf(out, ",\"seq\":%lld,\"from\":%lld,\"at\":%lld", (long long)s->seq,
		(long long)(f->end + f->shift), (long long)at);
}

/* An open reads from the last line with the whole state ("base"). */
static void print_base(struct file_store *f, bool all, int64_t at, struct buf *out)
{
	struct store_state *s = &f->state;
	/* After a long one, as much again: otherwise every commit would write the whole state. */
	int64_t most = 2 * s->base_size > FILE_DUMP ? 2 * s->base_size : FILE_DUMP;

	if (all || offset(f, out) - s->base > most) {
		s->base = at;
		s->base_rev = s->rev;
		buf_addc(out, ',');
		state_print(out, s);
	}
	buf_addf(out, ",\"base\":%lld", (long long)s->base);
}

static void print_line(
	struct file_store *f, const struct commit_plan *p, const char *ts, struct buf *out)
{
	int64_t at = offset(f, out);
	size_t begin = out->len;

	print_head(f, p, ts, out);
	print_gone(f, p, out);
	print_deleted(f, p, out);
	print_put(f, p, out);
	print_documents(f, p, out);
	print_leases(f, p, out);
	print_base(f, p->full || !f->committed, at, out);
	if (f->state.base == at)
		f->state.base_size = (int64_t)(out->len - begin);
	if (p->note) { /* last: an open skips it, see parse_commit() */
		buf_adds(out, ",\"note\":");
		json_print(out, p->note);
	}
}

/* Adds the lines of the next commit to *out and applies the plan to the state. */
static int print_lines(struct file_store *f, const struct commit_plan *p, struct buf *out,
	char sum[DIGEST_TEXT], struct error *err)
{
	char now[CLOCK_TEXT];
	const char *ts = p->ts ? p->ts : now;

	clock_text(clock_now(), now);
	if (!f->committed)
		buf_adds(out, FILE_HEADER "}\n");
	f->state.rev++;
	for (const json *e = json_first(p->events); e; e = json_next(e))
		print_event(out, e, ++f->state.seq, f->state.rev, ts);
	if (p->full && print_all_documents(f, out, err) < 0)
		return -1;
	for (size_t i = 0; i < p->changes.n; i++)
		if (key_is_document(p->changes.items[i].key))
			print_change(f, &p->changes.items[i], p->external, out);
	print_line(f, p, ts, out);
	digest_text(buf_str(out), sum);
	buf_addf(out, ",\"sum\":\"%s\"}\n", sum);
	return 0;
}

/* ---- documents ---- */

static bool is_placed(const struct commit_plan *p, const struct planned_change *c)
{
	return !p->external && key_is_document(c->key);
}

static void unstage(struct file_store *f, const struct commit_plan *p)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct error ignored;

	for (size_t i = 0; i < p->changes.n; i++)
		if (is_placed(p, &p->changes.items[i]) && !p->changes.items[i].del)
			(void)f->disk->ops->unlink(f->disk,
				document_staged_path(
					f, &a, p->changes.items[i].key, p->changes.items[i].slot),
				&ignored);
}

static void set_slots(const struct file_store *f, struct commit_plan *p)
{
	for (size_t i = 0; i < p->changes.n; i++) {
		const struct state_entry *e = state_find(&f->state, p->changes.items[i].key);

		p->changes.items[i].slot = e && e->document && !e->slot;
	}
}

/* The directory's sync also makes the rename of the previous commit durable. */
static int stage(struct file_store *f, const struct commit_plan *p, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	bool any = f->fresh;

	for (size_t i = 0; i < p->changes.n; i++) {
		const struct planned_change *c = &p->changes.items[i];

		if (!is_placed(p, c))
			continue;
		any = true;
		if (!c->del &&
			f->disk->ops->write(f->disk, document_staged_path(f, &a, c->key, c->slot),
				document_path(f, &a, c->key), c->value, err) < 0)
			return -1;
	}
	if (any && f->disk->ops->sync_folder(f->disk, f->dir, err) < 0)
		return -1;
	f->fresh = false;
	return 0;
}

/* A call that reports a failure may have taken effect. */
static bool in_place(struct file_store *f, const char *path, const char *sum)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error ignored;
	char is[DIGEST_TEXT];

	return document_read(f, path, &text, is, &ignored) == 0 && strcmp(is, sum) == 0;
}

static int place(struct file_store *f, const struct planned_change *c, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	const struct state_entry *e = state_find(&f->state, c->key);
	struct disk *d = f->disk;
	const char *path = document_path(f, &a, c->key),
		   *staged = document_staged_path(f, &a, c->key, c->slot);

	for (int tries = 0; tries < 2; tries++)
		if ((c->del ? d->ops->unlink(d, path, err)
			    : d->ops->rename(d, staged, path, err)) == 0)
			return c->del ? d->ops->sync_folder(d, f->dir, err) : 0;
	return in_place(f, path, e ? e->sum : "") ? 0 : -1;
}

/* ---- the commit ---- */

static int append(struct file_store *f, struct str lines, struct error *err)
{
	if (f->journal->ops->append(f->journal, lines, err) < 0)
		return -1;
	return f->journal->ops->sync(f->journal, err);
}

/* A write or sync failed: takes the appended lines back. If that fails too, the outcome is unknown.
 */
static enum store_status undo(struct file_store *f, const struct commit_plan *p, struct error *err)
{
	struct error why = *err, more;

	if (f->journal->ops->truncate(f->journal, f->end, &more) < 0 ||
		f->journal->ops->sync(f->journal, &more) < 0)
		return file_break(f, err);
	unstage(f, p);
	f->committed = false;
	if (file_load(f, err) < 0) {
		f->broken = *err;
		return STORE_DOWN;
	}
	*err = why;
	return STORE_DOWN;
}

static enum store_status finish(
	struct file_store *f, const struct commit_plan *p, struct error *err)
{
	for (size_t i = 0; i < p->changes.n; i++)
		if (is_placed(p, &p->changes.items[i]) && place(f, &p->changes.items[i], err) < 0)
			return file_break(f, err);
	return STORE_OK;
}

/*
 * The documents were compared before they were staged, which took some syncs. An edit since then
 * would be overwritten, so small documents are compared once more right before the commit.
 */
static int recheck_documents(struct file_store *f, struct commit_plan *p, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	for (size_t i = 0; i < p->changes.n && f->committed; i++) {
		const struct planned_change *c = &p->changes.items[i];
		const struct state_entry *e = state_find(&f->state, c->key);
		char is[DIGEST_TEXT];

		if (!is_placed(p, c) || c->value.n > FILE_RECHECK)
			continue;
		if (document_read(f, document_path(f, &a, c->key), &text, is, err) < 0)
			return -1;
		p->edited = p->edited || strcmp(is, e ? e->sum : "") != 0;
	}
	return 0;
}

enum store_status journal_commit(struct file_store *f, struct commit_plan *p, struct error *err)
{
	CLEANUP(buf_release) struct buf lines = BUF_INIT;
	char sum[DIGEST_TEXT];

	set_slots(f, p);
	if (stage(f, p, err) < 0 || recheck_documents(f, p, err) < 0) {
		unstage(f, p);
		return STORE_DOWN;
	}
	if (p->edited) {
		unstage(f, p);
		return STORE_REFUSED;
	}
	if (print_lines(f, p, &lines, sum, err) < 0 || append(f, buf_str(&lines), err) < 0)
		return undo(f, p, err);
	f->end += (int64_t)lines.len;
	f->committed = true;
	memcpy(f->sum, sum, sizeof(sum));
	return finish(f, p, err);
}
