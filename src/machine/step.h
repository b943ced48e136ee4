/*
 * step.h: what a step is. A step belongs to one state and answers two questions: what must be done
 * outside now, and, once that is done, which trigger the answers mean. It decides from the document
 * and the workflow and does no I/O; what it needs from the repository it names as an effect, which
 * the engine carries out.
 *
 * CONTRIBUTING.md has the recipe for a new step and for a new effect.
 */
#ifndef DT_STEP_H
#define DT_STEP_H

#include "src/base/vec.h"
#include "src/machine/action.h"
#include "src/workflow/workflow.h"

struct manifest_node;

/* What a step needs from the user's repository. FIND_SPEC, PR_CHECKS and PR_COMMENTS
 * only read. */
enum effect {
	EFFECT_NONE = 0,
	EFFECT_FIND_SPEC = 1, /* sets spec_path */
	EFFECT_COMMIT = 2,    /* commits the remaining changes of the work tree */
	EFFECT_PUSH = 4,
	EFFECT_PR_CHECKS = 8,    /* adds the failing checks of the pull request to Last Failure */
	EFFECT_PR_COMMENTS = 16, /* puts its comments without an answer into their section */
};

/* One action, before it has an id. Texts live in the context's arena. */
struct step_request {
	enum action_kind kind;
	const char *message, *agent, *skill, *args; /* args may be NULL */
	VEC(const char *) reads;                    /* sections */
	const char *writes, *format;                /* section; "a | b" */
	const char *trigger;                        /* of a call of the troubleshooter; else NULL */
	unsigned long cycle_count;
	/* Of a call of the troubleshooter for what has failed: the text of the last failure, for
	 * which the environment may have a remedy (ADMISSION_REMEDY). NULL: none is possible. */
	const char *failed;
	const char *approve; /* what a person approves */
	/* Of a work item: the last part of its id; what it works on, NULL: as this item. */
	const char *child, *child_workflow, *task;
	const char *command;
	unsigned timeout_s;
	const char *first; /* a script that must pass before it, under the workflow's policy */
	const char *policy, *violation; /* of the script, or NULL */
	/* Of a manifest: its node, and the prompt of its persona; NULL: it has none. */
	const struct manifest_node *node;
	const char *prompt;
	const struct text_list *tools; /* as of struct admission; set by the engine */
};

/* An answer that is there. */
struct step_answer {
	const char *section, *format; /* "a | b" */
	const char *word;             /* one of the format's; "": the answer gives none of them */
};

enum step_result {
	STEP_TRANSITION, /* take the transition `trigger` */
	STEP_ASK_AGAIN,  /* the answer was used; the step has more requests */
	STEP_FAILED,     /* the agent could not do it: its text is kept and it is asked again */
	STEP_UNCLEAR,    /* the agent needs an answer first: the troubleshooter is called */
};

/* An answer whose word says that something is so (evidence.h). */
struct step_claim {
	const char *section;
	unsigned kinds;      /* of enum evidence_kind */
	const char *command; /* EVIDENCE_COMMAND */
	bool script;         /* it is not asked again when the claim is refuted: it has failed */
	bool declared;       /* with the answer; else the workflow may require less */
};

/* What a step sees and returns. */
struct step_context {
	const struct step *step;
	struct arena *arena;
	struct context *doc;
	const struct workflow *workflow;
	const struct declared_state *declared; /* of a declared state, else NULL */
	const char *id, *research_skill;
	const json *actions; /* of the state; all are answered, unless some are `together` */
	const json *checked; /* actions, or sections without one, whose claims were checked */

	/* set by request() */
	VEC(struct step_request) requests;
	bool partly; /* some of the answers are there already */
	bool open;   /* some of `actions` are not answered */
	VEC(struct step_answer) answers;

	/* set by decide(), which is called when every answer has a word */
	enum step_result result;
	const char *trigger;
	const char *section; /* STEP_FAILED, STEP_UNCLEAR: whose answer */
	const char *reason;
	bool at_end; /* STEP_FAILED: what the answer itself claims is so, but not what all of them
			lead to */
	/* of enum effect: to be carried out before the transition; set before the claims */
	unsigned effects;
	/* What must be so for this decision. decide() is called again once it is, with `verified`,
	 * and changes the document then only. Those of request(): what must be so before anything
	 * else is requested. */
	VEC(struct step_claim) claims;
	bool verified;
};

struct step {
	const char *state, *about;
	const char *pending;                    /* value of `pending_agent` meanwhile */
	const char *const *triggers;            /* every trigger of decide(); NULL-ended */
	unsigned before_request, before_decide; /* of enum effect: carried out before these */
	unsigned evidence;   /* of enum evidence_kind: all that its claims may have */
	const char *refused; /* the trigger when what is to be done before a request is refused */
	const char *void_counter;    /* incremented when an approval is void; NULL: none */
	const char *answer;          /* section that is set aside when the state is entered again */
	const char *const *verdicts; /* sections that only their agents and scripts may write;
					NULL-ended. Emptied on each entry of the state */
	bool together; /* missing answers are requested together; else one at a time once some are
			  there */
	void (*request)(struct step_context *c); /* no requests: decide() is next */
	void (*decide)(struct step_context *c);
};

#endif
