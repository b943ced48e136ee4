/*
 * journal_write.c: one commit. Documents are staged first; then the transaction's lines are
 * appended, and their sync is the commit point; then the documents are renamed into place.
 */
#include "src/base/clock.h"
#include "src/store/file/internal.h"

/* ---- the plan ---- */

void commit_plan_begin(struct commit_plan *p, struct arena *a, const struct file_store *f)
{
	p->now = clock_now();
	for (size_t i = 0; i < f->state.keys.n; i++) {
		const struct state_entry *e = &f->state.keys.items[i];

		/* Copied: the state's own key is freed while the lines are written. */
		if (e->ttl && e->until <= p->now)
			vec_push_in(a, &p->changes,
				(struct planned_change){
					.key = arena_dup(a, str_of(e->key)), .del = true});
	}
}

/* ---- lines: events and changes of documents ---- */

static int64_t offset(const struct file_store *f, const struct buf *out)
{
	return f->end + f->shift + (int64_t)out->len;
}

static void journal_write_end_line(struct json_writer *w)
{
	json_write_close(w, '}');
	buf_addc(w->out, '\n');
}

static void write_event(
	struct buf *out, const json *event, int64_t seq, int64_t rev, const char *ts)
{
	struct json_writer w = {.out = out};

	json_write_open(&w, NULL, '{');
	json_write_int(&w, "seq", seq);
	json_write_int(&w, "rev", rev);
	if (!json_get(event, "ts"))
		json_write_str(&w, "ts", str_of(ts));
	for (const json *m = json_first(event); m; m = json_next(m))
		json_write(&w, json_key(m), m);
	journal_write_end_line(&w);
}

static void begin_change(
	const struct file_store *f, const struct state_entry *e, struct json_writer *w)
{
	json_write_open(w, NULL, '{');
	json_write_int(w, "change", f->state.rev);
	json_write_str(w, "key", str_of(e->key));
	if (e->sum[0])
		json_write_str(w, "from", str_of(e->sum));
}

/* A rebuild reads everything since the last whole text, so that must not grow without bound. */
static bool wants_whole(const struct state_entry *e, const struct planned_change *c)
{
	int64_t most = 4 * (int64_t)c->value.n;

	return !e->sum[0] || !c->delta || !c->delta->n ||
	       e->since > (most > FILE_WHOLE ? most : FILE_WHOLE);
}

