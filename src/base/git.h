/*
 * git.h: local git work. The only user of libgit2, which is opened at the first call, not at
 * start-up; what it lacks, and all that speaks to a network, goes through the user's `git`, so that
 * credential helpers and hooks apply: with a time limit and never a prompt.
 */
#ifndef DT_GIT_H
#define DT_GIT_H

#include "src/base/buf.h"

/* Work tree folder around `from` (a folder), absolute, in the arena. -1: ERR_STATE, not in one. */
int git_root(struct arena *a, const char *from, char **root, struct error *err);

/*
 * `org/repo` out of a remote's URL: less scheme, user, host, port and `.git`. False when nothing
 * valid is left. Known forms: https://host/org/repo(.git), git@host:org/repo(.git),
 * ssh://git@host:22/org/repo(.git).
 */
bool git_slug_of_url(struct str url, struct buf *slug);
/* The slug of remote `origin`. -1: ERR_STATE when there is no such remote or its URL gives no slug.
 */
int git_slug(struct arena *a, const char *root, char **slug, struct error *err);

/* Paths (relative to root, sorted) of the files that are not ignored and not in .git, for which
 * want() is true. */
int git_find_files(struct arena *a, const char *root, bool (*want)(struct str name), char ***paths,
	size_t *n, struct error *err);

/*
 * Commits all that is not committed (tracked and new, not ignored) with `message`, by way of the
 * user's `git` so that hooks and signing apply. *made tells whether there was anything. On the
 * remote's default branch (as refs/remotes/origin/HEAD names it) it first makes and switches to
 * `branch`, so that nothing unreviewed goes there.
 */
int git_commit_rest(
	const char *root, const char *branch, const char *message, bool *made, struct error *err);

/* Pushes HEAD's branch to origin and sets the upstream. Without a remote `origin`: *skipped is set,
 * 0. */
int git_push(const char *root, bool *skipped, struct error *err);

#endif
