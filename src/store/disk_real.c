#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include "src/base/clock.h"
#include "src/base/json.h"
#include "src/sys/path.h"
#include "src/store/disk.h"

struct real_file {
	struct disk_file base;
	int fd;
	char path[];
};

struct real_lock {
	struct disk_lock base;
	int fd;
	bool settled;
};

static const struct disk_ops real_ops;

enum { READING = O_RDONLY | O_NOFOLLOW | O_NONBLOCK, WRITING = O_RDWR | O_APPEND | O_NOFOLLOW };

static int open_again(const char *path, int flags)
{
	mode_t mode = flags & O_CREAT ? path_new_mode(path, 0600) : 0600;

	return (int)TEMP_FAILURE_RETRY(open(path, flags | O_CLOEXEC, mode));
}

/* Retries EINTR only: after any other failure a second sync may succeed although data is lost. */
static int sync_again(int fd, int (*sync)(int))
{
	return (int)TEMP_FAILURE_RETRY(sync(fd));
}

static int not_regular(const char *path, struct error *err)
{
	return error_set(err, ERR_INPUT, "'%s' is not a regular file", path);
}

static int real_read(struct disk *d, const char *path, size_t max, struct buf *out, bool *missing,
	struct error *err)
{
	(void)d;
	return sys_read_file(out, path, out->len + max, missing, err);
}

/* A new file has mode 0600, or 0660 in a shared directory; the mode is set only where the user has
 * chosen another one. */
static int disk_real_take_mode(int fd, const char *like)
{
	struct stat st;

	if (!like || stat(like, &st) < 0 || (st.st_mode & 07777) == 0600)
		return 0;
	return fchmod(fd, st.st_mode & 07777);
}

/* close() is checked: some file systems report a lost write only there. */
static int disk_real_fill(
	int fd, const char *path, const char *like, struct str text, struct error *err)
{
	int rc = 0;

	if (disk_real_take_mode(fd, like) < 0)
		rc = error_errno(err, "cannot set the mode of '%s'", path);
	else if (sys_write_all(fd, text, path, err) < 0)
		rc = -1;
	else if (sync_again(fd, fsync) < 0)
		rc = error_errno(err, "cannot write '%s'", path);
	if (close(fd) < 0 && rc == 0 && errno != EINTR)
		rc = error_errno(err, "cannot write '%s'", path);
	if (rc < 0)
		(void)unlink(path);
	return rc;
}

static int real_unlink(struct disk *d, const char *path, struct error *err)
{
	(void)d;
	if (unlink(path) == 0 || errno == ENOENT)
		return 0;
	if (errno == EISDIR)
		return error_set(err, ERR_SYSTEM,
			"'%s' is a directory where the store keeps a file: move it away", path);
	return error_errno(err, "cannot remove '%s'", path);
}

/* A leftover is removed first: no process that has it open, and no other name of it, may see the
 * new bytes, and its mode must not be kept. */
static int real_write(
	struct disk *d, const char *path, const char *like, struct str text, struct error *err)
{
	int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, fd = open_again(path, flags);

	if (fd < 0 && errno == EEXIST) {
		if (real_unlink(d, path, err) < 0)
			return -1;
		fd = open_again(path, flags);
	}
	if (fd < 0)
		return error_errno(err, "cannot write '%s'", path);
	return disk_real_fill(fd, path, like, text, err);
}

/* The file has no name until it is complete. */
static int real_write_whole(
	struct disk *d, const char *path, struct str text, bool *able, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(base_close)
	int fd = open_again(arena_dup(&a, path_dir(path)), O_WRONLY | O_TMPFILE);
	const char *name = arena_printf(&a, "/proc/self/fd/%d", fd);

	(void)d;
	*able = fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL);
	if (fd < 0)
		return error_errno(err, "cannot write '%s'", path);
	if (sys_write_all(fd, text, path, err) < 0)
		return -1;
	if (sync_again(fd, fsync) < 0)
		return error_errno(err, "cannot write '%s'", path);
	if (TEMP_FAILURE_RETRY(linkat(AT_FDCWD, name, AT_FDCWD, path, AT_SYMLINK_FOLLOW)) == 0)
		return 0;
	*able = errno != EEXIST && errno != ENOENT; /* ENOENT: no /proc */
	return error_errno(err, "cannot write '%s'", path);
}

