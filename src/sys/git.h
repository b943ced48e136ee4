/*
 * git.h: local git work. The only user of libgit2, which is opened at the first call, not at
 * start-up. What it lacks, and everything that uses a network, goes through the user's `git`, so
 * that credential helpers and hooks apply: with a time limit and never a prompt.
 */
#ifndef DT_GIT_H
#define DT_GIT_H

#include "src/base/buf.h"

/* Opens libgit2. *version: of the library that was found, in the arena. */
int git_library_version(struct arena *a, char **version, struct error *err);

/* The work tree that contains directory `from`, absolute, in the arena. -1: ERR_STATE, there is
 * none. */
int git_root(struct arena *a, const char *from, char **root, struct error *err);

/*
 * `org/repo` from a remote's URL: without scheme, user, host, port and `.git`. False when nothing
 * valid (path_is_slug()) is left. Known forms: https://host/org/repo(.git),
 * git@host:org/repo(.git), ssh://git@host:22/org/repo(.git), [git@host:22]:org/repo(.git); of a
 * local path (file:///...,
 * /..., ./..., ../...) the last two parts.
 */
bool git_slug_of_url(struct str url, struct buf *slug);
/* The slug of remote `origin`. -1: ERR_STATE when there is no such remote or its URL gives no slug.
 */
int git_slug(struct arena *a, const char *root, char **slug, struct error *err);

/*
 * Read without libgit2, whose loading alone takes several times as long as a step.
 *
 * The URL of remote `origin` as the repository's own configuration has it. False when it is not
 * there in plain form (includes, `insteadOf`, quotes, several values, per-worktree configuration):
 * then libgit2 must be asked.
 */
bool git_config_origin(const char *root, struct buf *url);
/* `user.name` and `user.email` of the user's own configuration in plain form. False when one of
 * them is not there, or the repository at `root` has a `[user]` section of its own. */
bool git_config_identity(const char *root, struct buf *name, struct buf *email);

/*
 * Calls each() for every entry of a git index, the bytes of the file, in its order; the path ends
 * with a NUL. 0; 1 when each() returned false; -1 for an index that is damaged, split, of another
 * version than 2 and 3, or with objects that are not of 20 bytes.
 */
int git_index_each(
	struct str index, bool (*each)(void *data, struct str path, bool link), void *data);

/*
 * Paths (relative to root, sorted) of the regular files that are tracked or not ignored and whose
 * name want() accepts. Not searched: .git, symbolic links, other work trees and submodules, names
 * that are not UTF-8, and untracked files more than 128 directories deep.
 */
int git_find_files(struct arena *a, const char *root, bool (*want)(struct str name), char ***paths,
	size_t *n, struct error *err);

/* The state of a work tree. Texts are in the arena. */
struct git_head {
	const char *git_dir;
	const char *branch; /* NULL: HEAD is detached */
	bool unborn;        /* no commit yet */
	bool origin;        /* there is a remote `origin` */
	bool on_default;    /* branch is the remote's default branch, and that is not empty */
	bool ahead;         /* on_default, with commits that the remote's branch does not have */
	bool unsure;        /* not on_default as far as is known here: only the remote can tell */
	bool guessed;       /* unsure, but there is a `main` or `master` that is not this branch */
	bool own_ssh;       /* the configuration names an ssh command */
	const char *busy;   /* "merge", "rebase" ... in progress; else NULL */
};
int git_read_head(struct arena *a, const char *root, struct git_head *head, struct error *err);

/*
 * Commits all changes (tracked and new files, not ignored ones) with `message` through the user's
 * `git`, so that hooks and signing apply. *made: whether there was anything to commit.
 *
 * On the remote's default branch, or with HEAD detached, it first creates and switches to `branch`,
 * so that nothing unreviewed gets to the default branch. refs/remotes/origin/HEAD names that
 * branch; where it is missing, `main` or `master` do, and for another branch the remote is asked. A
 * remote that does not answer counts as "on the default branch". -1: ERR_STATE while a merge or the
 * like is in progress or there are conflicts.
 */
int git_commit_all(
	const char *root, const char *branch, const char *message, bool *made, struct error *err);

/*
 * Pushes HEAD's branch to origin and sets the upstream. When there is nothing to push (no remote
 * `origin`, or its default branch without new commits), sets *skipped and returns 0. -1: ERR_STATE
 * with HEAD detached, or when it would push to the default branch.
 */
int git_push(const char *root, bool *skipped, struct error *err);

/* The user's `git` as all of this runs it: no prompt, and without the caller's GIT_DIR and the
 * like. */
struct git_command {
	const char *dir;         /* where it runs */
	const char *name;        /* for people: "git worktree" */
	const char *const *argv; /* "git", ..., NULL */
	const char *const *env;  /* further environment as in process.h; may be NULL */
	struct str input;
	unsigned limit_s; /* 0: 120 */
	bool batch_ssh;   /* ssh must not prompt either */
};
/* *status NULL: a status other than 0 is an error with git's output. `out` (may be NULL) gets
 * stdout and stderr. */
int git_command(const struct git_command *c, struct buf *out, int *status, struct error *err);

/*
 * What the user's `gh` knows of a pull request: the lines of `gh pr checks` that tell of a failed
 * check, in the arena; "" when none has failed, or there are no checks, no `gh`, or the URL is not
 * GitHub's. `gh` has the caller's environment, so GH_TOKEN reaches it, and never prompts. -1:
 * ERR_SYSTEM when it failed or took more than 60 s; the pull request is none the worse for it.
 */
int git_failing_checks(
	struct arena *a, const char *root, const char *pr_url, char **text, struct error *err);

/* Adds the unified diff of two texts, which may contain any bytes; nothing when they are equal. */
int git_diff_texts(struct buf *out, const char *old_name, struct str old_text, const char *new_name,
	struct str new_text, struct error *err);

#endif
