#include "tests/lib/gate_rig.h"

GATE_TEST(the_gate_is_free_taken_and_free_again)
{
	struct gate *g = gate_now(0);
	struct gate_holder h;
	int64_t fence;
	bool held;

	assert_int_equal(gate_status(&arena, &pool, &h, &held, &fence, &err), 0);
	assert_true(held && h.live && h.here && !h.over);
	assert_string_equal(h.who, "test");
	assert_int_equal(h.pid, getpid());
	assert_int_equal(h.fence, gate_fence(g));
	assert_true(path_exists(at("pool")));
	gate_drop(&g);
	assert_null(g);
	gate_drop(&g);
	assert_int_equal(gate_status(&arena, &pool, &h, &held, &fence, &err), 0);
	assert_false(held);
	assert_int_equal(fence, 1);
}

GATE_TEST(fences_only_rise)
{
	struct gate_holder was;
	struct gate *g, *late;
	bool held;

	for (int i = 1; i <= 3; i++) {
		gate_fence_is(i);
	}
	late = gate_now(0);
	assert_int_equal(gate_fence(late), 4);
	disk_lock_drop(&late->lock);
	/* It is not ended: it is this very process. */
	assert_int_equal(gate_force(&arena, &pool, 0, &was, &held, &err), 0);
	assert_true(held);
	assert_int_equal(was.fence, 4);
	g = gate_now(0);
	assert_int_equal(gate_fence(g), 5);
	assert_fails(gate_check(late, &err), err, ERR_STATE);
	gate_drop(&late); /* it must not release another holder's gate */
	assert_int_equal(gate_check(g, &err), 0);
	gate_drop(&g);
}

GATE_TEST(who_waits_in_vain_learns_who_holds_it)
{
	struct other o = holder(0);
	struct gate *g;

	assert_true(refused(gate_take(&arena, &pool, "late", 1, 0, &g, &err), ERR_STATE,
		"after 1 ms: held by 'other', process "));
	assert_non_null(strstr(err.text, arena_printf(&arena, "process %ld on ", (long)o.pid)));
	assert_non_null(strstr(err.text, "fence 1"));
	assert_non_null(strstr(err.text, "(MergeGateLockTimeout)"));
	assert_null(g);
	kill_holder(&o);
}

GATE_TEST(a_dead_holders_gate_is_taken_at_once)
{
	struct other o = holder(0);

	kill(o.pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)o.pid, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
	gate_fence_is(2); /* its process has ended; no parent has waited for it yet */
	(void)exit_status(&o);
	gate_fence_is(3);
}

GATE_TEST(a_number_that_another_process_got_is_no_holder)
{
	struct gate *g = gate_now(0);
	struct gate_record r = gate_record_now();

	r.at.pid = 1;
	gate_change(&r);
	disk_lock_drop(&g->lock);
	gate_fence_is(2);
}

GATE_TEST(of_a_boot_before_this_one_nobody_lives)
{
	struct gate *g = gate_now(0);
	struct gate_record r = gate_record_now();

	r.at.boot = "another";
	gate_change(&r);
	disk_lock_drop(&g->lock);
	gate_fence_is(2);
}

/* Moves the holder to another machine. */
static void move_away(int64_t until, int ttl_s)
{
	struct gate_record r = gate_record_now();

	r.at.boot = "another";
	r.at.host = "elsewhere";
	r.until = until;
	r.ttl_s = ttl_s;
	gate_change(&r);
}

GATE_TEST(elsewhere_the_lease_alone_counts)
{
	struct gate *g = gate_now(0);

	disk_lock_drop(&g->lock);
	move_away(clock_now() + 100, 600);
	assert_true(gate_is_held());
	assert_non_null(strstr(err.text, "on elsewhere"));
	move_away(clock_now(), 600);
	gate_fence_is(2);
}

GATE_TEST(elsewhere_a_clock_that_went_back_holds_nobody_up_for_ever)
{
	struct gate *g = gate_now(0);

	disk_lock_drop(&g->lock);
	move_away(clock_now() + 86400, 1); /* ours was set back by a day */
	g = gate_now(5000);
	assert_int_equal(gate_fence(g), 2);
	gate_drop(&g);
}

GATE_TEST(the_time_of_day_ends_no_lease_of_this_machine)
{
	static const int64_t jumps[] = {-10 * 86400, 10 * 86400};
	struct other o = holder(0);

	for (size_t i = 0; i < COUNT(jumps); i++) {
		clock_fix(-1);
		clock_fix(clock_now() + jumps[i]);
		assert_true(gate_is_held());
		assert_true(process_lives(o.pid, 0) || kill(o.pid, 0) == 0);
	}
	clock_fix(-1);
	kill_holder(&o);
}