static int real_rename(struct disk *d, const char *from, const char *to, struct error *err)
{
	(void)d;
	if (rename(from, to) < 0)
		return error_errno(err, "cannot replace '%s'", to);
	return 0;
}

/* A second name keeps the file that is replaced; where a file has one name only, it is gone. */
static int exchange_by_link(const char *from, const char *to, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	const char *kept = arena_printf(&a, "%s~", from);
	bool linked = (unlink(kept) == 0 || errno == ENOENT) && link(to, kept) == 0;

	if (real_rename(NULL, from, to, err) < 0)
		return -1;
	if (linked)
		(void)rename(kept, from);
	return 0;
}

static int real_exchange(struct disk *d, const char *from, const char *to, struct error *err)
{
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE) == 0)
		return 0;
	if (errno == ENOENT)
		return real_rename(d, from, to, err);
	if (errno == EINVAL || errno == ENOSYS || errno == EPERM)
		return exchange_by_link(from, to, err);
	return error_errno(err, "cannot replace '%s'", to);
}

/* A read lease is refused while a file is open for writing. The signal for its holder, if a program
 * opens the file now, is one that is ignored. */
static bool real_being_written(struct disk *d, const char *path)
{
	CLEANUP(base_close) int fd = open_again(path, READING);

	(void)d;
	return fd >= 0 && fcntl(fd, F_SETSIG, SIGURG) == 0 && fcntl(fd, F_SETLEASE, F_RDLCK) < 0 &&
	       errno == EAGAIN;
}

/* A failed check is not "no": a staged document that is overlooked would be lost. */
static int real_exists(struct disk *d, const char *path, bool *there, struct error *err)
{
	(void)d;
	*there = access(path, F_OK) == 0;
	if (*there || errno == ENOENT || errno == ENOTDIR)
		return 0;
	return error_errno(err, "cannot look for '%s'", path);
}

static int real_sync_directory(struct disk *d, const char *dir, struct error *err)
{
	CLEANUP(base_close) int fd = open_again(dir, O_RDONLY | O_DIRECTORY);

	(void)d;
	if (fd < 0 || sync_again(fd, fsync) < 0)
		return error_errno(err, "cannot sync directory '%s'", dir);
	return 0;
}

/* If a power cut removes a directory, everything synced in it is lost too, so its parent is synced.
 * A parent without read permission cannot be. */
static int make_durable_directory(const char *dir, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	const char *parent = arena_dup(&a, path_dir(dir));

	if (mkdir(dir, path_new_mode(dir, 0700)) == 0)
		return access(parent, R_OK) < 0 ? 0 : real_sync_directory(NULL, parent, err);
	if (errno == EEXIST && path_is_directory(dir))
		return 0;
	return error_errno(err, "cannot make directory '%s'", dir);
}

static int real_mkdirs(struct disk *d, const char *dir, struct error *err)
{
	(void)d;
	return path_make_each(dir, make_durable_directory, err);
}

/* ---- file systems ---- */

/*
 * A lock on a network file system may hold on one machine only, and a sync may return before the
 * bytes are safe on the server. A probe from one machine sees neither, so they are refused by the
 * kernel's number. What a FUSE file system can do depends on the program behind it.
 */
