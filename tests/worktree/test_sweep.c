#include "src/event/artifact.h"
#include "src/base/clock.h"
#include "tests/lib/pool_rig.h"

/* What a sweep removes before it is old: according to the pool's onMerge, onAbort and onTimeout. */

static struct allocation *list;
static size_t n;

static void sweep(bool apply)
{
	if (pool_sweep(&arena, &pool, apply, false, &list, &n, &err) < 0)
		fail_msg("%s", err.text);
}

static int due_setup(void **state)
{
	int rc = pool_setup(state);

	spec.on_merge = spec.on_abort = spec.on_timeout = true;
	pool_again();
	return rc;
}

#define DUE_TEST(name) UNIT_TEST(name, due_setup, pool_teardown)

/* The named one, with this reason. */
static void one_is(const char *branch, const char *reason)
{
	assert_int_equal(n, 1);
	assert_string_equal(list[0].branch, branch);
	assert_string_equal(list[0].reason, reason);
}

DUE_TEST(what_is_merged_goes)
{
	(void)have("x");
	(void)have("fresh"); /* where it began, so nothing was merged */
	sh("cd pool/x && echo 2 >a && git commit -qam two && git push -q origin x");
	sweep(true);
	assert_int_equal(n, 0);
	/* on the server, and fetched */
	sh("git clone -q org/o.git other && cd other && git merge -q --no-ff -m m origin/x && git "
	   "push -q origin main");
	sweep(true);
	assert_int_equal(n, 0);
	sh("git -C r fetch -q");
	sweep(false);
	one_is("x", "merged");
	assert_null(list[0].keep);
	assert_false(list[0].removed);
	sh("test -e pool/x");
	sweep(true);
	one_is("x", "merged");
	assert_true(list[0].removed);
	sh("test ! -e pool/x && test -e pool/fresh && git -C r rev-parse -q --verify x >/dev/null");
}

DUE_TEST(what_is_merged_into_another_target_goes_when_it_is_named)
{
	sh("git -C r push -q origin main:develop");
	(void)have("x");
	sh("cd pool/x && git commit -q --allow-empty -m two && git push -q origin x x:develop && "
	   "git -C ../../r fetch -q");
	sweep(false);
	assert_int_equal(n, 0);
	pool.target = "develop";
	sweep(false);
	one_is("x", "merged");
	pool.target = "none";
	sweep(false);
	assert_int_equal(n, 0);
}

DUE_TEST(the_target_itself_is_not_merged)
{
	sh("git -C r checkout -q --detach");
	(void)have("main");
	sh("cd pool/main && git commit -q --allow-empty -m two && git push -q origin main");
	sweep(false);
	assert_int_equal(n, 0);
}

DUE_TEST(work_in_what_is_merged_keeps_it)
{
	static const struct {
		const char *act, *why;
	} rows[] = {
		{"echo 3 >new", "uncommitted"},
		{"git worktree lock .", "locked"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		(void)have("x");
		sh("cd pool/x && git commit -q --allow-empty -m two && git push -q origin x:main");
		sh(arena_printf(&arena, "cd pool/x && %s", rows[i].act));
		sweep(true);
		one_is("x", "merged");
		assert_string_equal(list[0].keep, rows[i].why);
		assert_false(list[0].removed);
		sh("test -d pool/x && git -C r worktree unlock ../pool/x 2>/dev/null || :; git -C "
		   "r worktree remove --force ../pool/x && git -C r branch -qD x");
		sweep(true);
		one_is("x", "gone");
	}
	/* another branch is checked out there: that is other work */
	(void)have("x");
	sh("cd pool/x && git commit -q --allow-empty -m two && git push -q origin x:main && git "
	   "checkout -q -b y");
	sweep(true);
	assert_int_equal(n, 0);
}

static void item_ends(const char *id, const char *state, const char *stage_status)
{
	CLEANUP(json_free) json *members = NULL;

	item_in(id, at("pool/ADR-1"), state, NULL);
	assert_int_equal(
		json_parse(&members,
			str_of(arena_printf(&arena, "{\"stages\":{\"one\":{\"status\":\"%s\"}}}",
				stage_status)),
			&err),
		0);
	assert_int_equal(artifact_merge_runtime(at("artifacts"), id, members, &err), 0);
}

DUE_TEST(what_a_failed_item_left_goes)
{
	static const struct {
		const char *state, *stage, *reason; /* NULL: it is kept */
		bool off;                           /* the pool's settings exclude it */
	} rows[] = {
		{"failed", "failure", "aborted", false},
		{"failed", "timeout", "timeout", false},
		{"failed", "success", "aborted", false},
		{"failed", "failure", NULL, true},
		{"failed", "timeout", NULL, true},
		{"done", "success", NULL, false},
		{"done", "timeout", NULL, false},
		{"implementing", "timeout", NULL, false},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		(void)have("dev-team/ADR-1");
		item_ends("ADR-1", rows[i].state, rows[i].stage);
		spec.on_abort = !rows[i].off || strcmp(rows[i].stage, "timeout") == 0;
		spec.on_timeout = !rows[i].off || strcmp(rows[i].stage, "failure") == 0;
		pool_again();
		sweep(true);
		if (n != (rows[i].reason ? 1 : 0))
			fail_msg("row %zu", i);
		if (n)
			one_is("dev-team/ADR-1", rows[i].reason);
		sh(rows[i].reason ? "test ! -e pool/ADR-1" : "test -e pool/ADR-1");
	}
}

static void now_is(const char *time)
{
	setenv("DEV_TEAM_NOW", time, 1);
}

DUE_TEST(the_failure_of_an_earlier_worktree_does_not_count)
{
	now_is("2026-11-21T00:00:00Z");
	item_ends("ADR-1", "failed", "failure");
	now_is("2026-11-21T01:00:00Z");
	(void)have("dev-team/ADR-1");
	sweep(true);
	assert_int_equal(n, 0);
	now_is("2026-11-21T02:00:00Z");
	item_ends("ADR-1", "failed", "failure");
	sweep(false);
	one_is("dev-team/ADR-1", "aborted");
	unsetenv("DEV_TEAM_NOW");
}

UNIT_GROUP(NULL, arena_end)
