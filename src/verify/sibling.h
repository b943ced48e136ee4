/*
 * sibling.h: the work of an item in other repositories, which are not the item's: nothing is
 * written there, and only what their own clones know is looked at. docs/backlog.md.
 */
#ifndef DT_SIBLING_H
#define DT_SIBLING_H

#include "src/base/json.h"

/*
 * What there is of `branch` in the repositories of `paths`, which are absolute or relative to the
 * main work tree of `repo`. Pushes to `out`, for each repository once, and not for `repo` itself:
 *
 *     {"path":"../docs","state":"pushed","branch":"dev-team/T-1","commit":SHA,
 *      "reason":"branch 'dev-team/T-1' is pushed at 0123456789ab"}
 *
 * state: `pushed`, or what must be done there first: `uncommitted`, `unpushed`; or `none`, there is
 * no such branch; or `unknown`, there is no repository, or what lies there cannot be told apart
 * from somebody else's changes. -1: git could not be run.
 */
int sibling_read(struct arena *a, const char *repo, const char *branch, const char *const *paths,
	size_t n, json *out, struct error *err);
/* "'../docs': REASON", those of all joined by "; "; NULL: there are none. `unfinished`: only those
 * where something must be done first. */
const char *sibling_text(struct arena *a, const json *found, bool unfinished);

#endif
