/*
 * git_config.h: the one value of a repository's configuration that every step needs, read without
 * libgit2, whose loading alone takes several times as long as a step.
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

#endif
