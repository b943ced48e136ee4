/*
 * Which repository git finds from a directory: the first one upwards. Its settings and hooks can
 * name programs. Those of the root cannot be written; but a program, an archive or a merge may have
 * left another repository in the tree, and from below it git would take that one.
 */
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include "src/policy/bin_git.h"
#include "src/policy/protected_internal.h"

static int refuse(struct git_use *u, struct str folder, const char *why)
{
	return deny_word(u->c->v, RULE_CWD, u->call.at, folder, STR(""), "%s", why);
}

static char *inside(struct git_use *u, struct str folder, const char *name)
{
	return arena_printf(
		u->c->arena, "%.*s%s%s", (int)folder.n, folder.p, folder.n ? "/" : "", name);
}

static bool has(struct git_use *u, struct str folder, const char *name, struct stat *st)
{
	return fstatat(u->c->root->fd, inside(u, folder, name), st, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool below(const char *path, const char *folder)
{
	size_t n = folder ? strlen(folder) : 0;

	return n && strncmp(path, folder, n) == 0 && path[n] == '/';
}

/* `gitdir: PATH` of a worktree or submodule: it leads into the directory of the root's repository.
 */
static bool leads_to_own(struct git_use *u, struct str folder)
{
	const struct root *r = u->c->root;
	const char *own = arena_printf(u->c->arena, "%s/.git", r->path);
	CLEANUP(base_close)
	int fd = openat(r->fd, inside(u, folder, ".git"), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char text[PATH_MAX];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	struct str line = str_trim((struct str){text, n < 0 ? 0 : (size_t)n});
	CLEANUP(base_free) char *real = NULL;

	if (!str_starts(line, "gitdir: ") || line.n == sizeof(text) || memchr(line.p, '\0', line.n))
		return false;
	line = str_sub(line, strlen("gitdir: "), line.n);
	real = realpath(arena_printf(u->c->arena, "%s%s%.*s%s%.*s", line.p[0] == '/' ? "" : r->path,
				line.p[0] == '/' ? "" : "/", line.p[0] == '/' ? 0 : (int)folder.n,
				folder.p, line.p[0] == '/' ? "" : "/", (int)line.n, line.p),
		NULL);
	return real && (below(real, own) || below(real, r->common_dir) || below(real, r->git_dir));
}

static int check_found(struct git_use *u, struct str folder, const struct stat *st)
{
	if (!folder.n)
		return 0; /* the root's own */
	if (S_ISDIR(st->st_mode) && git_is_fresh(u->c->root->fd, inside(u, folder, ".git")))
		return 0;
	if (S_ISREG(st->st_mode) && leads_to_own(u, folder))
		return 0;
	return refuse(u, folder,
		"a repository inside the root that has settings or hooks of its own, which could "
		"run programs");
}

int git_repository(struct git_use *u)
{
	struct str at = u->call.cwd;
	struct stat st;

	for (;;) {
		if (has(u, at, ".git", &st))
			return check_found(u, at, &st);
		/* What else makes one of it may stand elsewhere (commondir). */
		if (has(u, at, "HEAD", &st))
			return refuse(u, at,
				"the directory looks like a repository to git, whose "
				"settings could run programs");
		if (!at.n)
			return 0;
		while (at.n && at.p[at.n - 1] != '/')
			at.n--;
		at.n -= at.n > 0;
	}
}
