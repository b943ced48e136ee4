/*
 * diff.h: the text that `git diff` prints, to paths and counts. What is not surely understood is
 * refused with its line: a diff that was read wrongly would get too few reviewers.
 */
#ifndef DT_REVIEW_DIFF_H
#define DT_REVIEW_DIFF_H

#include "src/review/classifier.h"

enum { DIFF_MAX = 256 << 20, DIFF_FILES_MAX = 100000 };

/* Stats and paths in the arena; taken for excerpts. -1: ERR_INPUT with FILE:LINE:COL. */
int diff_read(struct arena *a, const char *name, struct str text, struct change_stats *out,
	struct error *err);
/*
 * The same of what HEAD has changed since it and `base` (a branch, a tag, a commit, HEAD~1) have
 * parted, the repository's own settings set aside. ERR_STATE: there is no such commit, or not one
 * place alone where they have parted.
 */
int diff_of_repository(struct arena *a, const char *repo, const char *base,
	struct change_stats *out, struct error *err);

#endif
