/*
 * records.c: opens the store of the records. A journal without a commit counts as empty, as a power
 * failure during the first commit may leave it. The mark beside it shows that it had commits, so
 * that a journal that was truncated or overwritten does not count as new, and its ports as free.
 */
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

static char *mark_path(struct arena *a, const char *state)
{
	return path_join(a, state, "." POOL_STORE ".begun");
}

static int open_begun(struct arena *a, struct disk *d, const char *state, enum store_mode mode,
	unsigned wait_ms, struct store **out, struct error *err)
{
	const char *mark = mark_path(a, state);
	bool begun = true;

	if (store_open(out, d, state, POOL_STORE, mode | STORE_BEGUN, wait_ms, err) == 0)
		return 0;
	/* Another process may have seen meanwhile that the journal was moved away. */
	if (err->code != ERR_INPUT || d->ops->exists(d, mark, &begun, err) < 0 || begun)
		return -1;
	return store_open(out, d, state, POOL_STORE, mode, wait_ms, err);
}

static int open_store(struct arena *a, struct disk *d, const char *state, enum store_mode mode,
	unsigned wait_ms, struct store **out, struct error *err)
{
	const char *journal = path_join(a, state, POOL_STORE ".events.jsonl");
	const char *mark = mark_path(a, state);
	bool begun, there;

	if (d->ops->exists(d, mark, &begun, err) < 0 || d->ops->exists(d, journal, &there, err) < 0)
		return -1;
	if (begun && there)
		return open_begun(a, d, state, mode, wait_ms, out, err);
	if (begun && d->ops->unlink(d, mark, err) < 0)
		return -1;
	if (!there && mode == STORE_READ)
		return 0;
	return store_open(out, d, state, POOL_STORE, mode, wait_ms, err);
}

int records_open(struct arena *a, struct disk *d, const char *state, unsigned wait_ms,
	struct store **out, struct error *err)
{
	if (open_store(a, d, state, STORE_WRITE, wait_ms, out, err) < 0)
		return -1;
	records_mark(d, state, *out);
	return 0;
}

int records_look(
	struct arena *a, struct disk *d, const char *state, struct store **out, struct error *err)
{
	return open_store(a, d, state, STORE_READ, 0, out, err);
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
