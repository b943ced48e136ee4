#include <fcntl.h>
/* backend.c: the operations on a store of plain files, from open to close. */
#include <time.h>
#include "src/base/clock.h"
#include "src/store/file/internal.h"
#include "src/sys/directory.h"
#include "src/sys/path.h"

enum store_status store_file_break(struct file_store *f, struct error *err)
{
	error_prefix(err, "it is not known whether this took effect; run the same command again");
	f->broken = *err;
	return STORE_UNKNOWN;
}

/* ---- the state ---- */

static void close_journal(struct file_store *f)
{
	if (f->journal)
		f->journal->ops->close(f->journal);
	f->journal = NULL;
}

/* Opened anew each time: another process may have put a compacted journal in its place. */
static int open_journal(struct file_store *f, struct error *err)
{
	bool made = false, there = true;

	close_journal(f);
	if (f->mode == STORE_READ &&
		f->disk->ops->exists(f->disk, f->journal_path, &there, err) < 0)
		return -1;
	if (!there)
		return f->damage ? error_set(err, ERR_INPUT, "no journal '%s'", f->journal_path)
				 : 0;
	return f->disk->ops->open(
		f->disk, f->journal_path, f->mode != STORE_READ, &made, &f->journal, err);
}

/* True when the journal ends as it did at the last load: no other process has written since. */
static bool unchanged(struct file_store *f, int64_t size)
{
	CLEANUP(buf_release) struct buf end = BUF_INIT;
	struct error ignored;
	const size_t n = DIGEST_TEXT - 1 + 3; /* the checksum, `"}` and the line's end */

	return f->committed && size == f->end &&
	       f->journal->ops->pread(f->journal, size - (int64_t)n, n, &end, &ignored) == 0 &&
	       memcmp(end.s, f->sum, DIGEST_TEXT - 1) == 0;
}

static int load_tail(struct file_store *f, struct journal *j, struct error *err)
{
	struct store_state now = {0};

	if (j->broken)
		return error_set(err, ERR_INPUT,
			"'%s' is damaged after commit %lld: nothing was changed; move it away to "
			"begin a new one",
			f->journal_path, (long long)json_get_int(j->commit, "commit", 0));
	if (j->commit && journal_load_state(j, &now, err) < 0) {
		store_state_clear(&now);
		return -1;
	}
	store_state_clear(&f->state);
	f->state = now;
	f->committed = j->commit != NULL;
	f->end = j->end;
	f->shift = j->shift;
	memcpy(f->sum, j->sum, sizeof(f->sum));
	return 0;
}

int store_file_load(struct file_store *f, struct error *err)
{
	CLEANUP(journal_release) struct journal j = {.path = f->journal_path};
	int64_t size = 0;

	if (open_journal(f, err) < 0)
		return -1;
	j.file = f->journal;
	if (f->journal && f->journal->ops->size(f->journal, &size, err) < 0)
		return -1;
	if (size && unchanged(f, size))
		return 0;
	if (size && journal_find_tail(&j, size, err) < 0)
		return -1;
	if (f->damage)
		return size ? journal_find_last_line(f, &j, size, err) : 0;
	if (load_tail(f, &j, err) < 0)
		return -1;
	if (f->begun && !f->committed)
		return error_at(err, f->journal_path, 1, 1,
			"damaged: there were commits and none is left: nothing was changed; move "
			"it away to begin a new one");
	return f->mode == STORE_READ ? 0 : journal_recover(f, j.commit, size, err);
}

/* ---- each operation ---- */

static struct file_store *backend_file_of(struct store *s)
{
	return (struct file_store *)s;
}

static struct disk *disk_of(struct store_backend *b)
{
	return (struct disk *)((char *)b - offsetof(struct disk, files));
}

static int lock(struct file_store *f, struct error *err)
{
	if (f->disk->ops->lock(f->disk, f->lock_path, f->wait_ms, &f->lock, err) < 0)
		return -1;
	f->unsynced = !f->lock || !f->disk->ops->settled || !f->disk->ops->settled(f->lock);
	return 0;
}

static void unlock(struct file_store *f)
{
	if (f->lock && !f->unsynced && f->disk->ops->settle)
		f->disk->ops->settle(f->lock);
	disk_lock_drop(&f->lock);
}

/* A lease that a clock which was set back would make too long gets its new end in the journal:
 * otherwise each look would give it the whole time again. */