GATE_TEST(a_stopped_holder_is_ended_before_its_gate_is_taken)
{
	struct other o = holder(0);
	struct gate *g;

	kill(o.pid, SIGSTOP);
	assert_true(gate_is_held());
	lease_ends();
	g = gate_now(0);
	assert_int_equal(gate_fence(g), 2);
	assert_int_equal(exit_status(&o), 128 + SIGKILL);
	gate_drop(&g);
}

GATE_TEST(one_that_is_being_ended_cannot_renew)
{
	struct gate *g = gate_now(0);
	struct gate_record r = gate_record_now();

	r.evicting = true;
	gate_change(&r);
	assert_int_equal(gate_check(g, &err), -1);
	assert_error(&err,
		arena_printf(&arena, "dev-team: merge gate of '%s' was lost (fence 1)", pool.dir));
	gate_drop(&g);
}

GATE_TEST(a_lease_is_renewed_by_its_holder)
{
	struct gate *g = gate_now(0);

	lease_ends();
	assert_int_equal(gate_check(g, &err), 0);
	assert_true(g->r.until_ticks > clock_ticks());
	gate_drop(&g);
}

enum { USERS = 5, ROUNDS = 20 };

/* No other process may be inside with us: the file exists while one is. */
static void go_in_and_out(int ready, void *data)
{
	const char *mark = data;

	for (int i = 0; i < ROUNDS; i++) {
		struct gate *g;
		int fd;

		if (gate_take(&arena, &pool, "user", 60000, 0, &g, &err) < 0)
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

GATE_TEST(another_state_directory_is_no_way_round)
{
	struct other o = holder(0);
	struct gate *g;

	store_close(&pool.store);
	pool_use("elsewhere", "pool");
	assert_true(refused(gate_take(&arena, &pool, "", 0, 0, &g, &err), ERR_STATE,
		arena_printf(&arena, "pid %ld on", (long)o.pid)));
	kill_holder(&o);
	g = gate_now(0);
	gate_drop(&g);
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

	setenv("DEV_TEAM_GATE_HOLD", g->r.hold, 1);
	in = gate_now(0);
	assert_int_equal(gate_fence(in), gate_fence(g));
	assert_int_equal(gate_check(in, &err), 0);
	gate_drop(&in);
	assert_int_equal(gate_check(g, &err), 0);
	gate_drop(&g);
	g = gate_now(0); /* that hold has ended: its name has no effect */
	assert_int_equal(gate_fence(g), 2);
	unsetenv("DEV_TEAM_GATE_HOLD");
	assert_true(gate_is_held());
	gate_drop(&g);
}

GATE_TEST(a_forced_release_is_of_the_one_that_was_meant)
{
	struct other o = holder(0);
	struct gate_holder was;
	bool held;

	assert_int_equal(gate_force(&arena, &pool, 7, &was, &held, &err), -1);
	assert_error(&err, "dev-team: merge gate is held with fence 1, not 7");
	assert_int_equal(gate_force(&arena, &pool, 1, &was, &held, &err), 0);
	assert_true(held);
	assert_int_equal(was.pid, o.pid);
	assert_int_equal(exit_status(&o), 128 + SIGKILL);
	assert_int_equal(gate_force(&arena, &pool, 0, &was, &held, &err), 0);
	assert_false(held);
}

GATE_TEST(a_record_that_cannot_be_read_is_not_overwritten)
{
	struct store_op op = {
		.what = STORE_PUT, .key = gate_key(&arena, &pool), .value = STR("nonsense")};
	struct store_txn t = {.ops = &op, .n_ops = 1};
	struct store_result result;

	assert_int_equal(store_txn(pool.store, &arena, &t, &result, &err), STORE_OK);
	assert_true(gate_is_held());
	assert_int_equal(err.code, ERR_INPUT);
}

GATE_TEST(a_lease_has_bounds)
{
	struct gate *g;

	assert_fails(gate_take(&arena, &pool, "", 0, -1, &g, &err), err, ERR_USAGE);
	assert_fails(gate_take(&arena, &pool, "", 0, GATE_TTL_MAX_S + 1, &g, &err), err, ERR_USAGE);
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

static void hold_elsewhere(int ready, void *data)
{
	store_close(&pool.store);
	pool_use("other state", "pool");
	hold(ready, data);
}

GATE_TEST(a_holder_of_another_state_directory_is_told_of)
{
	struct other o = other(hold_elsewhere, NULL);
	struct gate_holder h;
	bool held;

	assert_true(wait_ready(&o));
	assert_int_equal(gate_status(&arena, &pool, &h, &held, NULL, &err), 0);
	assert_true(held);
	assert_non_null(strstr(h.elsewhere, arena_printf(&arena, "pid %d on ", (int)o.pid)));
	assert_true(refused(gate_force(&arena, &pool, 0, &h, &held, &err), ERR_STATE,
		"is held through another state directory (pid "));
	kill_holder(&o);
	assert_int_equal(gate_status(&arena, &pool, &h, &held, NULL, &err), 0);
	assert_false(held);
	assert_int_equal(gate_force(&arena, &pool, 0, &h, &held, &err), 0);
}
