#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include "src/sys/path.h"
#include "src/sys/procfs.h"

enum { ENVIRONMENT_MAX = 4 << 20 };

static bool read_all(pid_t pid, const char *name, struct buf *out)
{
	char path[64];
	CLEANUP(close_fd) int fd = -1;
	struct error ignored;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && fd_read_all(out, fd, ENVIRONMENT_MAX, path, &ignored) == 0;
}

enum { FORKED_NO_EXEC = 0x40 }; /* the kernel's PF_FORKNOEXEC, of accounting */

/* The name, second of the fields, may hold anything: count from the last parenthesis. */
static bool parse_stat(const char *text, struct proc_info *info)
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

bool proc_info(pid_t pid, struct proc_info *info)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	info->pid = pid;
	return read_all(pid, "stat", &text) && text.len && parse_stat(text.s, info);
}

void proc_each(void (*fn)(const struct proc_info *info, void *arg), void *arg)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		struct proc_info info;
		char *end;
		long pid = strtol(entry->d_name, &end, 10);

		if (!*end && pid > 0 && proc_info((pid_t)pid, &info))
			fn(&info, arg);
	}
	if (dir)
		closedir(dir);
}

bool proc_has_env(pid_t pid, const char *entry)
{
	CLEANUP(buf_release) struct buf env = BUF_INIT;
	size_t n = strlen(entry) + 1;

	if (!read_all(pid, "environ", &env))
		return false;
	for (size_t at = 0; at + n <= env.len + 1; at += strlen(env.s + at) + 1)
		if (memcmp(env.s + at, entry, n) == 0)
			return true;
	return false;
}

static bool is_within(pid_t pid, const char *dir, size_t n)
{
	char link[64], cwd[4096]; /* of a longer one the first part tells too */
	ssize_t got;

	(void)snprintf(link, sizeof(link), "/proc/%d/cwd", (int)pid);
	got = readlink(link, cwd, sizeof(cwd));
	return got >= (ssize_t)n && memcmp(cwd, dir, n) == 0 &&
	       ((size_t)got == n || cwd[n] == '/' || n == 1);
}

int proc_within(const char *dir, pid_t *pid)
{
	DIR *all = opendir("/proc");
	struct dirent *entry;

	*pid = 0;
	if (!all)
		return -1;
	while (!*pid && (entry = readdir(all))) {
		char *end;
		long one = strtol(entry->d_name, &end, 10);

		if (!*end && one > 0 && one != getpid() && is_within((pid_t)one, dir, strlen(dir)))
			*pid = (pid_t)one;
	}
	closedir(all);
	return 0;
}

struct open_file {
	const char *path;
	bool found;
};

static void look_for_open(const struct proc_info *info, void *arg)
{
	struct open_file *f = arg;
	char dir[64], link[320], to[4096];
	struct dirent *entry;
	DIR *list;

	(void)snprintf(dir, sizeof(dir), "/proc/%d/fd", (int)info->pid);
	list = f->found ? NULL : opendir(dir);
	while (list && !f->found && (entry = readdir(list))) {
		ssize_t n;

		(void)snprintf(link, sizeof(link), "%s/%s", dir, entry->d_name);
		n = readlink(link, to, sizeof(to));
		f->found = n == (ssize_t)strlen(f->path) && memcmp(to, f->path, (size_t)n) == 0;
	}
	if (list)
		closedir(list);
}

bool proc_has_open(const char *path)
{
	struct open_file f = {.path = path};

	proc_each(look_for_open, &f);
	return f.found;
}
