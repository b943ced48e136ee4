/*
 * asked.h: which actions wait for an answer, as the store knows it. The document says so too, but
 * people put older ones back: an action that was answered, fenced or given up on since must not
 * wait again under the same id, or a late answer to it would be taken a second time.
 */
#ifndef DT_ASKED_H
#define DT_ASKED_H

#include "context/file.h"

/* Those of `outstanding` that have no answer; goes with the next save. -1: ERR_SYSTEM. */
int asked_note(struct context_file *f, const json *outstanding, struct error *err);

/* *still: action `id` waits for its answer. True also where nothing was ever noted: a document from
 * another program, or of an earlier version. */
int asked_still(struct context_file *f, const char *id, bool *still, struct error *err);

#endif
