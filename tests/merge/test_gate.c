#include "tests/lib/gate_rig.h"

GATE_TEST(the_gate_is_free_taken_and_free_again)
{
	struct gate *g = gate_now(0);
	struct gate_holder h;
	int64_t fence;

	assert_int_equal(gate_length(&h, &fence), 1);
	assert_true(h.live && !h.stopped);
	assert_string_equal(h.who, "test");
	assert_int_equal(h.pid, getpid());
	assert_int_equal(h.fence, g->fence);
	assert_true(path_exists(at("pool")));
	gate_drop(&g);
	assert_null(g);
	gate_drop(&g);
	gate_is_free(1);
}

GATE_TEST(fences_only_rise)
{
	struct gate *g, *late;

	for (int i = 1; i <= 3; i++)
		gate_fence_is(i);
	late = gate_now(0);
	assert_int_equal(late->fence, 4);
	sh("truncate -s 0 pool/.merge-gate/4"); /* as by force */
	g = gate_now(0);
	assert_int_equal(g->fence, 5);
	assert_fails(gate_check(late, &err), err, ERR_STATE);
	gate_drop(&late); /* it must not release another holder's gate */
	assert_int_equal(gate_check(g, &err), 0);
	gate_drop(&g);
	sh("touch pool/.merge-gate/7"); /* without a lock */
	gate_fence_is(8);
}

GATE_TEST(who_waits_in_vain_learns_who_holds_it)
{
	const struct gate_ask ask = {.who = "late", .wait_ms = 1};
	struct other o = holder();
	struct gate *g;

	assert_true(refused(gate_take(&arena, &pool, &ask, &g, &err), ERR_STATE,
		"after 1 ms: held by 'other', process "));
	assert_non_null(strstr(err.text, arena_printf(&arena, "process %ld on ", (long)o.pid)));
	assert_non_null(strstr(err.text, "fence 1"));
	assert_non_null(strstr(err.text, "(MergeGateLockTimeout)"));
	assert_null(g);
	kill(o.pid, SIGSTOP);
	assert_int_equal(waitpid(o.pid, NULL, WUNTRACED), o.pid);
	assert_true(gate_is_held());
	assert_non_null(strstr(err.text, ", which is stopped (Merge"));
	kill_holder(&o);
}

GATE_TEST(a_dead_holders_gate_is_taken_at_once)
{
	struct other o = holder();

	kill(o.pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)o.pid, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
	gate_fence_is(2); /* its process has ended; no parent has waited for it yet */
	(void)exit_status(&o);
	gate_fence_is(3);
}

enum { USERS = 10, ROUNDS = 10 };

/* No other process may be inside with us: the file exists while one is. */
static void go_in_and_out(int ready, void *data)
{
	const char *mark = data;

	for (int i = 0; i < ROUNDS; i++) {
		const struct gate_ask ask = {.who = "user", .wait_ms = 60000};
		struct gate *g;
		int fd;

		if (gate_take(&arena, &pool, &ask, &g, &err) < 0)
			_exit(1);
		fd = open(mark, O_CREAT | O_EXCL | O_WRONLY, 0600);
		if (fd < 0 || close(fd) < 0 || unlink(mark) < 0)
			_exit(2);
		gate_drop(&g);
	}
	send_ready(ready);
}

GATE_TEST(of_many_never_two_are_inside)
{
	struct other users[USERS];

	for (size_t i = 0; i < USERS; i++)
		users[i] = other(go_in_and_out, at("mark"));
	for (size_t i = 0; i < USERS; i++)
		assert_int_equal(exit_status(&users[i]), 0);
	gate_fence_is(USERS * ROUNDS + 1);
}

/* Each notes its name once it is inside. */
static void note_turn(int ready, void *data)
{
	const struct gate_ask ask = {.who = data, .wait_ms = 60000};
	CLEANUP(base_close) int fd = open(at("turns"), O_WRONLY | O_CREAT | O_APPEND, 0600);
	struct gate *g;

	(void)ready;
	if (gate_take(&arena, &pool, &ask, &g, &err) < 0 || write(fd, data, 1) != 1)
		_exit(1);
	gate_drop(&g);
}

GATE_TEST(who_came_first_is_served_first)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
	struct gate *g = gate_now(0);
	struct other users[COUNT(names)];
	struct gate_holder h;
	int64_t fence;

	for (size_t i = 0; i < COUNT(names); i++) {
		users[i] = other(note_turn, (void *)(uintptr_t)names[i]);
		while (gate_length(&h, &fence) < i + 2)
			(void)poll(NULL, 0, 1);
	}
	assert_int_equal(h.fence, 1);
	assert_true(gate_is_held());
	assert_non_null(strstr(err.text, "; 6 waited before this one (Merge"));
	kill_holder(&users[2]); /* its place is gone with it */
	gate_drop(&g);
	for (size_t i = 0; i < COUNT(names); i++)
		if (i != 2)
			assert_int_equal(exit_status(&users[i]), 0);
	assert_string_equal(scratch_read("turns"), "abdef");
}

GATE_TEST(another_state_directory_is_no_way_round)
{
	struct other o = holder();

	store_close(&pool.store);
	pool_use("elsewhere", "pool");
	assert_true(gate_is_held());
	assert_non_null(strstr(err.text, arena_printf(&arena, "process %ld on", (long)o.pid)));
	kill_holder(&o);
	gate_fence_is(3);
}

