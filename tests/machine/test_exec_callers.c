#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "tests/lib/run.h"
#include "tests/lib/script_rig.h"

/* Waits for the end of a process that is not a child. */
static void assert_ends(pid_t pid)
{
	CLEANUP(base_close) int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	assert_true(fd < 0 || poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1,
				      WAIT_LIMIT_S * 1000) == 1);
	assert_true(is_gone(pid));
}

EXEC_TEST(a_caller_that_waits_less_comes_back)
{
	const char *running = arena_printf(&arena, "running — log: %s", at("logs/a.log"));

	exec_document(GATED "echo done", "logs/a.log", 600);
	assert_int_equal(exec_run(0), 0);
	assert_string_equal(exec_line, running);
	assert_int_equal(exec_run(1), 0);
	assert_string_equal(exec_line, running);
	assert_not_recorded();
	number_in("pid");
	open_gate();
	assert_int_equal(exec_run(SCRIPT_WAIT_FOREVER), 0);
	assert_string_equal(exec_line, arena_printf(&arena, "passed — log: %s", at("logs/a.log")));
	assert_string_equal(scratch_read("count"), "x\n");
	assert_string_equal(scratch_read("logs/a.log"), "done\n");
	assert_no_lock_file();
}

EXEC_TEST(many_callers_share_one_run)
{
	pid_t pids[CALLERS];

	exec_document(GATED, "logs/a.log", 600);
	ask_together(pids, arena_printf(&arena, "passed — log: %s", at("logs/a.log")));
	number_in("pid");
	open_gate();
	assert_one_run(pids);
	assert_no_lock_file();
}

EXEC_TEST(a_killed_caller_loses_nothing)
{
	pid_t pid;

	exec_document(GATED, "logs/a.log", 600);
	pid = asker("", SCRIPT_WAIT_FOREVER);
	number_in("pid");
	kill(pid, SIGKILL);
	assert_int_equal(status_of(pid), 128 + SIGKILL);
	open_gate();
	assert_int_equal(exec_run(SCRIPT_WAIT_FOREVER), 0);
	assert_recorded("passed", exec_line);
	assert_string_equal(scratch_read("count"), "x\n");
}

static void signal_ends_the_script(int number)
{
	pid_t pid, script, child;

	exec_document(
		"sleep 1000 & echo $! >child.new; mv child.new child; " GATED, "logs/a.log", 600);
	pid = asker("", SCRIPT_WAIT_FOREVER);
	script = number_in("pid");
	child = number_in("child");
	kill(pid, number);
	assert_int_equal(status_of(pid), 128 + number);
	assert_true(is_gone(script));
	assert_true(is_gone(child));
	assert_not_recorded();
	assert_no_lock_file();
	assert_string_equal(scratch_read("logs/a.log"), "\ndev-team: ended by a signal\n");
	sh("rm pid child");
}

EXEC_TEST(a_signal_to_the_caller_ends_the_script)
{
	signal_ends_the_script(SIGTERM);
	signal_ends_the_script(SIGINT);
	signal_ends_the_script(SIGHUP);
	exec_finish("true");
}

EXEC_TEST(a_signal_that_the_caller_ignores_is_ignored)
{
	pid_t pid;

	exec_document(GATED, "logs/a.log", 600);
	signal(SIGHUP, SIG_IGN);
	pid = asker(
		arena_printf(&arena, "passed — log: %s", at("logs/a.log")), SCRIPT_WAIT_FOREVER);
	signal(SIGHUP, SIG_DFL);
	number_in("pid");
	kill(pid, SIGHUP);
	open_gate();
	assert_int_equal(status_of(pid), 0);
}

/* Stops its guard, the parent of its shell. */
#define STOPPING "kill -STOP $PPID; " GATED

EXEC_TEST(a_stopped_guard_still_keeps_the_time_limit)
{
	exec_document(STOPPING, "logs/a.log", 5);
	assert_int_equal(exec_run(SCRIPT_WAIT_FOREVER), 0);
	assert_string_equal(exec_line,
		arena_printf(&arena, "failed — timed out after 5 s — log: %s", at("logs/a.log")));
	assert_true(is_gone(number_in("pid")));
	assert_no_lock_file();
}

EXEC_TEST(a_stopped_guard_can_be_ended)
{
	pid_t pid, script;

	exec_document(STOPPING, "logs/a.log", 600);
	pid = asker("", SCRIPT_WAIT_FOREVER);
	script = number_in("pid");
	kill(pid, SIGTERM);
	assert_int_equal(status_of(pid), 128 + SIGTERM);
	assert_true(is_gone(script));
	assert_not_recorded();
	assert_no_lock_file();
}

/* A script that leaves its session as well; the second time it only passes. */
#define ESCAPING "[ ! -e again ] || exit 0; setsid sleep 1000 & echo $! >daemon; " GATED

struct escaping {
	pid_t asker, script, daemon;
};

static struct escaping begin_escaping(void)
{
	struct escaping e;

	exec_document(ESCAPING, "logs/a.log", 600);
	e.asker = asker("", SCRIPT_WAIT_FOREVER);
	e.script = number_in("pid");
	e.daemon = number_in("daemon");
	return e;
}

static void assert_next_run_passes(void)
{
	tree_write("again", STR(""));
	assert_int_equal(exec_run(SCRIPT_WAIT_FOREVER), 0);
	assert_recorded("passed", exec_line);
	await_guard();
}

EXEC_TEST(when_the_guard_is_killed_its_script_dies)
{
	struct escaping e = begin_escaping();

	kill(number_in(".W-1.validating-1.exec"), SIGKILL);
	assert_int_equal(status_of(e.asker), 10 + ERR_SYSTEM);
	assert_ends(e.script);
	assert_ends(e.daemon);
	assert_not_recorded();
	assert_next_run_passes();
}

EXEC_TEST(what_outlived_guard_and_caller_is_ended_by_the_next)
{
	struct escaping e = begin_escaping();

	kill(e.asker, SIGKILL);
	assert_int_equal(status_of(e.asker), 128 + SIGKILL);
	kill(number_in(".W-1.validating-1.exec"), SIGKILL);
	assert_ends(e.script);
	assert_false(is_gone(e.daemon));
	assert_next_run_passes();
	assert_ends(e.daemon);
}

/* What ends the caller's session does not end the script. */
EXEC_TEST(a_guard_has_a_session_of_its_own)
{
	exec_document("cut -d' ' -f6 /proc/$PPID/stat >new; mv new sid; " GATED, "logs/a.log", 600);
	assert_int_equal(exec_run(0), 0);
	assert_int_not_equal(number_in("sid"), getsid(0));
	open_gate();
	assert_int_equal(exec_run(SCRIPT_WAIT_FOREVER), 0);
}

/* The read ends only when neither the script nor its guard holds the other end. */
EXEC_TEST(the_callers_output_is_not_held_open)
{
	int fds[2];
	char c;
	pid_t pid;

	exec_document(GATED, "logs/a.log", 600);
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		dup2(fds[1], 1);
		dup2(fds[1], 2);
		_exit(exec_run(0) == 0 ? 0 : 1);
	}
	close(fds[1]);
	assert_int_equal(status_of(pid), 0);
	assert_int_equal(read(fds[0], &c, 1), 0);
	close(fds[0]);
	number_in("pid");
	open_gate();
	assert_int_equal(exec_run(SCRIPT_WAIT_FOREVER), 0);
}
