#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "src/sandbox/sandbox_internal.h"
#include "src/sys/directory.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

enum { TEXT_FILE_MAX = 1 << 20, COPY_MAX = 1 << 30 };

/* Whether it is there already: making a file takes longer. */
static bool files_is_text(const char *path, struct str text, mode_t mode)
{
	CLEANUP(base_close)
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	CLEANUP(buf_release) struct buf there = BUF_INIT;
	struct error ignored;
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       (st.st_mode & 07777) == mode && st.st_size == (off_t)text.n &&
	       sys_read_all(&there, fd, COPY_MAX, path, &ignored) == 0 &&
	       str_eq(buf_str(&there), text);
}

int sandbox_copy_file(const char *from, const char *to, struct error *err)
{
	CLEANUP(base_close)
	int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char target[PATH_MAX];
	ssize_t n = readlink(from, target, sizeof(target) - 1);
	struct stat st;

	if (in < 0 || fstat(in, &st) < 0 || !S_ISREG(st.st_mode)) {
		(void)unlink(to);
		target[n > 0 ? n : 0] = '\0';
		return n > 0 && symlink(target, to) < 0
			       ? error_errno(err, "cannot make the link '%s'", to)
			       : 0;
	}
	return sys_read_all(&text, in, COPY_MAX, to, err) < 0
		       ? -1
		       : sandbox_write_file(to, buf_str(&text), (st.st_mode & 0777) | 0600, err);
}

void sandbox_open_directory(int parent, const char *name)
{
	struct stat st;

	if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
		(st.st_mode & 0700) != 0700)
		(void)fchmodat(parent, name, (st.st_mode & 0777) | 0700, 0);
}

struct walk {
	struct arena *arena;
	struct tree *tree; /* NULL: it is not listed */
	bool links, unused;
};

static enum directory_visit walk_entry(
	void *data, const struct directory_entry *e, struct error *err)
{
	const struct walk *w = data;

	(void)err;
	if (w->links && e->type == FILE_LINK)
		(void)unlinkat(e->parent, e->name, 0);
	if (w->unused)
		sandbox_open_directory(e->parent, e->name);
	if (w->tree)
		vec_push_in(w->arena, w->tree,
			((struct tree_entry){arena_dup(w->arena, str_of(e->path)), e->type}));
	return DIRECTORY_CONTINUE;
}

static void walk_tree(const char *path, struct walk w)
{
	struct error ignored;
	struct stat st;

	if (w.unused)
		sandbox_open_directory(AT_FDCWD, path);
	if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
		(void)directory_walk(path, walk_entry, &w, &ignored);
}

void sandbox_list_tree(struct arena *a, const char *path, struct tree *out)
{
	*out = (struct tree){0};
	walk_tree(path, (struct walk){a, out, false, false});
}

void sandbox_tidy_tree(const char *path, bool links, bool unused)
{
	walk_tree(path, (struct walk){NULL, NULL, links, unused});
}

int sandbox_sync_tree(struct arena *a, const char *from, const char *to, struct error *err)
{
	struct tree old, new;
	struct stat st;

	sandbox_tidy_tree(to, false, true);
	sandbox_list_tree(a, to, &old);
	sandbox_list_tree(a, from, &new);
	for (size_t i = 0; i < old.n; i++) {
		const char *path = old.items[i].path;
		bool directory = old.items[i].type == FILE_DIRECTORY;

		if (old.items[i].type == FILE_LINK || lstat(path_join(a, from, path), &st) < 0 ||
			directory != S_ISDIR(st.st_mode))
			sandbox_remove_tree(path_join(a, to, path));
	}
	if (path_mkdirs(to, err) < 0)
		return -1;
	for (size_t i = 0; i < new.n; i++) {
		const char *at = path_join(a, to, new.items[i].path);

		if (new.items[i].type == FILE_DIRECTORY)
			(void)mkdir(at, 0700);
		else if (new.items[i].type != FILE_OTHER &&
			 sandbox_copy_file(path_join(a, from, new.items[i].path), at, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- removing ---- */

/* A command may have removed the right to read directories. */
void sandbox_remove_tree(const char *path)
{
	struct error ignored;
	struct stat st;

	if (lstat(path, &st) == 0 && unlink(path) < 0 && rmdir(path) < 0)
		(void)process_remove_tree(path, 0, &ignored);
}

const char *sandbox_read_text(struct arena *a, const char *path)
{
	return sys_read_small(a, path, TEXT_FILE_MAX);
}

int sandbox_write_file(const char *path, struct str text, mode_t mode, struct error *err)
{
	CLEANUP(base_close) int fd = -1;

	if (files_is_text(path, text, mode))
		return 0;
	(void)unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0 || fchmod(fd, mode) < 0)
		return error_errno(err, "cannot write '%s'", path);
	return sys_write_all(fd, text, path, err);
}
