/*
 * path_kind.h: what the rules take a path for. For src/review alone; path_kind() itself is in
 * classifier.h.
 */
#ifndef DT_REVIEW_PATH_KIND_H
#define DT_REVIEW_PATH_KIND_H

#include "src/review/classifier.h"

/* By its suffix, case told apart: blanks at the ends of its lines mean nothing, unless they are
 * within a text over several lines. */
bool path_ignores_blanks(const char *path);
/* And there are no such texts in its language. */
bool path_has_no_long_texts(const char *path);

#endif
