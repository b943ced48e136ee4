#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include "src/base/clock.h"
#include "src/base/buf.h"
#include "src/store/lock.h"

enum { WHO_MAX = 200 };

struct lock {
	int fd;
};

static int try_lock(int fd)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int rc;

	do
		rc = fcntl(fd, F_OFD_SETLK, &whole);
	while (rc < 0 && errno == EINTR); /* else who does not wait would take it for held */
	return rc;
}

/* Short waits first: a holder keeps the lock for about a millisecond. */
static int wait_for(int fd, unsigned wait_ms)
{
	int64_t until = clock_ticks() + wait_ms;
	long pause_us = 200;

	while (try_lock(fd) < 0) {
		struct timespec ts = {.tv_nsec = pause_us * 1000};

		if ((errno != EAGAIN && errno != EACCES) || clock_ticks() >= until)
			return -1;
		nanosleep(&ts, NULL);
		pause_us = pause_us < 10000 ? pause_us * 2 : 10000;
	}
	return 0;
}

static void read_holder(int fd, char who[WHO_MAX])
{
	ssize_t n = pread(fd, who, WHO_MAX - 1, 0);

	who[n > 0 ? n : 0] = '\0';
	who[strcspn(who, "\n")] = '\0';
}

static int held_by_another(int fd, const char *path, struct error *err)
{
	char who[WHO_MAX];

	read_holder(fd, who);
	return error_set(err, ERR_STATE, "'%s' is locked by another process%s%s%s", path,
		who[0] ? " (" : "", who, who[0] ? ")" : "");
}

/* For people only, so a full disk does not matter here. */
static void sign(int fd, const char *what)
{
	char host[64] = "", now[CLOCK_TEXT], text[200];
	int n;

	(void)gethostname(host, sizeof(host) - 1);
	clock_text(clock_now(), now);
	n = snprintf(text, sizeof(text), "pid %ld on %s since %s%s%.60s\n", (long)getpid(), host,
		now, *what ? ": " : "", what);
	if (n > 0 && pwrite(fd, text, (size_t)n, 0) == n)
		(void)!ftruncate(fd, n);
}

int lock_take(struct lock **out, const char *path, unsigned wait_ms, struct error *err)
{
	int fd;

	do
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	while (fd < 0 && errno == EINTR);
	*out = NULL;
	if (fd < 0)
		return error_errno(err, "cannot open lock file '%s'", path);
	if (wait_for(fd, wait_ms) < 0) {
		if (errno == EAGAIN || errno == EACCES)
			held_by_another(fd, path, err);
		else
			error_errno(err, "cannot lock '%s'", path);
		close(fd);
		return -1;
	}
	sign(fd, "");
	*out = xmalloc(sizeof(**out));
	(*out)->fd = fd;
	return 0;
}

int lock_look(const char *path, bool *held, struct buf *who, struct error *err)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	CLEANUP(base_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char text[WHO_MAX];

	*held = false;
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR
			       ? 0
			       : error_errno(err, "cannot open lock file '%s'", path);
	if (fcntl(fd, F_OFD_GETLK, &whole) < 0)
		return error_errno(err, "cannot look at the lock '%s'", path);
	if (whole.l_type == F_UNLCK)
		return 0;
	read_holder(fd, text);
	*held = true;
	buf_adds(who, text);
	return 0;
}

void lock_note(struct lock *l, const char *what)
{
	if (l)
		sign(l->fd, what);
}

void lock_drop(struct lock **l)
{
	if (!*l)
		return;
	close((*l)->fd);
	free(*l);
	*l = NULL;
}