static enum store_status shorten_leases(struct file_store *f, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(json_free) json *note = NULL;
	struct commit_plan p = {0};
	const struct state_entry *e = f->state.keys.items;
	size_t n = f->state.keys.n;

	for (p.now = clock_now(); n && state_entry_until(e, p.now) == e->until; n--)
		e++;
	if (!n)
		return STORE_OK;
	p.note = note = JSON_OBJECT(JSON_TEXT("op", "clock set back"));
	commit_plan_begin(&p, &a, f);
	return journal_commit(f, &p, err);
}

/* Every operation is between file_begin() and file_end(): they take and release the lock as the
 * mode wants it, and load what other processes committed. `write`: refused on a reader. */
static enum store_status file_begin(struct file_store *f, bool write, struct error *err)
{
	enum store_status got = STORE_DOWN;

	if (f->broken.code) {
		*err = f->broken;
		return STORE_UNKNOWN;
	}
	if (f->damage)
		return STORE_OK;
	if (f->mode == STORE_HOLD)
		return shorten_leases(f, err);
	if (f->mode == STORE_READ && write) {
		error_set(err, ERR_INPUT, "'%s' is open for reading only", f->journal_path);
		return STORE_BAD;
	}
	f->recovered_key[0] = '\0';
	if (f->mode == STORE_WRITE && lock(f, err) < 0)
		return err->code == ERR_STATE ? STORE_TIMEOUT : STORE_DOWN;
	if (store_file_load(f, err) == 0)
		got = f->mode == STORE_WRITE ? shorten_leases(f, err) : STORE_OK;
	if (got != STORE_OK)
		unlock(f);
	return got;
}

static void file_end(struct file_store *f)
{
	if (f->mode == STORE_WRITE)
		unlock(f);
}

/* ---- get and list ---- */

/* As of the last commit. */
static const struct state_entry *backend_set_revisions(
	const struct file_store *f, const char *key, struct store_kv *kv)
{
	const struct state_entry *e = store_state_find(&f->state, key);

	kv->create = e ? e->create : 0;
	kv->mod = e ? e->mod : 0;
	return e;
}

/* Between a writer's commit and its rename, the staged file is the document. */
static int read_committed(struct file_store *f, const char *key, struct buf *out,
	struct store_kv *kv, struct error *err)
{
	char sum[DIGEST_TEXT];
	CLEANUP(arena_release) struct arena a = {0};
	const struct state_entry *e = NULL;
	const char *path = store_document_path(f, &a, key);

	/* An edit by hand is what still differs while no other process commits. */
	for (int tries = 0; tries < 5; tries++) {
		int64_t end = f->end;

		if (tries && store_file_load(f, err) < 0)
			return -1;
		tries = f->end == end ? tries : 1;
		e = backend_set_revisions(f, key, kv);
		if (store_document_read(f, path, out, sum, err) < 0)
			return -1;
		if (strcmp(sum, e ? e->sum : "") == 0)
			return 0;
		if (e && store_document_read(f, store_document_staged_path(f, &a, key, e->placed),
				 out, sum, err) < 0)
			return -1;
		if (e && strcmp(sum, e->sum) == 0)
			return 0;
	}
	/* Edited by hand since, and no writer has committed that yet. */
	store_document_wait(f, path, e);
	if (store_document_read(f, path, out, sum, err) < 0)
		return -1;
	kv->mod = !sum[0] ? 0 : e ? e->mod : STORE_UNCOMMITTED;
	return 0;
}

static enum store_status file_get_document(
	struct store *s, const char *key, struct buf *out, struct store_kv *kv, struct error *err)
{
	struct file_store *f = backend_file_of(s);
	enum store_status got = file_begin(f, false, err);

	if (got != STORE_OK)
		return got;
	if (f->mode == STORE_READ)
		got = read_committed(f, key, out, kv, err) < 0 ? STORE_DOWN : STORE_OK;
	else if ((got = store_document_commit_edit(f, key, out, err)) == STORE_OK)
		(void)backend_set_revisions(f, key, kv);
	file_end(f);
	return got;
}

static enum store_status file_get(
	struct store *s, struct arena *a, const char *key, struct store_kv *out, struct error *err)
{
	struct file_store *f = backend_file_of(s);
	enum store_status got = file_begin(f, false, err);
	int64_t now = clock_now();
	const struct state_entry *e;

