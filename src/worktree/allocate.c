#include <sys/stat.h>
#include "src/event/event.h"
#include "src/base/clock.h"
#include "src/sys/path.h"
#include "src/sys/process.h"
#include "src/worktree/pool_internal.h"

enum { TRIES = 20, MAKING_MS = 600000, WATCH_MS = 1000, WATCH_MAX = 64 };

enum outcome {
	DONE,   /* it exists already: w->of describes it */
	FILL,   /* made; its files are missing */
	AWAIT,  /* another process is creating or removing it */
	REPAIR, /* a process died while it did */
	AGAIN,  /* another process was faster, or something stale was removed */
};

struct work {
	struct arena *arena;
	struct pool *pool;
	const struct allocate_ask *ask;
	bool adopt;            /* create nothing */
	struct allocation of;  /* the record to write */
	struct allocation old; /* the record as it is; mod 0: there is none */
	struct base base;
	struct ownership own;
	struct error *err;
};

/* ---- the holder ---- */

static void set_holder(struct work *w)
{
	pid_t pid = w->ask->holder;
	struct process_info info = {0};

	if (!pid && w->ask->run)
		pid = getpid();
	record_claim(w->arena, &w->of);
	w->of.pid = pid;
	w->of.start = pid && process_info(pid, &info) ? info.start : 0;
	if (w->ask->run)
		w->of.run = w->ask->run;
}

/* The holder is running, and is neither the caller nor of the caller's run. */
static bool is_rival(const struct work *w, const struct allocation *of)
{
	pid_t own = w->ask->holder ? w->ask->holder : getpid();

	if (of->state != ALLOCATION_LIVE || !record_alive(of) ||
		(of->pid == own && strcmp(of->boot, boot_id()) == 0))
		return false;
	return !of->run || !w->ask->run || strcmp(of->run, w->ask->run) != 0;
}

/* From the record, or for a user with another state directory, from the mark in the worktree. */
static int check_holder(struct work *w)
{
	struct allocation marked;
	const char *state;
	const struct allocation *rival = NULL;

	if (!w->ask->run && !w->ask->holder)
		return 0;
	if (w->old.mod && is_rival(w, &w->old))
		rival = &w->old;
	else if (mark_live(w->arena, w->of.path, &marked, &state) && is_rival(w, &marked))
		rival = &marked;
	if (!rival)
		return 0;
	return error_set(w->err, ERR_STATE,
		"'%s' is held by process %d%s%s%s, which is still running", w->of.path,
		(int)rival->pid, rival->run ? " for '" : "", rival->run ? rival->run : "",
		rival->run ? "'" : "");
}

/* ---- ownership ---- */

static int tell_mismatch(struct work *w)
{
	CLEANUP(json_free)
	json *fields = JSON_OBJECT(JSON_TEXT("worktreePath", w->of.path),
		JSON_TEXT("reason", owned_word(w->own.reason)),
		JSON_TEXT("expectedClone", w->own.expected),
		JSON_IF(w->own.actual, JSON_TEXT("actualClone", w->own.actual)),
		JSON_TEXT("guard", w->pool->strict ? "strict" : "advisory"));
	const struct event h = {
		.id = EVENT_WORKTREE_OWNERSHIP_MISMATCH, .issue = w->ask->issue, .fields = fields};

	return event_emit(w->pool->artifacts, &h, w->err);
}

static int foreign(struct work *w)
{
	const char *what = w->own.reason == OWNED_CROSS_CLONE
				   ? "it belongs to another clone"
				   : "its '.git' does not point to a repository";

	if (tell_mismatch(w) < 0)
		return -1;
	if (w->pool->strict)
		return error_set(w->err, ERR_STATE,
			"WorktreeOwnershipMismatch (%s): '%s' does not belong to '%s': %s, '%s'",
			owned_word(w->own.reason), w->of.path, w->pool->repo, what,
			w->own.actual ? w->own.actual : "");
	w->of.warning = arena_printf(w->arena,
		"advisory ownership mismatch (%s): '%s' does not belong to "
		"'%s': %s, '%s'",
		owned_word(w->own.reason), w->of.path, w->pool->repo, what,
		w->own.actual ? w->own.actual : "");
	return 0;
}

