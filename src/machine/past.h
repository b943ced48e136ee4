/*
 * past.h: what the journal knows of an action that is not outstanding. It is read from its first
 * line to its last, so ask only when an answer is about to be refused.
 */
#ifndef DT_PAST_H
#define DT_PAST_H

#include "context/file.h"
#include "src/sys/digest.h"

/* Kept in the event of an answer: tells the same answer from another. */
void answer_sum(struct str text, char out[DIGEST_TEXT]);

/* True when this very answer was taken: the same bytes, and no other word than `word` (NULL or
 * empty: as the text says). Also false when the journal cannot be read. */
bool past_answered(const struct context_file *f, const char *id, const char *word, struct str text);

/* `action 'ID' is stale or unknown: it is not outstanding`, and who took it over where that is why.
 * Always -1, ERR_STATE. */
int past_refuse(const struct context_file *f, const char *id, struct error *err);

#endif
