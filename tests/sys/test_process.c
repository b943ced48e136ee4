#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include "src/sys/process.h"
#include "tests/lib/run.h"
#include "tests/lib/scratch.h"

enum {
	LONG_GRACE_MS = 300000,
	SHORT_GRACE_MS = 300, /* for what ignores TERM */
};

static struct buf out;
static struct process_end end;
static struct error err;

static int fresh(void **state)
{
	(void)state;
	buf_release(&out);
	err = (struct error){0};
	return 0;
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static int run_to_end(struct process p)
{
	p.out = &out;
	p.output = p.output ? p.output : -1;
	p.grace_ms = p.grace_ms ? p.grace_ms : LONG_GRACE_MS;
	p.out_max = p.out_max ? p.out_max : 1 << 20;
	return process_run(&p, &end, &err);
}

#define RUN(...)   run_to_end((struct process){__VA_ARGS__})
#define SH(script) WORDS("/bin/sh", "-c", script)

static int shell(const char *script)
{
	return RUN(.argv = SH(script));
}

/* Runs a script that does not end, with a time limit that lets it get as far as to print. */
static void shell_until_limit(const char *script, unsigned grace_ms)
{
	for (unsigned limit = 1; out.len == 0 && limit < WAIT_LIMIT_S; limit *= 2)
		assert_int_equal(
			RUN(.argv = SH(script), .timeout_s = limit, .grace_ms = grace_ms), 0);
	assert_true(end.timed_out);
}

/* The number that a script printed first. */
static pid_t printed_pid(void)
{
	assert_true(out.len > 0);
	return (pid_t)strtol(out.s, NULL, 10);
}

static void assert_gone(pid_t pid)
{
	assert_true(pid > 1);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(errno, ESRCH);
}

static void assert_no_child(void)
{
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

#define PROCESS_TEST(name) UNIT_TEST(name, fresh, NULL)

PROCESS_TEST(output_and_status_come_back)
{
	assert_int_equal(shell("echo one; echo two >&2; exit 7"), 0);
	assert_string_equal(out.s, "one\ntwo\n");
	assert_int_equal(end.status, 7);
	assert_false(end.timed_out || end.missing || end.cancelled);
}

PROCESS_TEST(arguments_are_not_read_by_a_shell)
{
	assert_int_equal(RUN(.argv = WORDS("printf", "%s", "$HOME `id` '\"; *")), 0);
	assert_string_equal(out.s, "$HOME `id` '\"; *");
}

PROCESS_TEST(a_signal_is_128_and_its_number)
{
	assert_int_equal(shell("kill -9 $$"), 0);
	assert_int_equal(end.status, 128 + SIGKILL);
}

PROCESS_TEST(a_missing_program_is_told_from_a_failing_one)
{
	assert_int_equal(RUN(.argv = WORDS("no-such-program-here")), -1);
	assert_true(end.missing);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_string_equal(err.text, "cannot find program 'no-such-program-here'");
	assert_no_child();
}

PROCESS_TEST(a_program_that_may_not_be_run_is_an_error)
{
	assert_int_equal(RUN(.argv = WORDS("/dev/null")), -1);
	assert_false(end.missing);
	assert_string_equal(err.text, "cannot start '/dev/null': Permission denied");
}

PROCESS_TEST(a_missing_directory_is_named)
{
	assert_int_equal(RUN(.argv = WORDS("true"), .cwd = "/no/such/directory"), -1);
	assert_false(end.missing);
	assert_string_equal(
		err.text, "cannot enter directory '/no/such/directory': No such file or directory");
}

PROCESS_TEST(the_directory_is_entered)
{
	assert_int_equal(RUN(.argv = WORDS("pwd"), .cwd = "/usr"), 0);
	assert_string_equal(out.s, "/usr\n");
}

PROCESS_TEST(standard_input_is_the_text_however_long)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	for (int i = 0; i < 50000; i++)
		buf_addf(&text, "line %d\n", i);
	assert_int_equal(RUN(.argv = WORDS("cat"), .input = buf_str(&text)), 0);
	assert_true(str_eq(buf_str(&out), buf_str(&text)));
}

PROCESS_TEST(input_that_is_not_read_is_no_error)
{
	assert_int_equal(RUN(.argv = WORDS("true"), .input = STR("unread")), 0);
	assert_int_equal(end.status, 0);
}

PROCESS_TEST(without_a_text_standard_input_is_empty)
{
	assert_int_equal(shell("wc -c"), 0);
	assert_int_equal(strtol(out.s, NULL, 10), 0);
}

PROCESS_TEST(the_environment_is_ours_with_changes)
{
	const char *env[] = {"CHANGE=after", "DROP", "NEW=a=b", NULL};

	setenv("KEEP", "kept", 1);
	setenv("CHANGE", "before", 1);
	setenv("DROP", "there", 1);
	assert_int_equal(RUN(.argv = SH("echo $KEEP,$CHANGE,${DROP-unset},$NEW"), .env = env), 0);
	assert_string_equal(out.s, "kept,after,unset,a=b\n");
	assert_string_equal(getenv("CHANGE"), "before");
}

PROCESS_TEST(output_beyond_the_limit_is_thrown_away)
{
	assert_int_equal(RUN(.argv = SH("head -c 3000000 /dev/zero; exit 3"), .out_max = 1000), 0);
	assert_int_equal(out.len, 1000);
	assert_int_equal(end.status, 3);
}

PROCESS_TEST(a_megabyte_comes_whole)
{
	assert_int_equal(shell("head -c 1000000 /dev/zero"), 0);
	assert_int_equal(out.len, 1000000);
}

PROCESS_TEST(output_goes_to_a_descriptor)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(RUN(.argv = SH("echo out; echo err >&2"), .output = fds[1]), 0);
	close(fds[1]);
	assert_int_equal(sys_read_all(&got, fds[0], 100, "pipe", &err), 0);
	close(fds[0]);
	assert_string_equal(got.s, "out\nerr\n");
	assert_int_equal(out.len, 0);
}

