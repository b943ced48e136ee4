/*
 * git_config.h: the few values of git's configuration that are needed often, read without libgit2,
 * whose loading alone takes several times as long as a step.
 */
#ifndef DT_GIT_CONFIG_H
#define DT_GIT_CONFIG_H

#include "src/base/buf.h"

/*
 * The URL of remote `origin` as the repository's own configuration has it. False when it is not
 * there in plain form (includes, `insteadOf`, quotes, several values, per-worktree configuration):
 * then libgit2 has to be asked.
 */
bool git_plain_origin(const char *root, struct buf *url);

/*
 * `user.name` and `user.email` as the caller's own configuration has them in plain form. False when
 * one of them is not there, or the repository at `root` has a `[user]` of its own.
 */
bool git_plain_identity(const char *root, struct buf *name, struct buf *email);

#endif
