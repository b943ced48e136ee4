/*
 * sandbox_rig.h: one run in a sandbox for a test: who runs it, what is tried inside, what came out.
 * A process of its own prepares it, so that a test can do so as another user.
 */
#ifndef DT_TESTS_SANDBOX_RIG_H
#define DT_TESTS_SANDBOX_RIG_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "src/sandbox/sandbox.h"
#include "tests/lib/scratch.h"

enum { ROWS = 96, NOBODY = 65534, FAILED = 90 };

/* What the sandbox and the test share. */
struct shared {
	int got[ROWS]; /* errno of each thing tried; 0: it worked */
	int number;
	bool on[LAYERS];
	char error[1024]; /* of sandbox_prepare() */
	char failed[400]; /* of sandbox_enter() */
	char report[1024];
	struct host host;
	pid_t maker;   /* of the sandbox */
	pid_t outside; /* a process that runs outside */
	int port;      /* a listener outside */
};

static struct shared *shared;

struct plan {
	struct policy policy;
	bool unprivileged;
	void (*host)(struct host *h); /* changes what the probe said; may be NULL */
	int (*inside)(void);          /* exit status of the run */
};

static char *tree, *outside;

static inline struct policy plain_policy(void)
{
	return (struct policy){.name = "test", .write = true};
}

/* Everything for everybody: a test may run as nobody. */
static inline void give_away(void)
{
	CLEANUP(buf_release) struct buf list = BUF_INIT;
	struct str rest, line;

	tree_list(base, &list);
	rest = buf_str(&list);
	while (str_line(&rest, &line)) {
		char *path = arena_printf(&arena, "%s/%.*s", base, (int)line.n, line.p);

		assert_int_equal(lchown(path, NOBODY, NOBODY), 0);
		for (struct str up = path_dir(path); up.n > strlen(base); up = path_dir(path)) {
			path = arena_dup(&arena, up);
			assert_int_equal(lchown(path, NOBODY, NOBODY), 0);
		}
	}
	for (const char *const *p =
			(const char *const[]){"", "tree", "home", "tmp", "outside", NULL};
		*p; p++)
		assert_int_equal(lchown(at(*p), NOBODY, NOBODY), 0);
}

static inline int rig_make(void **state)
{
	scratch_make(state);
	shared = mmap(
		NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(shared, MAP_FAILED);
	tree = at("tree");
	outside = at("outside");
	tree_write(at("tree/file"), STR("inside\n"));
	tree_write(at("tree/sub/other"), STR("other\n"));
	tree_write(at("tree/.git/config"), STR("[core]\n"));
	tree_write(at("tree/.git/hooks/sample"), STR("#!/bin/sh\n"));
	tree_write(at("tree/.claude/settings.json"), STR("{}\n"));
	tree_write(at("outside/canary"), STR("canary\n"));
	tree_mkdirs(at("home"));
	tree_mkdirs(at("tmp"));
	return 0;
}

static inline int rig_remove(void **state)
{
	munmap(shared, sizeof(*shared));
	return scratch_remove(state);
}

static inline void copy_text(char *out, size_t size, const char *text)
{
	(void)snprintf(out, size, "%s", text);
}

static inline void keep_report(const struct sandbox *s)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	CLEANUP(json_free) json *j = sandbox_report(s);

	json_print(&b, j);
	copy_text(shared->report, sizeof(shared->report), b.s);
	for (int l = 0; l < LAYERS; l++)
		shared->on[l] = strncmp(json_get_str(j, layer_name((enum layer)l)), "on", 2) == 0;
}

static inline int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The whole life of a sandbox; exit status of what ran in it. */
static inline int rig_life(const struct plan *p)
{
	struct arena a = {0};
	struct root root;
	struct error err = {0};
	int told[2], pidfd, status;
	pid_t pid;
	struct sandbox s = {.policy = &p->policy,
		.root = &root,
		.host = &shared->host,
		.home = at("home"),
		.tmp = at("tmp")};

	shared->maker = getpid();
	host_probe(&shared->host);
	if (p->host)
		p->host(&shared->host);
	if (pipe2(told, O_CLOEXEC | O_NONBLOCK) < 0 || root_open(&a, tree, &root, &err) < 0)
		return FAILED;
	s.error = told[1];
	if (sandbox_prepare(&a, &s, &err) < 0) {
		copy_text(shared->error, sizeof(shared->error), err.text);
		arena_release(&a);
		return FAILED + (int)err.code;
	}
	keep_report(&s);
	pid = sandbox_fork(&s, &pidfd);
	if (pid == 0)
		_exit(sandbox_enter(&s) < 0 ? FAILED : p->inside());
	close(told[1]);
	status = pid < 0 ? FAILED : wait_for(pid);
	if (read(told[0], shared->failed, sizeof(shared->failed) - 1) < 0 && errno != EAGAIN)
		status = FAILED;
	sandbox_kill(&s);
	sandbox_release(&s);
	root_close(&root);
	arena_release(&a);
	return status;
}

static inline int become_nobody(void)
{
	if (setresgid(NOBODY, NOBODY, NOBODY) < 0 || setresuid(NOBODY, NOBODY, NOBODY) < 0)
		return -1;
	/* As after a login: a process that changed its user may not look at itself in /proc. */
	return prctl(PR_SET_DUMPABLE, 1);
}

/* Skips the test where this user cannot be the one that the plan wants. */
static inline void rig_assume_user(const struct plan *p)
{
	pid_t pid = p->unprivileged && geteuid() == 0 ? fork() : 0;

	if (!p->unprivileged || geteuid() != 0)
		return;
	if (pid == 0)
		_exit(become_nobody() < 0);
	if (wait_for(pid) != 0) {
		print_message("skipped: root cannot change its user here\n");
		skip();
	}
}

static inline int rig_run(const struct plan *p)
{
	pid_t pid;

	memset(shared->got, -1, sizeof(shared->got));
	memset(shared->error, 0, sizeof(shared->error));
	memset(shared->failed, 0, sizeof(shared->failed));
	if (p->unprivileged && geteuid() == 0)
		give_away();
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (p->unprivileged && geteuid() == 0 && become_nobody() < 0)
			_exit(FAILED);
		_exit(rig_life(p));
	}
	return wait_for(pid);
}

#define RIG_TEST(name) UNIT_TEST(name, rig_make, rig_remove)

#endif
