/*
 * step.h: what a step is. A step serves one state and is asked two things: what must be done
 * outside now, and, once that is answered, what the answers mean. It decides from the document
 * alone and does no I/O; what it needs from the repository is named as an effect, and the engine
 * has it done.
 *
 * To add a step: (1) steps/NAME.c that defines `step_NAME`; (2) a row in steps/list.h; (3) a spec
 * case in tests/spec; (4) a row in docs/steps.md. `make check` fails until all four agree.
 */
#ifndef DT_STEP_H
#define DT_STEP_H

#include "src/machine/actions.h"
#include "src/workflow/workflow.h"

enum effect {
	EFFECT_NONE = 0,
	EFFECT_FIND_SPEC = 1,   /* sets spec_path */
	EFFECT_COMMIT_PUSH = 2, /* commits what is left over, pushes */
	EFFECT_PUSH = 4,
	EFFECT_PR_CHECKS = 8, /* adds the failing checks of the pull request to Last Failure */
};

/* One action, before it has an id. Texts live in the moment's arena. */
struct request {
	const char *message, *agent, *skill, *args; /* agent NULL: a script; args may be NULL */
	const char **reads;
	size_t n_reads, cap_reads;
	const char *writes, *format; /* section; "a | b" */
	const char *command;
	unsigned timeout_s;
	/* The policy that it runs under; NULL: none. `command` says it all for people and other
	 * loops; this is the same in parts. */
	const char *policy, *violation, *folder, *script;
};

enum meaning {
	MEANS_TRIGGER,   /* take the transition `trigger` */
	MEANS_ASK_AGAIN, /* the answer was used; the step has more to ask */
	MEANS_FAILED,    /* the agent could not do it: its text is kept, it is asked again */
	MEANS_UNCLEAR,   /* the agent needs an answer first: the troubleshooter is called */
};

/* What a step sees and says. */
struct moment {
	struct arena *arena;
	struct context *doc;
	const struct workflow *workflow;
	const struct declared *declared; /* of a declared state */
	const char *id, *research_skill, *repo;
	const json *outstanding; /* the answered actions */

	struct request *requests; /* said by ask() */
	size_t n_requests, cap_requests;

	bool partly; /* said by ask(): some of what it asks for is there already */

	enum meaning meaning; /* said by decide() */
	const char *trigger;
	const char *section; /* MEANS_FAILED, MEANS_UNCLEAR: whose answer */
	const char *reason;
	unsigned effects; /* to be done before the transition */
};

struct step {
	const char *state, *about;
	const char *pending;         /* what `pending_agent` says meanwhile */
	const char *const *triggers; /* all that decide() can give; NULL-ended */
	unsigned before_ask, before_decide;
	const char *answer;          /* section that is set aside when the state is entered again */
	const char *const *verdicts; /* sections emptied when the state is entered; NULL-ended */
	void (*ask)(struct moment *m); /* no requests: decide() is next */
	void (*decide)(struct moment *m);
};

#endif
