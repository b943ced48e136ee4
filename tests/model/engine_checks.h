/*
 * engine_checks.h: checks of the engine at every node of a workflow's state graph, before and after
 * each call of explore_graph_build(): refused, repeated and late answers, take-overs, and a crash
 * at each disk call. README.md lists them.
 */
#ifndef DT_MODEL_ENGINE_CHECKS_H
#define DT_MODEL_ENGINE_CHECKS_H

#include "src/verify/explore.h"
#include "tests/model/oracle.h"
#include "tests/model/sim_disk.h"

/* An answer that was given to `record`. */
struct recorded_answer {
	const char *action; /* id */
	const char *word, *text;
};

struct recorded_answers {
	struct recorded_answer *items;
	size_t n, cap;
};

struct failed_check {
	uint32_t node;
	const char *text;
	struct recorded_answers answers; /* recorded at the node, in this order */
};

struct engine_checks {
	bool quick; /* without crashes */
	struct explore_graph *graph;
	struct simulator_kind kind;
	struct oracle oracle;
	struct arena arena;
	struct explore_texts situations; /* that were checked: each once */
	VEC(struct failed_check) failed; /* the first MAX_FAILED */
	size_t refused, changes, crashes, takeovers, cancels;
};

enum { MAX_FAILED = 50 };

/* Explores the workflow on disks of this kind with all checks. The counters, the graph and the
 * failed checks are in *c until engine_checks_release(). `quick`: without crashes. */
void engine_checks_run(struct engine_checks *c, struct explore_graph *g, const struct workflow *w,
	const struct simulator_kind *kind, bool quick);
void engine_checks_release(struct engine_checks *c);

/* Calls on a copy of a simulator. */
struct trial {
	struct engine_checks *checks;
	struct simulator *simulator;
	unsigned changes;
};

void trial_begin(
	struct trial *t, struct engine_checks *c, uint32_t node, const struct simulator *at);
void trial_end(struct trial *t); /* for CLEANUP */
/* -1: the verb fails. */
int trial_call(
	struct trial *t, const struct simulator_call *call, json **printed, struct error *err);
const char *trial_key(struct arena *a, const struct trial *t); /* of the document */
struct simulator_call record_call(
	const char *owner, const json *action, const struct explore_answer *answer);

/* True when the situation was not checked before. */
bool engine_checks_first(struct engine_checks *c, const char *situation);
/* Notes a failed check; `answers` may be NULL. */
void engine_checks_fail(struct engine_checks *c, uint32_t node, const char *what,
	const char *detail, const struct recorded_answers *answers);
/* Both have the same document. */
bool engine_checks_same(const struct simulator *a, const struct simulator *b);

struct checked_call {
	const char *what; /* for people */
	struct simulator_call call;
	struct simulator_call next;             /* the step that follows */
	const struct recorded_answers *answers; /* recorded before it */
};

/* Stops the machine at each disk call of the invocation, before it and in its midst, with a power
 * cut and without, and compares what follows with a run that was not stopped. */
void engine_checks_crash(struct engine_checks *c, uint32_t node, const struct simulator *at,
	const struct checked_call *call);

/* ---- outcomes of a step, to be compared ---- */

enum outcome_part {
	OUTCOME_STATE,
	OUTCOME_PRINTED,
	OUTCOME_DISPATCHES,
	OUTCOME_DOCUMENT,
	OUTCOME_PARTS,
};

struct step_outcome {
	const char *part[OUTCOME_PARTS]; /* of a failed step: its message and "" */
	const char *twice;               /* an action that was dispatched twice, or NULL */
};

/* Steps in an environment in which nothing fails. */
void step_outcome_of(struct arena *a, struct trial *t, const struct simulator_call *call,
	struct step_outcome *out);
/* The part in which they differ; OUTCOME_PARTS: none. Times and revisions do not count. */
enum outcome_part step_outcome_diff(const struct step_outcome *a, const struct step_outcome *b);

#endif
