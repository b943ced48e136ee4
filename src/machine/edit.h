/*
 * edit.h: a key of the document, set because a person wants it so.
 */
#ifndef DT_EDIT_H
#define DT_EDIT_H

#include "context/file.h"

/* Sets and saves; nothing is saved when it has that value already. What the key may be set to is
 * the caller's to check. */
int edit_key(struct context_file *f, const char *key, struct str value, struct error *err);

#endif
