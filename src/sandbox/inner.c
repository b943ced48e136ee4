/*
 * inner.c: the program of the sandbox's first process, which dev-team carries in itself and hands
 * over (arguments.c): small, since it starts with every command. It gives up what bwrap leaves it
 * (privileges, limits, filter), starts bash, passes signals on, and ends with it: what runs in the
 * background ends too. By other names it is the broker's clients.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include "src/base/number.h"
#include "src/sandbox/sandbox_internal.h"
#include "src/sys/path.h"

static void inner_pass_on(int number)
{
	(void)kill(-1, number);
}

/* Without a network there are no routes: packets without one were for hosts outside. */
static bool inner_has_missed_host(void)
{
	enum { OUT_NO_ROUTES = 12 };
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str rest, count = {0};
	struct error ignored;

	if (sys_read_file(&text, "/proc/net/snmp", 1 << 16, NULL, &ignored) < 0)
		return false;
	rest = buf_str(&text);
	rest = str_sub(rest, str_find(rest, STR("\nIp: ")), rest.n); /* after the names */
	for (int i = 0; i <= OUT_NO_ROUTES && str_piece(&rest, ' ', &count); i++)
		;
	return count.n && !str_is(count, "0");
}

/* *plan: the limits as bytes, where to listen in one line, then the text. */
static int run_bash(struct arena *a, struct str plan, int outside, int network)
{
	const char *argv[] = {"bash", "--noprofile", "--norc", "-c", NULL, NULL};
	struct str routes;
	pid_t pid, ended;
	int status;

	if (!sandbox_take_limits(&plan))
		return SANDBOX_FAILED;
	(void)str_line(&plan, &routes);
	if (!sandbox_broker_listen(outside) || !sandbox_network_listen(a, routes, network))
		error_log("dev-team: services outside cannot be reached: %s", strerror(errno));
	base_close(&network);
	/* Nothing inside may trace this process or read its memory. */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		sandbox_filter_enter(false, true) < 0) {
		error_log(
			"dev-team: the filter of system calls cannot be set: %s", strerror(errno));
		return SANDBOX_FAILED;
	}
	(void)signal(SIGTERM, inner_pass_on);
	(void)signal(SIGHUP, inner_pass_on);
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGQUIT, SIG_IGN);
	argv[4] = arena_dup(a, plan);
	pid = sandbox_spawn("/bin/bash", argv, (const char *const *)(uintptr_t)environ, true, true);
	if (pid < 0) {
		error_log("dev-team: bash cannot be started: %s", strerror(errno));
		return SANDBOX_FAILED;
	}
	(void)(write(outside, INSIDE_STARTED, 1) + 1);
	/* What comes from outside is the signal to end. */
	(void)fcntl(outside, F_SETOWN, getpid());
	(void)fcntl(outside, F_SETSIG, SIGTERM);
	(void)fcntl(outside, F_SETFL, O_ASYNC);
	while ((ended = wait(&status)) != pid)
		if (ended < 0 && errno != EINTR)
			return SANDBOX_FAILED;
	status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	if (status && inner_has_missed_host())
		(void)(write(outside, INSIDE_MISSED_HOST, 1) + 1);
	return status;
}

static int run_inner(char **argv)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(buf_release) struct buf plan = BUF_INIT;
	struct error err;
	uint64_t fd, outside, network;

	if (!number_parse(str_of(argv[0]), 3, 1000, &fd) ||
		!number_parse(str_of(argv[1]), 3, 1000, &outside) ||
		!number_parse(str_of(argv[2]), 0, 1000, &network) ||
		sys_read_all(&plan, (int)fd, (size_t)1 << 20, "plan", &err) < 0)
		return SANDBOX_FAILED;
	close((int)fd);
	return run_bash(&a, buf_str(&plan), (int)outside, network ? (int)network : -1);
}

int main(int argc, char **argv)
{
	const char *name = argc ? path_base(argv[0]).p : "";

	if (strcmp(name, "git-remote-" GIT_HELPER) == 0)
		return sandbox_broker_git_client(argc - 1, argv + 1);
	if (strcmp(name, "gh") == 0 || strcmp(name, "glab") == 0)
		return sandbox_broker_forge_client(name, argc - 1, argv + 1);
	if (argc == 5 && strcmp(argv[1], "sandbox-run") == 0)
		return run_inner(argv + 2);
	return SANDBOX_FAILED;
}
