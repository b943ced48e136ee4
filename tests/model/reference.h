/*
 * reference.h: a model of the engine, written from docs/steps.md and docs/action-protocol.md. It
 * shares no code with the engine: a work item is a plain struct, and each call is a function of it.
 * It reads no texts; the caller knows what each text says.
 */
#ifndef DT_MODEL_REFERENCE_H
#define DT_MODEL_REFERENCE_H

#include "src/base/vec.h"
#include "src/workflow/workflow.h"

/* The first four call the troubleshooter at their limit, in this order of precedence. */
enum model_counter {
	MODEL_FAILURES,
	MODEL_REVIEWS,
	MODEL_SIGNOFFS,
	MODEL_DISPATCHED,
	MODEL_FIXES,
	MODEL_REVIEW_FIXES,
	MODEL_CALLS,
	MODEL_EXTENSIONS,
	MODEL_COUNTERS,
};

struct model_rule {
	const char *key;     /* of the document */
	const char *trigger; /* at the limit */
	size_t limit;        /* offset in the limits of the workflow */
};

extern const struct model_rule model_rules[MODEL_COUNTERS];

/* One of the `state_changes` of a decision; both NULL: a sentence. */
struct model_change {
	const char *key, *section, *value;
	bool refused;
};

/* What the writer of a text knows about it. */
struct model_text {
	const char *sum;    /* identifies it; NULL: the machine wrote it */
	const char *status; /* the word in its JSON; NULL: none */
	bool good;          /* without a word it is a good answer to its section */
	bool hard_abort;    /* a policy denied the script */
	bool malformed;     /* empty, or no UTF-8 */
	const char *reason; /* of a decision, and its changes */
	VEC(struct model_change) changes;
};

struct model_section {
	const char *name;
	struct model_text text;
};

/* What a state requests. */
struct model_kind {
	const char *state, *section;
	const char *agent; /* NULL: a script */
	const char *reads; /* names with a comma behind each */
	const char *words; /* the first is the good one */
	const char *none;  /* of these, those that mean that it is no answer */
};

struct model_request {
	const char *state; /* of its id */
	unsigned attempt;
	const char *section, *trigger; /* trigger: of a call of the troubleshooter */
	const char *word;              /* recorded; NULL: nothing is recorded */
	bool stale;                    /* put back by hand: it was answered or given up before */
	bool carried;                  /* answered when others of its array were requested again */
};

/* An accepted answer, whether it was used or not. */
struct model_answer {
	const char *id, *word, *sum;
};

struct model_attempts {
	const char *state;
	unsigned n;
};

struct model {
	const struct workflow *workflow;
	struct arena *arena;
	const char *state; /* NULL: there is no document */
	unsigned long counter[MODEL_COUNTERS];
	bool spec, pull_request, input;
	const char *question, *question_trigger; /* question NULL: none is asked */
	const char *outcome;                     /* why the run ended */
	bool failed;                             /* a failure was noted in this call */
	VEC(struct model_section) sections;
	VEC(struct model_request) requests;
	VEC(struct model_attempts) attempts;
	VEC(struct model_answer) answers;
	struct buf events, printed; /* by the last step, one a line */
};

/* A call of `step`, and what its effects meet. */
struct model_step {
	bool take_over; /* from another owner */
	bool returned;
	const char *returned_id; /* NULL: none is named */
	const char *running;     /* id of a script that still runs, or NULL */
	bool spec_found, commits, commit_fails, remote, push_fails;
	const char *checks; /* of the pull request: `red`, `unknown`, or NULL: green */
};

/* False when the step fails: then *m is not valid. */
bool model_step(struct model *m, const struct model_step *how);
/* `word`: given beside the text, or NULL. False when the answer is refused. */
bool model_record(struct model *m, const char *id, const char *word, const struct model_text *text);
struct model_section *model_section(struct model *m, const char *name);
/* Of that id, or that writes that section. */
struct model_request *model_request(struct model *m, const char *id, const char *section);

#endif