/* ---- under the lock ---- */

/* Commits the record together with its ports. *refused: another process was faster. */
static int commit(struct work *w, bool *refused)
{
	for (int i = 0; i < TRIES; i++) {
		struct change c;

		change_begin(&c, w->arena, w->pool);
		if (slot_choose(w->arena, w->pool, w->ask, &w->of, &c, w->err) < 0)
			return -1;
		change_record(&c, &w->of);
		if (change_commit(&c, &w->of.mod, refused, w->err) < 0)
			return -1;
		if (!*refused)
			return 0;
	}
	return 0;
}

static int adopt_new(struct work *w, enum outcome *out)
{
	bool refused;

	w->of.state = ALLOCATION_LIVE;
	w->of.tip = w->base.commit;
	if (check_holder(w) < 0)
		return -1;
	set_holder(w);
	if (commit(w, &refused) < 0 ||
		(!refused && mark_put(w->arena, w->pool, &w->of, w->err) < 0))
		return -1;
	*out = refused ? AGAIN : DONE;
	return 0;
}

/* Set at once, because a process with another state directory does not see the record. */
static int hold(struct work *w)
{
	struct allocation maker = w->of;
	int rc;

	set_holder(w);
	rc = mark_put(w->arena, w->pool, &w->of, w->err);
	w->of = maker;
	return rc;
}

static int make(struct work *w, enum outcome *out)
{
	const struct base *b = &w->base;
	struct error why;
	bool refused;

	w->of.made_branch = !b->exists;
	w->of.base = b->name;
	w->of.tip = b->commit;
	if (w->ask->sparse && *w->ask->sparse) {
		w->of.sparse = w->ask->sparse;
		if (sparse_check(w->arena, w->pool, b->commit, w->of.sparse, w->err) < 0)
			return -1;
	}
	record_claim(w->arena, &w->of);
	if (commit(w, &refused) < 0)
		return -1;
	*out = refused ? AGAIN : FILL;
	if (refused || (worktree_add(w->arena, w->pool, &w->of, w->err) == 0 && hold(w) == 0))
		return 0;
	if (making_undo_locked(w->arena, w->pool, &w->of, &why) < 0)
		record_give_up(w->arena, w->pool, w->of.path, why.text);
	return -1;
}