PROCESS_TEST(at_the_time_limit_the_group_is_ended)
{
	shell_until_limit("echo $$; sleep 1000 & sleep 1000", LONG_GRACE_MS);
	assert_int_equal(end.status, 128 + SIGTERM);
	assert_int_equal(kill(-printed_pid(), 0), -1);
	assert_no_child();
}

PROCESS_TEST(what_ignores_term_is_killed)
{
	shell_until_limit("trap '' TERM; echo $$; while :; do sleep 1; done", SHORT_GRACE_MS);
	assert_int_equal(end.status, 128 + SIGKILL);
	assert_gone(printed_pid());
	assert_no_child();
}

PROCESS_TEST(a_stopped_program_is_ended_too)
{
	shell_until_limit("echo $$; kill -STOP $$", LONG_GRACE_MS);
	assert_int_equal(end.status, 128 + SIGTERM);
	assert_no_child();
}

PROCESS_TEST(a_program_may_clean_up_at_term)
{
	shell_until_limit("trap 'echo cleaned; exit 9' TERM; sleep 1000 & wait", LONG_GRACE_MS);
	assert_string_equal(out.s, "cleaned\n");
	assert_int_equal(end.status, 9);
}

PROCESS_TEST(nothing_in_the_background_outlives_the_program)
{
	assert_int_equal(shell("sleep 1000 & echo $!"), 0);
	assert_int_equal(end.status, 0);
	assert_gone(printed_pid());
	assert_no_child();
}

/* The inner shell prints its number once it has left the session; only then the outer one ends. */
PROCESS_TEST(a_daemon_is_ended_too)
{
	assert_int_equal(shell("setsid sh -c 'echo $$; exec sleep 1000' >p.$$ & "
			       "until [ -s p.$$ ]; do :; done; cat p.$$; rm p.$$"),
		0);
	assert_int_equal(end.status, 0);
	assert_gone(printed_pid());
	assert_no_child();
}

