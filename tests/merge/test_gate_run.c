#include "tests/lib/gate_rig.h"

static struct gate_run_ask ask;

/* Output goes into a file. */
static int run_with(const char *script, int *status)
{
	const char *argv[] = {"/bin/sh", "-c", script, NULL};
	CLEANUP(base_close)
	int fd = open(at("out"), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);

	ask.gate.who = "test";
	ask.argv = argv;
	assert_int_equal(chdir(base), 0);
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
	struct other o = holder();
	int status;

	ask = (struct gate_run_ask){.gate.wait_ms = 1};
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
	ask = (struct gate_run_ask){.gate.cancel = fd};
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
	ask = (struct gate_run_ask){.gate = {.cancel = ends[0], .wait_ms = 1000000}};
	assert_int_equal(run_with("touch inside", &status), -1);
	assert_error(&err, "dev-team: interrupted while waiting for the merge gate");
	o = holder();
	ask = (struct gate_run_ask){.gate = {.cancel = ends[0], .wait_ms = 1000000}};
	assert_fails(run_with("touch inside", &status), err, ERR_STATE);
	assert_false(path_exists(at("inside")));
	kill_holder(&o);
	close(ends[0]);
	close(ends[1]);
}

/* Sends ready when the command runs; *data: its script. */
static void run_there(int out, void *data)
{
	const char *argv[] = {"/bin/sh", "-c", data, NULL};
	struct gate_run_ask there = {.gate.who = "other", .argv = argv, .output = out};
	int status;

	/* In a directory that is gone a shell complains, which would be taken for its readiness. */
	if (chdir(base) < 0)
		_exit(90);
	_exit(gate_run(&arena, &pool, &there, &status, &err) < 0 ? 90 + (int)err.code : status);
}

static const char busy[] =
	"trap '' TERM; (setsid sh -c 'trap \"\" TERM; sleep 1000; sleep 1000' &); "
	"echo; sleep 1000; sleep 1000";

/* Nobody enters while a process of a killed holder is running. */
GATE_TEST(what_a_killed_run_leaves_holds_the_gate)
{
	struct other o = other(run_there, (void *)(uintptr_t)busy);
	struct gate_holder h, was;
	int64_t fence;

	assert_true(wait_ready(&o));
	kill(o.pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)o.pid, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
	assert_int_equal(gate_length(&h, &fence), 1);
	assert_false(h.live);
	assert_true(gate_is_held());
	assert_non_null(strstr(err.text, "which has ended; a process that it started is running"));
	assert_int_equal(gate_force(&arena, &pool, 0, &was, &err), 0);
	assert_true(was.held);
	assert_int_equal(was.pid, o.pid);
	while (wait_ready(&o)) /* until the last of them has closed it */
		;
	assert_int_equal(exit_status(&o), 128 + SIGKILL);
	gate_fence_is(3);
}

GATE_TEST(a_forced_release_ends_the_command)
{
	struct other o = other(run_there, (void *)(uintptr_t)busy);
	struct gate_holder was;

	assert_true(wait_ready(&o));
	kill(o.pid, SIGSTOP);
	assert_int_equal(gate_force(&arena, &pool, 1, &was, &err), 0);
	while (wait_ready(&o))
		;
	assert_int_equal(exit_status(&o), 128 + SIGKILL);
	gate_fence_is(2);
}

GATE_TEST(a_run_inside_a_run_is_inside)
{
	int status;

	ask = (struct gate_run_ask){0};
	assert_int_equal(run("test -z \"$X\""), 0);
	setenv("DEV_TEAM_GATE_HOLD", at("pool/.merge-gate/1"), 1); /* it has ended */
	ask = (struct gate_run_ask){0};
	assert_int_equal(run_with("true", &status), 0);
	assert_int_equal(ask.fence, 2);
	unsetenv("DEV_TEAM_GATE_HOLD");
}
