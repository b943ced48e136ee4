/*
 * tree.h: creates, copies, lists and removes directories of a test. Every function ends the program
 * (see die()) on an error of the system: a test must not continue with an incomplete directory.
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
/* Appends the paths of all files below `dir`, relative to it, sorted, one per line. */
void tree_list(const char *dir, struct buf *out);

size_t tree_entries(const char *dir); /* the number of them, without those below */

void tree_mkdirs(const char *dir);
/* Writes a whole file and creates the directories above it. */
void tree_write(const char *path, struct str text);
/* Reads a whole file; false if it does not exist. */
bool tree_read(const char *path, struct buf *out);

#endif
