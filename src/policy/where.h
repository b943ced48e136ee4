/*
 * where.h: the boundary: which file a path leads to, and whether that is below the root. Links are
 * followed; any error that is not "there is none" is a denial.
 */
#ifndef DT_POLICY_WHERE_H
#define DT_POLICY_WHERE_H

#include "src/policy/policy.h"
#include "src/shell/verdict.h"

struct root {
	const char *path; /* real path, absolute */
	/* A linked worktree: real path of its own git directory, and of the one that it shares; a
	 * submodule: of its own alone; else NULL. */
	const char *git_dir, *common_dir;
	/* Where `.git` is a file or a link and leads to a directory below the root: that directory,
	 * relative to the root; else NULL. */
	const char *inner_git;
};

/* -1: ERR_SYSTEM or ERR_INPUT. */
int root_open(struct arena *a, const char *path, struct root *out, struct error *err);
/* The worktree around `cwd` (the nearest directory upwards with a .git), else `cwd` itself. */
int root_find(struct arena *a, const char *cwd, char **out, struct error *err);

enum access {
	ACCESS_READ,
	ACCESS_WRITE, /* made or changed */
};

struct place {
	struct str path; /* below the root, relative to it, real; "" is the root itself */
	struct str full; /* absolute, for the verdict */
	bool exists, folder;
	bool outside; /* a device, or below policy->read: `path` says nothing then */
};

/*
 * Follows `path` ("" is `cwd` itself) from `cwd` (relative to the root, "" for the root; real as
 * far as it exists). 0 with *out, or -1 with *v: PATH_OUTSIDE, PATH_PROTECTED (for ACCESS_WRITE).
 *
 * Outside but allowed: /dev/null, and for reading /dev/zero, /dev/urandom and what is below /usr,
 * /opt, /nix/store and policy->read. What does not exist is where its deepest existing parent is;
 * `..` behind something that does not exist is denied; so is a dangling link.
 *
 * Protected are .git and the settings of agents, wherever they are below the root, with all that is
 * below them, and policy->protect; also before they exist, and what they lead to as links. A hard
 * link to a file outside cannot be told from a file of the tree.
 */
int where(struct arena *a, const struct root *r, const struct policy *p, struct str cwd,
	struct str path, enum access access, struct span at, struct place *out, struct verdict *v);

/* The fixed names, at any depth, NULL-ended; and one of two parts, at the top. */
extern const char *const guarded_names[], *const guarded_workflows;

/* True when `path` is `dir` or below it, by components; *rest: what follows, without a slash before
 * it. Both absolute, or both relative ("" holds everything). */
bool path_below(struct str path, struct str dir, struct str *rest);
/* Of directories that are NULL or relative none. */
bool path_below_any(struct str path, const char *const *dirs, size_t n);

#endif