enum disk_kind disk_kind(uint32_t magic, const char **name)
{
	static const struct {
		uint32_t magic;
		enum disk_kind kind;
		const char *name;
	} table[] = {
		{0x6969, DISK_NETWORK, "nfs"},
		{0x517b, DISK_NETWORK, "smb"},
		{0xff534d42, DISK_NETWORK, "cifs"},
		{0xfe534d42, DISK_NETWORK, "smb2"},
		{0x5346414f, DISK_NETWORK, "afs"},
		{0x6b414653, DISK_NETWORK, "afs"},
		{0x73757245, DISK_NETWORK, "coda"},
		{0x564c, DISK_NETWORK, "ncp"},
		{0x01021997, DISK_NETWORK, "9p"},
		{0x00c36400, DISK_NETWORK, "ceph"},
		{0x0bd00bd0, DISK_NETWORK, "lustre"},
		{0x01161970, DISK_NETWORK, "gfs2"},
		{0x7461636f, DISK_NETWORK, "ocfs2"},
		{0x47504653, DISK_NETWORK, "gpfs"},
		{0x19830326, DISK_NETWORK, "beegfs"},
		{0xaad7aaea, DISK_NETWORK, "panfs"},
		{0x20030528, DISK_NETWORK, "orangefs"},
		{0x786f4256, DISK_NETWORK, "vboxsf"},
		{0xbacbacbc, DISK_NETWORK, "vmhgfs"},
		{0x65735546, DISK_FUSE, "fuse"},
		{0x01021994, DISK_MEMORY, "tmpfs"},
		{0x858458f6, DISK_MEMORY, "ramfs"},
	};

	for (size_t i = 0; i < COUNT(table); i++) {
		*name = table[i].name;
		if (table[i].magic == magic)
			return table[i].kind;
	}
	*name = "local";
	return DISK_LOCAL;
}

static int untrusted(const char *dir, const char *why, struct error *err)
{
	return error_set(err, ERR_STATE,
		"'%.400s' is on %s: set DEV_TEAM_STATE_DIR to a directory on a local disk", dir,
		why);
}

static bool lock_excludes(int first, int second)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	return fcntl(first, F_OFD_SETLK, &whole) == 0 && fcntl(second, F_OFD_SETLK, &whole) < 0 &&
	       (errno == EAGAIN || errno == EACCES);
}

/* `from` has one byte, `to` none. */
static bool rename_replaces(const char *from, const char *to)
{
	struct stat st;

	return rename(from, to) == 0 && stat(to, &st) == 0 && st.st_size == 1;
}

int disk_probe(const char *dir, struct error *err)
{
	char from[PATH_MAX], to[PATH_MAX];
	CLEANUP(base_close) int first = -1, second = -1, other = -1;
	int rc = 0;

	(void)snprintf(from, sizeof(from), "%s/.probe-XXXXXX", dir);
	(void)snprintf(to, sizeof(to), "%s/.probe-XXXXXX", dir);
	first = mkostemp(from, O_CLOEXEC);
	other = first < 0 ? -1 : mkostemp(to, O_CLOEXEC);
	second = other < 0 ? -1 : open(from, O_RDWR | O_CLOEXEC);
	if (second < 0 || write(first, "x", 1) != 1)
		rc = error_errno(err, "cannot probe the file system of '%s'", dir);
	else if (!lock_excludes(first, second))
		rc = untrusted(dir, "a file system without working locks", err);
	else if (!rename_replaces(from, to))
		rc = untrusted(dir, "a file system whose rename does not replace files", err);
	if (first >= 0)
		(void)unlink(from);
	if (other >= 0)
		(void)unlink(to);
	return rc;
}

/* Cuts `path` down to the part that exists; it has at least one byte. */
static int nearest_filesystem(char *path, struct statfs *fs, struct error *err)
{
	while (statfs(path, fs) < 0) {
		struct str up = path_dir(path);

		if (errno == EINTR)
			continue;
		if (errno != ENOENT || str_is(up, path))
			return error_errno(err, "cannot look at the file system of '%s'", path);
		if (up.p == path)
			path[up.n] = '\0';
		else
			memcpy(path, ".", 2);
	}
	return 0;
}

