#include <poll.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include "tests/lib/run.h"
#include "tests/lib/script_rig.h"

struct error exec_err;

char *exec_line; /* the result of exec_run() */

int exec_rig_setup(void **state)
{
	unsetenv("DEV_TEAM_NOW");
	exec_err = (struct error){0};
	exec_line = NULL;
	return scratch_enter(state) < 0 ? -1 : mkfifo("gate", 0600);
}

void exec_document(const char *command, const char *log, unsigned timeout_s)
{
	CLEANUP(json_free) json *action = json_object();
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	json_put_str(action, "action", STR(WIRE_SCRIPT_ACTION));
	json_put_str(action, "id", STR(ID));
	json_put_str(action, WIRE_WRITES, STR(WIRE_VALIDATION));
	json_put_str(action, WIRE_FORMAT, STR("passed | failed"));
	json_put_str(action, "command", str_of(command));
	json_put_str(action, "log_file", str_of(log));
	json_put_int(action, "timeout_s", timeout_s);
	buf_adds(&text, "---\nstate: validating\n" WIRE_ITEM_KEY ": W-1\n---\n\n# W-1\n\n"
			"<!-- section:Actions -->\n\n");
	json_print(&text, action);
	buf_adds(&text, "\n{\"action\":\"" WIRE_AGENT_ACTION "\",\"id\":\"W-1/reviewing/1\","
			"\"agent\":\"a\",\"skill\":\"s\","
			"\"" WIRE_WRITES "\":\"Review\",\"" WIRE_FORMAT "\":\"a | b\"}\n");
	(void)unlink("W-1.events.jsonl"); /* each test has its own history */
	tree_write("W-1.md", buf_str(&text));
}

void open_gate(void)
{
	CLEANUP(base_close) int fd = open("gate", O_WRONLY);

	assert_true(fd >= 0);
}

int exec_run(int wait_s)
{
	return script_run(&arena, "W-1.md", ID, NULL, NULL, wait_s, &exec_line, &exec_err);
}

void exec_finish(const char *command)
{
	exec_document(command, "logs/a.log", 600);
	assert_int_equal(exec_run(SCRIPT_WAIT_FOREVER), 0);
}

void assert_recorded(const char *word, const char *expected)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(json_free) json *array = NULL;
	const char *above = arena_printf(&arena, "%s/", base);

	assert_int_equal(context_open(&f, "W-1.md", CONTEXT_READ_ONLY, &exec_err), 0);
	assert_int_equal(action_load(&f.doc, &array, &exec_err), 0);
	expected = arena_dup(&arena, str_of(expected));
	for (char *full; (full = strstr(expected, above));)
		memmove(full, full + strlen(above), strlen(full + strlen(above)) + 1);
	assert_string_equal(context_section(&f.doc, WIRE_VALIDATION).p, expected);
	assert_string_equal(json_get_str(action_find(array, ID), "answered"), word);
}

void assert_not_recorded(void)
{
	assert_null(strstr(scratch_read("W-1.md"), "section:" WIRE_VALIDATION));
	assert_null(strstr(scratch_read("W-1.md"), "answered"));
}

void assert_no_lock_file(void)
{
	assert_int_equal(access(".W-1.validating-1.exec", F_OK), -1);
}

static void await_file(const char *name, bool there)
{
	CLEANUP(base_close) int fd = inotify_init1(IN_CLOEXEC);
	char events[4096];

	assert_true(inotify_add_watch(fd, ".", IN_CREATE | IN_MOVED_TO | IN_DELETE) >= 0);
	while (path_exists(name) != there) {
		assert_int_equal(
			poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, WAIT_LIMIT_S * 1000),
			1);
		assert_true(read(fd, events, sizeof(events)) > 0);
	}
}

void await_guard(void)
{
	await_file(".W-1.validating-1.exec", false);
}

pid_t number_in(const char *name)
{
	pid_t pid;

	await_file(name, true);
	pid = (pid_t)strtol(scratch_read(name), NULL, 10);
	assert_true(pid > 1);
	return pid;
}

bool is_gone(pid_t pid)
{
	struct process_info info;

	return !process_info(pid, &info) || info.state == 'Z';
}

pid_t asker(const char *expected, int wait_s)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	setenv("DEV_TEAM_LOCK_WAIT_MS", "600000", 1); /* longer than all the others take */
	if (exec_run(wait_s) < 0) {
		print_error("%s\n", exec_err.text);
		_exit(10 + (int)exec_err.code);
	}
	_exit(strcmp(exec_line, expected) == 0 ? 0 : 1);
}

int status_of(pid_t pid)
{
	int status = 0;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void ask_together(pid_t pids[CALLERS], const char *expected)
{
	for (size_t i = 0; i < CALLERS; i++)
		pids[i] = asker(expected, SCRIPT_WAIT_FOREVER);
}

void assert_one_run(const pid_t pids[CALLERS])
{
	for (size_t i = 0; i < CALLERS; i++)
		assert_int_equal(status_of(pids[i]), 0);
	assert_string_equal(scratch_read("count"), "x\n");
}
