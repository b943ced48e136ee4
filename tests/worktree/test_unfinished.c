#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include "src/worktree/pool_internal.h"
#include "tests/lib/pool_rig.h"

/* The audit reports operations that cannot be finished and damaged records, and neither of them
 * blocks another process. */

static const struct leak *leak_of(const char *kind)
{
	struct leak *list;
	size_t n;

	assert_int_equal(pool_audit(&arena, &pool, &list, &n, &err), 0);
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i].kind, kind) == 0)
			return &list[i];
	return NULL;
}

/* x half removed by this process, with work that was added meanwhile, and its trash path occupied.
 */
static void cannot_be_put_back(void)
{
	struct allocation of = have("x");

	of.state = ALLOCATION_REMOVING;
	record_claim(&arena, &of);
	assert_int_equal(record_put(&arena, &pool, &of, &err), 0);
	sh(arena_printf(&arena,
		"echo late >pool/x/late && mv pool/x %s && mkdir pool/x && echo log >pool/x/log",
		trash_path(&arena, of.path)));
	pool_again();
	assert_true(contains(pool.notice, "cannot move"));
}

POOL_TEST(what_cannot_be_finished_is_told_by_an_audit)
{
	const struct leak *leak;

	cannot_be_put_back();
	leak = leak_of("half-removed");
	assert_non_null(leak);
	assert_string_equal(leak->path, at("pool/x"));
	assert_true(contains(leak->text, "it cannot be finished: cannot move"));
	assert_non_null(leak_of("trash"));
}

POOL_TEST(nobody_waits_for_himself)
{
	struct allocation of;
	bool removed;

	cannot_be_put_back();
	assert_true(take_refused("x", ERR_SYSTEM, "/x' is half removed: cannot move"));
	assert_int_equal(pool_reclaim(&arena, &pool, "x", false, &removed, &err), -1);
	assert_true(contains(err.text, "cannot move"));
	sh("test -e pool/.trash-*/late && test -e pool/x/log");
	/* Without the obstacle the next process finishes it. */
	sh("rm -r pool/x");
	pool_again();
	of = take("x", false);
	assert_null(of.fault);
	sh("test -e pool/x/late");
	assert_null(leak_of("half-removed"));
}

POOL_TEST(what_this_process_has_half_made_it_takes_back)
{
	struct allocation of = have("x");

	of.state = ALLOCATION_MAKING;
	record_claim(&arena, &of);
	assert_int_equal(record_put(&arena, &pool, &of, &err), 0);
	of = take("x", true);
}

/* ---- mounts ---- */

POOL_TEST(mounts_within_a_directory_are_found)
{
	static const char text[] = "22 27 0:21 / /proc rw,nosuid - proc proc rw\n"
				   "40 27 8:1 / /pool/x/a\\040b rw shared:1 - ext4 /dev/sda1 rw\n"
				   "41 27 8:1 /src /pool/y/c\\134d rw - ext4 /dev/sda1 rw\n"
				   "42 27 8:1 / /pool/z rw - ext4 /dev/sda1 rw\n"
				   "short line\n";

	assert_string_equal(mounts_find(&arena, str_of(text), "/pool/x"), "/pool/x/a b");
	assert_string_equal(mounts_find(&arena, str_of(text), "/pool/y"), "/pool/y/c\\d");
	assert_string_equal(mounts_find(&arena, str_of(text), "/pool/z"), "/pool/z");
	assert_null(mounts_find(&arena, str_of(text), "/pool/x/a"));
	assert_null(mounts_find(&arena, str_of(text), "/poo"));
	assert_null(mounts_find(&arena, str_of(""), "/pool"));
}

enum { SKIPPED = 77 };

/* In a mount namespace of its own, so that nothing of it is left. */
static int with_a_mount(void)
{
	bool removed;

	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		mount("none", at("pool/x/m"), "tmpfs", 0, NULL) < 0)
		return SKIPPED;
	if (!refused(pool_reclaim(&arena, &pool, "x", true, &removed, &err), ERR_STATE,
		    "has a file system mounted in it: '"))
		return 1;
	return 0;
}