static int real_trusted(struct disk *d, const char *dir, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	char *path = arena_dup(&a, str_of(dir)), why[64];
	struct statfs fs;
	enum disk_kind kind;
	const char *name;

	(void)d;
	if (nearest_filesystem(path, &fs, err) < 0)
		return -1;
	kind = disk_kind((uint32_t)fs.f_type, &name);
	(void)snprintf(why, sizeof(why), "a network file system (%s)", name);
	if (kind == DISK_NETWORK)
		return untrusted(dir, why, err);
	return kind == DISK_FUSE ? disk_probe(path, err) : 0;
}

/* ---- open files ---- */

/* Two processes may create it at once: the second opens the file of the first. */
static int open_or_make(const char *path, bool make, bool *made)
{
	int fd = open_again(path, make ? WRITING | O_NONBLOCK : READING);

	*made = false;
	if (fd >= 0 || errno != ENOENT || !make)
		return fd;
	fd = open_again(path, WRITING | O_CREAT | O_EXCL);
	*made = fd >= 0;
	return fd < 0 && errno == EEXIST ? open_again(path, WRITING | O_NONBLOCK) : fd;
}

static int real_open(struct disk *d, const char *path, bool make, bool *made,
	struct disk_file **out, struct error *err)
{
	bool is_new;
	CLEANUP(base_close) int fd = open_or_make(path, make, &is_new);
	size_t n = strlen(path) + 1;
	struct real_file *f;
	struct stat st;

	(void)d;
	*out = NULL;
	if (made)
		*made = is_new;
	if (fd < 0 && (errno == EISDIR || errno == ELOOP || errno == ENXIO))
		return not_regular(path, err);
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_errno(err, "cannot open '%s'", path);
	if (!S_ISREG(st.st_mode))
		return not_regular(path, err);
	f = xmalloc(sizeof(*f) + n);
	f->base.ops = &real_ops;
	f->fd = fd;
	fd = -1;
	memcpy(f->path, path, n);
	*out = &f->base;
	return 0;
}

static struct real_file *real(struct disk_file *f)
{
	return (struct real_file *)f;
}

static int real_size(struct disk_file *f, int64_t *size, struct error *err)
{
	struct stat st;

	if (fstat(real(f)->fd, &st) < 0)
		return error_errno(err, "cannot read '%s'", real(f)->path);
	*size = (int64_t)st.st_size;
	return 0;
}

static int real_pread(struct disk_file *f, int64_t at, size_t n, struct buf *out, struct error *err)
{
	buf_reserve(out, n);
	while (n) {
		ssize_t got = pread(real(f)->fd, out->s + out->len, n, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_errno(err, "cannot read '%s'", real(f)->path);
		if (got == 0)
			return error_set(err, ERR_SYSTEM, "cannot read '%s': it ends too early",
				real(f)->path);
		out->len += (size_t)got;
		out->s[out->len] = '\0';
		at += got;
		n -= (size_t)got;
	}
	return 0;
}

static int real_append(struct disk_file *f, struct str text, struct error *err)
{
	return sys_write_all(real(f)->fd, text, real(f)->path, err);
}

static int real_truncate(struct disk_file *f, int64_t size, struct error *err)
{
	if (TEMP_FAILURE_RETRY(ftruncate(real(f)->fd, (off_t)size)) < 0)
		return error_errno(err, "cannot cut '%s'", real(f)->path);
	return 0;
}

static int real_sync(struct disk_file *f, struct error *err)
{
	if (sync_again(real(f)->fd, fdatasync) < 0)
		return error_errno(err, "cannot write '%s'", real(f)->path);
	return 0;
}

/* With O_APPEND pwrite() would append. */
static int real_rewrite(struct disk_file *f, int64_t at, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int fd = real(f)->fd, flags = fcntl(fd, F_GETFL);
	int64_t size = 0;
	int rc = 0;

	if (real_size(f, &size, err) < 0 || real_pread(f, at, (size_t)(size - at), &text, err) < 0)
		return -1;
	if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_APPEND) < 0 ||
		TEMP_FAILURE_RETRY(pwrite(fd, text.s, text.len, (off_t)at)) != (ssize_t)text.len)
		rc = error_errno(err, "cannot write '%s'", real(f)->path);
	if (flags >= 0)
		(void)fcntl(fd, F_SETFL, flags);
	return rc;
}