	*out = (struct store_kv){.key = arena_str(a, str_of(key))};
	if (got != STORE_OK)
		return got;
	e = store_state_find_alive(&f->state, key, now);
	if (e)
		state_entry_kv(e, a, now, out);
	file_end(f);
	return got;
}

static enum store_status file_list(struct store *s, struct arena *a, const char *prefix,
	const char *after, size_t max, struct store_kv **out, size_t *n, int64_t *at,
	struct error *err)
{
	struct file_store *f = backend_file_of(s);
	enum store_status got = file_begin(f, false, err);
	int64_t now = clock_now();
	size_t i;

	if (got != STORE_OK)
		return got;
	i = store_state_index(&f->state, after && strcmp(after, prefix) > 0 ? after : prefix);
	*out = arena_alloc(
		a, ((max < f->state.keys.n ? max : f->state.keys.n) + 1) * sizeof(**out));
	for (; i < f->state.keys.n && *n < max; i++) {
		const struct state_entry *e = &f->state.keys.items[i];

		if (!str_starts(str_of(e->key), prefix))
			break;
		if ((!after || strcmp(e->key, after) != 0) &&
			store_state_find_alive(&f->state, e->key, now))
			state_entry_kv(e, a, now, &(*out)[(*n)++]);
	}
	*at = f->state.rev;
	file_end(f);
	return STORE_OK;
}

/* ---- receipts and guards ---- */

static char *receipt_key(struct arena *a, const struct store_txn *t)
{
	return arena_printf(a, "rcpt/%s", t->actor);
}

/* True when the actor's receipt has the opid: the operation was committed at *rev. */
static bool already_committed(
	const struct file_store *f, struct arena *a, const struct store_txn *t, int64_t *rev)
{
	const struct state_entry *e =
		t->opid ? store_state_find(&f->state, receipt_key(a, t)) : NULL;

	if (!e || !str_is((struct str){e->value, e->n}, t->opid))
		return false;
	*rev = e->mod;
	return true;
}

static bool guard_holds(const struct file_store *f, const struct store_guard *g, int64_t now)
{
	const struct state_entry *e = store_state_find_alive(&f->state, g->key, now);

	return g->rev == (!e ? 0 : g->what == STORE_MOD_IS ? e->mod : e->create);
}

static bool guards_hold(const struct file_store *f, const struct store_txn *t, int64_t now)
{
	for (size_t i = 0; i < t->n_guards; i++)
		if (!guard_holds(f, &t->guards[i], now))
			return false;
	return true;
}

static enum store_status backend_refuse(const struct file_store *f, struct arena *a,
	const struct store_txn *t, int64_t now, struct store_result *result)
{
	result->n_now = t->n_guards;
	result->now = arena_alloc(a, (t->n_guards + 1) * sizeof(*result->now));
	for (size_t i = 0; i < t->n_guards; i++) {
		const struct state_entry *e =
			store_state_find_alive(&f->state, t->guards[i].key, now);

		if (e)
			state_entry_kv(e, a, now, &result->now[i]);
		else
			result->now[i].key = arena_str(a, str_of(t->guards[i].key));
	}
	return STORE_REFUSED;
}

/* ---- transactions ---- */

static bool backend_has_op(const struct store_txn *t, const char *key)
{
	for (size_t i = 0; i < t->n_ops; i++)
		if (strcmp(t->ops[i].key, key) == 0)
			return true;
	return false;
}

/* Edits by hand of the documents in the operations and guards are committed first. The first
 * commit of a store overwrites what is there. */
static enum store_status commit_external_edits(
	struct file_store *f, const struct store_txn *t, struct buf *before, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	enum store_status got = STORE_OK;

	for (size_t i = 0; i < t->n_ops && got == STORE_OK && f->committed; i++)
		if (store_key_is_document(t->ops[i].key))
			got = store_document_commit_edit(f, t->ops[i].key, &before[i], err);
	for (size_t i = 0; i < t->n_guards && got == STORE_OK && f->committed; i++)
		if (store_key_is_document(t->guards[i].key) && !backend_has_op(t, t->guards[i].key))
			got = store_document_commit_edit(f, t->guards[i].key, &text, err);
	return got;
}

