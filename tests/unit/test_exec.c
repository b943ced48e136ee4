#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "src/base/path.h"
#include "src/base/process.h"
#include "src/base/procfs.h"
#include "src/machine/actions.h"
#include "src/machine/run_script.h"
#include "src/store/lock.h"

#define ID "W-1/validating/1"

/* The tests run in a folder of their own. `gate` is a fifo: `cat gate` waits for open_gate(). */
static char base[] = "/tmp/test_exec.XXXXXX";
static struct arena arena;
static struct error err;
static char *line;

static void sh(const char *script)
{
	const char *argv[] = {"/bin/sh", "-ec", script, NULL};
	struct process p = {.argv = argv, .output = STDERR_FILENO};
	struct process_end end;

	assert_int_equal(process_run(&p, &end, &err), 0);
	assert_int_equal(end.status, 0);
}

static int fresh(void **state)
{
	(void)state;
	err = (struct error){0};
	line = NULL;
	sh("rm -rf -- * .W-1*; mkfifo gate");
	return 0;
}

static char *at(const char *name)
{
	return path_join(&arena, base, name);
}

static void write_file(const char *name, const char *text)
{
	CLEANUP(close_fd) int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, str_of(text), name, &err), 0);
}

static const char *read_text(const char *name)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (file_read(&text, name, 1 << 20, NULL, &err) < 0)
		return "";
	return arena_dup(&arena, buf_str(&text));
}

static void document(const char *command, const char *log, unsigned timeout_s)
{
	CLEANUP(json_free) json *action = json_object();
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	json_put_str(action, "action", STR("run_script"));
	json_put_str(action, "id", STR(ID));
	json_put_str(action, "write_section", STR("Validate Result"));
	json_put_str(action, "result_format", STR("passed | failed"));
	json_put_str(action, "command", str_of(command));
	json_put_str(action, "log_file", str_of(at(log)));
	json_put_int(action, "timeout_s", timeout_s);
	buf_adds(&text, "---\nstate: validating\nwork_item_id: W-1\nrevision: 1\n---\n\n# W-1\n\n"
			"<!-- section:Actions -->\n\n");
	json_print(&text, action);
	buf_adds(&text, "\n{\"action\":\"spawn_agent\",\"id\":\"W-1/reviewing/1\",\"agent\":\"a\","
			"\"write_section\":\"Review\",\"result_format\":\"a | b\"}\n");
	write_file("W-1.md", text.s);
}

/* A script that runs until open_gate(); `count` gets a line for each start, `pid` its number. */
#define GATED "echo $$ >pid.new; echo x >>count; mv pid.new pid; cat gate; "

static void open_gate(void)
{
	CLEANUP(close_fd) int fd = open("gate", O_WRONLY);

	assert_true(fd >= 0);
}

static int run(int wait_s)
{
	return run_script(&arena, "W-1.md", ID, wait_s, &line, &err);
}

static void assert_recorded(const char *word, const char *expected)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(json_free) json *array = NULL;

	assert_int_equal(context_open(&f, "W-1.md", CONTEXT_READ_ONLY, &err), 0);
	assert_int_equal(actions_load(&f.doc, &array, &err), 0);
	assert_string_equal(context_section(&f.doc, "Validate Result").p, expected);
	assert_string_equal(json_get_str(actions_find(array, ID), "answered"), word);
}

static void assert_not_recorded(void)
{
	assert_null(strstr(read_text("W-1.md"), "section:Validate Result"));
	assert_null(strstr(read_text("W-1.md"), "answered"));
}

static void assert_no_lock_file(void)
{
	assert_int_equal(access(".W-1.validating-1.exec", F_OK), -1);
}

static pid_t number_in(const char *name)
{
	pid_t pid;

	while (!path_exists(name))
		usleep(1000);
	pid = (pid_t)strtol(read_text(name), NULL, 10);
	assert_true(pid > 1);
	return pid;
}

static bool is_gone(pid_t pid)
{
	struct proc_info info;

	return !proc_info(pid, &info) || info.state == 'Z';
}

/* It was told to end; the kernel, or its new parent, may need a moment. */
static void assert_ends(pid_t pid)
{
	for (int i = 0; i < 10000 && !is_gone(pid); i++)
		usleep(1000);
	assert_true(is_gone(pid));
}

/* A process that asks; its status is 0 when it printed `expected`. */
static pid_t asker(const char *expected, int wait_s)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	if (run(wait_s) < 0) {
		print_error("%s\n", err.text);
		_exit(10 + (int)err.code);
	}
	_exit(strcmp(line, expected) == 0 ? 0 : 1);
}