static void real_close(struct disk_file *f)
{
	close(real(f)->fd);
	free(f);
}

/* ---- locks ---- */

enum { HOLDER_MAX = 200 };

static int try_lock(int fd)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	/* After EINTR, a caller that does not wait would take it for held. */
	return (int)TEMP_FAILURE_RETRY(fcntl(fd, F_OFD_SETLK, &whole));
}

/* Short waits first: a holder keeps the lock for about a millisecond. */
static int disk_real_wait_for(int fd, unsigned wait_ms)
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

static void disk_real_read_holder(int fd, char holder[HOLDER_MAX])
{
	ssize_t n = pread(fd, holder, HOLDER_MAX - 1, 0);

	holder[n > 0 ? n : 0] = '\0';
	holder[strcspn(holder, "\n")] = '\0';
}

static int held_by_another(int fd, const char *path, struct error *err)
{
	char holder[HOLDER_MAX];

	disk_real_read_holder(fd, holder);
	return error_set(err, ERR_STATE, "'%s' is locked by another process%s%s%s", path,
		holder[0] ? " (" : "", holder, holder[0] ? ")" : "");
}

/* For people only, so a full disk does not matter here. */
static bool write_holder(int fd, const char *what)
{
	char host[64] = "", now[CLOCK_TEXT], text[200];
	int n;

	(void)gethostname(host, sizeof(host) - 1);
	clock_text(clock_now(), now);
	n = snprintf(text, sizeof(text), "pid %ld on %s since %s%s%.60s\n", (long)getpid(), host,
		now, *what ? ": " : "", what);
	return n > 0 && pwrite(fd, text, (size_t)n, 0) == n && ftruncate(fd, n) == 0;
}

/* A settled lock file is as old as it can be, until its next holder writes to it. */
static bool disk_real_is_settled(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_size && !st.st_mtim.tv_sec && !st.st_mtim.tv_nsec;
}

static int real_lock(struct disk *d, const char *path, unsigned wait_ms, struct disk_lock **out,
	struct error *err)
{
	CLEANUP(base_close) int fd = open_again(path, O_RDWR | O_CREAT | O_NOFOLLOW);
	struct real_lock *l;
	bool settled;

	(void)d;
	*out = NULL;
	if (fd < 0)
		return error_errno(err, "cannot open lock file '%s'", path);
	if (disk_real_wait_for(fd, wait_ms) < 0)
		return errno == EAGAIN || errno == EACCES
			       ? held_by_another(fd, path, err)
			       : error_errno(err, "cannot lock '%s'", path);
	settled = disk_real_is_settled(fd);
	if (!write_holder(fd, "") && settled && futimens(fd, NULL) < 0)
		return error_errno(err, "cannot change lock file '%s'", path);
	l = xmalloc(sizeof(*l));
	*l = (struct real_lock){{&real_ops}, fd, settled};
	fd = -1;
	*out = &l->base;
	return 0;
}

static void real_lock_note(struct disk_lock *l, const char *what)
{
	(void)write_holder(((struct real_lock *)l)->fd, what);
}

static bool real_settled(struct disk_lock *l)
{
	return ((struct real_lock *)l)->settled;
}

static void real_settle(struct disk_lock *l)
{
	static const struct timespec times[] = {{.tv_nsec = UTIME_OMIT}, {0}};

	(void)futimens(((struct real_lock *)l)->fd, times);
}

static void real_unlock(struct disk_lock *l)
{
	close(((struct real_lock *)l)->fd);
	free(l);
}

static const struct disk_ops real_ops = {
	.read = real_read,
	.write = real_write,
	.write_whole = real_write_whole,
	.rename = real_rename,
	.exchange = real_exchange,
	.being_written = real_being_written,
	.unlink = real_unlink,
	.exists = real_exists,
	.sync_directory = real_sync_directory,
	.mkdirs = real_mkdirs,
	.trusted = real_trusted,
	.open = real_open,
	.size = real_size,
	.pread = real_pread,
	.append = real_append,
	.truncate = real_truncate,
	.rewrite = real_rewrite,
	.sync = real_sync,
	.close = real_close,
	.lock = real_lock,
	.lock_note = real_lock_note,
	.unlock = real_unlock,
	.settled = real_settled,
	.settle = real_settle,
};

