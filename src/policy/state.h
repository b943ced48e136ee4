/*
 * state.h: what a command line may have come to at one place: every working directory that it can
 * be in and every value that a variable can have. For walk.c alone.
 *
 * A state is copied by assignment: its lists are never changed in place.
 */
#ifndef DT_POLICY_STATE_H
#define DT_POLICY_STATE_H

#include "src/policy/check.h"
#include "src/policy/expand.h"

enum { STATE_CWDS = 8, STATE_VARIABLES = 32, STATE_VALUES = 16 };

struct folder {
	struct str path; /* relative to the root */
	bool linked;     /* reached through a symbolic link: what `..` means depends on the shell */
};

struct variable {
	struct str name;
	struct arg *values; /* more than one: any of them */
	size_t n;
};

struct state {
	struct folder *cwds;
	size_t n_cwds;
	struct variable *variables;
	size_t n_variables;
};

struct state state_at(struct arena *a, struct folder cwd);
/* NULL: it is not set here. */
const struct variable *state_get(const struct state *s, struct str name);
/* 0, or -1 with the denial (LIMIT). */
int state_set(struct check *c, struct state *s, struct str name, const struct arg *value);
/* *to becomes what may hold when `*to` or `*other` does. 0, or -1 with the denial (LIMIT). */
int state_join(struct check *c, struct state *to, const struct state *other);
bool state_same(const struct state *a, const struct state *b);

/* ---- the walk over the tree ---- */

/* With each command, all states that it can be reached in. walk.c has the compound commands,
 * walk_command.c the simple ones. For the two of them alone. */
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
