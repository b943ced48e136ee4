#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>
#include "src/sys/path.h"
#include "tests/lib/tap.h"
#include "tests/lib/event_log.h"
#include "tests/lib/tree.h"

char *tree_scratch(const char *stem)
{
	const char *tmp = getenv("TMPDIR");
	char path[PATH_MAX];
	char *real;

	(void)snprintf(path, sizeof(path), "%s/%s.XXXXXX", tmp && *tmp ? tmp : "/tmp", stem);
	if (!mkdtemp(path) || !(real = realpath(path, NULL)))
		die("cannot make a scratch directory '%s'", path);
	return real;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	if (type == FTW_F && strcmp(path + ftw->base, "_events.jsonl") == 0)
		event_log_check(path);
	return type == FTW_DP ? rmdir(path) : unlink(path);
}

void tree_remove(const char *dir)
{
	if (nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS) < 0 && errno != ENOENT)
		die("cannot remove '%s'", dir);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int no_dots(const struct dirent *e)
{
	return strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
}

static void copy_file(const char *from, const char *to, mode_t mode)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (!tree_read(from, &text))
		die("cannot read '%s'", from);
	tree_write(to, buf_str(&text));
	if (chmod(to, mode & 07777) < 0)
		die("cannot set the mode of '%s'", to);
}

static void copy_link(const char *from, const char *to)
{
	char target[PATH_MAX] = {0};

	if (readlink(from, target, sizeof(target) - 1) < 0 || symlink(target, to) < 0)
		die("cannot copy the link '%s'", from);
}

/* Calls what() for each entry of `dir` in the order of the names. */
static void each(
	const char *dir, void (*what)(const char *path, const char *name, void *ctx), void *ctx)
{
	struct arena a = {0};
	struct dirent **list;
	int n = scandir(dir, &list, no_dots, by_name);

	if (n < 0)
		die("cannot list '%s'", dir);
	for (int i = 0; i < n; i++) {
		what(path_join(&a, dir, list[i]->d_name), list[i]->d_name, ctx);
		free(list[i]);
	}
	free(list);
	arena_release(&a);
}

static void copy_one(const char *from, const char *name, void *ctx)
{
	struct arena a = {0};
	const char *to = path_join(&a, ctx, name);
	struct stat st;

	if (lstat(from, &st) < 0)
		die("cannot look at '%s'", from);
	if (S_ISDIR(st.st_mode))
		tree_copy(from, to);
	else if (S_ISLNK(st.st_mode))
		copy_link(from, to);
	else
		copy_file(from, to, st.st_mode);
	arena_release(&a);
}

void tree_copy(const char *from, const char *to)
{
	if (mkdir(to, 0777) < 0)
		die("cannot make '%s'", to);
	each(from, copy_one, (void *)(uintptr_t)to);
}

struct listing {
	struct buf *out;
	size_t root; /* bytes of the root's path and its slash */
};

static void list_one(const char *path, const char *name, void *ctx)
{
	struct listing *l = ctx;
	struct stat st;

	(void)name;
	if (lstat(path, &st) < 0)
		die("cannot look at '%s'", path);
	if (S_ISDIR(st.st_mode))
		each(path, list_one, ctx);
	else
		buf_addf(l->out, "%s\n", path + l->root);
}

void tree_list(const char *dir, struct buf *out)
{
	struct listing l = {out, strlen(dir) + 1};

	each(dir, list_one, &l);
}

void tree_mkdirs(const char *dir)
{
	struct error err;

	if (path_mkdirs(dir, &err) < 0)
		die("%s", err.text);
}

void tree_write(const char *path, struct str text)
{
	CLEANUP(base_free) char *dir = strndup(path_dir(path).p, path_dir(path).n);
	CLEANUP(base_close) int fd = -1;
	struct error err;

	tree_mkdirs(dir);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0 || sys_write_all(fd, text, path, &err) < 0)
		die("cannot write '%s'", path);
}

bool tree_read(const char *path, struct buf *out)
{
	struct error err;
	bool missing;

	if (sys_read_file(out, path, (size_t)1 << 30, &missing, &err) == 0)
		return true;
	if (!missing)
		die("%s", err.text);
	return false;
}
