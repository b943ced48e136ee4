#include "tests/lib/gate_rig.h"

static struct gate_run_ask ask;

/* Output goes into a file. */
static int run_with(const char *script, int *status)
{
	const char *argv[] = {"/bin/sh", "-c", script, NULL};
	CLEANUP(base_close)
	int fd = open(at("out"), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);

	ask.who = "test";
	ask.argv = argv;
	ask.cwd = base;
	ask.output = fd;
	err = (struct error){0};
	return gate_run(&arena, &pool, &ask, status, &err);
}

static int run(const char *script)
{
	int status;

	ask = (struct gate_run_ask){0};
	if (run_with(script, &status) < 0)
		fail_msg("%s", err.text);
	return status;
}

GATE_TEST(the_commands_own_status_comes_back)
{
	assert_int_equal(run("true"), 0);
	assert_int_equal(run("exit 7"), 7);
	assert_int_equal(run("kill -9 $$"), 128 + SIGKILL);
	assert_int_equal(run("echo out; echo err >&2; exit 3"), 3);
	assert_string_equal(scratch_read("out"), "out\nerr\n");
	gate_is_free(4); /* after a success and after a failure alike */
}

GATE_TEST(the_command_knows_its_fence)
{
	assert_int_equal(run("echo $DEV_TEAM_GATE_FENCE; test -n \"$DEV_TEAM_GATE_HOLD\""), 0);
	assert_string_equal(scratch_read("out"), "1\n");
	assert_int_equal(ask.fence, 1);
	assert_int_equal(run("echo $DEV_TEAM_GATE_FENCE"), 0);
	assert_string_equal(scratch_read("out"), "2\n");
}

GATE_TEST(a_program_that_is_not_there_leaves_the_gate_free)
{
	const char *const argv[] = {"no-such-program", NULL};
	int status;

	ask = (struct gate_run_ask){.argv = argv, .output = -1};
	assert_int_equal(gate_run(&arena, &pool, &ask, &status, &err), -1);
	assert_error(&err, "dev-team: cannot find program 'no-such-program'");
	gate_is_free(1);
}

GATE_TEST(it_waits_for_the_gate_no_longer_than_told)
{
	struct other o = holder(0);
	int status;

	ask = (struct gate_run_ask){.wait_ms = 1};
	assert_true(refused(run_with("touch inside", &status), ERR_STATE, "held by 'other'"));
	assert_false(path_exists(at("inside")));
	kill_holder(&o);
}

GATE_TEST(what_it_leaves_in_the_background_is_ended)
{
	pid_t pid;

	assert_int_equal(run("setsid sleep 1000 & echo $! >pid; trap '' TERM"), 0);
	pid = (pid_t)strtol(scratch_read("pid"), NULL, 10);
	assert_true(pid > 0);
	assert_false(process_lives(pid, 0));
	assert_int_equal(kill(pid, 0), -1);
}

