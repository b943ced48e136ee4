/*
 * execute_rig.h: one command line, parsed, checked and run as `policy exec` does it, in a folder of
 * the test's own. What it wrote is in `out`.
 */
#ifndef DT_TESTS_EXECUTE_RIG_H
#define DT_TESTS_EXECUTE_RIG_H

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "src/sys/process.h"
#include "src/sandbox/execute.h"
#include "src/shell/parse.h"
#include "tests/lib/scratch.h"

static struct host host;
static struct policy policy;
static struct root root = {.fd = -1};
static struct execution_end end;
static struct error err;
static struct buf out = BUF_INIT;

/* Enough for all tests; what a policy may not do is other tests' matter. */
static inline void rig_policy(void)
{
	static const char *const allowed[] = {":", "[", "cat", "cd", "chmod", "command", "cp", "dd",
		"echo", "export", "false", "git", "grep", "head", "ln", "ls", "make", "mkdir",
		"mkfifo", "mv", "printenv", "printf", "pwd", "read", "readlink", "rm", "sed", "seq",
		"set", "sleep", "sort", "tail", "test", "touch", "tr", "true", "wc"};

	policy = (struct policy){.name = "test",
		.allow = {(const char **)allowed, COUNT(allowed)},
		.write = true,
		.limits = {.timeout_s = 60, .output = 1 << 20}};
}

static inline int rig_begin(void **state)
{
	if (scratch_make(state) < 0)
		return -1;
	rig_policy();
	host_probe(&host);
	tree_mkdirs(at("tree"));
	return root_open(&arena, at("tree"), &root, &err);
}

static inline int rig_end(void **state)
{
	json_free(&end.layers);
	buf_release(&out);
	root_close(&root);
	return scratch_remove(state);
}

/* A file of the test's own that gets what the run writes, and is read into `out` afterwards. */
static inline int rig_output(void)
{
	int fd = open(at("output"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	return fd;
}

static inline void rig_parse(const char *text, struct execution *x)
{
	struct verdict v = {0};
	struct node *tree;

	if (shell_parse(&arena, str_of(text), &tree, &v) < 0)
		fail_msg("%s: %s", text, v.reason);
	*x = (struct execution){.policy = &policy,
		.root = &root,
		.host = &host,
		.tree = tree,
		.text = str_of(text),
		.cwd = "",
		.in = -1,
		.out = -1,
		.err = -1,
		.grace_ms = 50,
		.cancel = -1};
}

/* Only parsed: what the check before the run would have found is found during it. */
static inline int rig_execute(struct execution *x)
{
	CLEANUP(base_close) int fd = rig_output();
	int rc;

	if (x->out < 0)
		x->out = fd;
	if (x->err < 0)
		x->err = fd;
	json_free(&end.layers);
	rc = policy_execute(&arena, x, &end, &err);
	if (rc < 0)
		print_error("%s\n", err.text);
	buf_clear(&out);
	(void)lseek(fd, 0, SEEK_SET);
	assert_int_equal(sys_read_all(&out, fd, 1 << 26, "output", &(struct error){0}), 0);
	return rc;
}

static inline int rig_run(const char *text)
{
	struct execution x;

	rig_parse(text, &x);
	return rig_execute(&x);
}

static const char *const scripts[] = {"probe"};

/* A program of the repository: what it does is up to it, only the kernel's layers hold it. */
static inline void probe(const char *text)
{
	policy.scripts = (struct texts){(const char **)scripts, 1};
	tree_write(at("tree/probe"), str_of(arena_printf(&arena, "#!/bin/sh\n%s\n", text)));
	assert_int_equal(chmod(at("tree/probe"), 0755), 0);
}

static inline void fifo(const char *name)
{
	assert_int_equal(mkfifo(at(name), 0600), 0);
}

static inline int begin(void **state)
{
	if (rig_begin(state) < 0 || setenv("TMPDIR", at("private"), 1) < 0 ||
		setenv("HOME", at("home"), 1) < 0)
		return -1;
	tree_mkdirs(at("private"));
	return 0;
}

/* As on a host that has none of the layers that end processes. */
static inline int begin_bare(void **state)
{
	static const enum layer layers[] = {LAYER_PROCESSES, LAYER_MOUNTS, LAYER_CGROUP};

	if (begin(state) < 0)
		return -1;
	for (size_t i = 0; i < COUNT(layers); i++)
		host.layers[layers[i]].state = LAYER_ABSENT;
	return 0;
}

static inline int finish(void **state)
{
	return unsetenv("TMPDIR") < 0 ? -1 : rig_end(state);
}

static inline void count_marked(const struct process_info *info, void *arg)
{
	if (process_has_env(info->pid, arena_printf(&arena, "CI=%s", strrchr(base, '/') + 1)))
		(*(size_t *)arg)++;
}

/* The line with a mark in the environment of what it starts, of this test alone. */
static inline const char *marking(const char *line)
{
	return arena_printf(&arena, "CI=%s %s", strrchr(base, '/') + 1, line);
}

/* Processes that such a line has left. */
static inline size_t marked(void)
{
	size_t n = 0;

	process_each(count_marked, &n);
	return n;
}

static inline size_t private_runs(void)
{
	CLEANUP(buf_release) struct buf list = BUF_INIT;

	tree_list(at("private"), &list);
	return list.len;
}

static inline void assert_no_child(void)
{
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static inline void assert_out(const char *text)
{
	assert_string_equal(out.len ? out.s : "", text);
}

/* What the run writes into `stop` makes the caller's descriptor readable. */
static inline int stopper(void)
{
	int fd;

	fifo("tree/stop");
	fd = open(at("tree/stop"), O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static inline void assert_denied(enum rule rule, const char *word)
{
	assert_true(end.denied);
	assert_string_equal(rule_id(end.verdict.rule), rule_id(rule));
	assert_true(str_is(end.verdict.word, word));
	assert_int_equal(end.status, 1);
	assert_false(path_exists(at("tree/after")));
}

#define EXECUTE_TEST(name) UNIT_TEST(name, begin, finish)
/* The same, and again on a host without the layers that end processes. */
#define EXECUTE_TEST_TWICE(name)                                                                   \
	static void name(void **state);                                                            \
	UNIT_CASE(bare_##name, #name " (bare host)", name, begin_bare, finish)                     \
	EXECUTE_TEST(name)

#endif
