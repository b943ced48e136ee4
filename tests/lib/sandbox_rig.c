#include "tests/lib/sandbox_rig.h"

struct sandbox_shared *shared;
char *tree, *outside;

struct policy plain_policy(void)
{
	return (struct policy){.name = "test", .write = true};
}

void give_away(void)
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

int sandbox_rig_make(void **state)
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

int sandbox_rig_remove(void **state)
{
	munmap(shared, sizeof(*shared));
	return scratch_remove(state);
}

void copy_text(char *out, size_t size, const char *text)
{
	(void)snprintf(out, size, "%s", text);
}

static void keep_report(const struct sandbox *s)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	CLEANUP(json_free) json *j = sandbox_report(s);

	json_print(&b, j);
	copy_text(shared->report, sizeof(shared->report), b.s);
	for (int l = 0; l < LAYERS; l++)
		shared->on[l] = strncmp(json_get_str(j, layer_name((enum layer)l)), "on", 2) == 0;
}

int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int sandbox_rig_life(const struct sandbox_plan *p)
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

static int become_nobody(void)
{
	if (setresgid(NOBODY, NOBODY, NOBODY) < 0 || setresuid(NOBODY, NOBODY, NOBODY) < 0)
		return -1;
	/* As after a login: a process that changed its user cannot read its own entries in /proc.
	 */
	return prctl(PR_SET_DUMPABLE, 1);
}

void sandbox_rig_assume_user(const struct sandbox_plan *p)
{
	pid_t pid = p->unprivileged && geteuid() == 0 ? fork() : 0;

	if (!p->unprivileged || geteuid() != 0)
		return;
	if (pid == 0)
		_exit(become_nobody() < 0);
	if (wait_for(pid) != 0)
		skip_because("root cannot change its user here");
}

int sandbox_rig_run(const struct sandbox_plan *p)
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
		_exit(sandbox_rig_life(p));
	}
	return wait_for(pid);
}