static void plan_transaction(
	struct commit_plan *p, struct arena *a, const struct store_txn *t, struct buf *before)
{
	for (size_t i = 0; i < t->n_ops; i++) {
		const struct store_op *op = &t->ops[i];

		vec_push_in(a, &p->changes,
			(struct planned_change){.key = op->key,
				.del = op->what == STORE_DEL,
				.value = op->value,
				.ttl = op->ttl_s,
				.delta = op->delta,
				.before = before[i].s ? &before[i] : NULL});
	}
	if (t->opid)
		vec_push_in(a, &p->changes,
			(struct planned_change){
				.key = receipt_key(a, t), .value = str_of(t->opid)});
}

static enum store_status transact(struct file_store *f, struct arena *a, const struct store_txn *t,
	struct buf *before, struct store_result *result, bool *again, struct error *err)
{
	CLEANUP(arena_release) struct arena own = {0};
	struct commit_plan p = {
		.actor = t->actor, .ts = t->ts, .events = t->events, .note = t->note};
	enum store_status got;

	if (already_committed(f, &own, t, &result->rev))
		return STORE_OK;
	if ((got = commit_external_edits(f, t, before, err)) != STORE_OK)
		return got;
	commit_plan_begin(&p, &own, f);
	if (!guards_hold(f, t, p.now))
		return backend_refuse(f, a, t, p.now, result);
	plan_transaction(&p, &own, t, before);
	got = journal_commit(f, &p, err);
	*again = p.edited;
	if (got == STORE_OK)
		result->rev = p.rev;
	return got;
}

/* Gives up if the document changes during every attempt. */
static enum store_status transact_with_retries(struct file_store *f, struct arena *a,
	const struct store_txn *t, struct buf *before, struct store_result *result,
	struct error *err)
{
	for (int tries = 0; tries < 10; tries++) {
		bool again = false;
		enum store_status got = transact(f, a, t, before, result, &again, err);

		if (!again)
			return got;
	}
	error_set(err, ERR_STATE, "the documents in '%s' keep changing", f->dir);
	return STORE_TIMEOUT;
}

static enum store_status file_txn(struct store *s, struct arena *a, const struct store_txn *t,
	struct store_result *result, struct error *err)
{
	struct file_store *f = backend_file_of(s);
	enum store_status got = file_begin(f, true, err);
	struct buf before[STORE_OPS_MAX] = {{0}};

	if (got != STORE_OK)
		return got;
	f->recovered_key[0] = '\0';
	got = transact_with_retries(f, a, t, before, result, err);
	file_end(f);
	for (size_t i = 0; i < t->n_ops; i++)
		buf_release(&before[i]);
	return got;
}

/* ---- history and watch ---- */

static enum store_status file_history(struct store *s, const struct store_range *range,
	struct store_history **out, struct error *err)
{
	struct file_store *f = backend_file_of(s);
	enum store_status got = file_begin(f, false, err);

	if (got != STORE_OK)
		return got;
	got = file_walk(f, range, out, err) < 0 ? STORE_DOWN : STORE_OK;
	file_end(f);
	return got;
}

struct watch_scan {
	struct arena *a;
	const char *prefix;
	int64_t from, next;
	VEC(struct store_change) found;
	size_t max;
};

static void watch_add(struct watch_scan *w, struct store_change c)
{
	if (!str_starts(c.kv.key, w->prefix))
		return;
	c.kv.key = arena_str(w->a, c.kv.key);
	c.kv.value = arena_str(w->a, c.kv.value);
	vec_push_in(w->a, &w->found, c);
}

/* False when the watch is full. The first commit is returned whole, whatever its size. */
static bool add_commit(struct watch_scan *w, const struct store_commit *c)
{
	size_t before = w->found.n;

	for (size_t i = 0; i < c->n_changes; i++)
		watch_add(w, c->changes[i]);
	if (before && w->found.n > w->max) {
		w->found.n = before;
		return false;
	}
	w->next = c->rev + 1;
	return w->found.n < w->max;
}

static int scan(struct file_store *f, struct watch_scan *w, struct error *err)
{
	CLEANUP(store_history_close) struct store_history *h = NULL;
	struct store_commit c;
	int rc;

	if (w->from > f->state.rev)
		return 0;
	if (file_walk(f, &(struct store_range){.from = w->from}, &h, err) < 0)
		return -1;
	while ((rc = store_history_next(h, &c, err)) > 0)
		if (!add_commit(w, &c))
			return 0;
	w->next = f->state.rev + 1;
	return rc;
}

