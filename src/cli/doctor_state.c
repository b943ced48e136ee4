#include <errno.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include "context/file.h"
#include "src/sys/path.h"
#include "src/cli/doctor.h"

enum { ENOUGH_MB = 100 };

/* File systems on which a lock or a rename may not be what it seems; numbers from statfs(2). */
static const struct {
	uint32_t magic;
	const char *name;
} remote_ones[] = {
	{0x6969, "NFS"},
	{0x517b, "SMB"},
	{0xff534d42, "CIFS"},
	{0xfe534d42, "SMB2"},
	{0x65735546, "FUSE"},
	{0x01021997, "9P"},
	{0x00c36400, "Ceph"},
	{0x5346414f, "AFS"},
	{0x6b414653, "AFS"},
	{0x73757245, "Coda"},
	{0x0bd00bd0, "Lustre"},
	{0x01161970, "GFS2"},
	{0x7461636f, "OCFS2"},
	{0x786f4256, "a VirtualBox shared folder"},
};

enum { TMPFS = 0x01021994, RAMFS = 0x858458f6 };

int state_folder(struct arena *a, char **dir, struct error *err)
{
	char *path;

	/* `<base>/<slug>/<id>.md` less two parts */
	if (context_path(a, "slug", "id", &path, err) < 0)
		return -1;
	path = arena_dup(a, path_dir(path));
	*dir = arena_dup(a, path_dir(path));
	return 0;
}

static int lock_file(const char *path)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd >= 0 && fcntl(fd, F_OFD_SETLK, &whole) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Really locks, and sees that a second one is refused. */
static const char *lock_fault(const char *path)
{
	CLEANUP(close_fd) int first = lock_file(path);
	CLEANUP(close_fd) int second = -1;

	if (first < 0)
		return strerror(errno);
	second = lock_file(path);
	if (second >= 0)
		return "a second lock was given";
	return errno == EAGAIN || errno == EACCES ? NULL : strerror(errno);
}

/* -1: nothing can be written there, so the rest cannot be tried. */
static int check_writing(struct checkup *c, const char *dir)
{
	char *path = arena_printf(c->arena, "%s/.doctor.%ld", dir, (long)getpid());
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	const char *fault;

	if (fd < 0 || write(fd, "x", 1) != 1 || fsync(fd) < 0) {
		finding(c, HEALTH_FAIL, "state folder",
			"'%s' cannot be written: %s: make it writable or set DEV_TEAM_STATE_DIR",
			dir, strerror(errno));
		close_fd(&fd);
		(void)unlink(path);
		return -1;
	}
	close(fd);
	finding(c, HEALTH_OK, "state folder", "%s", dir);
	fault = lock_fault(path);
	(void)unlink(path);
	if (fault)
		finding(c, HEALTH_FAIL, "locks",
			"'%s' cannot be locked: %s: set DEV_TEAM_STATE_DIR to a local disk", dir,
			fault);
	else
		finding(c, HEALTH_OK, "locks", "a file there can be locked, once");
	return 0;
}

static void check_file_system(struct checkup *c, const char *dir)
{
	struct statfs fs;
	uint32_t magic;

	if (statfs(dir, &fs) < 0)
		return;
	magic = (uint32_t)fs.f_type;
	for (size_t i = 0; i < COUNT(remote_ones); i++)
		if (remote_ones[i].magic == magic) {
			finding(c, HEALTH_WARN, "file system",
				"%s: locks may not hold between machines: set DEV_TEAM_STATE_DIR "
				"to a local disk",
				remote_ones[i].name);
			return;
		}
	if (magic == TMPFS || magic == (uint32_t)RAMFS)
		finding(c, HEALTH_WARN, "file system",
			"in memory: lost when the machine stops: set DEV_TEAM_STATE_DIR to a disk");
	else
		finding(c, HEALTH_OK, "file system", "local");
}

static void check_space(struct checkup *c, const char *dir)
{
	struct statvfs fs;
	unsigned long long mb;

	if (statvfs(dir, &fs) < 0)
		return;
	mb = (unsigned long long)fs.f_bavail * fs.f_frsize >> 20;
	if (fs.f_files && !fs.f_favail)
		finding(c, HEALTH_FAIL, "free space", "no more files can be made there");
	else if (mb < ENOUGH_MB)
		finding(c, mb ? HEALTH_WARN : HEALTH_FAIL, "free space",
			"%llu MiB: make room, logs need it", mb);
	else
		finding(c, HEALTH_OK, "free space", "%llu MiB", mb);
}

void check_state(struct checkup *c)
{
	struct error err = {0};
	char *dir = NULL;
	bool was_there = state_folder(c->arena, &dir, &err) == 0 && path_exists(dir);

	if (!dir || path_mkdirs(dir, &err) < 0) {
		finding(c, HEALTH_FAIL, "state folder", "%s: set DEV_TEAM_STATE_DIR", err.text);
		return;
	}
	if (check_writing(c, dir) == 0) {
		check_file_system(c, dir);
		check_space(c, dir);
	}
	if (!was_there)
		(void)rmdir(dir); /* to look is not to begin */
}
