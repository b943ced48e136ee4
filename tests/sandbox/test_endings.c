/*
 * How runs end: by their time limit, by the caller, by a denial; and what they must not end. The
 * run reports through a FIFO when it is in the state that a test needs.
 */
#include <poll.h>
#include <signal.h>
#include "tests/lib/policy_exec_rig.h"
#include "tests/lib/run.h"

/* It has left the session, ignores signals, and holds none of the pipes. */
static const char unruly[] =
	"setsid sh -c 'trap \"\" TERM HUP INT; exec </dev/null >/dev/null 2>&1;"
	" echo ready > ready; read x < never' & read x < ready; cat never";

EXECUTE_TEST_TWICE(a_run_over_its_time_leaves_nothing)
{
	struct execution x;

	execute_probe(unruly);
	execute_fifo("tree/ready");
	execute_fifo("tree/never");
	execute_parse(execute_marking("./probe; echo not reached"), &x);
	x.timeout_s = 1;
	assert_int_equal(execute_parsed(&x), 0);
	assert_true(execute_end_seen.timed_out);
	assert_int_equal(execute_end_seen.status, 124);
	execute_assert_out("");
	assert_int_equal(execute_marked(), 0);
	assert_int_equal(execute_private_runs(), 0);
	execute_assert_no_child();
}

EXECUTE_TEST_TWICE(a_cancelled_run_leaves_nothing)
{
	struct execution x;

	execute_fifo("tree/ready");
	execute_fifo("tree/never");
	execute_probe(arena_printf(&arena, "%s",
		"setsid sh -c 'trap \"\" TERM; echo ready > ready;"
		" read x < never' & read x < ready; echo stop > stop; cat never"));
	execute_parse(execute_marking("./probe; echo not reached"), &x);
	x.cancel = execute_stopper();
	assert_int_equal(execute_parsed(&x), 0);
	close(x.cancel);
	assert_true(execute_end_seen.cancelled);
	assert_false(execute_end_seen.timed_out);
	assert_int_equal(execute_end_seen.status, 128 + SIGTERM);
	assert_int_equal(execute_marked(), 0);
	execute_assert_no_child();
}

EXECUTE_TEST(a_loop_without_end_is_ended)
{
	struct execution x;

	execute_parse("echo stop > stop; while :; do :; done; echo not reached", &x);
	x.cancel = execute_stopper();
	x.grace_ms = 300000; /* KILL would come too late for this test */
	assert_int_equal(execute_parsed(&x), 0);
	close(x.cancel);
	assert_true(execute_end_seen.cancelled);
	execute_assert_out("");
	assert_int_equal(execute_end_seen.status, 128 + SIGTERM);
}

EXECUTE_TEST_TWICE(what_is_left_behind_is_ended)
{
	execute_fifo("tree/ready");
	execute_fifo("tree/never");
	execute_probe("setsid sh -c 'echo ready > ready; read x < never' & read x < ready");
	assert_int_equal(execute_text(execute_marking("./probe; echo done")), 0);
	execute_assert_out("done\n");
	assert_int_equal(execute_end_seen.status, 0);
	assert_int_equal(execute_marked(), 0);
	execute_assert_no_child();
}

EXECUTE_TEST(jobs_in_the_background_are_waited_for)
{
	execute_fifo("tree/go");
	assert_int_equal(execute_text("cat go > got & echo x > go"), 0);
	assert_int_equal(execute_text("cat got; ( cat go > got & ) ; echo y > go & :"), 0);
	execute_assert_out("x\n");
	assert_int_equal(execute_text("cat got"), 0);
	execute_assert_out("y\n");
}

EXECUTE_TEST(output_is_capped_and_the_run_goes_on)
{
	execute_allowed.limits.output = 100000;
	assert_int_equal(execute_text("seq 1 400000; echo more >&2; touch reached"), 0);
	assert_int_equal(execute_end_seen.status, 0);
	assert_true(execute_end_seen.cut);
	assert_int_equal(execute_out.len, 100000);
	assert_true(path_exists(at("tree/reached")));
	assert_int_equal(execute_text("echo little"), 0);
	assert_false(execute_end_seen.cut);
	execute_assert_out("little\n");
}

EXECUTE_TEST(output_that_cannot_be_passed_on_is_told)
{
	struct execution x;

	execute_parse("echo lost", &x);
	x.out = open("/dev/full", O_WRONLY | O_CLOEXEC);
	if (x.out < 0)
		skip();
	assert_int_equal(execute_parsed(&x), 0);
	close(x.out);
	assert_int_equal(execute_end_seen.unwritten, ENOSPC);
}

