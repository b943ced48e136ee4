/*
 * state.h: what a command line may have come to at one place: every working directory that it can
 * be in and every value that a variable can have. For walk.c alone.
 *
 * A state is copied by assignment: its lists are never changed in place.
 */
#ifndef DT_POLICY_STATE_H
#define DT_POLICY_STATE_H

#include "src/policy/check.h"

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

#endif
