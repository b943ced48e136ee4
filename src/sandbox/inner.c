/*
 * inner.c: the first process in the sandbox. It gives up what bwrap leaves it (privileges, limits,
 * filter), starts bash, passes signals on, and ends with it: what runs in the background ends too.
 */
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "src/base/number.h"
#include "src/sandbox/sandbox_internal.h"
#include "src/sys/path.h"

enum { FAILED = 125 };

static void inner_pass_on(int number)
{
	(void)kill(-1, number);
}

static void set_limit(int which, const char *text)
{
	uint64_t value;
	struct rlimit limit;

	if (!number_parse(str_of(text), 1, UINT64_MAX / 2, &value) || getrlimit(which, &limit) < 0)
		return;
	limit.rlim_cur = value < limit.rlim_max ? value : limit.rlim_max;
	limit.rlim_max = limit.rlim_cur;
	(void)setrlimit(which, &limit);
}

/* `CPU MEMORY FILE_SIZE PROCESSES OPEN_FILES`, 0: none. */
static void set_limits(struct arena *a, struct str line)
{
	static const int which[] = {
		RLIMIT_CPU, RLIMIT_DATA, RLIMIT_FSIZE, RLIMIT_NPROC, RLIMIT_NOFILE};
	const struct rlimit none = {0, 0};

	(void)setrlimit(RLIMIT_CORE, &none);
	for (size_t i = 0; i < COUNT(which); i++) {
		size_t end = str_find(line, STR(" "));

		set_limit(which[i], arena_dup(a, str_sub(line, 0, end)));
		line = str_sub(line, end < line.n ? end + 1 : end, line.n);
	}
}

static void inner_reset_signals(void)
{
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		(void)signal(i, SIG_DFL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static int inner_wait_for(pid_t bash)
{
	int status;
	pid_t pid;

	while ((pid = wait(&status)) != bash)
		if (pid < 0 && errno != EINTR)
			return FAILED;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* *plan: the limits in one line, where to listen in the next, then the text. */
static int run_bash(struct arena *a, struct str plan, int ready, int network)
{
	char *words[] = {arena_dup(a, STR("bash")), arena_dup(a, STR("--noprofile")),
		arena_dup(a, STR("--norc")), arena_dup(a, STR("-c")), NULL, NULL};
	struct str line, routes;
	pid_t pid;

	(void)str_line(&plan, &line);
	(void)str_line(&plan, &routes);
	words[4] = arena_dup(a, plan);
	set_limits(a, line);
	if (!sandbox_network_listen(a, routes, network))
		error_log("dev-team: services outside cannot be reached: %s", strerror(errno));
	base_close(&network);
	/* Nothing inside may trace this process or read its memory. */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		sandbox_filter_enter() < 0) {
		error_log(
			"dev-team: the filter of system calls cannot be set: %s", strerror(errno));
		return FAILED;
	}
	(void)signal(SIGTERM, inner_pass_on);
	(void)signal(SIGHUP, inner_pass_on);
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGQUIT, SIG_IGN);
	pid = fork();
	if (pid == 0) {
		inner_reset_signals();
		(void)close_range(STDERR_FILENO + 1, UINT_MAX, 0);
		(void)execv("/bin/bash", words);
		(void)execv("/usr/bin/bash", words);
		error_log("dev-team: bash cannot be started: %s", strerror(errno));
		_exit(FAILED);
	}
	if (pid < 0)
		return FAILED;
	(void)(write(ready, "", 1) + 1);
	close(ready);
	return inner_wait_for(pid);
}

static int run_inner(int argc, char **argv)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(buf_release) struct buf plan = BUF_INIT;
	struct error err;
	uint64_t fd, ready, network;

	if (argc != 3 || !number_parse(str_of(argv[0]), 3, 1000, &fd) ||
		!number_parse(str_of(argv[1]), 3, 1000, &ready) ||
		!number_parse(str_of(argv[2]), 0, 1000, &network) ||
		sys_read_all(&plan, (int)fd, (size_t)1 << 20, "plan", &err) < 0)
		return FAILED;
	close((int)fd);
	return run_bash(&a, buf_str(&plan), (int)ready, network ? (int)network : -1);
}

int sandbox_inner(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "";

	if (strcmp(verb, "sandbox-run") == 0)
		return run_inner(argc - 2, argv + 2);
	if (strcmp(verb, "sandbox-git") == 0)
		return sandbox_broker_git_client(argc - 2, argv + 2);
	if (strcmp(verb, "sandbox-connect") == 0)
		return sandbox_network_client(argc - 2, argv + 2);
	if (strcmp(verb, "sandbox-forge") == 0)
		return sandbox_broker_forge_client(argc - 2, argv + 2);
	return -1;
}
