/* The output of a list, stale worktrees, and what counts as use of a worktree. */
#include <utime.h>
#include <sys/stat.h>
#include "src/base/clock.h"
#include "src/worktree/pool_internal.h"
#include "tests/lib/pool_rig.h"

POOL_TEST(a_list_has_records_and_says_what_is_there)
{
	struct allocation *list;
	size_t n;

	assert_int_equal(pool_list(&arena, &pool, &list, &n, &err), 0);
	assert_int_equal(n, 0);
	(void)have("a");
	(void)have("b");
	sh("rm -r pool/a && git -C r worktree add -q -b c ../pool/c");
	assert_int_equal(pool_list(&arena, &pool, &list, &n, &err), 0);
	assert_int_equal(n, 2);
	assert_string_equal(list[0].slug, "a");
	assert_true(!list[0].there && !list[0].stale);
	assert_true(list[1].there);
}

POOL_TEST(stale_is_by_the_directories_time)
{
	static const struct {
		int64_t age;
		bool stale;
	} rows[] = {{0, false}, {14 * 86400, false}, {14 * 86400 + 1, true}, {30 * 86400, true},
		{-30 * 86400, false}};
	int64_t now = 1800000000;
	struct allocation *list;
	size_t n;

	(void)have("one");
	clock_fix(now);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct utimbuf times = {now - rows[i].age, now - rows[i].age};

		assert_int_equal(utime(at("pool/one"), &times), 0);
		assert_int_equal(pool_list(&arena, &pool, &list, &n, &err), 0);
		assert_int_equal(list[0].stale, rows[i].stale);
		assert_int_equal(list[0].changed, now - rows[i].age);
	}
	/* And the clock jumps. */
	clock_fix(now + 60 * 86400);
	assert_int_equal(pool_list(&arena, &pool, &list, &n, &err), 0);
	assert_true(list[0].stale);
	clock_fix(1000);
	assert_int_equal(pool_list(&arena, &pool, &list, &n, &err), 0);
	assert_false(list[0].stale);
}

static const char *live(const struct allocation *of)
{
	struct op o = {.a = &arena, .p = &pool, .err = &err};
	struct allocation seen = *of;

	if (pool_keep(&o, &seen, false) < 0)
		fail_msg("%s", err.text);
	return seen.keep && strcmp(seen.keep, "live") == 0 ? seen.why : NULL;
}

POOL_TEST(the_owner_of_the_item_in_it_makes_it_live)
{
	struct allocation one = have("dev-team/T-1");

	clock_fix(1800000000);
	item_in("T-1", one.path, "implementing", "me");
	assert_non_null(live(&one));
	clock_fix(1800000000 + 301);
	assert_null(live(&one));
	item_in("T-1", one.path, "implementing", NULL);
	assert_null(live(&one));
	item_in("T-1", at("pool/another"), "implementing", "me");
	assert_null(live(&one));
	item_in("T-2", one.path, "implementing", "me");
	assert_null(live(&one));
	one.run = "run T-2";
	assert_non_null(live(&one));
	item_in("T-2", at("pool/T-1"), "implementing", "me");
	one.path = at("moved");
	assert_non_null(live(&one));
}

POOL_TEST(a_process_that_works_in_it_is_live)
{
	struct allocation one = have("one"), longer = have("one-more");
	pid_t pid;

	sh("mkdir -p pool/one/src/deep");
	pid = somebody_in("pool/one/src/deep");
	assert_non_null(live(&one));
	assert_null(live(&longer));
	somebody_ends(pid);
	assert_null(live(&one));
}

UNIT_GROUP(NULL, arena_end)
