/*
 * path_kind.h: what the rules take a path for. For src/review alone; path_kind() itself is in
 * classifier.h.
 */
#ifndef DT_REVIEW_PATH_KIND_H
#define DT_REVIEW_PATH_KIND_H

#include "src/review/classifier.h"

/* By its suffix, case told apart: blanks at the ends of its lines mean nothing. */
bool path_ignores_blanks(const char *path);

#endif
