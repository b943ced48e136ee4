/*
 * chat.h: the answer of POST /chat/completions, as it comes: a stream of events, or one JSON value
 * from a server that does not stream, or a fault.
 */
#ifndef DT_HARNESS_CHAT_H
#define DT_HARNESS_CHAT_H

#include "src/harness/adapter.h"
#include "src/harness/lines.h"

struct chat {
	struct session *session;
	long status; /* set before chat_take() */
	long retry_after_s;
	struct lines lines;
	struct buf plain; /* what came before the first event */
	struct buf text;
	bool streamed;   /* there was an event */
	bool ended;      /* the model has said how it ended, or the stream that it is over */
	const char *cut; /* why the answer is not whole; NULL: it is */
};

void chat_take(struct chat *c, struct str piece);
/* The whole of it has come: fills the session. */
void chat_end(struct chat *c);
void chat_release(struct chat *c);

#endif
