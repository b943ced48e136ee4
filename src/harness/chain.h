/*
 * chain.h: which harness a stage runs on: its own, then its fallbacks, less those that the stages
 * it must be independent of have really used.
 */
#ifndef DT_CHAIN_H
#define DT_CHAIN_H

#include "src/harness/harness.h"
#include "src/config/resource.h"

struct ran { /* what really ran, of runtime.json */
	const char *stage, *harness;
};

struct chain {
	struct words declared, effective, removed, forbidden;
	bool violated; /* nothing is left */
};

/* The stage's harness, then its fallbacks. */
struct words chain_candidates(struct arena *a, const struct stage_spec *stage);
/* Order kept, doubles dropped. Stages without a run are no constraint. */
void chain_filter(struct arena *a, struct words candidates, struct words independent_of,
	const struct ran *ran, size_t n_ran, struct chain *out);

/* A stage that wants to be independent of itself, a later one or one that there is not: in the
 * order of the pipeline. */
struct cycle {
	const char *stage, *from, *why;
};
size_t chain_cycles(struct arena *a, const struct pipeline *p, struct cycle **out);

/*
 * Runs `input` on the first of `effective` that is available, and on the next one whenever one
 * turns out unavailable; never after a failure of content. Each change is told (HarnessFallback).
 * *used: the one whose result it is; NULL when none could be used (status HARNESS_UNAVAILABLE).
 */
struct chain_call {
	const char *artifacts, *issue,
		*stage; /* for the events and runtime.json; artifacts may be NULL */
	struct words effective;
	/* Physical id for a harness of the chain, or NULL for its default. May be NULL. */
	const char *(*model_for)(void *data, const char *harness);
	harness_listener *listener;
	void *data;
	/* In place of harness_available(), for tests; NULL: that. */
	const struct availability *(*available)(const struct harness *h);
};
int chain_run(struct arena *a, const struct chain_call *c, const struct harness_input *input,
	struct harness_result *result, const struct harness **used, struct error *err);

/*
 * What really ran in an issue's stages, of its runtime.json: every harness that a stage has used
 * with a result, also in an earlier attempt, and those that became unavailable only after a model
 * had answered: they may have written something too.
 */
int chain_ran(struct arena *a, const char *artifacts, const char *issue, struct ran **out,
	size_t *n, struct error *err);
/* chain_candidates(), chain_ran() and chain_filter() for a stage. */
int chain_of(struct arena *a, const struct stage_spec *stage, const char *artifacts,
	const char *issue, struct chain *out, struct error *err);
/* Tells IndependenceViolated, which is told whatever is done about it. */
int chain_tell_violation(const char *artifacts, const char *issue, const struct stage_spec *stage,
	const struct chain *c, struct error *err);
/* What is done about it: what the stage's onFailure says, else `continue`. */
enum failure_strategy chain_violation_strategy(const struct stage_spec *stage);

/* Notes it there: `stages: {STAGE: {harness, model, declared, effective, status, ...}}`. `h` NULL:
 * none could be used. */
int chain_note(const char *artifacts, const char *issue, const char *stage, const struct harness *h,
	const struct chain *c, const struct harness_result *r, struct error *err);

#endif
