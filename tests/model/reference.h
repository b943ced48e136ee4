/*
 * reference.h: a model of the engine, written from docs/steps.md and docs/action-protocol.md. It
 * shares no code with the engine: a work item is a plain struct, and each call is a function of it.
 * It reads no texts; the caller knows what each text says.
 */
#ifndef DT_MODEL_REFERENCE_H
#define DT_MODEL_REFERENCE_H

#include "src/base/vec.h"
#include "src/workflow/workflow.h"

/* What a decision of the troubleshooter makes of a key or section. */
struct model_change {
	const char *name, *value;
};

/* What the writer of a text knows about it. */
struct model_text {
	const char *sum;                    /* identifies it */
	const char *status;                 /* the word in its JSON; NULL: none */
	bool has_url;                       /* of a pull request */
	bool hard_abort;                    /* a policy denied the script */
	bool malformed;                     /* empty, or no UTF-8 */
	const char *reason;                 /* of a decision */
	const struct model_change *changes; /* the last has no name */
};

/*
 * What a name stands for: a key, or a section with the request that writes it. `attempts STATE` is
 * the number of the last action of a state. The id of an action stands for an answer that was
 * accepted, used or not. `path` are the transitions and `!EFFECT` an effect of the step.
 */
struct model_slot {
	const char *name;
	const char *value; /* of a text its sum, MODEL_WRITTEN: some text; "": none */
	const struct model_text *text;
	/* outstanding, if there is an id */
	const char *id, *state;
	const char *asks;    /* agent, sections to read, words */
	const char *trigger; /* of a call of the troubleshooter; else NULL */
	const char *word;    /* recorded; NULL: nothing is recorded */
	bool carried;        /* answered when others were requested, or requested again */
	bool checked;        /* what its answer claims is so */
	unsigned long array; /* in a state with an order: which requests belong together */
	bool user_answered;  /* a call with the user's answer to a question */
	bool stale;          /* put back by hand: it was answered or given up before */
	struct model_slot *next;
};

#define MODEL_WRITTEN "*"

/* A call of `step`, and what its effects meet. */
struct model_step {
	bool take_over; /* from another owner */
	bool cancel;
	bool returned;
	const char *returned_id; /* NULL: none is named */
	const char *running;     /* id of a script that still runs, or NULL */
	const char *fails;       /* effects: "!spec !push" */
	bool red;                /* checks of the pull request */
	unsigned refuted;        /* enum evidence_kind: what is not as answers claim */
	bool moved;              /* HEAD is another commit than when the answers were requested */
};

struct model {
	const struct workflow *workflow;
	struct arena *arena;
	struct model_slot *slots;
	struct model_step how;
	bool dropped; /* a person made requests obsolete */
	bool failed;  /* the step: the model is not valid any more */
	/* What is known of evidence: "validated", "approved", "done" are on record, and sections
	 * for whose answers HEAD is. */
	bool validated, approved, done;
	bool (*is_dated)(void *data, const char *section);
	void *data;
	bool placed;                   /* the item has a place */
	bool refuted;                  /* the end is no success */
	const struct action *refusals; /* claims that do not hold */
};

/* Makes the step m->how. */
void model_step(struct model *m);
/* `word`: given beside the text, or NULL. False when the answer is refused. */
bool model_record(struct model *m, const char *id, const char *word, const struct model_text *text);
/* Makes an empty one if there is none. */
struct model_slot *model_slot(struct model *m, const char *name);
/* Of the action with this id; NULL: it is not outstanding. */
struct model_slot *model_request(struct model *m, const char *id);
/* Its answers are taken one by one, and what is missing is printed together. */
bool model_is_together(struct model *m);
/* Nothing is recorded, or written by hand. */
bool model_is_script(const struct model_slot *s);
bool model_is_open(const struct model_slot *s);

#endif
