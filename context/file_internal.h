/*
 * file_internal.h: shared by file.c, save.c and import.c alone.
 */
#ifndef DT_CONTEXT_FILE_INTERNAL_H
#define DT_CONTEXT_FILE_INTERNAL_H

#include "context/file.h"

#define JOURNAL_MAX ((size_t)1 << 30)

/* One commit of the document (NULL: as it is) with all that goes with it. */
int context_commit(struct context_file *f, const struct store_op *document, struct error *err);

/* Path of the store's journal, in the document's arena. */
char *context_journal(struct context_file *f);

/*
 * The store has no commit yet. What format 1 left there, a document, events without
 * commits, or both, becomes its first one. Nothing to do when there is neither.
 */
int context_import(struct context_file *f, struct error *err);

#endif