PROCESS_TEST(a_daemon_that_ignores_term_is_killed)
{
	assert_int_equal(
		RUN(.argv = SH("setsid sh -c 'trap \"\" TERM; echo $$; while :; do sleep 1; done' "
			       ">p.$$ & until [ -s p.$$ ]; do :; done; cat p.$$; rm p.$$"),
			.grace_ms = SHORT_GRACE_MS),
		0);
	assert_gone(printed_pid());
	assert_no_child();
}

PROCESS_TEST(children_of_our_own_are_left_alone)
{
	pid_t own = fork();

	if (own == 0) {
		pause();
		_exit(0);
	}
	assert_int_equal(shell("setsid sleep 1000 & echo $!"), 0);
	assert_gone(printed_pid());
	assert_int_equal(kill(own, 0), 0);
	assert_int_equal(waitpid(own, NULL, WNOHANG), 0);
	kill(own, SIGKILL);
	assert_int_equal(waitpid(own, NULL, 0), own);
}

PROCESS_TEST(a_readable_cancel_descriptor_ends_it)
{
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(RUN(.argv = WORDS("sleep", "1000"), .cancel = fds[0]), 0);
	assert_true(end.cancelled);
	assert_false(end.timed_out);
	assert_int_equal(end.status, 128 + SIGTERM);
	close(fds[0]);
	close(fds[1]);
}

PROCESS_TEST(a_program_has_no_terminal_and_its_own_group)
{
	assert_int_equal(shell("(: </dev/tty) 2>/dev/null && echo tty; "
			       "cut -d' ' -f1,5,6 /proc/$$/stat"),
		0);
	int pid = 0, group = 0, session = 0;

	assert_int_equal(sscanf(out.s, "%d %d %d", &pid, &group, &session), 3);
	assert_true(pid == group && pid == session);
}

PROCESS_TEST(signals_are_as_at_a_login)
{
	/* glibc reserves 32 and 33; a program that make started has them ignored. */
	const unsigned long long ours = ~(3ull << 31);
	unsigned long long blocked, ignored;
	sigset_t set, before;

	sigfillset(&set);
	sigprocmask(SIG_SETMASK, &set, &before);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_IGN);
	assert_int_equal(shell("grep -E 'SigBlk|SigIgn' /proc/self/status | cut -f2"), 0);
	assert_int_equal(end.status, 0);
	assert_true(signal(SIGCHLD, SIG_DFL) == SIG_IGN);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	assert_int_equal(sscanf(out.s, "%llx %llx", &blocked, &ignored), 2);
	assert_true((blocked & ours) == 0 && (ignored & ours) == 0);
}

PROCESS_TEST(no_descriptor_reaches_the_program_or_is_left)
{
	int leaky = open("/dev/null", O_RDONLY); /* without O_CLOEXEC */
	size_t before = open_descriptors();

	assert_int_equal(shell("ls /proc/self/fd | tr '\\n' ' '"), 0);
	assert_string_equal(out.s, "0 1 2 3 "); /* 3: the directory that ls reads */
	assert_int_equal(open_descriptors(), before);
	close(leaky);
}

PROCESS_TEST(it_works_without_standard_streams)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		close(0);
		close(1);
		close(2);
		_exit(shell("cat; echo fine; echo too >&2") == 0 && out.len == 9 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* The program alone holds the other end of the pipe: end of file is the program's end. */
PROCESS_TEST(when_the_caller_dies_the_program_dies)
{
	int fds[2];
	char c;
	pid_t pid;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		_exit(RUN(.argv = SH("echo; exec sleep 1000"), .output = fds[1]));
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &c, 1), 1);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(read(fds[0], &c, 1), 0);
	close(fds[0]);
}

