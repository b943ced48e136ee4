/*
 * board.h: requests of tasks that a person approves before a session takes them. They are the
 * member `board` of what a tick remembers (memory.h). Who works on them is the lease of the work
 * item, and their order that of the workflow, so the board itself starts nothing. docs/backlog.md.
 *
 *     {"T-1/researching/1": {"task": "T-1", "what": "researcher", "section": "Researcher Brief",
 *         "since": TIME, "decision": "held"}}
 *
 * A decision about a whole task is the member `board` of what is remembered of it.
 */
#ifndef DT_TICK_BOARD_H
#define DT_TICK_BOARD_H

#include "src/tick/memory.h"

enum { BOARD_TASKS = 20 }; /* that are on it at the same time, unless the tick says otherwise */

#define BOARD_READY "its requests on the board are approved, and a session may take them"

bool board_has(const struct tick_memory *m, const struct task *t);
/* The requests of the task are these actions; NULL: it has none. One that is repeated under a new
 * id keeps its time and its decision. Whether an id is new. */
bool board_put(struct tick_memory *m, const struct task *t, const json *actions);
/* Why no session may take the requests of the task; NULL: all are approved. In the arena. */
const char *board_refusal(const struct tick_memory *m, const struct task *t);
/* Since when the oldest request waits; NULL: the board is empty. */
const char *board_oldest(const struct tick_memory *m);
/* Removes the requests of tasks that are gone or done. */
void board_sweep(struct tick_memory *m, const struct backlog *b);

enum board_decision { BOARD_APPROVED, BOARD_HELD, BOARD_DROPPED };
extern const char *const board_decisions[]; /* "approved", "held", "dropped" */

/*
 * Decides about requests and, by their ids, about all present and later requests of tasks; no
 * words: about all that are on the board. BOARD_DROPPED parks their tasks. *n: how many requests
 * were on the board. -1: ERR_INPUT, a word names neither; ERR_STATE, a session works on a request
 * that is to be dropped. Then nothing is decided.
 */
int board_decide(struct arena *a, const char *repo, enum board_decision decision,
	const char *const *words, size_t *n, struct error *err);
/* The outstanding requests: {id, task, what, state, since, owner, context_file}; state: `taken`
 * (owner: by which session), a decision, or `waiting`. The caller frees it. */
int board_list(struct arena *a, const char *repo, json **list, struct error *err);

#endif
