/*
 * gh.h: what the user's `gh` knows of a pull request. Its environment is ours, so GH_TOKEN reaches
 * it; it never asks.
 */
#ifndef DT_GH_H
#define DT_GH_H

#include "src/base/buf.h"

/*
 * The lines of `gh pr checks` that tell of a failed check, in the arena; "" when none has failed,
 * or there are no checks, no `gh`, or the URL is not GitHub's. -1: ERR_SYSTEM when gh itself failed
 * or took more than 60 s (the pull request is none the worse for it: a caller may go on).
 */
int gh_failing_checks(
	struct arena *a, const char *root, const char *pr_url, char **text, struct error *err);

#endif
