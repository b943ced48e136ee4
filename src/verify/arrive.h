/*
 * arrive.h: a step was played: where it leads. For expand.c alone.
 */
#ifndef DT_EXPLORE_ARRIVE_H
#define DT_EXPLORE_ARRIVE_H

#include "src/verify/walk.h"

struct arrival {
	uint32_t node;            /* it came from */
	unsigned flags;           /* that are known already */
	const struct form *first; /* of the forms; NULL: none */
	struct label label;       /* its forms may be gone afterwards */
	uint32_t to;              /* out */
	const char *key;          /* out: of where it led; lives in the walk's arena */
	uint32_t cost;            /* out */
	bool fresh_edge;          /* out */
};

/* `printed`: what the step printed. */
void arrive(struct arrival *a, struct play *p, const json *printed);
/* As if it had led from the same node to `to`, at `cost`. */
void arrive_at(struct walk *k, struct arrival *a, uint32_t to, uint32_t cost);
/* The troubleshooter's change was made, and gives back what was spent of the budget. */
bool arrive_refills(const struct stage *s, const struct form *f);
/* The step failed, and nothing outside was to blame. */
void arrive_at_error(struct walk *k, struct arrival *a, const struct error *err);

#endif
