/*
 * engine.h: load, advance, save, print. One call brings a work item to the next point where an
 * agent, a script or a person must act, saves, and returns the array to print. Rules:
 * docs/action-protocol.md.
 *
 * The engine reads no repository and starts no program. Whatever a step needs from outside goes
 * through struct environment, which tests replace; local.h has that of a user.
 */
#ifndef DT_ENGINE_H
#define DT_ENGINE_H

#include "context/lease.h"
#include "src/machine/answer.h"
#include "src/machine/evidence.h"
#include "src/machine/place.h"
#include "src/machine/step.h"

struct project_query;

/* An effect that changes something outside. effects.c lists them in the order in which they are
 * carried out. */
struct effect_kind {
	enum effect effect;
	const char *name;    /* in the journal, and of the event */
	const char *waiting; /* shown to processes that wait meanwhile */
	const char *skipped; /* name of the event when there was nothing to do; NULL: no event */
	const char *notice;  /* shown to people then; NULL: nothing */
};

/* Whether a request may become an action now. */
struct admission {
	enum admission_answer {
		ADMISSION_FREE, /* nothing limits it: the journal has no answer */
		ADMISSION_YES,
		ADMISSION_WAIT,   /* not before `until` */
		ADMISSION_NO,     /* not before a person has changed something */
		ADMISSION_REMEDY, /* of a request with `failed`: the troubleshooter is not called;
				     the requests that failed are made again, not before `until`
				     (0: now), with `reason` in the briefs */
		ADMISSION_FAILED, /* the question failed, and so does the step; nothing is saved */
	} answer;
	const char *reason; /* of WAIT and NO: one line, which names what to do; of REMEDY */
	int64_t until;      /* of WAIT and REMEDY: a time after the document's */
	/* Of YES: the tools of the attempt of a node, where a rule of the host leaves fewer than
	 * its persona has. NULL: it leaves those. */
	const struct text_list *tools;
	struct error error; /* of FAILED */
};
/* Its event in the journal, and what that says. */
#define ADMISSION_EVENT "admission"
void admission_from_json(struct arena *a, const json *event, struct admission *out);

/* What a step asks for; its answer is in the journal under the name `what`. */
struct environment_input {
	const char *what;
	const char *text; /* a path, a command, the URL of a pull request, or the work item's id */
	const struct item_place *place;
	const struct evidence_query *evidence;
	const struct project_query *project;
	bool always; /* the journal has the answer also if it is the same as the last one */
};
/* *answer: as the journal keeps it, the caller's; NULL: there is none. */
typedef int environment_ask(void *data, struct arena *a, const struct environment_input *input,
	json **answer, struct error *err);

/* Each function returns 0, or -1 with *err. On -1 nothing is saved and the call can be repeated. */
struct environment {
	/* "specs": paths, relative to the repository, of the `_spec_*.md` files that name the item.
	 */
	environment_ask *find_specs;
	/* Reads the "spec" or "config" at the path `text` of the user's checkout, also if it is not
	 * committed: {"path", "digest" (digest_text()), "text"}. May be NULL. */
	environment_ask *read_input;
	/*
	 * "place": chooses where the item is worked on, or checks that the work can go on at the
	 * chosen place. The answer is the place (place_to_json()) if it was chosen or made again.
	 * The program may be killed before that is saved, and the call is repeated then: it must
	 * find the same place. NULL: the repository of the call, and actions name no directory.
	 */
	environment_ask *enter;
	/* "marks": what is changed in the place and not committed, as in place.h. May be NULL. */
	environment_ask *marks;
	/* "script": takes that of the validation command `text` from the user's checkout, if the
	 * place has none: {"path", "digest"}; none too if nothing has changed. May be NULL. */
	environment_ask *take_script;
	/* "commit", "push": carries out the effect: "yes", or "no" if there was nothing to do. The
	 * program may be killed before the outcome is saved, and the call is repeated then: an
	 * effect that was carried out before finds nothing to do. -1 with ERR_CHECK: the agent must
	 * correct something first. */
	environment_ask *carry_out;
	/* Of the pull request `text`: its failing "checks", or the unanswered "comments" of people,
	 * as a text; empty if there are none, no answer if no program can read them. May be NULL.
	 */
	environment_ask *read_forge;
	/* "evidence": what backs a claim, as evidence_to_json() has it. NULL: nothing is checked.
	 */
	environment_ask *evidence;
	/* "project": as project_ask() has it; NULL: no flag is set and no file exists. */
	environment_ask *project;
	/* True while the script of action `id` is running; may be NULL. */
	bool (*still_running)(void *data, const struct context_file *f, const char *id);
	/* The process of this session, as the holder of a lease keeps it; NULL: unknown. May be
	 * NULL. */
	const char *(*client)(void *data, struct arena *a);
	/* True if such a process has ended. Not NULL if client() is not. */
	bool (*client_ended)(void *data, struct arena *a, const char *client);
	/* Who holds the item now. NULL: as lease_read(). */
	int (*holder)(
		void *data, struct context_file *f, struct lease_holder *h, struct error *err);
	/*
	 * May this request become the action `id`? Asked before the dispatch, once for each request
	 * and step; after a wait, a refusal, a kill or a refused save again with the same id. An
	 * action that a take-over requests again is not asked about. *out is zero before; texts in
	 * the arena. NULL: every request may.
	 */
	void (*may_dispatch)(void *data, struct arena *a, const struct context_file *f,
		const char *id, const struct step_request *request, struct admission *out);
	/* Action `id` is requested now, or will not be run again: nothing is kept of earlier runs;
	 * may be NULL. */
	void (*discard)(const struct context_file *f, const char *id);
	/* Shows a line to people; may be NULL. */
	void (*say)(void *data, const char *text);
	/* Shows why an answer does not count; may be NULL. */
	void (*refuted)(void *data, const char *fault);
	void *data;
};