struct disk *disk_real(void)
{
	static struct disk disk = {.ops = &real_ops};

	return &disk;
}

int disk_lock_take(struct disk_lock **out, const char *path, unsigned wait_ms, struct error *err)
{
	return real_lock(disk_real(), path, wait_ms, out, err);
}

int disk_lock_look(const char *path, bool *held, struct buf *holder, struct error *err)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	CLEANUP(base_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char text[HOLDER_MAX];

	*held = false;
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR
			       ? 0
			       : error_errno(err, "cannot open lock file '%s'", path);
	if (fcntl(fd, F_OFD_GETLK, &whole) < 0)
		return error_errno(err, "cannot look at the lock '%s'", path);
	if (whole.l_type == F_UNLCK)
		return 0;
	disk_real_read_holder(fd, text);
	*held = true;
	buf_adds(holder, text);
	return 0;
}

void disk_lock_note(struct disk_lock *l, const char *what)
{
	if (l)
		l->ops->lock_note(l, what);
}

int disk_lock_descriptor(const struct disk_lock *l)
{
	return ((const struct real_lock *)l)->fd;
}

void disk_lock_drop(struct disk_lock **l)
{
	if (*l)
		(*l)->ops->unlock(*l);
	*l = NULL;
}

/* ---- on any disk ---- */

int disk_replace(
	struct disk *d, const char *suffix, const char *path, struct str text, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	const char *fresh = arena_printf(&a, "%s%s", path, suffix);
	struct error ignored;

	if (d->ops->write(d, fresh, path, text, err) < 0)
		return -1;
	if (d->ops->rename(d, fresh, path, err) < 0) {
		(void)d->ops->unlink(d, fresh, &ignored);
		return -1;
	}
	return d->ops->sync_directory(d, arena_dup(&a, path_dir(path)), err);
}

/* Removes the incomplete line of a killed writer; *size is the file's size afterwards. A line that
 * lacks only its newline, as a person's editor may leave it, gets that. */
static int repair_tail(struct disk_file *f, int64_t *size, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(json_free) json *line = NULL;
	const char *newline;
	struct error invalid;
	struct str tail;

	if (f->ops->size(f, size, err) < 0 ||
		(*size && f->ops->pread(f, *size - 1, 1, &text, err) < 0))
		return -1;
	if (!*size || text.s[0] == '\n')
		return 0;
	buf_clear(&text);
	if (f->ops->pread(f, 0, (size_t)*size, &text, err) < 0)
		return -1;
	newline = memrchr(text.s, '\n', text.len);
	tail = str_sub(buf_str(&text), newline ? (size_t)(newline - text.s) + 1 : 0, text.len);
	if (json_parse(&line, tail, &invalid) == 0 && json_is_object(line)) {
		++*size;
		return f->ops->append(f, STR("\n"), err);
	}
	*size -= (int64_t)tail.n;
	return f->ops->truncate(f, *size, err);
}

static void close_file(struct disk_file **f)
{
	if (*f)
		(*f)->ops->close(*f);
}

int disk_append_line(struct disk *d, const char *path, struct str line, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(close_file) struct disk_file *f = NULL;
	bool created = false;
	struct error late;
	int64_t size;

	if (d->ops->open(d, path, true, &created, &f, err) < 0 || repair_tail(f, &size, err) < 0)
		return -1;
	if (f->ops->append(f, line, err) < 0 || f->ops->sync(f, err) < 0) {
		(void)f->ops->truncate(f, size, &late); /* readers take no lock */
		return -1;
	}
	return created ? d->ops->sync_directory(d, arena_dup(&a, path_dir(path)), err) : 0;
}