static void write_text(struct file_store *f, struct state_entry *e, struct str text,
	const struct delta *delta, struct buf *out)
{
	static const struct delta nothing;
	struct json_writer w = {.out = out};
	int64_t at = offset(f, out);

	begin_change(f, e, &w);
	digest_text(text, e->sum);
	json_write_str(&w, "to", str_of(e->sum));
	delta_write(&w, "delta", delta ? delta : &nothing, text);
	journal_write_end_line(&w);
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

static void write_change(
	struct file_store *f, const struct planned_change *c, bool by_hand, struct buf *out)
{
	CLEANUP(delta_release) struct delta own = {0};
	struct state_entry *e = store_state_find(&f->state, c->key);
	struct planned_change with_delta = *c;
	struct json_writer w = {.out = out};

	if (c->del) {
		if (!e)
			return;
		begin_change(f, e, &w);
		journal_write_end_line(&w);
		return;
	}
	e = e ? e : store_state_put(&f->state, c->key, (struct str){0});
	e->document = true;
	if (!by_hand) {
		e->earlier = e->placed;
		e->placed = f->state.rev;
		memcpy(e->before, e->sum, sizeof(e->before));
	}
	with_delta.delta = delta_of(c, &own);
	write_text(f, e, c->value, wants_whole(e, &with_delta) ? NULL : with_delta.delta, out);
}

/* Every document as a whole text, so that no earlier line is needed. They do not change. */
static int write_all_documents(struct file_store *f, struct buf *out, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	for (size_t i = 0; i < f->state.keys.n; i++) {
		struct state_entry *e = &f->state.keys.items[i];

		if (!e->document)
			continue;
		if (store_document_rebuild(f, e, f->end, &text, err) < 0)
			return -1;
		write_text(f, e, buf_str(&text), NULL, out);
	}
	return 0;
}

/* ---- lines: the commit ---- */

/* An empty member is left out, so it is opened before its first item. */
static void open_member(struct json_writer *w, bool *open, const char *key, char bracket)
{
	if (!*open)
		json_write_open(w, key, bracket);
	*open = true;
}

static void close_member(struct json_writer *w, bool open, char bracket)
{
	if (open)
		json_write_close(w, bracket);
}

static void write_gone(
	const struct file_store *f, const struct commit_plan *p, struct json_writer *w)
{
	bool open = false;

	for (size_t i = 0; i < p->changes.n && !p->external; i++) {
		const struct planned_change *c = &p->changes.items[i];
		const struct state_entry *e = c->del && store_key_is_document(c->key)
						      ? store_state_find(&f->state, c->key)
						      : NULL;

		if (!e)
			continue;
		open_member(w, &open, "gone", '{');
		json_write_str(w, c->key, str_of(e->sum));
	}
	close_member(w, open, '}');
}

static void write_deleted(struct file_store *f, const struct commit_plan *p, struct json_writer *w)
{
	bool open = false;

	for (size_t i = 0; i < p->changes.n; i++) {
		const struct planned_change *c = &p->changes.items[i];

		if (!c->del || !store_state_find(&f->state, c->key))
			continue;
		open_member(w, &open, "del", '[');
		json_write_str(w, NULL, str_of(c->key));
		store_state_delete(&f->state, c->key);
	}
	close_member(w, open, ']');
}

/* Leases that a clock which was set back would make too long. */
static void write_shortened(
	struct file_store *f, const struct commit_plan *p, struct json_writer *w, bool *open)
{
	for (size_t i = 0; i < f->state.keys.n; i++) {
		struct state_entry *e = &f->state.keys.items[i];
		int64_t until = state_entry_until(e, p->now);

		if (until == e->until)
			continue;
		e->until = until;
		open_member(w, open, "put", '{');
		state_entry_write(w, e);
	}
}

/* "put" or "doc". */
static void write_puts(
	struct file_store *f, const struct commit_plan *p, bool documents, struct json_writer *w)
{
	bool open = false;

	for (size_t i = 0; i < p->changes.n; i++) {
		const struct planned_change *c = &p->changes.items[i];
		struct state_entry *e;

		if (c->del || store_key_is_document(c->key) != documents)
			continue;
		if (documents) {
			e = store_state_find(&f->state, c->key);
		} else {
			e = store_state_put(&f->state, c->key, c->value.p ? c->value : STR(""));
			e->until = c->ttl ? p->now + c->ttl : 0;
			e->ttl = c->ttl;
		}
		e->mod = f->state.rev;
		e->create = e->create ? e->create : e->mod;
		open_member(w, &open, documents ? "doc" : "put", '{');
		state_entry_write(w, e);
	}
	if (!documents)
		write_shortened(f, p, w, &open);
	close_member(w, open, '}');
}

/* An open reads from the last line with the whole state ("base"). */
static void write_base(struct file_store *f, bool all, int64_t at, struct json_writer *w)
{
	struct store_state *s = &f->state;
	/* After a long one, as much again: otherwise every commit would write the whole state. */
	int64_t most = 2 * s->base_size > FILE_DUMP ? 2 * s->base_size : FILE_DUMP;

	if (all || offset(f, w->out) - s->base > most) {
		s->base = at;
		s->base_rev = s->rev;
		store_state_write(w, s);
	}
	json_write_int(w, "base", s->base);
	if (s->base == at)
		s->base_size = offset(f, w->out) - at;
}

static void write_commit(struct file_store *f, const struct commit_plan *p, const char *ts,
	struct buf *out, char sum[DIGEST_TEXT])
{
	struct json_writer w = {.out = out};
	int64_t at = offset(f, out);

	json_write_open(&w, NULL, '{');
	json_write_int(&w, "commit", f->state.rev);
	json_write_int(&w, "format", FILE_FORMAT);
	json_write_str(&w, "ts", str_of(ts));
	if (p->actor)
		json_write_str(&w, "actor", str_of(p->actor));
	json_write_int(&w, "seq", f->state.seq);
	json_write_int(&w, "from", f->end + f->shift);
	json_write_int(&w, "at", at);
	write_gone(f, p, &w);
	write_deleted(f, p, &w);
	write_puts(f, p, false, &w);
	write_puts(f, p, true, &w);
	write_base(f, p->full || !f->committed, at, &w);
	if (p->note) /* last: an open skips it, see parse_commit() */
		json_write(&w, "note", p->note);
	digest_text(buf_str(out), sum);
	json_write_str(&w, "sum", str_of(sum));
	journal_write_end_line(&w);
}

/* Adds the lines of the next commit to *out and applies the plan to the state. */
static int write_lines(struct file_store *f, const struct commit_plan *p, struct buf *out,
	char sum[DIGEST_TEXT], struct error *err)
{
	char now[CLOCK_TEXT];
	const char *ts = p->ts ? p->ts : now;

	clock_text(clock_now(), now);
	if (!f->committed)
		buf_adds(out, FILE_HEADER "}\n");
	f->state.rev++;
	for (const json *e = json_first(p->events); e; e = json_next(e))
		write_event(out, e, ++f->state.seq, f->state.rev, ts);
	if (p->full && write_all_documents(f, out, err) < 0)
		return -1;
	for (size_t i = 0; i < p->changes.n; i++)
		if (store_key_is_document(p->changes.items[i].key))
			write_change(f, &p->changes.items[i], p->external, out);
	write_commit(f, p, ts, out, sum);
	return 0;
}

/* ---- documents ---- */

static bool is_placed(const struct commit_plan *p, const struct planned_change *c)
{
	return !p->external && store_key_is_document(c->key);
}

static void unstage(struct file_store *f, const struct commit_plan *p)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct error ignored;

	for (size_t i = 0; i < p->changes.n; i++)
		if (is_placed(p, &p->changes.items[i]) && !p->changes.items[i].del)
			(void)f->disk->ops->unlink(f->disk,
				store_document_staged_path(f, &a, p->changes.items[i].key, p->rev),
				&ignored);
}