GATE_TEST(pools_have_gates_of_their_own)
{
	struct gate *g = gate_now(0);

	pool.dir = at("pool2");
	gate_fence_is(1);
	pool.dir = at("pool");
	gate_drop(&g);
}

GATE_TEST(who_runs_under_the_gate_is_inside_already)
{
	struct gate *g = gate_now(0), *in;

	setenv("DEV_TEAM_GATE_HOLD", g->path, 1);
	in = gate_now(0);
	assert_int_equal(in->fence, g->fence);
	assert_int_equal(gate_check(in, &err), 0);
	gate_drop(&in);
	assert_int_equal(gate_check(g, &err), 0);
	gate_drop(&g);
	g = gate_now(0); /* that hold has ended: its name has no effect */
	assert_int_equal(g->fence, 2);
	unsetenv("DEV_TEAM_GATE_HOLD");
	assert_true(gate_is_held());
	gate_drop(&g);
}

/* ---- a place that a process keeps ---- */

static struct gate_ask kept_by(const char *keeper, unsigned wait_ms)
{
	return (struct gate_ask){.who = "ADR-1",
		.wait_ms = wait_ms,
		.lease = true,
		.lease_s = 3600,
		.keeper = keeper};
}

static void take_and_end(int ready, void *data)
{
	const struct gate_ask ask = kept_by(data, 60000);
	struct gate *g;

	(void)ready;
	if (gate_take(&arena, &pool, &ask, &g, &err) < 0)
		_exit(1);
	gate_drop(&g);
}

static void wait_for_end(int ready, void *data)
{
	(void)data;
	send_ready(ready);
	(void)pause();
}

GATE_TEST(the_gate_is_kept_between_two_actions_until_the_item_leaves)
{
	char *self = process_own_name(&arena);
	const struct gate_ask again = kept_by(self, 0), late = {.who = "late", .wait_ms = 1};
	struct other o = other(take_and_end, self);
	struct gate *g;

	assert_int_equal(exit_status(&o), 0);
	assert_true(gate_is_held());
	assert_int_equal(gate_take(&arena, &pool, &late, &g, &err), -1);
	assert_int_equal(gate_take(&arena, &pool, &again, &g, &err), 0);
	assert_int_equal(g->fence, 1);
	gate_drop(&g);
	assert_true(gate_is_held());
	gate_end_lease(&arena, pool.dir, "ADR-1");
	assert_false(gate_is_held());
}

GATE_TEST(the_gate_is_free_once_the_process_that_keeps_it_has_ended)
{
	struct other keeper = other(wait_for_end, NULL), o;

	assert_true(wait_ready(&keeper));
	o = other(take_and_end, process_name(&arena, keeper.pid));
	assert_int_equal(exit_status(&o), 0);
	assert_true(gate_is_held());
	kill(keeper.pid, SIGKILL);
	assert_int_equal(exit_status(&keeper), 128 + SIGKILL);
	assert_false(gate_is_held());
}

GATE_TEST(a_kept_place_in_the_line_is_not_lost_by_looking)
{
	char *self = process_own_name(&arena);
	const struct gate_ask look = kept_by(self, 0), wait = kept_by(self, 60000);
	struct gate *g = gate_now(0), *own;
	struct gate_holder h;
	struct other later;
	int64_t fence;

	for (int i = 0; i < 3; i++) {
		assert_int_equal(gate_take(&arena, &pool, &look, &own, &err), -1);
		assert_non_null(strstr(err.text, "MergeGateLockTimeout"));
		assert_int_equal(gate_length(&h, &fence), 2);
	}
	later = other(note_turn, (void *)(uintptr_t) "b");
	while (gate_length(&h, &fence) < 3)
		(void)poll(NULL, 0, 1);
	gate_drop(&g);
	assert_int_equal(gate_take(&arena, &pool, &wait, &own, &err), 0);
	assert_int_equal(own->fence, 2);
	gate_drop(&own);
	assert_int_equal(gate_length(&h, &fence), 2);
	gate_end_lease(&arena, pool.dir, "ADR-1");
	assert_int_equal(exit_status(&later), 0);
}

GATE_TEST(a_forced_release_is_of_the_one_that_was_meant)
{
	struct other o = holder();
	struct gate_holder was;

	assert_int_equal(gate_force(&arena, &pool, 7, &was, &err), -1);
	assert_error(&err, "dev-team: merge gate is held with fence 1, not 7");
	assert_int_equal(gate_force(&arena, &pool, 1, &was, &err), 0);
	assert_true(was.held);
	assert_int_equal(was.pid, o.pid);
	assert_int_equal(exit_status(&o), 128 + SIGKILL);
	assert_int_equal(gate_force(&arena, &pool, 0, &was, &err), 0);
	assert_false(was.held);
}

GATE_TEST(stages_that_hold_it)
{
	static const struct {
		bool says, holds;
		enum database_access database;
	} rows[] = {
		{false, false, DATABASE_NONE},
		{false, false, DATABASE_READ},
		{false, false, DATABASE_WRITE},
		{false, true, DATABASE_MIGRATE},
		{true, true, DATABASE_NONE},
		{true, true, DATABASE_MIGRATE},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct stage_spec s = {.holds_gate = rows[i].says, .database = rows[i].database};

		assert_int_equal(gate_stage_holds(&s), rows[i].holds);
	}
}
