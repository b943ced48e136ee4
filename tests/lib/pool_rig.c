#include "src/sys/process.h"
#include "src/worktree/pool_internal.h"
#include "tests/lib/pool_rig.h"

struct pool pool;
struct worktree_pool_spec spec;

void pool_again(void)
{
	pool_close(&pool);
	assert_int_equal(
		pool_open(&arena, &spec, at("r"), at("state"), at("artifacts"), &pool, &err), 0);
}

int pool_setup(void **state)
{
	(void)rig_setup(state);
	spec = (struct worktree_pool_spec){.name = "p",
		.root = at("pool"),
		.strict = true,
		.stale_days = 14,
		.base_port = 3190};
	return pool_open(&arena, &spec, at("r"), at("state"), at("artifacts"), &pool, &err);
}

int pool_teardown(void **state)
{
	pool_close(&pool);
	return scratch_remove(state);
}

int allocate(const struct allocate_ask *ask, struct allocation *of)
{
	bool created;

	return pool_allocate(&arena, &pool, ask, of, &created, &err);
}

struct allocation have(const char *branch)
{
	const struct allocate_ask ask = {.branch = branch};
	struct allocation of;

	if (allocate(&ask, &of) < 0)
		fail_msg("%s", err.text);
	return of;
}

struct allocation take(const char *branch, bool created)
{
	const struct allocate_ask ask = {.branch = branch};
	struct allocation of;
	bool got = !created;

	if (pool_allocate(&arena, &pool, &ask, &of, &got, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(got, created);
	return of;
}

bool take_refused(const char *branch, enum err code, const char *part)
{
	const struct allocate_ask ask = {.branch = branch};
	struct allocation of;

	return refused(allocate(&ask, &of), code, part);
}

static bool is_kept(const char *what, bool confirmed, const char *why)
{
	bool removed = true;

	return refused(pool_reclaim(&arena, &pool, what, confirmed, &removed, &err), ERR_STATE,
		       why) &&
	       !removed;
}

bool stays(const char *what, const char *why)
{
	return is_kept(what, false, why);
}

bool stays_confirmed(const char *what, const char *why)
{
	return is_kept(what, true, why);
}

void goes(const char *what, bool confirmed)
{
	bool removed = false;

	if (pool_reclaim(&arena, &pool, what, confirmed, &removed, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(removed);
}

size_t keys(const char *prefix)
{
	struct store_kv *list;
	size_t n;
	int64_t rev;

	assert_int_equal(
		store_list(pool.store, &arena, prefix, NULL, 100, &list, &n, &rev, &err), STORE_OK);
	return n;
}

void nothing_is_left_of_x(void)
{
	sh("test ! -e pool/x && test -z \"$(ls r/.git/worktrees 2>/dev/null)\" && test -z \"$(ls "
	   "-A pool | grep -v '^[.]pool$')\" && test -z \"$(ls r/.git | grep trash)\"");
	assert_int_equal(keys(""), 0);
}

void change_stays(const char *act, const char *why)
{
	(void)have("x");
	sh(arena_printf(&arena, "cd pool/x\n%s", act));
	if (!stays("x", "uncommitted changes in") || !contains(err.text, why))
		fail_msg("%s", act);
	sh("test -d pool/x && test -z \"$(ls -A pool | grep trash)\"");
	goes("x", true);
	sh("git -C r config --unset status.showUntrackedFiles || :\n"
	   "git -C r config --unset diff.ignoreSubmodules || :");
	nothing_is_left_of_x();
}

void commit_stays(const char *act, bool kept)
{
	(void)have("x");
	sh(arena_printf(&arena, "cd pool/x\n%s", act));
	if (kept && !stays("x", "unpushed commits in"))
		fail_msg("%s", act);
	if (kept)
		sh("git -C pool/x rev-parse --short=12 HEAD >/dev/null");
	goes("x", kept);
	sh("cd r; { git branch -qD x; git branch -qD copy; git tag -d t; git push -q origin :x; "
	   "git push -q origin :y; } >/dev/null 2>&1 || :");
}

/* A process that has ended, as a record names it. */
static void by_a_dead_one(struct allocation *of)
{
	of->pid = 4194999; /* above the kernel's maximum */
	of->start = 1;
	of->boot = boot_id();
}

void pool_put(struct allocation *of)
{
	assert_int_equal(record_put(&arena, &pool, of, &err), 0);
}

void half_made(const char *act)
{
	struct allocation of = have("x");

	sh(act);
	of.state = ALLOCATION_MAKING;
	by_a_dead_one(&of);
	pool_put(&of);
	assert_int_equal(keys("doing/"), 1);
	pool_again();
	assert_null(pool.notice);
}

void half_removed(const char *act, bool confirmed)
{
	struct allocation of = have("x");

	of.state = ALLOCATION_REMOVING;
	of.confirmed = confirmed;
	by_a_dead_one(&of);
	pool_put(&of);
	sh(arena_printf(&arena, "trash=%s\nadmin=%s\n%s", trash_path(&arena, of.path),
		trash_admin_path(&arena, &pool, of.path), act));
	pool_again();
}
