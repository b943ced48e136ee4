/* backend.c: a store of plain files, from open to close. */
#include "src/store/file/internal.h"

enum store_status file_break(struct file_store *f, struct error *err)
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
		return 0;
	return f->disk->ops->open(
		f->disk, f->journal_path, f->mode != STORE_READ, &made, &f->journal, err);
}

/* True when the journal ends as it did at the last load: nobody has written since. */
static bool unchanged(struct file_store *f, int64_t size)
{
	CLEANUP(buf_release) struct buf end = BUF_INIT;
	struct error ignored;
	const size_t n = DIGEST_TEXT - 1 + 3; /* the checksum, `"}` and the line's end */

	return f->committed && size == f->end &&
	       f->journal->ops->pread(f->journal, size - (int64_t)n, n, &end, &ignored) == 0 &&
	       memcmp(end.s, f->sum, DIGEST_TEXT - 1) == 0;
}

static int load_tail(struct file_store *f, struct journal_tail *t, struct error *err)
{
	struct store_state now = {0};

	if (t->broken)
		return error_set(err, ERR_INPUT,
			"'%s' is damaged after commit %lld: nothing was changed; move it away to "
			"begin a new one",
			f->journal_path, (long long)json_get_int(t->commit, "commit", 0));
	if (t->commit && journal_load_state(f->journal, f->journal_path, t, &now, err) < 0) {
		state_clear(&now);
		return -1;
	}
	state_clear(&f->state);
	f->state = now;
	f->committed = t->commit != NULL;
	f->end = t->end;
	f->shift = t->shift;
	memcpy(f->sum, t->sum, sizeof(f->sum));
	return 0;
}

int file_load(struct file_store *f, struct error *err)
{
	CLEANUP(journal_tail_release) struct journal_tail t = {0};
	int64_t size = 0;

	if (open_journal(f, err) < 0)
		return -1;
	if (f->journal && f->journal->ops->size(f->journal, &size, err) < 0)
		return -1;
	if (size && unchanged(f, size))
		return 0;
	if (size && journal_find_tail(f->journal, f->journal_path, size, &t, err) < 0)
		return -1;
	if (load_tail(f, &t, err) < 0)
		return -1;
	return f->mode == STORE_READ ? 0 : journal_recover(f, t.commit, size, err);
}

/* ---- each operation ---- */

static int lock(struct file_store *f, struct error *err)
{
	return f->disk->ops->lock(f->disk, f->lock_path, f->wait_ms, &f->lock, err);
}

enum store_status file_begin(struct file_store *f, bool write, struct error *err)
{
	if (f->broken.code) {
		*err = f->broken;
		return STORE_UNKNOWN;
	}
	if (f->mode == STORE_HOLD)
		return STORE_OK;
	if (f->mode == STORE_READ && write) {
		error_set(err, ERR_INPUT, "'%s' is open for reading only", f->journal_path);
		return STORE_BAD;
	}
	if (f->mode == STORE_WRITE && lock(f, err) < 0)
		return err->code == ERR_STATE ? STORE_TIMEOUT : STORE_DOWN;
	if (file_load(f, err) == 0)
		return STORE_OK;
	disk_lock_drop(&f->lock);
	return STORE_DOWN;
}

void file_end(struct file_store *f)
{
	if (f->mode == STORE_WRITE)
		disk_lock_drop(&f->lock);
}

/* ---- open and close ---- */

static int64_t file_revision(struct store *s)
{
	return file_of(s)->state.rev;
}

static int64_t file_events(struct store *s)
{
	return file_of(s)->state.seq;
}

static void file_note(struct store *s, const char *what)
{
	disk_lock_note(file_of(s)->lock, what);
}

static void file_close(struct store *s)
{
	struct file_store *f = file_of(s);

	close_journal(f);
	disk_lock_drop(&f->lock);
	state_clear(&f->state);
	buf_release(&f->text);
	arena_release(&f->arena);
	free(f);
}

static const struct store_ops file_ops = {
	.get = file_get,
	.get_document = file_get_document,
	.list = file_list,
	.txn = file_txn,
	.grant = file_grant,
	.renew = file_renew,
	.revoke = file_revoke,
	.lease_end = file_lease_end,
	.watch = file_watch,
	.compact = file_compact,
	.revision = file_revision,
	.events = file_events,
	.note = file_note,
	.close = file_close,
};

struct file_store *file_of(struct store *s)
{
	return (struct file_store *)s;
}

static int make_directory(struct file_store *f, struct error *err)
{
	bool there;

	if (f->disk->ops->exists(f->disk, f->dir, &there, err) < 0)
		return -1;
	return there ? 0 : f->disk->ops->mkdirs(f->disk, f->dir, err);
}

static int first_load(struct file_store *f, struct error *err)
{
	int rc;

	if (f->mode != STORE_READ &&
		(make_directory(f, err) < 0 || f->disk->ops->trusted(f->disk, f->dir, err) < 0 ||
			lock(f, err) < 0))
		return -1;
	rc = file_load(f, err);
	file_end(f);
	return rc;
}

int store_open(struct store **out, struct disk *disk, const char *dir, const char *name,
	enum store_mode mode, unsigned wait_ms, struct error *err)
{
	struct file_store *f = xmalloc(sizeof(*f));

	*f = (struct file_store){
		.base.ops = &file_ops, .disk = disk, .mode = mode, .wait_ms = wait_ms};
	f->dir = arena_dup(&f->arena, str_of(dir));
	f->journal_path = arena_printf(&f->arena, "%s/%s.events.jsonl", dir, name);
	f->lock_path = arena_printf(&f->arena, "%s/.%s.lock", dir, name);
	*out = &f->base;
	if (first_load(f, err) == 0)
		return 0;
	store_close(out);
	return -1;
}
