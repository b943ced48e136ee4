#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>
#include "src/sys/path.h"
#include "src/policy/table.h"

static const char *const folders[] = {"tree", "tree/src", "tree/include", "tree/sub", "tree/build",
	"tree/.git", "tree/.git/hooks", "tree-other", "other", "tree/a b"};

static const struct {
	const char *path, *text;
} files[] = {
	{"secret", "secret\n"},
	{"tree-other/secret", "secret\n"},
	{"tree/README.md", "readme\n"},
	{"tree/Makefile", "all: ;\n"},
	{"tree/sub/Makefile", "all: ;\n"},
	{"tree/sub/deep.txt", "deep\n"},
	{"tree/src/main.c", "int main(void){return 0;}\n"},
	{"tree/src/util.c", "int u;\n"},
	{"tree/src/h.h", "#pragma once\n"},
	{"tree/caf\xc3\xa9.txt", "x\n"},
	{"tree/na\xc3\xafve file.txt", "y\n"},
	{"tree/backup~", "z\n"},
};

static int make_file(int dir, const char *path, const char *text, struct error *err)
{
	CLEANUP(base_close)
	int fd = openat(dir, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return error_errno(err, "cannot make '%s'", path);
	return sys_write_all(fd, str_of(text), path, err);
}

static int fill(int dir, struct error *err)
{
	for (size_t i = 0; i < COUNT(folders); i++)
		if (mkdirat(dir, folders[i], 0700) < 0)
			return error_errno(err, "cannot make '%s'", folders[i]);
	for (size_t i = 0; i < COUNT(files); i++)
		if (make_file(dir, files[i].path, files[i].text, err) < 0)
			return -1;
	if (symlinkat("sub", dir, "tree/inlink") < 0 || symlinkat("/etc", dir, "tree/esc") < 0)
		return error_errno(err, "cannot make links");
	return 0;
}

/* No character that a shell could take for anything but itself. */
static bool plain(const char *path)
{
	return !path[strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789/._-+@%")];
}

int fixture_make(struct arena *a, struct fixture *f, struct error *err)
{
	const char *tmp = getenv("TMPDIR");
	char path[PATH_MAX];
	CLEANUP(base_free) char *real = NULL;
	CLEANUP(base_close) int fd = -1;

	(void)snprintf(path, sizeof(path), "%s/dev-team-table.XXXXXX",
		tmp && *tmp && plain(tmp) ? tmp : "/tmp");
	if (!mkdtemp(path))
		return error_errno(err, "cannot make '%s'", path);
	f->world = arena_dup(a, str_of(path));
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	real = realpath(path, NULL);
	if (fd < 0 || !real)
		return error_errno(err, "cannot open '%s'", path);
	f->world = arena_dup(a, str_of(real));
	f->tree = path_join(a, f->world, "tree");
	if (fill(fd, err) < 0)
		return -1;
	return root_open(a, f->tree, &f->root, err);
}

int fixture_take(struct arena *a, const char *dir, struct fixture *f, struct error *err)
{
	CLEANUP(base_free) char *real = realpath(dir, NULL);

	if (!real)
		return error_errno(err, "cannot open '%s'", dir);
	if (!plain(real))
		return error_set(
			err, ERR_INPUT, "'%s' has characters that are special to a shell", real);
	if (!real[1])
		return error_set(err, ERR_INPUT, "the root of the machine cannot be the tree");
	if (path_exists(path_join(a, real, "tree-other")))
		return error_set(err, ERR_INPUT,
			"'%s' is the directory around the tree: give the tree itself", real);
	f->tree = arena_dup(a, str_of(real));
	return root_open(a, f->tree, &f->root, err);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	return type == FTW_DP ? rmdir(path) : unlink(path);
}

void fixture_release(struct fixture *f)
{
	root_close(&f->root);
	if (f->world)
		(void)nftw(f->world, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	f->world = NULL;
}
