/*
 * round.h: one node's actions, and what is tried on the way through their outcomes beside these
 * themselves. For expand.c and round.c alone.
 */
#ifndef DT_EXPLORE_ROUND_H
#define DT_EXPLORE_ROUND_H

#include "src/verify/arrive.h"
#include "src/verify/crashes.h"

/* All that can become of one node's actions. */
struct round {
	struct walk *k;
	uint32_t node;
	struct arena arena;
	json *printed;
	size_t n;
	struct forms *forms;        /* one list an action */
	const struct form **chosen; /* one an action, as far as it is chosen */
	size_t answered, others;    /* of them; others: not the first form */
	const char *running;
	const char **kinds; /* of the document before each action's answer, and after the last */
	bool checked;       /* nodes of this kind are met for the first time */
	enum label_op op;
};

/* `at`: right before the call that is stopped; its world counts. Each is done once for each kind.
 */

/* The answer of action `i`, as it is chosen. */
void round_crash_answer(struct round *r, size_t i, const struct stage *at);
/* The step that arrived so. */
void round_crash_step(struct round *r, const struct stage *at, const struct arrival *a);
void round_crash_user(struct round *r, const struct stage *at, const struct deed *set);

/* Action `i` is answered: the same once more, and another answer. */
void round_answer_again(struct round *r, size_t i, const struct stage *at);
/* With some of the actions answered, others not; the first `n` are decided. */
void round_take_over(struct round *r, size_t n, const struct stage *at);

#endif
