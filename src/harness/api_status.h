/*
 * api_status.h: what the status of an API's answer means for a run, the same for all harnesses that
 * tell it.
 */
#ifndef DT_API_STATUS_H
#define DT_API_STATUS_H

#include "src/harness/adapter.h"

/* No login, no money, a limit, a fault or a time limit of the service: another harness may well do
 * better. A request that it refuses (400) or a model that it does not have (404) is ours. 0: it was
 * not reached. */
bool api_status_unavailable(long status);
/* The verdict on it, and whether it was a limit. */
void api_status_verdict(struct session *s, long status, struct str why);
/* A code or a type of an API's error, as a whole, in any case: a limit. */
bool api_word_limited(struct str word);

/*
 * Where words are all there is. An agent says the same words when it works on such a program, and
 * what it ran may end with "exit status 56": only whole forms count, from their beginning.
 */
/* Whether the text begins with one of the phrases (NULL-ended), in any case: what a program says of
 * itself stands there; further on it may well quote the agent's own work. */
bool text_begins(struct str text, const char *const *phrases);
/* The three digits of a status at the beginning of `text`; -1: there are none. */
long status_at(struct str text);

#endif