POOL_TEST(a_worktree_with_a_mount_in_it_stays_whole)
{
	int status;
	pid_t pid;

	(void)have("x");
	sh("mkdir pool/x/m && echo /m >>r/.git/info/exclude");
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(with_a_mount());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == SKIPPED)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
	sh("test -e pool/x/a && test -d r/.git/worktrees/x");
	assert_null(leak_of("half-removed"));
}

/* ---- records ---- */

static int open_again(void)
{
	pool_close(&pool);
	return pool_open(&arena, &spec, at("r"), at("state"), at("artifacts"), &pool, &err);
}

POOL_TEST(records_that_were_lost_are_not_taken_for_none)
{
	static const char *const rows[] = {
		"printf '\\0\\0\\0' >$j",
		"head -c 5 good >$j",
		"head -c 700 good | head -c 100 >$j",
		": >$j",
		"head -c $(stat -c %s good) /dev/zero >$j",
	};

	(void)have("x");
	pool_close(&pool);
	sh("cp state/pools.events.jsonl good");
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct port_request ask = {.path = "/y", .base = 3190, .state = at("state")};
		struct port_report report;

		sh(arena_printf(&arena, "j=state/pools.events.jsonl; %s; cp $j bad", rows[i]));
		assert_true(refused(open_again(), ERR_INPUT, "damaged: there were commits"));
		assert_true(refused(pool_port(&arena, &ask, &report, &err), ERR_INPUT,
			"damaged: there were commits"));
		assert_true(contains(err.file, "/state/pools.events.jsonl"));
		assert_int_equal(err.line, 1);
		sh("cmp state/pools.events.jsonl bad");
	}
	sh("cp good state/pools.events.jsonl");
	assert_int_equal(open_again(), 0);
	assert_null(leak_of("unrecorded-worktree"));
}

POOL_TEST(a_flipped_byte_in_the_records_is_refused)
{
	(void)have("x");
	(void)have("y");
	pool_close(&pool);
	sh("sed -i '0,/\\/r\\/.git/s//\\/s\\/.git/' state/pools.events.jsonl");
	assert_true(refused(open_again(), ERR_INPUT, "has a wrong checksum"));
	assert_true(contains(err.file, "/state/pools.events.jsonl"));
	assert_true(err.line > 0);
}

POOL_TEST(records_that_were_moved_away_begin_anew)
{
	(void)have("x");
	pool_close(&pool);
	sh(": >state/pools.events.jsonl");
	assert_int_equal(open_again(), -1);
	sh("rm state/pools.events.jsonl");
	assert_int_equal(open_again(), 0);
	assert_int_equal(open_again(), 0); /* also before the first commit */
	assert_non_null(leak_of("unrecorded-worktree"));
	(void)take("x", false);
	assert_null(leak_of("unrecorded-worktree"));
}

static struct allocation with_port(const char *branch, unsigned port)
{
	const struct allocate_ask ask = {
		.branch = branch, .port = arena_printf(&arena, "%u", port), .ports = 2};
	struct allocation of;

	if (allocate(&ask, &of) < 0)
		fail_msg("%s", err.text);
	return of;
}

POOL_TEST(ports_without_a_record_are_not_given_away)
{
	struct allocation of;
	const struct leak *leak;
	unsigned wanted;

	assert_int_equal(port_candidate(at("pool/y"), spec.base_port, &wanted, &err), 0);
	(void)with_port("x", wanted);
	pool_close(&pool);
	sh("rm state/pools.events.jsonl");
	assert_int_equal(open_again(), 0);
	leak = leak_of("unrecorded-worktree");
	assert_non_null(leak);
	assert_true(contains(leak->text,
		arena_printf(&arena, "by its mark it has ports %u to %u", wanted, wanted + 1)));
	of = have("y");
	assert_true(of.port > wanted + 1);
	{
		const struct allocate_ask ask = {
			.branch = "z", .port = arena_printf(&arena, "%u", wanted + 1)};

		assert_true(refused(
			allocate(&ask, &of), ERR_STATE, "/pool/x', which has no record here"));
	}
	/* Adopted again it has its own. */
	of = have("x");
	assert_int_equal(of.port, wanted);
	assert_null(leak_of("unrecorded-worktree"));
}
