#include "src/base/clock.h"
#include "src/store/file/file_internal.h"

/*
 * One commit with the lease as it is to be; its keys go with it when its ttl is 0. The clock is
 * read once: a lease that is `alive` at one time and over at the next would be renewed without its
 * keys.
 */
static enum store_status set_lease(
	struct file_store *f, struct lease l, bool alive, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct work w = {0};

	work_begin(&w, &a, f, f->state.n, 1);
	if (alive && !lease_alive(state_lease(&f->state, l.id), w.now))
		return lease_gone(l.id, err);
	if (l.ttl)
		l.until = w.now + l.ttl;
	for (size_t i = 0; i < f->state.n && !l.ttl; i++)
		if (f->state.keys[i].lease == l.id)
			w.changes[w.n++] = (struct change){
				.key = arena_dup(&a, str_of(f->state.keys[i].key)), .del = true};
	work_lease(&w, l);
	return file_commit(f, &w, err);
}

enum store_status file_grant(struct store *s, uint64_t id, int ttl_s, struct error *err)
{
	struct file_store *f = file_of(s);
	enum store_status got = file_enter(f, true, err);

	if (got != STORE_OK)
		return got;
	got = set_lease(f, (struct lease){.id = id, .ttl = ttl_s}, false, err);
	file_leave(f);
	return got;
}

/* Ends (ttl 0) or renews a lease that is alive. */
static enum store_status change(
	struct file_store *f, uint64_t id, bool renew, int *left_s, struct error *err)
{
	const struct lease *l = state_lease(&f->state, id);
	int ttl = l && renew ? l->ttl : 0;
	enum store_status got = set_lease(f, (struct lease){.id = id, .ttl = ttl}, true, err);

	if (got == STORE_OK && left_s)
		*left_s = ttl;
	return got;
}

static enum store_status change_lease(
	struct store *s, uint64_t id, bool renew, int *left_s, struct error *err)
{
	struct file_store *f = file_of(s);
	enum store_status got = file_enter(f, true, err);

	if (got != STORE_OK)
		return got;
	got = change(f, id, renew, left_s, err);
	file_leave(f);
	return got;
}

enum store_status file_renew(struct store *s, uint64_t id, int *left_s, struct error *err)
{
	return change_lease(s, id, true, left_s, err);
}

enum store_status file_revoke(struct store *s, uint64_t id, struct error *err)
{
	return change_lease(s, id, false, NULL, err);
}

enum store_status file_lease_end(struct store *s, uint64_t id, int64_t *until, struct error *err)
{
	struct file_store *f = file_of(s);
	enum store_status got = file_enter(f, false, err);
	const struct lease *l;
	int64_t now = clock_now();

	if (got != STORE_OK)
		return got;
	l = state_lease(&f->state, id);
	if (lease_alive(l, now))
		*until = lease_end(l, now);
	else
		got = lease_gone(id, err);
	file_leave(f);
	return got;
}
