#include "tests/lib/policy_exec_rig.h"

struct host execute_host;
struct policy execute_allowed;
struct root execute_root = {.fd = -1};
struct execution_end execute_end_seen;
struct error execute_err;
struct buf execute_out = BUF_INIT;

void execute_policy(void)
{
	static const char *const allowed[] = {":", "[", "cat", "cd", "chmod", "command", "cp", "dd",
		"echo", "export", "false", "git", "grep", "head", "ln", "ls", "make", "mkdir",
		"mkfifo", "mv", "printenv", "printf", "pwd", "read", "readlink", "rm", "sed", "seq",
		"set", "sleep", "sort", "tail", "test", "touch", "tr", "true", "wc"};

	execute_allowed = (struct policy){.name = "test",
		.allow = {(const char **)allowed, COUNT(allowed)},
		.write = true,
		.limits = {.timeout_s = 600, .output = 1 << 20}};
}

int execute_begin(void **state)
{
	if (scratch_make(state) < 0)
		return -1;
	execute_policy();
	host_probe(&execute_host);
	tree_mkdirs(at("tree"));
	return root_open(&arena, at("tree"), &execute_root, &execute_err);
}

int execute_end(void **state)
{
	json_free(&execute_end_seen.layers);
	buf_release(&execute_out);
	root_close(&execute_root);
	return scratch_remove(state);
}

int execute_output(void)
{
	int fd = open(at("output"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	return fd;
}

void execute_parse(const char *text, struct execution *x)
{
	struct verdict v = {0};
	struct node *tree;

	if (shell_parse(&arena, str_of(text), &tree, &v) < 0)
		fail_msg("%s: %s", text, v.reason);
	*x = (struct execution){.policy = &execute_allowed,
		.root = &execute_root,
		.host = &execute_host,
		.tree = tree,
		.text = str_of(text),
		.cwd = "",
		.in = -1,
		.out = -1,
		.err = -1,
		.grace_ms = 50,
		.cancel = -1};
}

int execute_parsed(struct execution *x)
{
	CLEANUP(base_close) int fd = execute_output();
	int rc;

	if (x->out < 0)
		x->out = fd;
	if (x->err < 0)
		x->err = fd;
	json_free(&execute_end_seen.layers);
	rc = policy_execute(&arena, x, &execute_end_seen, &execute_err);
	if (rc < 0)
		print_error("%s\n", execute_err.text);
	buf_clear(&execute_out);
	(void)lseek(fd, 0, SEEK_SET);
	assert_int_equal(sys_read_all(&execute_out, fd, 1 << 26, "output", &(struct error){0}), 0);
	return rc;
}

int execute_text(const char *text)
{
	struct execution x;

	execute_parse(text, &x);
	return execute_parsed(&x);
}

static const char *const scripts[] = {"probe"};

void execute_probe(const char *text)
{
	execute_allowed.scripts = (struct texts){(const char **)scripts, 1};
	tree_write(at("tree/probe"), str_of(arena_printf(&arena, "#!/bin/sh\n%s\n", text)));
	assert_int_equal(chmod(at("tree/probe"), 0755), 0);
}

void execute_fifo(const char *name)
{
	assert_int_equal(mkfifo(at(name), 0600), 0);
}

int execute_rig_begin(void **state)
{
	if (execute_begin(state) < 0 || setenv("TMPDIR", at("private"), 1) < 0 ||
		setenv("HOME", at("home"), 1) < 0)
		return -1;
	tree_mkdirs(at("private"));
	return 0;
}

int execute_rig_begin_bare(void **state)
{
	static const enum layer layers[] = {LAYER_PROCESSES, LAYER_MOUNTS, LAYER_CGROUP};

	if (execute_rig_begin(state) < 0)
		return -1;
	for (size_t i = 0; i < COUNT(layers); i++)
		execute_host.layers[layers[i]].state = LAYER_ABSENT;
	return 0;
}

int execute_rig_finish(void **state)
{
	return unsetenv("TMPDIR") < 0 ? -1 : execute_end(state);
}

static void count_marked(const struct process_info *info, void *arg)
{
	if (process_has_env(info->pid, arena_printf(&arena, "CI=%s", strrchr(base, '/') + 1)))
		(*(size_t *)arg)++;
}

const char *execute_marking(const char *line)
{
	return arena_printf(&arena, "CI=%s %s", strrchr(base, '/') + 1, line);
}

size_t execute_marked(void)
{
	size_t n = 0;

	process_each(count_marked, &n);
	return n;
}

size_t execute_private_runs(void)
{
	CLEANUP(buf_release) struct buf list = BUF_INIT;

	tree_list(at("private"), &list);
	return list.len;
}

void execute_assert_no_child(void)
{
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

void execute_assert_out(const char *text)
{
	assert_string_equal(execute_out.len ? execute_out.s : "", text);
}

int execute_stopper(void)
{
	int fd;

	execute_fifo("tree/stop");
	fd = open(at("tree/stop"), O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

void execute_assert_denied(enum rule rule, const char *word)
{
	assert_true(execute_end_seen.denied);
	assert_string_equal(rule_id(execute_end_seen.verdict.rule), rule_id(rule));
	assert_true(str_is(execute_end_seen.verdict.word, word));
	assert_int_equal(execute_end_seen.status, 1);
	assert_false(path_exists(at("tree/after")));
}
