/*
 * fork.h: a new work item from what another one was.
 */
#ifndef DT_FORK_H
#define DT_FORK_H

#include "src/verify/history.h"

struct forked {
	char *path, *state;      /* of the new one, in the arena */
	size_t carried, dropped; /* outstanding actions: with their answer, and without */
};

/*
 * Makes `to`, work item `id`, from the document of `from` as it was at `rev`. Counters and sections
 * are kept. Outstanding actions get ids of the new work item; those without an answer are dropped,
 * so that the next step asks for them anew. The source is only read. -1: ERR_STATE when there is a
 * document or a history at `to` already; ERR_INPUT as history_document(), and when the document was
 * broken then.
 */
int fork_item(struct arena *a, const struct history_place *from, int64_t rev, const char *id,
	const char *to, struct forked *result, struct error *err);

#endif
