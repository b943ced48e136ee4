/*
 * session.h: a run of a harness from its beginning to its result. For invoke.c alone; adapters have
 * their side of it in adapter.h.
 */
#ifndef DT_HARNESS_SESSION_H
#define DT_HARNESS_SESSION_H

#include "src/harness/adapter.h"

void session_begin(struct session *s);
void session_tell(struct session *s, struct harness_event *e); /* fills in the time */
/* The result, masked; its texts in the arena. */
void session_result(struct session *s, struct harness_result *out);
unsigned session_seconds(const struct session *s); /* its time limit */
void session_release(struct session *s);

#endif
