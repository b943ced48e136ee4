/*
 * The processes of the system, and the end of those that a program leaves behind.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include "src/base/number.h"
#include "src/sys/directory.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

enum { ENVIRONMENT_MAX = 4 << 20 };
enum { FORKED_NO_EXEC = 0x40 }; /* the kernel's PF_FORKNOEXEC */

static bool read_file(pid_t pid, const char *name, struct buf *out)
{
	char path[64];
	struct error ignored;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return sys_read_file(out, path, ENVIRONMENT_MAX, NULL, &ignored) == 0;
}

/* The second field, the program's name, may contain anything: count from the last parenthesis. */
static bool parse_stat(const char *text, struct process_info *info)
{
	const char *p = strrchr(text, ')');
	unsigned flags;
	int parent;

	if (!p || sscanf(p,
			  ") %c %d %*s %*s %*s %*s %u %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			  "%*s %" SCNu64,
			  &info->state, &parent, &flags, &info->start) != 4)
		return false;
	info->parent = (pid_t)parent;
	info->unborn = flags & FORKED_NO_EXEC;
	return true;
}

bool process_info(pid_t pid, struct process_info *info)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	info->pid = pid;
	return read_file(pid, "stat", &text) && text.len && parse_stat(text.s, info);
}

/* 0 at the end. */
static pid_t next_pid(struct directory *proc)
{
	const char *name;
	uint64_t pid;

	while ((name = directory_next(proc, NULL)))
		if (number_parse(str_of(name), 1, INT_MAX, &pid))
			return (pid_t)pid;
	return 0;
}

void process_each(void (*fn)(const struct process_info *info, void *arg), void *arg)
{
	CLEANUP(directory_close) struct directory proc = {0};
	struct process_info info;
	struct error ignored;
	pid_t pid;

	if (directory_open(&proc, AT_FDCWD, "/proc", NULL, &ignored) < 0)
		return;
	while ((pid = next_pid(&proc)))
		if (process_info(pid, &info))
			fn(&info, arg);
}

bool process_has_env(pid_t pid, const char *entry)
{
	CLEANUP(buf_release) struct buf env = BUF_INIT;
	size_t n = strlen(entry) + 1;

	if (!read_file(pid, "environ", &env))
		return false;
	for (size_t at = 0; at + n <= env.len + 1; at += strlen(env.s + at) + 1)
		if (memcmp(env.s + at, entry, n) == 0)
			return true;
	return false;
}

static bool works_within(pid_t pid, const char *dir, size_t n)
{
	char link[64], cwd[PATH_MAX]; /* the first part of a longer path is enough */
	ssize_t length;

	(void)snprintf(link, sizeof(link), "/proc/%d/cwd", (int)pid);
	length = readlink(link, cwd, sizeof(cwd));
	return length >= (ssize_t)n && memcmp(cwd, dir, n) == 0 &&
	       ((size_t)length == n || cwd[n] == '/' || n == 1);
}

int process_within(const char *dir, pid_t *pid)
{
	CLEANUP(directory_close) struct directory proc = {0};
	struct error ignored;

	*pid = 0;
	if (directory_open(&proc, AT_FDCWD, "/proc", NULL, &ignored) < 0)
		return -1;
	do
		*pid = next_pid(&proc);
	while (*pid && (*pid == getpid() || !works_within(*pid, dir, strlen(dir))));
	return 0;
}

static bool has_open(pid_t pid, const char *path)
{
	CLEANUP(directory_close) struct directory fds = {0};
	char dir[64], to[PATH_MAX];
	struct error ignored;
	const char *name;
	bool found = false;

	(void)snprintf(dir, sizeof(dir), "/proc/%d/fd", (int)pid);
	if (directory_open(&fds, AT_FDCWD, dir, NULL, &ignored) < 0)
		return false;
	while (!found && (name = directory_next(&fds, NULL))) {
		ssize_t n = readlinkat(fds.fd, name, to, sizeof(to));

		found = n == (ssize_t)strlen(path) && memcmp(to, path, (size_t)n) == 0;
	}
	return found;
}

bool process_has_open(const char *path)
{
	CLEANUP(directory_close) struct directory proc = {0};
	struct error ignored;
	pid_t pid = 0;

	if (directory_open(&proc, AT_FDCWD, "/proc", NULL, &ignored) < 0)
		return false;
	do
		pid = next_pid(&proc);
	while (pid && !has_open(pid, path));
	return pid;
}

/* ---- processes that a program leaves behind ---- */

static bool pid_listed(const struct pid_list *l, pid_t pid)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i] == pid)
			return true;
	return false;
}

static bool is_childless(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD;
}

static void add_child(const struct process_info *info, void *arg)
{
	if (info->parent == getpid())
		vec_push((struct pid_list *)arg, info->pid);
}

void subreaper_begin(struct subreaper *s)
{
	struct sigaction usual = {.sa_handler = SIG_DFL};

	*s = (struct subreaper){0};
	/* A caller may have left SIGCHLD ignored, which would take the exit statuses away. */
	(void)sigaction(SIGCHLD, &usual, &s->was_sigchld);
	(void)prctl(PR_GET_CHILD_SUBREAPER, &s->was_subreaper);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (!is_childless())
		process_each(add_child, &s->before);
}

struct reap_round {
	struct subreaper *s;
	bool kill;
	size_t seen;
};

static void end_orphan(const struct process_info *info, void *arg)
{
	struct reap_round *r = arg;

	if (info->parent != getpid() || pid_listed(&r->s->before, info->pid))
		return;
	r->seen++; /* also one that ends here: it may leave children behind */
	if (waitpid(info->pid, NULL, WNOHANG) != 0)
		return;
	if (r->kill) {
		(void)kill(info->pid, SIGKILL);
	} else if (!pid_listed(&r->s->terminated, info->pid)) {
		vec_push(&r->s->terminated, info->pid);
		(void)kill(info->pid, SIGTERM);
		(void)kill(info->pid, SIGCONT);
	}
}

size_t subreaper_round(struct subreaper *s, bool kill_now)
{
	struct reap_round r = {s, kill_now, 0};

	if (!is_childless())
		process_each(end_orphan, &r);
	return r.seen;
}

void subreaper_end(struct subreaper *s)
{
	(void)prctl(PR_SET_CHILD_SUBREAPER, s->was_subreaper);
	(void)sigaction(SIGCHLD, &s->was_sigchld, NULL);
	vec_release(&s->before);
	vec_release(&s->terminated);
}
