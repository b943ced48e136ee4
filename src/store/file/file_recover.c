/*
 * file_recover.c: what a kill or a power cut left behind is put in order under the lock, before
 * anything else. The journal says what is committed; a staged file says what was not yet in place.
 */
#include "src/store/file/file_internal.h"

/*
 * Renames what the last commit of the document staged, unless it is not that, or people changed or
 * removed the file in the meantime (a rename never leaves nothing): then the commit is only in the
 * journal, and what they did comes after it.
 */
static int finish(struct file_store *f, const struct entry *e, const char *staged, const char *path,
	struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char is[DIGEST_TEXT], ready[DIGEST_TEXT];

	if (file_digest(f, staged, &text, ready, err) < 0 ||
		file_digest(f, path, &text, is, err) < 0)
		return -1;
	if (strcmp(ready, e->sum) == 0 && strcmp(is, e->before) == 0)
		return f->disk->ops->rename(f->disk, staged, path, err);
	return f->disk->ops->unlink(f->disk, staged, err);
}

static int recover_document(struct file_store *f, const struct entry *e, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	const char *staged = file_staged(f, &a, e->key, e->slot);
	bool there;

	if (f->disk->ops->unlink(f->disk, file_staged(f, &a, e->key, !e->slot), err) < 0 ||
		f->disk->ops->exists(f->disk, staged, &there, err) < 0)
		return -1;
	if (!there)
		return 0;
	/* The commit may not be durable yet. */
	if (f->journal->ops->sync(f->journal, err) < 0)
		return -1;
	return finish(f, e, staged, file_document(f, &a, e->key), err);
}

static int recover_documents(struct file_store *f, struct error *err)
{
	for (size_t i = 0; i < f->state.n; i++)
		if (f->state.keys[i].document && recover_document(f, &f->state.keys[i], err) < 0)
			return -1;
	return 0;
}

/* Files of documents that the last commit deleted. */
static int recover_removals(struct file_store *f, const json *commit, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const json *gone = json_first(json_get(commit, "gone"));

	for (const json *g = gone; g; g = json_next(g)) {
		const char *path = file_document(f, &a, json_key(g)), *before = json_text(g);
		char is[DIGEST_TEXT];

		if (file_digest(f, path, &text, is, err) < 0)
			return -1;
		if (is[0] && before && strcmp(is, before) == 0 &&
			f->disk->ops->unlink(f->disk, path, err) < 0)
			return -1;
	}
	return gone ? f->disk->ops->sync_folder(f->disk, f->dir, err) : 0;
}

/*
 * A commit that was killed before its sync looks whole, and what is read of it now must not be lost
 * later. One with a document that is no longer staged was synced before the file was replaced.
 */
static bool surely_synced(const json *commit)
{
	const char *actor = commit ? json_get_str(commit, "actor") : NULL;

	return !commit || (json_get(commit, "doc") && !(actor && strcmp(actor, "hand") == 0));
}

int file_recover(struct file_store *f, const json *commit, int64_t size, struct error *err)
{
	if (size > f->end && f->journal->ops->truncate(f->journal, f->end, err) < 0)
		return -1;
	if ((size > f->end || !surely_synced(commit)) && f->journal->ops->sync(f->journal, err) < 0)
		return -1;
	f->fresh = f->end == 0;
	if (recover_documents(f, err) < 0)
		return -1;
	return commit ? recover_removals(f, commit, err) : 0;
}