/* On a case-insensitive file system two names may be one directory. */
static int check_folding(struct work *w)
{
	struct allocation *all;
	size_t n;

	if (!directory_folds(w->arena, w->pool))
		return 0;
	if (record_all(w->arena, w->pool, &all, &n, w->err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (slug_same(all[i].path, w->of.path, true) &&
			strcmp(all[i].path, w->of.path) != 0)
			return error_set(w->err, ERR_STATE,
				"branches '%s' and '%s' map to the same directory '%s' on a "
				"case-insensitive file system",
				all[i].branch, w->of.branch, all[i].path);
	return 0;
}

static int none_to_adopt(struct work *w)
{
	return error_set(w->err, ERR_STATE, "there is no worktree of branch '%s' at '%s' to adopt",
		w->of.branch, w->of.path);
}

static int look(struct work *w, enum stand *stand)
{
	struct stat st;

	*stand = STAND_NOTHING;
	if (base_find(w->arena, w->pool, w->ask, &w->base, w->err) < 0)
		return -1;
	if (w->adopt && lstat(path_join(w->arena, w->of.path, ".git"), &st) < 0)
		return none_to_adopt(w);
	return stand_look(w->arena, w->pool, &w->of, w->base.commit, &w->own, stand, w->err);
}

static int without_record(struct work *w, enum outcome *out)
{
	enum stand stand;

	if (check_folding(w) < 0 || look(w, &stand) < 0)
		return -1;
	if (stand == STAND_FOREIGN && foreign(w) < 0)
		return -1;
	if (stand != STAND_NOTHING)
		return adopt_new(w, out);
	return w->adopt ? none_to_adopt(w) : make(w, out);
}

/* ---- with a record ---- */

static int adopt_again(struct work *w, enum outcome *out)
{
	const char *warning = w->of.warning;
	struct change c;
	bool refused;

	if (w->ask->ports > w->old.ports)
		return error_set(w->err, ERR_STATE,
			"'%s' has %u ports, not %u: reclaim it to get more", w->old.path,
			w->old.ports, w->ask->ports);
	if (check_holder(w) < 0)
		return -1;
	w->of = w->old;
	w->of.warning = warning;
	/* Taking over a run whose owner is alive requires `--holder`. */
	if (w->ask->holder || (w->ask->run && !record_alive(&w->old)))
		set_holder(w);
	change_begin(&c, w->arena, w->pool);
	change_record(&c, &w->of);
	if (change_commit(&c, &w->of.mod, &refused, w->err) < 0 ||
		(!refused && mark_put(w->arena, w->pool, &w->of, w->err) < 0))
		return -1;
	*out = refused ? AGAIN : DONE;
	return 0;
}

/* Another program removed the worktree. */
static int forget(struct work *w, enum outcome *out)
{
	const char *child;
	struct change c;
	bool refused;
	size_t n;

	if (slot_children(w->arena, w->pool, &w->old, &n, &child, w->err) < 0)
		return -1;
	if (n)
		return error_set(w->err, ERR_STATE,
			"'%s' no longer exists, but has %zu child%s, such as '%s'", w->old.path, n,
			n == 1 ? "" : "ren", child);
	change_begin(&c, w->arena, w->pool);
	change_drop(&c, &w->old);
	if (slot_release(w->arena, w->pool, &w->old, &c, w->err) < 0 ||
		change_commit(&c, NULL, &refused, w->err) < 0)
		return -1;
	*out = AGAIN;
	return 0;
}

static int of_another(struct work *w, enum outcome *out)
{
	w->own.reason = OWNED_CROSS_CLONE;
	w->own.expected = path_join(w->arena, w->pool->common, "worktrees");
	w->own.actual = path_join(w->arena, w->old.common, "worktrees");
	if (foreign(w) < 0)
		return -1;
	w->old.warning = w->of.warning;
	w->of = w->old; /* the other clone's record, unchanged */
	*out = DONE;
	return 0;
}

static int with_record(struct work *w, enum outcome *out)
{
	enum stand stand;

	if (strcmp(w->old.branch, w->of.branch) != 0)
		return error_set(w->err, ERR_STATE,
			"branches '%s' and '%s' map to the same directory '%s', which belongs to "
			"'%s'",
			w->old.branch, w->of.branch, w->of.path, w->old.branch);
	if (!record_ours(w->pool, &w->old))
		return of_another(w, out);
	if (w->old.state != ALLOCATION_LIVE) {
		*out = record_busy(&w->old) ? AWAIT : REPAIR;
		return 0;
	}
	if (look(w, &stand) < 0)
		return -1;
	if (stand == STAND_FOREIGN && foreign(w) < 0)
		return -1;
	return stand == STAND_NOTHING ? forget(w, out) : adopt_again(w, out);
}

static int locked(struct work *w, enum outcome *out)
{
	CLEANUP(disk_lock_drop) struct disk_lock *lock = NULL;
	bool there;

	if (admin_lock(w->pool, &lock, w->err) < 0 ||
		directory_make(w->arena, w->pool, w->err) < 0 ||
		record_read(w->arena, w->pool, w->of.path, &w->old, &there, w->err) < 0)
		return -1;
	return there ? with_record(w, out) : without_record(w, out);
}

/* ---- the transaction ---- */

/* A watch that is dropped is a reason to look again, too. */
static int await(struct work *w)
{
	struct store_change *list;
	int64_t next;
	size_t n;
	enum store_status got = store_watch(w->pool->store, w->arena, key_at(w->arena, w->of.path),
		store_cursor(w->pool->store), WATCH_MS, WATCH_MAX, &list, &n, &next, w->err);

	return got == STORE_OK || got == STORE_COMPACTED ? 0 : -1;
}

static int create_parts(struct work *w)
{
	for (const struct pool_part *const *part = pool_parts(); *part; part++)
		if ((*part)->create(w->arena, w->pool, &w->of, w->ask->issue, w->err) < 0)
			return -1;
	return 0;
}

static int fill(struct work *w)
{
	struct error why;

	if (worktree_fill(w->arena, w->pool, &w->of, w->err) < 0 || create_parts(w) < 0) {
		if (making_undo(w->arena, w->pool, &w->of, &why) < 0)
			record_give_up(w->arena, w->pool, w->of.path, why.text);
		return -1;
	}
	w->of.state = ALLOCATION_LIVE;
	set_holder(w);
	return record_put(w->arena, w->pool, &w->of, w->err);
}

static int begin(struct work *w)
{
	const struct allocate_ask *ask = w->ask;
	struct pool *p = w->pool;
	char *slug;

	if (branch_check(ask->branch, w->err) < 0 ||
		pool_slug(w->arena, ask->branch, &slug, w->err) < 0)
		return -1;
	w->of = (struct allocation){.branch = ask->branch,
		.slug = slug,
		.path = path_join(w->arena, p->dir, slug),
		.repo = p->repo,
		.common = p->common,
		.pool = p->name,
		.state = ALLOCATION_MAKING,
		.created = clock_now()};
	return 0;
}

static int repair(struct work *w)
{
	bool done;

	if (repair_one(w->arena, w->pool, &w->old, &done, w->err) == 0)
		return 0;
	return error_prefix(w->err, "'%s' is half %s", w->of.path,
		w->old.state == ALLOCATION_MAKING ? "made" : "removed");
}

/* Looks once and acts on it. *over: w->of is the result. */
static int once(struct work *w, bool *created, bool *over)
{
	enum outcome got;

	if (begin(w) < 0 || locked(w, &got) < 0)
		return -1;
	*over = got == DONE || got == FILL;
	if (got == DONE)
		return record_ours(w->pool, &w->of) ? create_parts(w) : 0;
	if (got == FILL) {
		*created = fill(w) == 0;
		return *created ? 0 : -1;
	}
	if (got == AWAIT)
		return await(w);
	return got == REPAIR ? repair(w) : 0;
}

static int allocate(struct work *w, struct allocation *out, bool *created)
{
	int64_t until = clock_ticks() + MAKING_MS;
	bool over = false;

	*created = false;
	while (!over) {
		if (once(w, created, &over) < 0)
			return -1;
		if (!over && clock_ticks() > until)
			return error_set(w->err, ERR_STATE,
				"process %d has not finished creating or removing '%s'",
				(int)w->old.pid, w->of.path);
	}
	*out = w->of;
	if (port_note(w->pool, w->ask, &w->of, w->err) < 0)
		return -1;
	return port_remember(w->pool, w->ask->issue, &w->of, w->err);
}

int pool_allocate(struct arena *a, struct pool *p, const struct allocate_ask *ask,
	struct allocation *out, bool *created, struct error *err)
{
	struct work w = {.arena = a, .pool = p, .ask = ask, .err = err};

	return allocate(&w, out, created);
}

int pool_adopt(struct arena *a, struct pool *p, const struct allocate_ask *ask,
	struct allocation *out, struct error *err)
{
	struct work w = {.arena = a, .pool = p, .ask = ask, .adopt = true, .err = err};
	bool created;

	return allocate(&w, out, &created);
}