static void journal_write_set_revisions(const struct file_store *f, struct commit_plan *p)
{
	p->rev = f->state.rev + 1;
	for (size_t i = 0; i < p->changes.n; i++) {
		const struct state_entry *e = store_state_find(&f->state, p->changes.items[i].key);

		p->changes.items[i].replaced = e ? e->placed : 0;
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
		if (!c->del && f->disk->ops->write(f->disk,
				       store_document_staged_path(f, &a, c->key, p->rev),
				       store_document_path(f, &a, c->key), c->value, err) < 0)
			return -1;
	}
	if (any && f->disk->ops->sync_directory(f->disk, f->dir, err) < 0)
		return -1;
	f->fresh = false;
	return 0;
}

static int remove_document(struct file_store *f, const struct planned_change *c, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	const char *path = store_document_path(f, &a, c->key);

	for (int tries = 0; tries < 2; tries++)
		if (f->disk->ops->unlink(f->disk, path, err) == 0)
			return f->disk->ops->sync_directory(f->disk, f->dir, err);
	return store_document_is(f, path, "") ? 0 : -1;
}

/* ---- the commit ---- */

static int append(struct file_store *f, struct str lines, struct error *err)
{
	f->unsynced = true;
	if (f->journal->ops->append(f->journal, lines, err) < 0)
		return -1;
	return journal_sync(f, err);
}

/* A write or sync failed: takes the appended lines back. If that fails too, the outcome is unknown.
 */
static enum store_status undo(struct file_store *f, const struct commit_plan *p, struct error *err)
{
	struct error why = *err, more;

	if (f->journal->ops->truncate(f->journal, f->end, &more) < 0 || journal_sync(f, &more) < 0)
		return store_file_break(f, err);
	unstage(f, p);
	f->committed = false;
	if (store_file_load(f, err) < 0) {
		f->broken = *err;
		return STORE_DOWN;
	}
	*err = why;
	return STORE_DOWN;
}

/* The file that the exchange before replaced is removed: the sync of the directory has made that
 * exchange durable, and the file was compared for the last time. */
static enum store_status journal_write_finish(
	struct file_store *f, const struct commit_plan *p, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct error ignored;

	for (size_t i = 0; i < p->changes.n; i++) {
		const struct planned_change *c = &p->changes.items[i];

		if (is_placed(p, c) && c->replaced)
			(void)f->disk->ops->unlink(f->disk,
				store_document_staged_path(f, &a, c->key, c->replaced), &ignored);
		if (is_placed(p, c) && (c->del ? remove_document(f, c, err)
					       : store_document_place(f, c->key, err)) < 0)
			return store_file_break(f, err);
	}
	return STORE_OK;
}

/*
 * The documents were compared before they were staged, which took some syncs. An edit since then
 * would be overwritten, so small documents are compared once more right before the commit. The file
 * that the commit before it replaced is compared for the last time, when no program that had it
 * open can write to it any more.
 */
static int recheck_documents(struct file_store *f, struct commit_plan *p, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	for (size_t i = 0; i < p->changes.n && f->committed; i++) {
		const struct planned_change *c = &p->changes.items[i];
		const struct state_entry *e = store_state_find(&f->state, c->key);
		char is[DIGEST_TEXT];

		if (!is_placed(p, c) || c->value.n > FILE_RECHECK)
			continue;
		if (e)
			store_document_wait(
				f, store_document_staged_path(f, &a, c->key, e->placed), false);
		p->edited = p->edited || (e && store_document_edited_late(f, e));
		if (store_document_read(f, store_document_path(f, &a, c->key), &text, is, err) < 0)
			return -1;
		p->edited = p->edited || strcmp(is, e ? e->sum : "") != 0;
	}
	return 0;
}

enum store_status journal_commit(struct file_store *f, struct commit_plan *p, struct error *err)
{
	CLEANUP(buf_release) struct buf lines = BUF_INIT;
	char sum[DIGEST_TEXT];

	journal_write_set_revisions(f, p);
	if (stage(f, p, err) < 0 || recheck_documents(f, p, err) < 0) {
		unstage(f, p);
		return STORE_DOWN;
	}
	if (p->edited) {
		unstage(f, p);
		return STORE_REFUSED;
	}
	if (write_lines(f, p, &lines, sum, err) < 0 || append(f, buf_str(&lines), err) < 0)
		return undo(f, p, err);
	f->end += (int64_t)lines.len;
	f->committed = true;
	memcpy(f->sum, sum, sizeof(sum));
	return journal_write_finish(f, p, err);
}
