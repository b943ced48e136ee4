/*
 * Names of files that xargs would take apart. A name with a blank in it becomes two words, and each
 * of them can be a path of its own; a look at the tree tells whether there are such names.
 */
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include "src/policy/beneath.h"
#include "src/policy/found.h"

enum { NAMES_MAX = 20000, LEVELS_MAX = 64 };

struct look {
	const char *bad;
	const char *names; /* only what matches is put out; NULL: all */
	bool tracked, deep, dashes;
	bool dirty; /* a folder on the way has such a name */
	size_t left;
};

static void close_folder(DIR **d)
{
	if (*d)
		closedir(*d);
}

static bool is_bad(const struct look *l, const char *name)
{
	if (l->dashes && name[0] == '-')
		return true;
	if (l->names && fnmatch(l->names, name, 0))
		return false;
	return l->dirty || strpbrk(name, l->bad);
}

static bool may_be_folder(const struct dirent *e)
{
	return e->d_type == DT_DIR || e->d_type == DT_UNKNOWN;
}

static bool is_skipped(const struct look *l, const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..") || (l->tracked && !strcmp(name, ".git"));
}

/* Closes `fd`. True when all names are good; the depth is bounded by `levels`. */
static bool look_in(struct look *l, int fd, unsigned levels)
{
	CLEANUP(close_folder) DIR *dir = fdopendir(fd);
	struct dirent *e;

	if (!dir) {
		close(fd);
		return false;
	}
	while ((e = readdir(dir))) {
		struct look below = *l;
		int inner;

		if (is_skipped(l, e->d_name))
			continue;
		if (!l->left-- || is_bad(l, e->d_name))
			return false;
		if (!l->deep || !may_be_folder(e))
			continue;
		inner = openat(fd, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (inner < 0)
			continue;
		below.left = l->left;
		below.dashes = false;
		below.dirty |= strpbrk(e->d_name, l->bad) != NULL;
		if (!levels || !look_in(&below, inner, levels - 1)) {
			if (!levels)
				close(inner);
			return false;
		}
		l->left = below.left;
	}
	return true;
}

static int look_at(
	struct check *c, const struct call *finder, const struct arg *start, struct look *l)
{
	struct place place;
	const char *path;
	int fd;

	if (bin_place(c, finder, start, &place) < 0)
		return -1;
	path = arena_dup(c->arena, place.outside ? place.full : place.path);
	l->dirty = start->text.n && strpbrk(arena_dup(c->arena, start->text), l->bad);
	if (l->dirty && !l->names)
		return -1;
	if (!place.folder)
		return 0;
	fd = openat(
		c->root->fd, *path ? path : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd >= 0 && look_in(l, fd, LEVELS_MAX) ? 0 : -1;
}

int check_names(struct check *c, const struct call *finder, const struct finding *f,
	const char *bad, const struct arg *arg)
{
	static const struct arg here = {.text = {".", 1}};
	struct look l = {.bad = bad, .tracked = f->tracked, .deep = *bad, .left = NAMES_MAX};

	if (f->names.n)
		l.names = arena_dup(c->arena, f->names);

	for (size_t i = 0; *bad && i < f->n; i++)
		if (look_at(c, finder, &f->starts[i], &l) < 0)
			return bin_refuse(c, RULE_WRAPPER, arg,
				"names with blanks or quotes, or too many, would be taken apart: "
				"use -print0 or -z, and xargs -0");
	l.dashes = f->bare;
	if ((f->bare || (*bad && !f->n)) && look_at(c, finder, &here, &l) < 0)
		return bin_refuse(c, RULE_WRAPPER, arg,
			"names with blanks, quotes or a dash in front, or too many, would be taken "
			"apart: use -print0 or -z, and xargs -0");
	return 0;
}
