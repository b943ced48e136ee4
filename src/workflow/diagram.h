/*
 * diagram.h: the states and edges of one diagram while it is read: who was named where, under which
 * spellings, and the rules that can only be judged when the last line is known.
 *
 * Ownership: all of it lives in the arena that was passed in.
 */
#ifndef DT_DIAGRAM_H
#define DT_DIAGRAM_H

#include "src/workflow/workflow.h"

struct place {
	unsigned line, col;
};

struct diagram {
	struct arena *arena;
	const char *file;
	struct error *err;
	struct workflow_state *states;
	struct spelling *spellings; /* one a state */
	size_t n_states, cap_states;
	struct link *links;
	size_t n_links, cap_links;
	size_t initial; /* index, once initial_at.line is set */
	struct place initial_at;
	uint16_t slots[4 * 1024]; /* hash of the states' names: index + 1, or 0 */
};

/* The state called `name`, made when it is new. */
int diagram_state(struct diagram *d, struct str name, struct place at, size_t *index);
/* The first label of a state counts. One that is the state's name with `-` for `_` renames it. */
int diagram_label(struct diagram *d, size_t index, struct str label, struct place at);
int diagram_initial(struct diagram *d, size_t index, struct place at);
int diagram_end(struct diagram *d, size_t index, struct place at);
int diagram_edge(struct diagram *d, size_t from, size_t to, struct str trigger, struct place at);

/* Judges the whole and fills *w. `first` is where the diagram begins. */
int diagram_finish(struct diagram *d, struct place first, struct workflow *w);

#endif
