/*
 * git.h: local git work. The only user of libgit2, which is opened at the first call, not at
 * start-up; what it lacks, and all that speaks to a network, goes through the user's `git`, so that
 * credential helpers and hooks apply: with a time limit and never a prompt.
 */
#ifndef DT_GIT_H
#define DT_GIT_H

#include "src/base/buf.h"

/* Opens libgit2. *version: of the library that was found, in the arena. */
int git_library(struct arena *a, char **version, struct error *err);

/* Work tree folder around `from` (a folder), absolute, in the arena. -1: ERR_STATE, not in one. */
int git_root(struct arena *a, const char *from, char **root, struct error *err);

/*
 * `org/repo` out of a remote's URL: less scheme, user, host, port and `.git`. False when nothing
 * valid (slug_valid()) is left. Known forms: https://host/org/repo(.git), git@host:org/repo(.git),
 * ssh://git@host:22/org/repo(.git), [git@host:22]:org/repo(.git); of a local path (file:///...,
 * /...,
 * ./..., ../...) the last two parts.
 */
bool git_slug_of_url(struct str url, struct buf *slug);
/* The slug of remote `origin`. -1: ERR_STATE when there is no such remote or its URL gives no slug.
 */
int git_slug(struct arena *a, const char *root, char **slug, struct error *err);

/*
 * Paths (relative to root, sorted) of the regular files that are tracked or not ignored, whose name
 * want() likes. Not looked into: .git, links to folders, other work trees and submodules, names
 * that are not UTF-8, what is not tracked more than 128 folders deep.
 */
int git_find_files(struct arena *a, const char *root, bool (*want)(struct str name), char ***paths,
	size_t *n, struct error *err);

/* Where a work tree stands. Texts are in the arena. */
struct git_head {
	const char *git_dir;
	const char *branch; /* NULL: HEAD is detached */
	bool unborn;        /* no commit yet */
	bool origin;        /* there is a remote `origin` */
	bool on_default;    /* branch is the remote's default branch, and that is not empty */
	bool ahead;         /* on_default, with commits that the remote's branch has not */
	bool unsure;        /* not on_default as far as is known here: only the remote can tell */
	bool guessed;       /* unsure, but there is a `main` or `master` that is not this branch */
	bool own_ssh;       /* the configuration names an ssh command */
	const char *busy;   /* "merge", "rebase" ... in progress; else NULL */
};
int git_look(struct arena *a, const char *root, struct git_head *head, struct error *err);

/*
 * Commits all that is not committed (tracked and new, not ignored) with `message`, by way of the
 * user's `git` so that hooks and signing apply. *made tells whether there was anything. On the
 * remote's default branch (as refs/remotes/origin/HEAD names it; where that is missing, `main` or
 * `master`, and for another branch the remote is asked), or off any branch, it first makes and
 * switches to `branch`, so that nothing unreviewed goes there. So it does where the remote does not
 * tell and nothing is known of it. -1: ERR_STATE while a merge or the like is in progress or there
 * are conflicts.
 */
int git_commit_rest(
	const char *root, const char *branch, const char *message, bool *made, struct error *err);

/*
 * Pushes HEAD's branch to origin and sets the upstream. Nothing to do (no remote `origin`, or on
 * its default branch with nothing new): *skipped is set, 0. -1: ERR_STATE off any branch, or when
 * it would push to the default branch.
 */
int git_push(const char *root, bool *skipped, struct error *err);

/* The user's `git` as all of this runs it: no prompt, and nothing of a caller's GIT_DIR and the
 * like. */
struct git_command {
	const char *dir;         /* where it runs */
	const char *name;        /* for people: "git worktree" */
	const char *const *argv; /* "git", ..., NULL */
	const char *const
		*env; /* more of the environment, at most 16, as in process.h; may be NULL */
	unsigned limit_s;
};
/* *status NULL: all but 0 is an error with git's words. `out` (may be NULL) gets stdout and stderr.
 */
int git_command(const struct git_command *c, struct buf *out, int *status, struct error *err);

/* Adds the unified diff of two texts, any bytes; nothing when they are the same. */
int git_compare(struct buf *out, const char *old_name, struct str old_text, const char *new_name,
	struct str new_text, struct error *err);

#endif
