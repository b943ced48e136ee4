/*
 * chain.h: which harness a stage runs on: its own, then its fallbacks, without those used by the
 * stages it must be independent of. The harnesses that ran are recorded in runtime.json.
 */
#ifndef DT_HARNESS_CHAIN_H
#define DT_HARNESS_CHAIN_H

#include "src/base/vec.h"
#include "src/event/event.h"
#include "src/config/resource.h"
#include "src/harness/harness.h"

struct chain_use { /* a harness that ran in a stage */
	const char *stage, *harness;
};

struct chain_uses {
	struct chain_use *items;
	size_t n, cap;
};

struct chain {
	struct text_list declared, effective, forbidden;
	bool violated; /* `effective` is empty */
};

/* Unless it is in the list already. */
void chain_add_name(struct arena *a, struct text_list *l, const char *name);
/* The stage's harness, then its fallbacks, without duplicates. */
struct text_list chain_candidates(struct arena *a, const struct stage_spec *stage);
/* Sorts out the candidates, in order. A stage that has not run is no constraint. */
void chain_filter(struct arena *a, struct text_list candidates, struct text_list independent_of,
	const struct chain_uses *uses, struct chain *out);

/* Why a stage cannot be independent of `from`: it is the stage itself, a later or an unknown one.
 * NULL: `from` is an earlier stage. */
const char *chain_independence_fault(const struct pipeline *p, size_t stage, const char *from);

/*
 * The harnesses that ran in an issue's stages: every one that gave a result, also in earlier
 * attempts, and those that became unavailable after a model had answered: files may have changed.
 * `artifacts` or `issue` NULL: none.
 */
int chain_uses_read(struct arena *a, const char *artifacts, const char *issue,
	struct chain_uses *out, struct error *err);

struct chain_call {
	const char *artifacts, *issue, *stage; /* for events and runtime.json; may be NULL */
	struct text_list effective;
	/* The model id for a harness of the chain, or NULL for its default. May be NULL. */
	const char *(*model_for)(void *data, const char *harness);
	harness_listener *listener;
	/* What a harness did that became unavailable after a model had answered. May be NULL. */
	void (*left)(void *data, const struct harness *h, const struct harness_result *r);
	void *data;
	/* Replaces harness_available(), for tests. May be NULL. */
	const struct harness_availability *(*available)(const struct harness *h);
};
/*
 * Runs `input` on the first harness of the chain that is available, and on the next one if one
 * becomes unavailable; a failure of content ends the chain. Emits HarnessFallback,
 * HarnessUnavailable, HarnessProbeFailed, BudgetExceeded and AgentTimeout. *used: the harness of
 * the result; NULL if none could be used (status HARNESS_UNAVAILABLE). Then `rate_limited` says
 * that one of them was at its limit, and `resets_at` when the first of these can be used again.
 */
int chain_run(struct arena *a, const struct chain_call *c, const struct harness_input *input,
	struct harness_result *result, const struct harness **used, struct error *err);

/* Emits IndependenceViolated, whatever the strategy is. */
int chain_emit_violation(const char *artifacts, const char *issue, const struct stage_spec *stage,
	const struct chain *c, struct error *err);
/* What to do about a violation: the stage's onFailure if it applies, else `continue`. */
enum failure_strategy chain_violation_strategy(const struct stage_spec *stage);

/* Records the result in runtime.json: `stages: {STAGE: {harness, model, declared, ...}}`. */
int chain_record(const char *artifacts, const char *issue, const char *stage,
	const struct harness *h, const struct chain *c, const struct harness_result *r,
	struct error *err);

#endif