static enum store_status scan_once(struct file_store *f, struct watch_scan *w, struct error *err)
{
	enum store_status got = file_begin(f, false, err);
	struct journal_header h;

	if (got != STORE_OK)
		return got;
	if (journal_read_header(f, &h, err) < 0 || (w->from >= h.compacted && scan(f, w, err) < 0))
		got = STORE_DOWN;
	else if (w->from < h.compacted) {
		error_set(err, ERR_STATE, "history before revision %lld is no longer kept",
			(long long)h.compacted);
		got = STORE_COMPACTED;
	}
	file_end(f);
	return got;
}

static enum store_status file_watch(struct store *s, struct arena *a, const char *prefix,
	int64_t from, int wait_ms, size_t max, struct store_change **out, size_t *n, int64_t *next,
	struct error *err)
{
	struct file_store *f = backend_file_of(s);
	struct watch_scan w = {.a = a, .prefix = prefix, .from = from, .next = from, .max = max};
	int64_t until = clock_ticks() + wait_ms, pause = 2;
	enum store_status got;

	/* Under STORE_HOLD no other process can write. */
	while ((got = scan_once(f, &w, err)) == STORE_OK && !w.found.n && f->mode != STORE_HOLD) {
		int64_t left = until - clock_ticks();
		struct timespec ts = {.tv_nsec = (pause < left ? pause : left) * 1000000};

		w.from = w.next;
		if (left <= 0)
			break;
		(void)nanosleep(&ts, NULL);
		pause = pause < 50 ? pause * 2 : pause;
	}
	*out = w.found.items;
	*n = w.found.n;
	*next = w.next;
	return got;
}

/* ---- compaction ---- */

/*
 * Commits the whole state and every document as a whole text. Then a journal that begins with a
 * later commit replaces the old one. Its first line says where it begins:
 * `{"format":2,"kept":OFFSET,"compacted":REV}`: the byte after that line has this offset.
 */

static int cut_journal(struct file_store *f, int64_t rev, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int64_t from;

	if (file_find(f, rev, &from, err) < 0)
		return -1;
	buf_addf(&text, FILE_HEADER ",\"kept\":%lld,\"compacted\":%lld}\n",
		(long long)(from + f->shift), (long long)rev);
	if (f->journal->ops->pread(f->journal, from, (size_t)(f->end - from), &text, err) < 0)
		return -1;
	return disk_replace(f->disk, ".new", f->journal_path, buf_str(&text), err);
}

/* The load finds out which of the two journals is there. */
static enum store_status shorten_journal(struct file_store *f, int64_t rev, struct error *err)
{
	struct error why, later;
	int rc = cut_journal(f, rev, &why);

	f->committed = false;
	if (store_file_load(f, &later) < 0) {
		*err = later;
		return store_file_break(f, err);
	}
	if (rc == 0)
		return STORE_OK;
	*err = why;
	return STORE_DOWN;
}

static enum store_status compact(struct file_store *f, int64_t rev, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct commit_plan p = {.full = true};
	enum store_status got;
	struct journal_header h;

	if (journal_read_header(f, &h, err) < 0)
		return STORE_DOWN;
	if (rev > f->state.rev)
		rev = f->state.rev + 1;
	if (!f->committed || rev <= 1 || rev <= h.compacted)
		return STORE_OK;
	commit_plan_begin(&p, &a, f);
	got = journal_commit(f, &p, err);
	return got == STORE_OK ? shorten_journal(f, rev, err) : got;
}

static enum store_status file_compact(struct store *s, int64_t rev, struct error *err)
{
	struct file_store *f = backend_file_of(s);
	enum store_status got = file_begin(f, true, err);

	if (got != STORE_OK)
		return got;
	got = compact(f, rev, err);
	file_end(f);
	return got;
}

/* ---- open and close ---- */

/* The lock file stays: two processes could lock two files of one name. */
static enum store_status file_remove(struct store *s, struct error *err)
{
	struct file_store *f = backend_file_of(s);

	if (f->mode != STORE_HOLD)
		return error_set(err, ERR_INPUT, "'%s' is not held", f->journal_path), STORE_BAD;
	if (f->disk->ops->unlink(f->disk, f->journal_path, err) < 0)
		return STORE_DOWN;
	if (f->disk->ops->sync_directory(f->disk, f->dir, err) < 0)
		return store_file_break(f, err);
	f->committed = false;
	return STORE_OK;
}