EXECUTE_TEST(a_reader_that_went_away_ends_the_writer)
{
	struct execution x;
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	close(ends[0]);
	execute_allowed.limits.output = 0;
	execute_parse("seq 1 100000000", &x);
	x.out = ends[1];
	assert_int_equal(execute_parsed(&x), 0);
	close(ends[1]);
	assert_int_equal(execute_end_seen.status, 128 + SIGPIPE);
	assert_int_equal(execute_end_seen.unwritten, 0);
}

EXECUTE_TEST(a_reader_that_sleeps_does_not_stop_the_clock)
{
	struct execution x;
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	execute_allowed.limits.output = 0;
	execute_parse("seq 1 100000000 | { read x; echo stop > stop; cat; }", &x);
	x.out = ends[1];
	x.cancel = execute_stopper();
	assert_int_equal(execute_parsed(&x), 0);
	assert_true(execute_end_seen.cancelled);
	close(x.cancel);
	close(ends[0]);
	close(ends[1]);
	execute_assert_no_child();
}

EXECUTE_TEST_TWICE(what_is_known_during_the_run_alone_is_asked_then)
{
	tree_write(at("tree/names"), STR("/etc/passwd\nprobe\n"));
	execute_probe("ln -s /etc link");
	assert_int_equal(execute_text("./probe && echo x; cat link/passwd; touch after"), 0);
	execute_assert_denied(RULE_PATH_OUTSIDE, "link/passwd");
	execute_assert_out("x\n");
	assert_int_equal(execute_end_seen.verdict.at.from, 23);
	assert_int_equal(execute_end_seen.verdict.at.to, 34);
	assert_int_equal(execute_text("read x < names; cat \"$x\" || touch after"), 0);
	execute_assert_denied(RULE_PATH_OUTSIDE, "/etc/passwd");
	execute_assert_out("");
	assert_int_equal(
		execute_text("for i in 1; do cat $(head -n 1 names); done; touch after"), 0);
	execute_assert_denied(RULE_PATH_OUTSIDE, "/etc/passwd");
	assert_int_equal(execute_text("( cat < link/passwd ) | cat; touch after"), 0);
	execute_assert_denied(RULE_PATH_OUTSIDE, "link/passwd");
	assert_int_equal(execute_text("cd link; touch after"), 0);
	execute_assert_denied(RULE_PATH_OUTSIDE, "link");
	assert_int_equal(execute_text("x=$(cat link/passwd) || touch after"), 0);
	execute_assert_denied(RULE_PATH_OUTSIDE, "link/passwd");
}

EXECUTE_TEST_TWICE(a_denial_ends_what_runs)
{
	execute_fifo("tree/never");
	assert_int_equal(
		execute_text(execute_marking("cat never | cat /etc/passwd; touch after")), 0);
	execute_assert_denied(RULE_PATH_OUTSIDE, "/etc/passwd");
	assert_int_equal(execute_marked(), 0);
	assert_int_equal(execute_text(execute_marking(
				 "cat never & cat /etc/passwd & touch x; cat never; touch after")),
		0);
	execute_assert_denied(RULE_PATH_OUTSIDE, "/etc/passwd");
	assert_int_equal(execute_marked(), 0);
	execute_assert_no_child();
}

static _Noreturn void run_until_killed(int in, int other)
{
	struct execution x;

	close(other);
	execute_parse(execute_marking("./probe"), &x);
	x.in = in;
	_exit(execute_parsed(&x) < 0);
}

/* Its standard input is a pipe: when writing fails, the last process that has it has ended. */
EXECUTE_TEST(a_killed_caller_takes_its_run_with_it)
{
	int ends[2], raw, ready;
	struct pollfd fd = {0};
	pid_t pid;

	if (execute_host.layers[LAYER_PROCESSES].state == LAYER_ABSENT)
		skip_because("no PID namespaces here: nothing ends what a killed caller left");
	execute_fifo("tree/ready");
	execute_fifo("tree/never");
	execute_probe(
		"exec 3<&0; setsid sh -c 'trap \"\" TERM HUP; echo ready > ready; read x < never' &"
		" wait");
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		run_until_killed(ends[0], ends[1]);
	close(ends[0]);
	ready = open(at("tree/ready"), O_RDONLY | O_CLOEXEC); /* blocks until a writer opens it */
	assert_true(ready >= 0);
	close(ready);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &raw, 0), pid);
	fd.fd = ends[1];
	while (!(fd.revents & POLLERR))
		assert_true(poll(&fd, 1, WAIT_LIMIT_S * 1000) > 0);
	close(ends[1]);
	assert_int_equal(execute_marked(), 0);
}

EXECUTE_TEST(values_do_not_grow_for_ever)
{
	const char *line = repeated("x=0123456789abcdef; ", "x=$x$x; ", 40, "touch after").p;

	assert_int_equal(execute_text(line), 0);
	assert_true(execute_end_seen.denied);
	assert_string_equal(rule_id(execute_end_seen.verdict.rule), "limit");
	assert_false(path_exists(at("tree/after")));
}
