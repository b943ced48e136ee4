/*
 * findings.h: what is wrong with a workflow, as its graph shows it. For the files of this room
 * alone.
 */
#ifndef DT_EXPLORE_FINDINGS_H
#define DT_EXPLORE_FINDINGS_H

#include "src/verify/graph.h"

enum finding_kind {
	FINDING_BROKEN,   /* the engine does not keep its word */
	FINDING_DEAD_END, /* no way leads to an end */
	FINDING_LIVELOCK, /* goes round, and no limit of the workflow ends it */
	FINDING_LIMIT,    /* the only way to an end is a limit */
	FINDING_STATE,    /* is never entered */
	FINDING_EDGE,     /* is never taken */
};

struct finding {
	enum finding_kind kind;
	char *text;    /* one line */
	unsigned line; /* of the workflow file; 0: none */
	unsigned col;
	uint32_t node;              /* where it shows; NONE: nowhere */
	uint32_t last;              /* the edge from there that shows it; NONE: no such */
	const struct offer *offers; /* made there, of FINDING_BROKEN */
	size_t n_offers;
	uint32_t *round; /* edges from there and back, of a livelock */
	size_t n_round;
};

struct findings {
	struct finding *list;
	size_t n, cap;
	char **notes; /* what is worth telling and no fault */
	size_t n_notes, cap_notes;
};

const char *finding_name(enum finding_kind kind);
void findings_of(const struct walk *k, struct arena *a, struct findings *out);

#endif
