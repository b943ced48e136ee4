/*
 * file_commit.c: one commit. Staged documents first, then the lines, whose sync is the commit
 * point; then the documents take their places.
 */
#include "src/base/clock.h"
#include "src/store/file/file_internal.h"

/* ---- what goes without being asked ---- */

static void add_expired(struct work *w, const struct file_store *f, const struct lease *l)
{
	for (size_t i = 0; i < f->state.n; i++)
		if (f->state.keys[i].lease == l->id)
			w->changes[w->n++] =
				(struct change){.key = f->state.keys[i].key, .del = true};
}

/* Also shortens what a clock that was put back would make too long. */
static void expire(struct work *w, const struct file_store *f, int64_t now)
{
	for (size_t i = 0; i < f->state.n_leases; i++) {
		struct lease l = f->state.leases[i];
		int64_t until = lease_end(&l, now);

		if (until == l.until && lease_alive(&l, now))
			continue;
		if (!lease_alive(&l, now)) {
			add_expired(w, f, &l);
			l.ttl = 0;
		}
		l.until = until;
		w->leases[w->n_leases++] = l;
	}
}

void work_lease(struct work *w, struct lease l)
{
	size_t i = w->n_leases;

	for (size_t k = 0; k < w->n_leases; k++)
		if (w->leases[k].id == l.id && w->leases[k].ttl)
			i = k;
	w->leases[i] = l;
	w->n_leases += i == w->n_leases;
}

void work_begin(
	struct work *w, struct arena *a, const struct file_store *f, size_t changes, size_t leases)
{
	w->changes = arena_alloc(a, (f->state.n + changes + 1) * sizeof(*w->changes));
	w->leases = arena_alloc(a, (f->state.n_leases + leases + 1) * sizeof(*w->leases));
	w->now = clock_now();
	expire(w, f, w->now);
	for (size_t i = 0; i < w->n; i++) /* the state's own go while they are printed */
		w->changes[i].key = arena_dup(a, str_of(w->changes[i].key));
}

/* ---- files ---- */

static bool places(const struct work *w, const struct change *c)
{
	return !w->by_hand && is_document(c->key);
}

static void unstage(struct file_store *f, const struct work *w)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct error ignored;

	for (size_t i = 0; i < w->n; i++)
		if (places(w, &w->changes[i]) && !w->changes[i].del)
			(void)f->disk->ops->unlink(f->disk,
				file_staged(f, &a, w->changes[i].key, w->changes[i].slot),
				&ignored);
}

static void set_slots(const struct file_store *f, struct work *w)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct entry *e = state_find(&f->state, w->changes[i].key);

		w->changes[i].slot = e && e->document && !e->slot;
	}
}

/* The folder's sync also makes the rename of the commit before durable. */
static int stage(struct file_store *f, const struct work *w, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	bool any = f->fresh;

	for (size_t i = 0; i < w->n; i++) {
		const struct change *c = &w->changes[i];

		if (!places(w, c))
			continue;
		any = true;
		if (!c->del && f->disk->ops->write(f->disk, file_staged(f, &a, c->key, c->slot),
				       file_document(f, &a, c->key), c->value, err) < 0)
			return -1;
	}
	if (any && f->disk->ops->sync_folder(f->disk, f->dir, err) < 0)
		return -1;
	f->fresh = false;
	return 0;
}

/* True when the file is there as the commit wants it: a call that fails may have been done. */
static bool in_place(struct file_store *f, const char *path, const char *sum)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error ignored;
	char is[DIGEST_TEXT];

	return file_digest(f, path, &text, is, &ignored) == 0 && strcmp(is, sum) == 0;
}

static int place(struct file_store *f, const struct change *c, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	const struct entry *e = state_find(&f->state, c->key);
	struct disk *d = f->disk;
	const char *path = file_document(f, &a, c->key),
		   *staged = file_staged(f, &a, c->key, c->slot);

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

/* The commit did not come about: everything is as before, or nobody knows. */
static enum store_status undo(struct file_store *f, const struct work *w, struct error *err)
{
	struct error why = *err, more;

	if (f->journal->ops->truncate(f->journal, f->end, &more) < 0 ||
		f->journal->ops->sync(f->journal, &more) < 0)
		return file_break(f, err);
	unstage(f, w);
	f->committed = false;
	if (file_load(f, err) < 0) {
		f->broken = *err;
		return STORE_DOWN;
	}
	*err = why;
	return STORE_DOWN;
}

static enum store_status finish(struct file_store *f, const struct work *w, struct error *err)
{
	for (size_t i = 0; i < w->n; i++)
		if (places(w, &w->changes[i]) && place(f, &w->changes[i], err) < 0)
			return file_break(f, err);
	return STORE_OK;
}

/*
 * The documents were looked at before they were staged, which took some syncs. What people did to
 * one meanwhile would be written over; so a small one is looked at once more, right before the
 * commit.
 */
static int look_again(struct file_store *f, struct work *w, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	for (size_t i = 0; i < w->n && f->committed; i++) {
		const struct change *c = &w->changes[i];
		const struct entry *e = state_find(&f->state, c->key);
		char is[DIGEST_TEXT];

		if (!places(w, c) || c->value.n > FILE_LOOK_AGAIN)
			continue;
		if (file_digest(f, file_document(f, &a, c->key), &text, is, err) < 0)
			return -1;
		w->edited = w->edited || strcmp(is, e ? e->sum : "") != 0;
	}
	return 0;
}

enum store_status file_commit(struct file_store *f, struct work *w, struct error *err)
{
	CLEANUP(buf_release) struct buf lines = BUF_INIT;
	char sum[DIGEST_TEXT];

	set_slots(f, w);
	if (stage(f, w, err) < 0 || look_again(f, w, err) < 0) {
		unstage(f, w);
		return STORE_DOWN;
	}
	if (w->edited) {
		unstage(f, w);
		return STORE_REFUSED;
	}
	if (file_print(f, w, &lines, sum, err) < 0 || append(f, buf_str(&lines), err) < 0)
		return undo(f, w, err);
	f->end += (int64_t)lines.len;
	f->committed = true;
	memcpy(f->sum, sum, sizeof(sum));
	return finish(f, w, err);
}
