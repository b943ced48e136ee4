/*
 * world.h: the engine's world as it is: the user's repository, git and gh.
 */
#ifndef DT_WORLD_H
#define DT_WORLD_H

#include "src/machine/engine.h"

struct real_world {
	const char *repo;
	void (*say)(const char *text); /* may be NULL */
};

/* Fills `w`; `data` must outlive it. */
void world_real(struct world *w, struct real_world *data);

#endif
