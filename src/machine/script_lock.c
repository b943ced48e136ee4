#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include "src/base/clock.h"
#include "src/sys/path.h"
#include "src/sys/procfs.h"
#include "src/machine/script.h"

enum { TEXT_MAX = 2048, SWEEP_MS = 5000 };

/* A guard removes its file while it holds it: what we have locked may have no name any more. */
static int still_named(int fd, const char *path, struct error *err)
{
	struct stat ours, named = {0};

	if (fstat(fd, &ours) < 0 || (lstat(path, &named) < 0 && errno != ENOENT))
		return error_errno(err, "cannot look at lock file '%s'", path);
	return ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
}

int script_lock(const char *path, int *fd, struct error *err)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int rc, named;

	for (;;) {
		*fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
		if (*fd < 0)
			return error_errno(err, "cannot open lock file '%s'", path);
		while ((rc = fcntl(*fd, F_OFD_SETLK, &whole)) < 0 && errno == EINTR)
			;
		if (rc < 0) {
			if (errno == EAGAIN || errno == EACCES)
				return 0;
			error_errno(err, "cannot lock '%s'", path);
			close(*fd);
			*fd = -1;
			return -1;
		}
		named = still_named(*fd, path, err);
		if (named > 0)
			return 1;
		close(*fd);
		*fd = -1;
		if (named < 0)
			return -1;
	}
}

void script_unlock(const char *path, int *fd)
{
	(void)unlink(path);
	close_fd(fd);
	*fd = -1;
}

bool script_lock_used(int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 || st.st_size > 0; /* in doubt it did */
}

int script_lock_sign(int fd, const char *path, struct error *err)
{
	struct proc_info self;
	char text[64];
	int n;

	if (!proc_info(getpid(), &self))
		return error_set(err, ERR_SYSTEM, "cannot read /proc");
	n = snprintf(text, sizeof(text), "%d %" PRIu64 "\n", (int)self.pid, self.start);
	if (ftruncate(fd, 0) < 0 || pwrite(fd, text, (size_t)n, 0) != n)
		return error_errno(err, "cannot write '%s'", path);
	return 0;
}

static bool read_text(int fd, char text[TEXT_MAX])
{
	ssize_t n = pread(fd, text, TEXT_MAX - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

bool script_lock_read(int fd, struct guard_id *g)
{
	char text[TEXT_MAX];
	int pid;

	if (!read_text(fd, text) || !strchr(text, '\n') ||
		sscanf(text, "%d %" SCNu64, &pid, &g->start) != 2 || pid <= 1)
		return false;
	g->pid = (pid_t)pid;
	return true;
}

/* Best effort: with a full disk those who wait are told less. */
void script_lock_tell(int fd, const char *reason)
{
	struct error ignored;

	if (lseek(fd, 0, SEEK_END) >= 0)
		(void)fd_write_all(fd, str_of(reason), "lock file", &ignored);
}

void script_lock_reason(int fd, char *out, size_t size)
{
	char text[TEXT_MAX], *line;

	out[0] = '\0';
	line = read_text(fd, text) ? strchr(text, '\n') : NULL;
	if (line)
		(void)snprintf(out, size, "%s", line + 1);
}

char *script_mark(struct arena *a, const char *lock)
{
	return arena_printf(a, "DEV_TEAM_EXEC=%s", lock);
}

struct sweep {
	const char *mark;
	size_t seen;
};

static void kill_marked(const struct proc_info *info, void *arg)
{
	struct sweep *s = arg;

	if (info->pid == getpid() || info->state == 'Z' || !proc_has_env(info->pid, s->mark))
		return;
	s->seen++;
	(void)kill(info->pid, SIGKILL);
}

void script_end_leftovers(const char *mark)
{
	const struct timespec moment = {.tv_nsec = 2000000};
	int64_t until = clock_ticks() + SWEEP_MS;
	struct sweep s = {mark, 1};

	while (s.seen && clock_ticks() < until) {
		s.seen = 0;
		proc_each(kill_marked, &s);
		if (s.seen)
			nanosleep(&moment, NULL);
	}
}
