/*
 * A look at the tree for what names alone do not tell: names that xargs would take apart, since a
 * blank makes two words of one, and each of them can be a path of its own; and links that lead out
 * of the root.
 */
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <strings.h>
#include "src/policy/beneath.h"
#include "src/policy/found.h"
#include "src/policy/trail.h"

/* Names a line: a large tree takes a tenth of a second. */
enum { NAMES_MAX = 100000, LEVELS_MAX = 64 };

struct entries {
	struct check *c;
	struct str cwd;
	const char *bad, *names;
};

struct look {
	const char *bad;
	const char *names; /* only what matches is put out; NULL: all */
	bool tracked, deep, dashes;
	bool dirty; /* a directory on the way has such a name */
	size_t left;
	struct check *links; /* looks for links that lead out */
	bool guard;          /* looks for what is protected */
	bool inside;         /* in a directory that is */
	bool climb; /* looks for links that lead out of the directory, or out of the root */
	unsigned depth;
	bool followed; /* or to a directory, which is looked at like one of the tree */
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

static bool leads_out(const struct look *l, int fd, const struct dirent *e)
{
	struct check *c = l->links;
	struct verdict unused = {0};
	struct place place;
	char folder[PATH_MAX];
	size_t n;

	if ((e->d_type != DT_LNK && e->d_type != DT_UNKNOWN) ||
		(l->names && fnmatch(l->names, e->d_name, 0)))
		return false;
	if (fd_real(fd, folder, &n) < 0 ||
		where(c->arena, c->root, c->policy, STR(""),
			str_of(arena_printf(c->arena, "%s/%s", folder, e->d_name)), ACCESS_READ,
			false, (struct span){0, 0}, &place, &unused) < 0)
		return true;
	return l->followed && e->d_type == DT_LNK && place.folder;
}

static bool is_guarded(const char *name)
{
	for (size_t i = 0; guarded_names[i]; i++)
		if (!strcasecmp(guarded_names[i], name))
			return true;
	return false;
}

/* It, or what is in it, may be one of the names that are written. */
static bool meets_guard(const struct look *l, const struct dirent *e)
{
	return (l->inside || is_guarded(e->d_name)) &&
	       (!l->names || !fnmatch(l->names, e->d_name, 0));
}

/* From the directory's new place a link with more `..` than there are directories leads elsewhere.
 */
static bool climbs(const struct look *l, int fd, const struct dirent *e)
{
	char to[PATH_MAX];
	ssize_t n = readlinkat(fd, e->d_name, to, sizeof(to));
	struct str rest = {to, n > 0 ? (size_t)n : 0}, part;
	unsigned up = 0;

	if (n <= 0)
		return false;
	if (to[0] == '/')
		return leads_out(l, fd, e);
	while (path_part(&rest, &part))
		up += str_is(part, "..");
	return up > l->depth;
}

static bool is_wrong(const struct look *l, int fd, const struct dirent *e)
{
	if (l->guard)
		return meets_guard(l, e);
	if (l->climb)
		return climbs(l, fd, e);
	return l->links ? leads_out(l, fd, e) : is_bad(l, e->d_name);
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
		if (!l->left || is_wrong(l, fd, e))
			return false;
		l->left--;
		below.left = l->left;
		if (!l->deep || !may_be_folder(e))
			continue;
		inner = openat(fd, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (inner < 0)
			continue;
		below.dashes = false;
		below.depth++;
		below.inside |= is_guarded(e->d_name);
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

static size_t left(const struct check *c)
{
	return c->looked < NAMES_MAX ? NAMES_MAX - c->looked : 0;
}

static int look_at(
	struct check *c, const struct call *finder, const struct arg *start, struct look *l)
{
	struct place place;
	const char *path;
	bool good;
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
	good = fd >= 0 && look_in(l, fd, LEVELS_MAX);
	c->looked = NAMES_MAX - l->left;
	return good ? 0 : -1;
}

/* A name of git's index as it is put out, from the working directory. */
static bool is_good_entry(void *of, const struct git_tracked *e)
{
	const struct entries *x = of;
	struct str name = e->path, base;

	if (x->cwd.n) {
		if (name.n <= x->cwd.n || memcmp(name.p, x->cwd.p, x->cwd.n) ||
			name.p[x->cwd.n] != '/')
			return true;
		name = str_sub(name, x->cwd.n + 1, name.n);
	}
	base = bin_base(name);
	if (x->names && fnmatch(x->names, arena_dup(x->c->arena, base), 0))
		return true;
	for (size_t i = 0; i < name.n; i++)
		if (strchr(x->bad, name.p[i]))
			return false;
	return name.n && name.p[0] != '-';
}

static bool is_good_link(void *of, const struct git_tracked *e)
{
	struct check *c = of;
	struct verdict unused = {0};
	struct place place;

	return !e->link || where(c->arena, c->root, c->policy, STR(""), e->path, ACCESS_READ, false,
				   (struct span){0, 0}, &place, &unused) == 0;
}

int check_names(struct check *c, const struct call *finder, const struct finding *f,
	const char *bad, const struct arg *arg)
{
	static const struct arg here = {.text = {".", 1}};
	struct look l = {.bad = bad, .tracked = f->tracked, .deep = *bad, .left = left(c)};
	struct entries x = {.c = c, .cwd = finder->cwd, .bad = bad};
	bool good = true;

	if (f->names.n)
		x.names = l.names = arena_dup(c->arena, f->names);
	for (size_t i = 0; *bad && i < f->n && good; i++)
		good = look_at(c, finder, &f->starts[i], &l) == 0;
	l.dashes = f->bare;
	if (good && !f->indexed && (f->bare || (*bad && !f->n)))
		good = look_at(c, finder, &here, &l) == 0;
	if (good && f->of_git)
		good = check_index_each(c, is_good_entry, &x) == 0;
	if (good)
		return 0;
	return bin_refuse(c, RULE_WRAPPER, arg,
		"names with blanks, quotes or a leading dash, or too many, would be split: "
		"use -print0 or -z, and xargs -0");
}

int check_links(
	struct check *c, const struct call *finder, const struct finding *f, const struct arg *arg)
{
	static const struct arg here = {.text = {".", 1}};
	struct look l = {.bad = "", .deep = true, .left = left(c), .links = c};
	bool good = true;

	/* A run has the kernel behind it, which follows the link when it is there. */
	if (f->plain || c->live)
		return 0;
	if (f->indexed && check_index_each(c, is_good_link, c) == 0)
		return 0;
	l.tracked = f->tracked;
	l.followed = f->followed;
	if (f->names.n)
		l.names = arena_dup(c->arena, f->names);
	for (size_t i = 0; i < f->n && good; i++)
		good = look_at(c, finder, &f->starts[i], &l) == 0;
	if (!f->n)
		good = look_at(c, finder, &here, &l) == 0;
	if (good)
		return 0;
	return bin_refuse(c, RULE_PATH_OUTSIDE, arg,
		"links that lead out may be among what is found, or it is too much to look at: "
		"give -type f");
}

bool finds_guarded(struct check *c, const struct finding *f, const struct arg *start, bool any)
{
	struct look l = {.bad = "", .deep = true, .left = left(c), .guard = true};

	/* Where `.git` is a file, it is not left out by what leaves out its directory. */
	l.tracked = f->tracked && !(f->beside && c->root->git_dir);
	if (f->names.n && !any)
		l.names = arena_dup(c->arena, f->names);
	return look_at(c, c->finder, start, &l) < 0;
}

int check_moved(struct check *c, const struct call *call, const struct arg *folder)
{
	struct look l = {.bad = "", .deep = true, .left = left(c), .links = c, .climb = true};

	if (c->live || look_at(c, call, folder, &l) == 0)
		return 0;
	return bin_refuse(
		c, RULE_PATH_OUTSIDE, folder, "a link in it would have another target from there");
}
