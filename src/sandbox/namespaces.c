#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <linux/sched.h>
#include "src/sandbox/sandbox_internal.h"

uint64_t namespace_flags(const struct sandbox_state *st)
{
	uint64_t flags = 0;

	if (st->on[LAYER_PROCESSES])
		flags |= CLONE_NEWPID | CLONE_NEWIPC;
	if (st->on[LAYER_NETWORK])
		flags |= CLONE_NEWNET;
	if (st->on[LAYER_MOUNTS])
		flags |= CLONE_NEWNS;
	if (flags && st->user)
		flags |= CLONE_NEWUSER;
	return flags;
}

/* A fork that needs no other call to be in its namespaces and its group. The child goes on here. */
static pid_t born_in_group(const struct sandbox_state *st, uint64_t flags, int *pidfd)
{
	struct clone_args args = {
		.flags = flags | CLONE_PIDFD | CLONE_INTO_CGROUP,
		.pidfd = (uint64_t)(uintptr_t)pidfd,
		.exit_signal = SIGCHLD,
		.cgroup = (uint64_t)st->cgroup.fd,
	};

	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

pid_t sandbox_fork(struct sandbox *s, int *pidfd)
{
	const struct sandbox_state *st = s->state;
	uint64_t flags = namespace_flags(st);

	*pidfd = -1;
	if (st->cgroup.fd >= 0 && st->cgroup.procs < 0)
		return born_in_group(st, flags, pidfd);
	/* The third argument is where the pidfd goes; the others are a stack and thread data. */
	return (pid_t)syscall(SYS_clone, flags | CLONE_PIDFD | SIGCHLD, NULL, pidfd, NULL, 0);
}

static int write_text(const char *path, const char *text)
{
	CLEANUP(base_close) int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return -1;
	return 0;
}

/* The same user and group as outside; all others are nobody. */
int user_map(uid_t uid, gid_t gid)
{
	char text[64];

	snprintf(text, sizeof(text), "%u %u 1\n", uid, uid);
	if (write_text("/proc/self/uid_map", text) < 0)
		return -1;
	/* The kernel asks for it: leaving a group could give rights that the group is denied. */
	if (write_text("/proc/self/setgroups", "deny") < 0 && errno != ENOENT)
		return -1;
	snprintf(text, sizeof(text), "%u %u 1\n", gid, gid);
	return write_text("/proc/self/gid_map", text);
}

int namespaces_enter(const struct sandbox *s)
{
	const struct sandbox_state *st = s->state;

	if (st->user && namespace_flags(st) && user_map(st->uid, st->gid) < 0)
		return layer_failed(s, "processes", "cannot map the user");
	return 0;
}

int pid_limit_set(const char *proc, unsigned most)
{
	char path[64], text[32];

	snprintf(path, sizeof(path), "%s/sys/kernel/pid_max", proc);
	snprintf(text, sizeof(text), "%u", most < PID_LIMIT_LEAST ? PID_LIMIT_LEAST : most);
	return write_text(path, text);
}