GATE_TEST(a_cancelled_command_ends)
{
	int status, fd;

	sh("mkfifo fifo");
	fd = open(at("fifo"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ask = (struct gate_run_ask){.cancel = fd};
	assert_int_equal(run_with("echo >fifo; sleep 1000", &status), 0);
	assert_int_equal(status, 128 + SIGTERM);
	close(fd);
	gate_is_free(1);
}

/* Neither while it waits nor when it has just taken the gate. */
GATE_TEST(what_is_called_off_before_it_begins_never_runs)
{
	int ends[2], status;
	struct other o;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(write(ends[1], "", 1), 1);
	ask = (struct gate_run_ask){.cancel = ends[0], .wait_ms = 1000000};
	assert_int_equal(run_with("touch inside", &status), -1);
	assert_error(&err, "dev-team: interrupted while waiting for the merge gate");
	o = holder(0);
	ask = (struct gate_run_ask){.cancel = ends[0], .wait_ms = 1000000};
	assert_fails(run_with("touch inside", &status), err, ERR_STATE);
	assert_false(path_exists(at("inside")));
	kill_holder(&o);
	close(ends[0]);
	close(ends[1]);
}

static _Noreturn void run_for(int out, const char *script, int ttl_s)
{
	const char *argv[] = {"/bin/sh", "-c", script, NULL};
	struct gate_run_ask there = {
		.who = "other", .argv = argv, .cwd = base, .output = out, .ttl_s = ttl_s};
	int status;

	_exit(gate_run(&arena, &pool, &there, &status, &err) < 0 ? 90 + (int)err.code : status);
}

/* Sends ready when the command runs; *data: its script. */
static void run_there(int out, void *data)
{
	run_for(out, data, 600);
}

/* Renews its lease, and sees that it was lost, within seconds. */
static void run_renewing(int out, void *data)
{
	run_for(out, data, 30);
}

static void note_hold(const struct process_info *info, void *arg)
{
	struct gate_record *r = arg;

	if (process_has_env(info->pid, arena_printf(&arena, "DEV_TEAM_GATE_HOLD=%s", r->hold)))
		r->ttl_s++;
}

/* The number of processes of this hold. */
static int of_hold(const char *name)
{
	struct gate_record r = {.hold = name};

	process_each(note_hold, &r);
	return r.ttl_s;
}

static const char busy[] =
	"trap '' TERM; (setsid sh -c 'trap \"\" TERM; sleep 1000; sleep 1000' &); "
	"echo; sleep 1000; sleep 1000";

GATE_TEST(a_killed_run_is_outlived_by_nothing)
{
	struct other o = other(run_there, (void *)(uintptr_t)busy);
	const char *name;
	struct gate *g;

	assert_true(wait_ready(&o));
	name = gate_record_now().hold;
	kill(o.pid, SIGKILL);
	assert_int_equal(exit_status(&o), 128 + SIGKILL);
	g = gate_now(0); /* at once, after its processes have been ended */
	assert_int_equal(of_hold(name), 0);
	assert_int_equal(gate_fence(g), 2);
	gate_drop(&g);
}

/* No process takes the gate: the guardian alone notices that its holder has died. */
GATE_TEST(a_killed_run_ends_its_command_by_itself)
{
	struct other o = other(run_there, (void *)(uintptr_t) "echo; sleep 1000; sleep 1000");
	const char *name;

	assert_true(wait_ready(&o));
	name = gate_record_now().hold;
	kill(o.pid, SIGKILL);
	while (wait_ready(&o)) /* until the last of them has closed it */
		;
	assert_int_equal(exit_status(&o), 128 + SIGKILL);
	assert_int_equal(of_hold(name), 0);
}

GATE_TEST(a_lost_gate_ends_the_command)
{
	struct other o = other(run_renewing, (void *)(uintptr_t) "echo; sleep 1000; sleep 1000");
	struct gate_record r;

	assert_true(wait_ready(&o));
	r = gate_record_now();
	r.held = false;
	r.fence++;
	gate_change(&r);
	assert_int_equal(exit_status(&o), 90 + ERR_STATE);
	gate_is_free(2);
}

GATE_TEST(a_run_is_taken_over_whole)
{
	struct other o = other(run_there, (void *)(uintptr_t)busy);
	const char *name;
	struct gate *g;

	assert_true(wait_ready(&o));
	kill(o.pid, SIGSTOP);
	name = gate_record_now().hold;
	lease_ends();
	g = gate_now(0);
	assert_int_equal(of_hold(name), 0);
	assert_int_equal(exit_status(&o), 128 + SIGKILL);
	gate_drop(&g);
}

GATE_TEST(a_lease_is_renewed_while_the_command_runs)
{
	struct other o = other(run_renewing, (void *)(uintptr_t) "mkfifo go; echo; cat go");
	struct gate_record first, r;
	struct store_change *change;
	int64_t next;
	size_t n;

	assert_true(wait_ready(&o));
	assert_int_equal(gate_read(&arena, &pool, &first, &err), 0);
	assert_int_equal(store_watch(pool.store, &arena, gate_key(&arena, &pool), first.mod + 1,
				 600000, 1, &change, &n, &next, &err),
		STORE_OK);
	assert_int_equal(n, 1);
	r = gate_record_now();
	assert_true(r.until_ticks > first.until_ticks);
	assert_true(gate_is_held());
	sh("echo >go");
	assert_int_equal(exit_status(&o), 0);
	gate_is_free(1);
}

GATE_TEST(a_run_inside_a_run_is_inside)
{
	int status;

	ask = (struct gate_run_ask){0};
	assert_int_equal(run("test -z \"$X\""), 0);
	setenv("DEV_TEAM_GATE_HOLD", "1-1-1-absent", 1); /* no hold has this name */
	ask = (struct gate_run_ask){0};
	assert_int_equal(run_with("true", &status), 0);
	assert_int_equal(ask.fence, 2);
	unsetenv("DEV_TEAM_GATE_HOLD");
}