/* Exactly one spec, and its name can be shown. -1: ERR_INPUT. */
int environment_check_specs(
	const char *repo, const char *id, char *const *paths, size_t n, struct error *err);
struct engine {
	struct context_file *file;
	const struct workflow *workflow;
	const struct step *(*step_for)(const struct workflow *w, const char *state);
	const struct environment *environment;
	const char *id, *research_skill, *repo;
	const char *workflow_name; /* as the item keeps it, on any host; NULL: the file's name */
	bool returned;             /* the agents of the last array are back */
	const char *returned_id;   /* ... and these actions, separated by commas, were some of them;
				      NULL if not given */
	bool returned_alone;       /* ... but others may still work */
	bool returned_checked;     /* without an id it is refused for what others dispatched, where
				      actions wait for each other */
	const char *owner;    /* the session that steps and holds the lease; NULL if not given */
	bool take_over;       /* even from another owner whose lease has not expired */
	bool new_session;     /* of its client: it goes on with what an earlier one holds */
	bool cancel;          /* the user ends the item */
	bool accept_workflow; /* the user accepts what it requires, other than at the start */
	const char *parent;   /* the action that waits for the end of this item; NULL: none */
	const char *spec;     /* of a child that has no document yet */
	/* Of a manifest; UINT_MAX: as it says. */
	unsigned retry_cap; /* a node is tried again at most so often */
	unsigned merge_cap; /* attempts to resolve a conflict */
	bool idle;          /* the lease is not taken of an item that only waits for children */
};

/* Whether a work item ends in this state. */
bool engine_is_terminal(const struct workflow *w, const char *state);

/* What every call needs; the caller sets the rest, none of which is needed. */
struct engine engine_make(struct context_file *f, const struct workflow *w,
	const struct step *(*step_for)(const struct workflow *w, const char *state),
	const struct environment *environment, const char *id);
/* Sets the rest as the journal's note of a call says. Texts are those of the note. */
void engine_read_call(struct engine *e, const json *note);

/* The kinds of evidence (enum evidence_kind) that success requires. */
unsigned engine_evidence_required(const struct workflow *w,
	const struct step *(*step_for)(const struct workflow *w, const char *state));

/* The skill of the researcher, unless the workflow or the call names another. */
#define ENGINE_RESEARCH_SKILL "researcher-plan"
/* The outcome of an item that was cancelled, and how that begins which a policy has ended. */
#define ENGINE_CANCELLED "cancelled by the user"
#define ENGINE_VIOLATION "security violation in "
/* The settings of a repository, relative to it: what `read_input` reads as "config". */
#define SETTINGS_FILE ".dev-team/config.yaml"

/* 0: `e->owner` may step. -1: ERR_STATE, another session holds the work item. */
int engine_admit(const struct engine *e, struct error *err);

/* *new: the item has not been stepped with this text of the workflow. -1: ERR_SYSTEM. */
int engine_workflow_is_new(const struct engine *e, bool *new, struct error *err);

/* Advances, saves, and adds the array (one line, no newline) to `out`. -1 with `cancel`: also
 * ERR_STATE, the item has ended already. */
int engine_step(struct engine *e, struct buf *out, struct error *err);

#endif
