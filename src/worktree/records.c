/*
 * records.c: opens the store of the records. A journal without a commit counts as empty, as a power
 * failure during the first commit may leave it. The mark beside it shows that it had commits, so
 * that a journal that was truncated or overwritten does not count as new, and its ports as free.
 */
#include "src/store/log.h"
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

static char *mark_path(struct arena *a, const char *state)
{
	return path_join(a, state, "." POOL_STORE ".begun");
}

static int check_begun(
	struct arena *a, struct disk *d, const char *state, const char *journal, struct error *err)
{
	CLEANUP(store_close) struct store *s = NULL;
	bool there;

	if (store_open(&s, d, state, POOL_STORE, STORE_READ, 0, err) < 0)
		return -1;
	if (store_revision(s))
		return 0;
	/* Another process may have seen meanwhile that it was moved away. */
	if (d->ops->exists(d, mark_path(a, state), &there, err) < 0)
		return -1;
	return there ? error_at(err, journal, 1, 1,
			       "damaged: there were records of worktrees and none is left: nothing "
			       " "
			       "was changed; move it away to begin a new one")
		     : 0;
}

/* Reads the first commit only, which is less than opening the store. */
static bool has_commit(struct disk *d, const char *state)
{
	CLEANUP(store_log_close) struct store_log *log = NULL;
	CLEANUP(json_free) json *head = NULL;
	struct store_commit first;
	struct error ignored;

	return store_log_open(&log, d, state, POOL_STORE, &ignored) == 0 &&
	       store_log_next_head(log, &first, &head, &ignored) > 0;
}

static int check(struct arena *a, struct disk *d, const char *state, bool *there, struct error *err)
{
	const char *journal = path_join(a, state, POOL_STORE ".events.jsonl");
	const char *mark = mark_path(a, state);
	bool begun;

	if (d->ops->exists(d, mark, &begun, err) < 0 || d->ops->exists(d, journal, there, err) < 0)
		return -1;
	if (begun && !*there)
		return d->ops->unlink(d, mark, err);
	return begun && !has_commit(d, state) ? check_begun(a, d, state, journal, err) : 0;
}

int records_open(struct arena *a, struct disk *d, const char *state, unsigned wait_ms,
	struct store **out, struct error *err)
{
	bool there;

	if (check(a, d, state, &there, err) < 0 ||
		store_open(out, d, state, POOL_STORE, STORE_WRITE, wait_ms, err) < 0)
		return -1;
	records_mark(d, state, *out);
	return 0;
}

int records_look(
	struct arena *a, struct disk *d, const char *state, struct store **out, struct error *err)
{
	bool there;

	if (check(a, d, state, &there, err) < 0)
		return -1;
	return there ? store_open(out, d, state, POOL_STORE, STORE_READ, 0, err) : 0;
}

void records_mark(struct disk *d, const char *state, struct store *s)
{
	CLEANUP(arena_release) struct arena a = {0};
	const char *mark = mark_path(&a, state);
	struct error ignored;
	bool there, taken;

	if (store_revision(s) && d->ops->exists(d, mark, &there, &ignored) == 0 && !there)
		(void)d->ops->create(d, mark, (struct str){0}, &taken, &ignored);
}
