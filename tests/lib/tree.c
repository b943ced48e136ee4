#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>
#include "src/sys/directory.h"
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

struct walk {
	const char *from, *to;
	struct arena arena;
	VEC(const char *) files;
};

static void walk(struct walk *w,
	enum directory_visit (*visit)(void *, const struct directory_entry *, struct error *))
{
	struct error err;

	if (!path_exists(w->from))
		die("there is no '%s'", w->from);
	if (directory_walk(w->from, visit, w, &err) < 0)
		die("%s", err.text);
}

static enum directory_visit copy_entry(
	void *data, const struct directory_entry *e, struct error *err)
{
	struct walk *w = data;
	const char *from = path_join(&w->arena, w->from, e->path);
	const char *to = path_join(&w->arena, w->to, e->path);
	struct stat st;

	(void)err;
	if (lstat(from, &st) < 0 || (S_ISDIR(st.st_mode) && mkdir(to, 0777) < 0))
		die("cannot copy '%s'", from);
	if (S_ISLNK(st.st_mode))
		copy_link(from, to);
	else if (!S_ISDIR(st.st_mode))
		copy_file(from, to, st.st_mode);
	return DIRECTORY_CONTINUE;
}

void tree_copy(const char *from, const char *to)
{
	struct walk w = {.from = from, .to = to};

	if (mkdir(to, 0777) < 0)
		die("cannot make '%s'", to);
	walk(&w, copy_entry);
	arena_release(&w.arena);
}

static enum directory_visit list_entry(
	void *data, const struct directory_entry *e, struct error *err)
{
	struct walk *w = data;

	(void)err;
	if (e->type != FILE_DIRECTORY)
		vec_push_in(&w->arena, &w->files, arena_dup(&w->arena, str_of(e->path)));
	return DIRECTORY_CONTINUE;
}

void tree_list(const char *dir, struct buf *out)
{
	struct walk w = {.from = dir};

	walk(&w, list_entry);
	vec_sort(&w.files, vec_by_text);
	for (size_t i = 0; i < w.files.n; i++)
		buf_addf(out, "%s\n", w.files.items[i]);
	arena_release(&w.arena);
}

size_t tree_entries(const char *dir)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct directory_names names;
	struct error err;

	if (directory_list(&a, dir, &names, NULL, &err) < 0)
		die("%s", err.text);
	return names.n;
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
