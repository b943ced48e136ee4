#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "src/policy/beneath.h"
#include "src/sandbox/sandbox_internal.h"
#include "src/sys/directory.h"
#include "src/sys/path.h"

enum { TEXT_FILE_MAX = 1 << 20 };

static int copy_bytes(int in, int out, const char *to, struct error *err)
{
	char piece[65536];
	ssize_t n;

	while ((n = TEMP_FAILURE_RETRY(read(in, piece, sizeof(piece)))) > 0)
		if (sys_write_all(out, (struct str){piece, (size_t)n}, to, err) < 0)
			return -1;
	return n < 0 ? error_errno(err, "cannot copy to '%s'", to) : 0;
}

static int copy_open_file(int in, const char *to, mode_t mode, struct error *err)
{
	CLEANUP(base_close) int out = -1;

	(void)unlink(to);
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (out < 0)
		return error_errno(err, "cannot write '%s'", to);
	if (copy_bytes(in, out, to, err) < 0)
		return -1;
	return fchmod(out, (mode & 0777) | 0600) < 0 ? error_errno(err, "cannot write '%s'", to)
						     : 0;
}

static int copy_link(int dir, const char *name, const char *to)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(dir, name, target, sizeof(target) - 1);

	target[n > 0 ? n : 0] = '\0';
	return n > 0 ? symlink(target, to) : -1;
}

int sandbox_copy_file(const char *from, const char *to, struct error *err)
{
	CLEANUP(base_close)
	int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool link = in < 0 && errno == ELOOP;
	struct stat st;

	if (in < 0 || fstat(in, &st) < 0 || !S_ISREG(st.st_mode)) {
		(void)unlink(to);
		return link && copy_link(AT_FDCWD, from, to) < 0
			       ? error_errno(err, "cannot make the link '%s'", to)
			       : 0;
	}
	return copy_open_file(in, to, st.st_mode, err);
}

struct tree {
	const char *to;
};

static enum directory_visit copy_entry(
	void *data, const struct directory_entry *e, struct error *err)
{
	const struct tree *t = data;
	char to[PATH_MAX];
	CLEANUP(base_close) int in = -1;
	struct stat st;

	if (snprintf(to, sizeof(to), "%s/%s", t->to, e->path) >= (int)sizeof(to) ||
		e->type == FILE_OTHER)
		return DIRECTORY_SKIP;
	if (e->type == FILE_DIRECTORY) {
		(void)mkdir(to, 0700);
		return DIRECTORY_CONTINUE;
	}
	if (e->type == FILE_LINK) {
		(void)copy_link(e->parent, e->name, to);
		return DIRECTORY_CONTINUE;
	}
	in = openat(e->parent, e->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (in < 0 || fstat(in, &st) < 0)
		return DIRECTORY_CONTINUE;
	return copy_open_file(in, to, st.st_mode, err) < 0 ? DIRECTORY_STOP : DIRECTORY_CONTINUE;
}

int sandbox_copy_tree(const char *from, const char *to, struct error *err)
{
	struct tree t = {to};

	if (path_mkdirs(to, err) < 0)
		return -1;
	return directory_walk(from, copy_entry, &t, err);
}

void sandbox_remove_tree(const char *path)
{
	CLEANUP(base_close)
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0)
		beneath_empty(fd);
	if (rmdir(path) < 0 && errno == ENOTDIR)
		(void)unlink(path);
}

const char *sandbox_read_text(struct arena *a, const char *path)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error ignored;
	struct stat st;

	if (lstat(path, &st) < 0 || !S_ISREG(st.st_mode) ||
		sys_read_file(&text, path, TEXT_FILE_MAX, NULL, &ignored) < 0)
		return NULL;
	buf_adds(&text, "");
	return arena_dup(a, buf_str(&text));
}

int sandbox_write_file(const char *path, struct str text, mode_t mode, struct error *err)
{
	CLEANUP(base_close) int fd = -1;

	(void)unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0)
		return error_errno(err, "cannot write '%s'", path);
	return sys_write_all(fd, text, path, err);
}
