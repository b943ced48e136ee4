/*
 * walk.h: the walk over the tree: with each command, all states that it can be reached in. walk.c
 * has the compound commands, walk_command.c the simple ones. For the two of them alone.
 */
#ifndef DT_POLICY_WALK_H
#define DT_POLICY_WALK_H

#include "src/policy/expand.h"
#include "src/policy/state.h"

/* A command has two ends, because `cd` leads elsewhere only when it succeeds. */
struct ends {
	struct state ok, no;
};

int walk(struct check *c, const struct node *n, const struct state *in, struct ends *out);

/* One try of a command: one working directory, one value for each variable. */
struct walker {
	struct check *check;
	struct state now;
	const struct folder *in;
	size_t *choice; /* by the variable's index in `now` */
};

struct expander walker_expander(struct walker *w);

/* Calls `one` in each working directory, with each combination of the values that `n` uses. */
int walk_each_way(struct check *c, const struct node *n, const struct state *in,
	int (*one)(struct walker *w, const struct node *n, void *arg), void *arg);
int walk_redirects(struct walker *w, const struct node *n);
/* `feeder`: the part before it in a pipeline, or NULL. */
int walk_command(struct check *c, const struct node *n, const struct node *feeder,
	const struct state *in, struct ends *out);

#endif
