/*
 * tree.h: directories of a test: made, copied, listed, removed whole. Every function ends the
 * program (see die()) when the system says no: a test must not go on from a half-made directory.
 */
#ifndef DT_TESTS_TREE_H
#define DT_TESTS_TREE_H

#include "src/base/buf.h"

/* A new directory below $TMPDIR or /tmp, absolute and without symbolic links; the caller frees it.
 */
char *tree_scratch(const char *stem);
void tree_remove(const char *dir); /* checks the event files in it (event_log.h) */
/* Files, directories and symbolic links with their permissions; `to` must not exist. */
void tree_copy(const char *from, const char *to);
/* Paths of all files below `dir`, relative to it, sorted, one a line. */
void tree_list(const char *dir, struct buf *out);

void tree_mkdirs(const char *dir);
/* Writes a whole file and makes the directories above it. */
void tree_write(const char *path, struct str text);
/* Reads a whole file; false when there is none. */
bool tree_read(const char *path, struct buf *out);

#endif