PROCESS_TEST(the_environment_of_a_process_can_be_asked)
{
	assert_int_equal(shell("exec env -i A=1 LONG=two sh -c '"
			       "echo $$; tr \"\\0\" \"\\n\" </proc/$$/environ'"),
		0);
	assert_non_null(strstr(out.s, "LONG=two\n"));
	assert_false(process_has_env(getpid(), "NOT_THERE=1"));
	assert_false(process_has_env(printed_pid(), "A=1")); /* gone */
}

PROCESS_TEST(a_process_is_named_by_pid_and_start)
{
	struct process_info a, b;

	assert_true(process_info(getpid(), &a));
	assert_int_equal(a.parent, getppid());
	assert_true(a.start > 0);
	assert_true(process_info(getpid(), &b));
	assert_true(a.start == b.start);
	assert_false(process_info(0x3fffff, &b));
	assert_true(process_info(getppid(), &b)); /* it runs a program: the runner of these tests */
	assert_false(b.unborn);
}

PROCESS_TEST(an_identity_tells_a_living_process_from_a_dead_and_a_distant_one)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct process_identity self, other;
	struct error e;

	assert_int_equal(process_identify(&a, getpid(), &self, &e), 0);
	assert_int_equal(process_life(&self, &self), PROCESS_ALIVE);
	other = self;
	other.start++; /* another process had this number */
	assert_int_equal(process_life(&other, &self), PROCESS_DEAD);
	other = self;
	other.boot = "an earlier one";
	assert_int_equal(process_life(&other, &self), PROCESS_DEAD);
	other.host = "another machine";
	assert_int_equal(process_life(&other, &self), PROCESS_AWAY);
	other = self;
	other.space = "pid:[1]";
	assert_int_equal(process_life(&other, &self), PROCESS_AWAY);
	assert_int_equal(process_identify(&a, 0x3fffff, &other, &e), -1);
	assert_int_equal(e.code, ERR_SYSTEM);
}

static int link_error;

ssize_t readlink(const char *path, char *to, size_t n)
{
	if (!link_error)
		return readlinkat(AT_FDCWD, path, to, n);
	errno = link_error;
	return -1;
}

/* Every other process of this container would seem to be in another one. */
PROCESS_TEST(a_process_that_cannot_tell_its_container_has_no_identity)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct process_identity self;

	link_error = EIO;
	assert_int_equal(process_identify(&a, getpid(), &self, &err), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_string_equal(err.text, "cannot read '/proc/self/ns/pid': Input/output error");
	link_error = ENOENT; /* a kernel without such containers */
	assert_int_equal(process_identify(&a, getpid(), &self, &err), 0);
	link_error = 0;
}

/* The client that a child of a process with this name sees. */
static pid_t client_below(const char *name)
{
	pid_t seen = -1, child;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (child == 0) {
		(void)prctl(PR_SET_NAME, name);
		child = fork();
		if (child == 0) {
			seen = process_client();
			_exit(write(fds[1], &seen, sizeof(seen)) < 0);
		}
		_exit(waitpid(child, NULL, 0) != child);
	}
	assert_int_equal(read(fds[0], &seen, sizeof(seen)), sizeof(seen));
	assert_int_equal(waitpid(child, NULL, 0), child);
	close(fds[0]);
	close(fds[1]);
	return seen;
}

PROCESS_TEST(the_client_is_the_nearest_program_that_is_no_shell)
{
	assert_int_equal(client_below("bash"), getpid());
	assert_int_equal(client_below("timeout"), getpid());
	assert_int_not_equal(client_below("claude"), getpid());
}

/* As if killed by hand, or for lack of memory, between its fork and its exec. */
PROCESS_TEST(a_fork_that_never_became_a_program_can_be_told)
{
	struct process_info info;
	siginfo_t ended;
	pid_t pid = fork();

	if (pid == 0)
		_exit(raise(SIGKILL));
	assert_int_equal(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT), 0);
	assert_true(process_info(pid, &info));
	assert_true(info.unborn);
	assert_int_equal(info.state, 'Z');
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static int leave(void **state)
{
	buf_release(&out);
	return scratch_leave(state);
}

UNIT_GROUP(scratch_enter, leave)
