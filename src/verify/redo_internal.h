/*
 * redo_internal.h: shared by redo.c, which keeps the disk, and redo_kinds.c, which does the
 * operations, alone.
 */
#ifndef DT_REDO_INTERNAL_H
#define DT_REDO_INTERNAL_H

#include "src/verify/redo.h"

/* The next operation opens the file anew. */
void redo_shut(struct redo *r);
/* As a person does it. */
void redo_lay_document(struct redo *r, bool there, struct str text);

/* 1: done; 0: it cannot be done again, and nothing was. */
int redo_by_kind(struct redo *r, const struct operation *op);

#endif
