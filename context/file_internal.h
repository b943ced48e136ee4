/*
 * file_internal.h: shared by file.c and save.c alone.
 */
#ifndef DT_CONTEXT_FILE_INTERNAL_H
#define DT_CONTEXT_FILE_INTERNAL_H

#include "context/file.h"

#define JOURNAL_MAX ((size_t)1 << 30)

/* One commit of the document (NULL: as it is) with all that goes with it. */
int context_commit(struct context_file *f, const struct store_op *document, struct error *err);

/* Path of the store's journal, in the document's arena. */
char *context_journal(struct context_file *f);

#endif