static int64_t file_revision(struct store *s)
{
	return backend_file_of(s)->state.rev;
}

static int64_t file_last_seq(struct store *s)
{
	return backend_file_of(s)->state.seq;
}

static const char *file_digest(struct store *s)
{
	return backend_file_of(s)->sum;
}

static void file_note(struct store *s, const char *what)
{
	disk_lock_note(backend_file_of(s)->lock, what);
}

static void set_mark(struct file_store *f)
{
	struct error ignored; /* the next process tries again */

	if (f->mark && f->committed && !f->begun)
		(void)f->disk->ops->write(f->disk, f->mark, NULL, (struct str){0}, &ignored);
}

static void file_close(struct store *s)
{
	struct file_store *f = backend_file_of(s);

	if (f->mode != STORE_READ)
		set_mark(f);
	close_journal(f);
	unlock(f);
	store_state_clear(&f->state);
	buf_release(&f->recovered);
	arena_release(&f->arena);
	free(f);
}

static const struct store_methods file_ops = {
	.get = file_get,
	.get_document = file_get_document,
	.list = file_list,
	.txn = file_txn,
	.watch = file_watch,
	.compact = file_compact,
	.remove = file_remove,
	.history = file_history,
	.revision = file_revision,
	.last_seq = file_last_seq,
	.digest = file_digest,
	.note = file_note,
	.close = file_close,
};

/* A journal without a commit is what a power cut leaves of the first one. The mark shows that
 * there were more. */
static int check_mark(struct file_store *f, struct error *err)
{
	bool marked, there;

	if (!f->mark)
		return 0;
	if (f->disk->ops->exists(f->disk, f->mark, &marked, err) < 0 ||
		f->disk->ops->exists(f->disk, f->journal_path, &there, err) < 0)
		return -1;
	f->begun = marked && there;
	return marked && !there && f->mode != STORE_READ
		       ? f->disk->ops->unlink(f->disk, f->mark, err)
		       : 0;
}

static int first_load(struct file_store *f, struct error *err)
{
	int rc;

	if (f->mode != STORE_READ &&
		(f->disk->ops->mkdirs(f->disk, f->dir, err) < 0 ||
			f->disk->ops->trusted(f->disk, f->dir, err) < 0 || lock(f, err) < 0))
		return -1;
	rc = check_mark(f, err) < 0 ? -1 : store_file_load(f, err);
	file_end(f);
	return rc;
}

static int file_open(struct store_backend *b, struct store **out, const char *dir, const char *name,
	enum store_mode mode, unsigned wait_ms, struct error *err)
{
	struct file_store *f = xmalloc(sizeof(*f));
	bool marked = mode & STORE_MARKED;

	mode &= (unsigned)~STORE_MARKED;
	*f = (struct file_store){.base.ops = &file_ops,
		.disk = disk_of(b),
		.mode = mode == STORE_HISTORY ? STORE_READ : mode,
		.damage = mode == STORE_HISTORY,
		.wait_ms = wait_ms};
	f->dir = arena_dup(&f->arena, str_of(dir));
	f->journal_path = arena_printf(&f->arena, "%s/%s" STORE_JOURNAL_SUFFIX, dir, name);
	f->lock_path = arena_printf(&f->arena, "%s/.%s.lock", dir, name);
	f->mark = marked ? arena_printf(&f->arena, "%s/.%s.begun", dir, name) : NULL;
	*out = &f->base;
	if (first_load(f, err) == 0)
		return 0;
	store_close(out);
	return -1;
}

static int file_exists(struct store_backend *b, const char *dir, const char *name, const char *file,
	bool *there, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct disk *d = disk_of(b);

	if (d->ops->exists(d, arena_printf(&a, "%s/%s", dir, file), there, err) < 0)
		return -1;
	return *there ? 0
		      : d->ops->exists(d, arena_printf(&a, "%s/%s" STORE_JOURNAL_SUFFIX, dir, name),
				there, err);
}

struct listing {
	struct arena *arena;
	const char *dir;
	struct store_paths *out;
};

