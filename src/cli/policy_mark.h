/*
 * policy_mark.h: where a clearance file is, and which projects have had one. An agent that may
 * change branches can make the file go away; that must not read as "nothing was ever configured". A
 * mark is a file of the state folder, `clearances/DIGEST`, that names the project; people remove it
 * to forget.
 */
#ifndef DT_CLI_POLICY_MARK_H
#define DT_CLI_POLICY_MARK_H

#include "src/base/buf.h"

/*
 * The clearance file for a call from `folder`: in it, in the nearest folder above it, or in the
 * repository whose worktree it is. NULL: there is none.
 */
char *clearance_find(struct arena *a, const char *folder);

/* Remembers the project with the real path `folder`. What cannot be remembered is not: the file is
 * there. */
void policy_mark(struct arena *a, const char *folder);
/* The mark of `folder` or of the nearest folder above it; NULL: there is none. */
char *policy_marked(struct arena *a, const char *folder);

#endif
