/*
 * agents_uses.h: which turn of a script's entry is due. Each turn that was played is an event
 * `scripted` of the work item, so a run that was interrupted goes on where it was.
 */
#ifndef DT_AGENTS_USES_H
#define DT_AGENTS_USES_H

#include "context/file.h"

/*
 * How often the entry `key` was played for other actions than `action` since the work item was
 * started; an action that is played again gets the turn that it had. `document` is the work item's.
 */
int agents_uses(
	const char *document, const char *key, const char *action, size_t *uses, struct error *err);

/* Notes it; goes into the journal with what is saved or logged next. */
void agents_note(struct context_file *f, const char *key, const char *action);

#endif