static enum directory_visit list_entry(
	void *data, const struct directory_entry *e, struct error *err)
{
	struct listing *l = data;
	bool journal = e->type != FILE_DIRECTORY && str_ends(str_of(e->path), STORE_JOURNAL_SUFFIX);
	size_t n = strlen(e->path) - (journal ? strlen(STORE_JOURNAL_SUFFIX) : 0);
	const char *path = arena_printf(l->arena, "%s/%.*s%s", l->dir, (int)n, e->path,
		e->type == FILE_DIRECTORY ? "/.git" : ".md");

	if (e->name[0] == '.' || (e->type == FILE_DIRECTORY && path_exists(path)))
		return DIRECTORY_SKIP;
	/* The walk takes a directory that it cannot open for an empty one. */
	if (e->type == FILE_DIRECTORY && faccessat(e->parent, e->name, R_OK | X_OK, AT_EACCESS) < 0)
		return error_errno(err, "cannot read directory '%s/%s'", l->dir, e->path);
	if (journal && path_exists(path))
		vec_push_in(l->arena, l->out, path);
	return DIRECTORY_CONTINUE;
}

/* On the machine's disk: another one cannot be listed. */
static int file_documents(struct store_backend *b, struct arena *a, const char *dir,
	struct store_paths *out, struct error *err)
{
	struct listing l = {a, dir, out};

	(void)b;
	return directory_walk(dir, list_entry, &l, err);
}

/* On the machine's disk, too. */
static int file_names(struct store_backend *b, struct arena *a, const char *dir,
	struct store_paths *out, struct error *err)
{
	struct directory_names names;
	bool missing;

	(void)b;
	if (directory_list(a, dir, &names, &missing, err) < 0)
		return missing ? 0 : -1;
	for (size_t i = 0; i < names.n; i++) {
		struct str name = str_of(names.items[i]);

		if (name.p[0] == '.' || !str_ends(name, STORE_JOURNAL_SUFFIX))
			continue;
		name = str_sub(name, 0, name.n - strlen(STORE_JOURNAL_SUFFIX));
		vec_push_in(a, out, arena_dup(a, name));
	}
	return 0;
}

static int file_prepare(struct store_backend *b, const char *dir, struct error *err)
{
	return disk_of(b)->ops->mkdirs(disk_of(b), dir, err);
}

static int file_read(struct store_backend *b, const char *dir, const char *file, struct buf *out,
	bool *missing, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct disk *d = disk_of(b);

	return d->ops->read(
		d, arena_printf(&a, "%s/%s", dir, file), STORE_DOCUMENT_MAX, out, missing, err);
}

static bool backend_has_text(struct disk *d, const char *path, struct str text)
{
	CLEANUP(buf_release) struct buf is = BUF_INIT;
	struct error ignored;
	bool missing;

	return d->ops->read(d, path, STORE_BLOB_MAX, &is, &missing, &ignored) == 0 &&
	       str_eq(buf_str(&is), text);
}

static int file_keep_blob(struct store_backend *b, const char *dir, const char *path,
	struct str text, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct disk *d = disk_of(b);
	bool able = false;

	if (backend_has_text(d, path, text)) /* the call that named it may have failed to sync */
		return d->ops->sync_directory(d, dir, err);
	if (d->ops->mkdirs(d, dir, err) < 0)
		return -1;
	/* Nobody would remove what a killed process has left. */
	if (d->ops->write_whole && d->ops->write_whole(d, path, text, &able, err) == 0)
		return d->ops->sync_directory(d, dir, err);
	/* Another process may be keeping the same text. */
	return able ? -1
		    : disk_replace(
			      d, arena_printf(&a, ".%ld.new", (long)getpid()), path, text, err);
}

static int file_read_blob(
	struct store_backend *b, const char *path, struct buf *out, struct error *err)
{
	struct disk *d = disk_of(b);
	bool missing;

	if (d->ops->read(d, path, STORE_BLOB_MAX, out, &missing, err) == 0)
		return 0;
	return missing ? error_set(err, ERR_INPUT, "there is no '%s'", path) : -1;
}

struct store_backend *store_files(struct disk *d)
{
	static const struct store_backend_ops ops = {.open = file_open,
		.exists = file_exists,
		.documents = file_documents,
		.names = file_names,
		.prepare = file_prepare,
		.read_file = file_read,
		.keep_blob = file_keep_blob,
		.read_blob = file_read_blob};

	d->files.ops = &ops;
	return &d->files;
}
