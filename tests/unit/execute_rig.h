/*
 * execute_rig.h: one command line, parsed, checked and run as `policy exec` does it, in a folder of
 * the test's own. What it wrote is in `out`.
 */
#ifndef DT_TESTS_EXECUTE_RIG_H
#define DT_TESTS_EXECUTE_RIG_H

#include <fcntl.h>
#include "src/policy/execute.h"
#include "src/policy/parse.h"
#include "tests/unit/scratch.h"

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
	CLEANUP(close_fd) int fd = rig_output();
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
	assert_int_equal(fd_read_all(&out, fd, 1 << 26, "output", &(struct error){0}), 0);
	return rc;
}

static inline int rig_run(const char *text)
{
	struct execution x;

	rig_parse(text, &x);
	return rig_execute(&x);
}

#define rig_test(f) cmocka_unit_test_setup_teardown(f, rig_begin, rig_end)

#endif
