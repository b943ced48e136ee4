/*
 * engine.h: load, advance, save, print. One call brings a work item to the next point where
 * somebody outside must act, saves, and hands back the array to print. Rules:
 * docs/action-protocol.md.
 *
 * The engine reads no repository and starts no program: what a step needs done goes through struct
 * world, so that tests own it.
 */
#ifndef DT_ENGINE_H
#define DT_ENGINE_H

#include "src/machine/step.h"

/* Every function: 0, or -1 with *err, upon which nothing is saved and the same call can be made
 * again. */
struct world {
	/* Paths relative to the repository of the `_spec_*.md` files that name `id`. */
	int (*find_specs)(void *data, struct arena *a, const char *id, char ***paths, size_t *n,
		struct error *err);
	int (*commit_rest)(void *data, const char *id, bool *made, struct error *err);
	int (*push)(void *data, bool *skipped, struct error *err);
	/* The failing checks of a pull request as text; empty when none or when they cannot be
	 * asked. */
	int (*failing_checks)(
		void *data, struct arena *a, const char *pr_url, char **text, struct error *err);
	/* True while the script of action `id` is being run; may be NULL. */
	bool (*still_running)(void *data, const struct context_file *f, const char *id);
	/* A line for people. */
	void (*say)(void *data, const char *text);
	void *data;
};

struct machine {
	struct context_file *file;
	const struct workflow *workflow;
	const struct step *(*step_for)(const struct workflow *w, const char *state);
	const struct world *world;
	const char *id, *research_skill, *repo;
	bool returned;           /* the agents of the last array are back */
	const char *returned_id; /* and this was one of it; NULL: not said */
	const char *owner;       /* who asks, and holds the work item from now on; NULL: not said */
	bool take_over;          /* also from another whose lease has not run out */
};

/* 0: `m->owner` may step. -1: ERR_STATE, another holds the work item. */
int machine_admit(const struct machine *m, struct error *err);

/* Advances, saves, and adds the array (one line, no newline) to `out`. */
int machine_step(struct machine *m, struct buf *out, struct error *err);

#endif