static int status_of(pid_t pid)
{
	int status = 0;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void a_good_script_has_passed(void **state)
{
	const char *expected = arena_printf(&arena, "passed — log: %s/logs/a.log", base);

	(void)state;
	document("echo out; echo err >&2; wc -c", "logs/a.log", 60);
	assert_int_equal(run(WAIT_TO_THE_END), 0);
	assert_string_equal(line, expected);
	assert_recorded("passed", expected);
	assert_string_equal(read_text("logs/a.log"), "out\nerr\n0\n");
	assert_non_null(strstr(read_text("W-1.events.jsonl"),
		"\"type\":\"answer\",\"action\":\"" ID "\",\"result\":\"passed\""));
	assert_no_lock_file();
}

static void a_script_that_ends_badly_has_failed(void **state)
{
	const char *expected = arena_printf(&arena, "failed — log: %s", at("a.log"));

	(void)state;
	document("echo 'it'\"'\"'s wrong'; exit 3", "a.log", 60);
	assert_int_equal(run(WAIT_TO_THE_END), 0);
	assert_string_equal(line, expected);
	assert_recorded("failed", expected);
	assert_string_equal(read_text("a.log"), "it's wrong\n");
}

static void a_script_that_a_signal_ends_has_failed(void **state)
{
	(void)state;
	document("kill -9 $$", "a.log", 60);
	assert_int_equal(run(WAIT_TO_THE_END), 0);
	assert_string_equal(line, arena_printf(&arena, "failed — log: %s", at("a.log")));
}

static void at_the_time_limit_all_of_it_is_ended(void **state)
{
	(void)state;
	document(
		"sleep 1000 & echo $! >child; setsid sleep 1000 & echo $! >daemon; echo said; wait",
		"a.log", 1);
	assert_int_equal(run(WAIT_TO_THE_END), 0);
	assert_string_equal(
		line, arena_printf(&arena, "failed — timed out after 1 s — log: %s", at("a.log")));
	assert_recorded("failed", line);
	assert_string_equal(read_text("a.log"), "said\n\ndev-team: timed out after 1 s\n");
	assert_true(is_gone(number_in("child")));
	assert_true(is_gone(number_in("daemon")));
	assert_no_lock_file();
}

static void what_a_script_leaves_in_the_background_is_ended(void **state)
{
	(void)state;
	document("setsid sleep 1000 & echo $! >daemon", "a.log", 60);
	assert_int_equal(run(WAIT_TO_THE_END), 0);
	assert_true(is_gone(number_in("daemon")));
}

static void a_second_call_prints_the_answer_again(void **state)
{
	const char *first;

	(void)state;
	document("echo x >>count", "a.log", 60);
	assert_int_equal(run(WAIT_TO_THE_END), 0);
	first = line;
	write_file(".W-1.validating-1.exec", "1234567 1\n"); /* as a killed guard leaves it */
	assert_int_equal(run(0), 0);
	assert_string_equal(line, first);
	assert_string_equal(read_text("count"), "x\n");
	assert_no_lock_file();
}

static void other_actions_are_refused(void **state)
{
	(void)state;
	document("true", "a.log", 60);
	assert_int_equal(run_script(&arena, "W-1.md", "W-1/validating/2", 0, &line, &err), -1);
	assert_int_equal(err.code, ERR_STATE);
	assert_string_equal(
		err.text, "action 'W-1/validating/2' is stale or unknown: it is not outstanding");
	assert_int_equal(run_script(&arena, "W-1.md", "W-1/reviewing/1", 0, &line, &err), -1);
	assert_int_equal(err.code, ERR_INPUT);
	assert_string_equal(
		err.text, "action 'W-1/reviewing/1' is not a run_script but a spawn_agent");
	assert_int_equal(run_script(&arena, "none.md", ID, 0, &line, &err), -1);
	assert_int_equal(err.code, ERR_INPUT);
	assert_no_lock_file();
}

static void a_caller_that_waits_less_comes_back(void **state)
{
	const char *running = arena_printf(&arena, "running — log: %s", at("a.log"));

	(void)state;
	document(GATED "echo done", "a.log", 60);
	assert_int_equal(run(0), 0);
	assert_string_equal(line, running);
	assert_int_equal(run(1), 0);
	assert_string_equal(line, running);
	assert_not_recorded();
	number_in("pid");
	open_gate();
	assert_int_equal(run(WAIT_TO_THE_END), 0);
	assert_string_equal(line, arena_printf(&arena, "passed — log: %s", at("a.log")));
	assert_string_equal(read_text("count"), "x\n");
	assert_string_equal(read_text("a.log"), "done\n");
	assert_no_lock_file();
}

static void many_callers_share_one_run(void **state)
{
	const char *expected = arena_printf(&arena, "passed — log: %s", at("a.log"));
	pid_t pids[20];

	(void)state;
	document(GATED, "a.log", 60);
	for (size_t i = 0; i < COUNT(pids); i++)
		pids[i] = asker(expected, WAIT_TO_THE_END);
	number_in("pid");
	open_gate();
	for (size_t i = 0; i < COUNT(pids); i++)
		assert_int_equal(status_of(pids[i]), 0);
	assert_string_equal(read_text("count"), "x\n");
	assert_no_lock_file();
}

static void short_runs_of_many_callers_are_one_run_too(void **state)
{
	const char *expected = arena_printf(&arena, "passed — log: %s", at("a.log"));
	pid_t pids[20];

	(void)state;
	for (int round = 0; round < 10; round++) {
		sh("rm -f count");
		document("echo x >>count", "a.log", 60);
		for (size_t i = 0; i < COUNT(pids); i++)
			pids[i] = asker(expected, WAIT_TO_THE_END);
		for (size_t i = 0; i < COUNT(pids); i++)
			assert_int_equal(status_of(pids[i]), 0);
		assert_string_equal(read_text("count"), "x\n");
	}
}

static void a_killed_caller_loses_nothing(void **state)
{
	pid_t pid;

	(void)state;
	document(GATED, "a.log", 60);
	pid = asker("", WAIT_TO_THE_END);
	number_in("pid");
	kill(pid, SIGKILL);
	assert_int_equal(status_of(pid), 128 + SIGKILL);
	open_gate();
	assert_int_equal(run(WAIT_TO_THE_END), 0);
	assert_recorded("passed", line);
	assert_string_equal(read_text("count"), "x\n");
}

static void signal_ends_the_script(int number)
{
	pid_t pid, script, child;

	document("sleep 1000 & echo $! >child.new; mv child.new child; " GATED, "a.log", 60);
	pid = asker("", WAIT_TO_THE_END);
	script = number_in("pid");
	child = number_in("child");
	kill(pid, number);
	assert_int_equal(status_of(pid), 128 + number);
	assert_true(is_gone(script));
	assert_true(is_gone(child));
	assert_not_recorded();
	assert_no_lock_file();
	assert_string_equal(read_text("a.log"), "\ndev-team: ended by a signal\n");
	sh("rm pid child");
}

static void a_signal_to_the_caller_ends_the_script(void **state)
{
	(void)state;
	signal_ends_the_script(SIGTERM);
	signal_ends_the_script(SIGINT);
	signal_ends_the_script(SIGHUP);
	document("true", "a.log", 60);
	assert_int_equal(run(WAIT_TO_THE_END), 0);
}

static void a_signal_that_the_caller_ignores_is_ignored(void **state)
{
	pid_t pid;

	(void)state;
	document(GATED, "a.log", 60);
	signal(SIGHUP, SIG_IGN);
	pid = asker(arena_printf(&arena, "passed — log: %s", at("a.log")), WAIT_TO_THE_END);
	signal(SIGHUP, SIG_DFL);
	number_in("pid");
	kill(pid, SIGHUP);
	open_gate();
	assert_int_equal(status_of(pid), 0);
}

/* A script that leaves its session as well; the second time it only passes. */
#define ESCAPING "[ ! -e again ] || exit 0; setsid sleep 1000 & echo $! >daemon; " GATED

static void when_the_guard_is_killed_its_script_dies(void **state)
{
	pid_t pid, script, daemon;

	(void)state;
	document(ESCAPING, "a.log", 60);
	pid = asker("", WAIT_TO_THE_END);
	script = number_in("pid");
	daemon = number_in("daemon");
	kill(number_in(".W-1.validating-1.exec"), SIGKILL);
	assert_int_equal(status_of(pid), 10 + ERR_SYSTEM);
	assert_ends(script);
	assert_ends(daemon);
	assert_not_recorded();
	write_file("again", "");
	assert_int_equal(run(WAIT_TO_THE_END), 0);
	assert_recorded("passed", line);
	assert_no_lock_file();
}

static void what_outlived_guard_and_caller_is_ended_by_the_next(void **state)
{
	pid_t pid, script, daemon;

	(void)state;
	document(ESCAPING, "a.log", 60);
	pid = asker("", WAIT_TO_THE_END);
	script = number_in("pid");
	daemon = number_in("daemon");
	kill(pid, SIGKILL);
	assert_int_equal(status_of(pid), 128 + SIGKILL);
	kill(number_in(".W-1.validating-1.exec"), SIGKILL);
	assert_ends(script);
	assert_false(is_gone(daemon));
	write_file("again", "");
	assert_int_equal(run(WAIT_TO_THE_END), 0);
	assert_ends(daemon);
	assert_recorded("passed", line);
	assert_no_lock_file();
}

static void another_run_starts_with_an_empty_log(void **state)
{
	(void)state;
	write_file("a.log", "old text\n");
	document("echo new", "a.log", 60);
	assert_int_equal(run(WAIT_TO_THE_END), 0);
	assert_string_equal(read_text("a.log"), "new\n");
}

static void a_log_that_cannot_be_written_is_told(void **state)
{
	(void)state;
	write_file("file", "");
	document("echo x >>count", "file/a.log", 60);
	assert_int_equal(run(WAIT_TO_THE_END), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_non_null(strstr(err.text, "cannot make folder '"));
	assert_int_equal(access("count", F_OK), -1);
	assert_no_lock_file();
}

static void a_result_that_cannot_be_recorded_is_told(void **state)
{
	struct lock *held = NULL;

	(void)state;
	document("true", "a.log", 60);
	assert_int_equal(lock_take(&held, ".W-1.lock", 0, &err), 0);
	setenv("DEV_TEAM_LOCK_WAIT_MS", "10", 1);
	assert_int_equal(run(WAIT_TO_THE_END), -1);
	unsetenv("DEV_TEAM_LOCK_WAIT_MS");
	lock_drop(&held);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_non_null(strstr(err.text, "no result of '" ID "' was recorded: '"));
	assert_non_null(strstr(err.text, "is locked by another process"));
	assert_not_recorded();
	assert_int_equal(run(WAIT_TO_THE_END), 0);
}

static void an_answer_by_another_hand_is_what_counts(void **state)
{
	(void)state;
	document(GATED, "a.log", 60);
	assert_int_equal(run(0), 0);
	number_in("pid");
	sh("printf '\\n<!-- section:Validate Result -->\\n\\nfailed by hand\\n\\nmore\\n' "
	   ">>W-1.md");
	open_gate();
	assert_int_equal(run(WAIT_TO_THE_END), 0);
	assert_string_equal(line, "failed by hand");
}

/* The read ends only when nobody holds the other end: not the script, and not its guard. */
static void the_callers_output_is_not_held_open(void **state)
{
	int fds[2];
	char c;
	pid_t pid;

	(void)state;
	document(GATED, "a.log", 60);
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		dup2(fds[1], 1);
		dup2(fds[1], 2);
		_exit(run(0) == 0 ? 0 : 1);
	}
	close(fds[1]);
	assert_int_equal(status_of(pid), 0);
	assert_int_equal(read(fds[0], &c, 1), 0);
	close(fds[0]);
	number_in("pid");
	open_gate();
	assert_int_equal(run(WAIT_TO_THE_END), 0);
}

static void an_id_cannot_climb_out_of_the_folder(void **state)
{
	(void)state;
	document("true", "a.log", 60);
	sh("sed -i 's|W-1/validating/1|W-1/../../x/1|' W-1.md");
	assert_int_equal(
		run_script(&arena, "W-1.md", "W-1/../../x/1", WAIT_TO_THE_END, &line, &err), 0);
	assert_int_equal(access("../../x", F_OK), -1);
}

static int prepare(void **state)
{
	(void)state;
	unsetenv("DEV_TEAM_NOW");
	return mkdtemp(base) && chdir(base) == 0 ? 0 : -1;
}

static int tidy(void **state)
{
	(void)state;
	sh("rm -rf -- * .W-1*");
	arena_release(&arena);
	return chdir("/") == 0 ? rmdir(base) : -1;
}

#define TEST(name) cmocka_unit_test_setup(name, fresh)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_good_script_has_passed),
		TEST(a_script_that_ends_badly_has_failed),
		TEST(a_script_that_a_signal_ends_has_failed),
		TEST(at_the_time_limit_all_of_it_is_ended),
		TEST(what_a_script_leaves_in_the_background_is_ended),
		TEST(a_second_call_prints_the_answer_again),
		TEST(other_actions_are_refused),
		TEST(a_caller_that_waits_less_comes_back),
		TEST(many_callers_share_one_run),
		TEST(short_runs_of_many_callers_are_one_run_too),
		TEST(a_killed_caller_loses_nothing),
		TEST(a_signal_to_the_caller_ends_the_script),
		TEST(a_signal_that_the_caller_ignores_is_ignored),
		TEST(when_the_guard_is_killed_its_script_dies),
		TEST(what_outlived_guard_and_caller_is_ended_by_the_next),
		TEST(another_run_starts_with_an_empty_log),
		TEST(a_log_that_cannot_be_written_is_told),
		TEST(a_result_that_cannot_be_recorded_is_told),
		TEST(an_answer_by_another_hand_is_what_counts),
		TEST(the_callers_output_is_not_held_open),
		TEST(an_id_cannot_climb_out_of_the_folder),
	};

	return cmocka_run_group_tests(tests, prepare, tidy);
}
