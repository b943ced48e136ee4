/* engine_internal.h: shared by the files of the engine. */
#ifndef DT_ENGINE_INTERNAL_H
#define DT_ENGINE_INTERNAL_H

#include "src/machine/engine.h"
#include "src/machine/wait.h"

enum advance {
	ADVANCE_FAILED = -1,
	ADVANCE_ON,   /* something changed: look again */
	ADVANCE_STOP, /* r->print has what must be done now */
};

/* One call of engine_step(), which may need several attempts. */
struct engine_run {
	struct engine *e;
	struct context *doc;
	struct arena arena;
	json *noted;       /* by the last save, see action.h; NULL: not known */
	json *outstanding; /* as in the document; action_store() writes it back */
	json *results;     /* answered actions of a state with an order that has failed: `retry`
			      goes on from them; NULL: none */
	json *print;       /* the array to print */
	bool returned;     /* `--returned` was given and is not used up yet */
	VEC(const char *) named; /* ids that it gave, sorted by bytes */
	bool progress;    /* an answer came since the last array, and none of them was a failure */
	bool failure;     /* a failure was noted in this call */
	bool booted;      /* the run began in this call, which is not saved yet */
	unsigned done;    /* of enum effect: carried out in this attempt, and not saved yet */
	unsigned earlier; /* ... in an attempt before it, whose save was refused */
	struct lease_holder holder; /* of the work item; ours if `holds` */
	bool holds;
	struct wait wait;        /* of the item, when the attempt began */
	bool waits;              /* ... and its time had not come */
	struct item_place place; /* where the item is worked on; directory NULL: not chosen */
	json *marks;             /* as the last request for work found them; NULL: none */
	const char *fault; /* what an agent must correct before its work is committed or pushed */
	bool entered;      /* environment.enter() was called in this attempt */
	json *facts;       /* about evidence; NULL: not read yet */
	const char *head;  /* as claims were confirmed of it in this attempt; NULL: none were */
	bool clean;        /* ... and no tracked file was changed */
	const struct error
		*no_admission; /* the question whether a request may be dispatched failed */
};

/* engine.c */
const char *engine_state(const struct engine_run *r);
/* The declaration of the present state; NULL: it is built in, or unknown. */
const struct declared_state *engine_declared(const struct engine_run *r);
/* The first outstanding action that `--returned` names; NULL: it names none. */
const json *engine_find_named(const struct engine_run *r);
/* A script or a child works on the action: it must not be dispatched again. */
bool engine_in_progress(const struct engine_run *r, const json *action);
/* Drops the outstanding actions that write these sections, which are sorted by bytes. */
void engine_drop_sections(struct engine_run *r, const char *const *sorted, size_t n);
/* Drops the actions without an answer; the answers of the state's own actions stay, carried. */
void engine_drop_unanswered(struct engine_run *r);
/* Marks the answers as `carried`: they are not progress of the next array. */
void engine_carry_answers(struct engine_run *r);
/* Enters state `to`. `why` (may be NULL) becomes the `outcome` if that is a terminal state. */
void engine_enter(struct engine_run *r, const char *to, const char *trigger, const char *why);
/* Shows a line to people. */
void engine_say(struct engine_run *r, const char *text);

/* dispatch.c: gives requests their ids and makes them outstanding and printed. */
void engine_dispatch(struct engine_run *r, const struct step *step, const struct step_context *c);
/* False: it is not dispatched now, as engine_admit_requests() says. `failed`: as of struct
 * step_request. */
bool engine_dispatch_troubleshooter(
	struct engine_run *r, const char *trigger, unsigned long count, const char *failed);
/* The id of the action that the k-th request of `part` from now on becomes. */
const char *engine_next_id(struct engine_run *r, const char *part, size_t k);
/* Prints the outstanding actions without an answer again; unless `together`, only the first if some
 * have one. */
void engine_dispatch_again(struct engine_run *r, bool together);
void engine_dispatch_done(
	struct engine_run *r, const char *result, const char *reason, const char *question);
/* `until`: a time. */
void engine_dispatch_waiting(struct engine_run *r, const char *reason, const char *until);
/* Asks for an outstanding action again under a new id. */
void engine_dispatch_reissue(struct engine_run *r, json *action);

/* enter.c */
/* Loads the item's place. Chooses it as soon as the state may request something, and checks it
 * from then on, once in each call. */
int engine_enter_place(struct engine_run *r, struct error *err);
/* Loads them, and drops them once the work is committed. */
int engine_load_marks(struct engine_run *r, struct error *err);
void engine_forget_marks(struct engine_run *r);
/* Remembers what is changed before the answer `section` is requested for the first time; before an
 * approval is requested, each time. The marks of the first action count for all actions of a
 * declared state, which commits when all have answered. */
int engine_mark_changes(struct engine_run *r, const char *section, struct error *err);
/*
 * What a dispatch takes from the user's checkout, committed or not: the spec for the document, the
 * script of the validation for the place, and the configuration. The journal and an event have the
 * digest of each when it is taken for the first time or has changed.
 */
int engine_take_inputs(struct engine_run *r, struct error *err);
int engine_take_spec(struct engine_run *r, struct error *err);
/* The place as effects and evidence see it. */
struct item_place engine_place(const struct engine_run *r);

/* retries.c: how often requests have failed in a row. */
/* Whether each action of the state has a count of its own. */
bool engine_counts_each(const struct engine_run *r);
/* The counts of those that have failed, by section; the caller's. NULL: they have none. */
json *engine_failures(const struct engine_run *r);
/* Whether the session of a review ended at its time limit, without an answer. It is not requested
 * again before the troubleshooter has decided: another attempt would take as long, and the author
 * of the work has nothing to repair. */
bool engine_review_is_late(const struct engine_run *r, const json *action);
/* Sets the one count; if a review is late, at least to the limit. */
void engine_count_unanswered(struct engine_run *r, unsigned long count);
/* Adds one for `section`, whose count is then at least `least`; returns it. */
unsigned long engine_add_failure(json *counts, const char *section, unsigned long least);
void engine_set_failures(struct engine_run *r, const json *counts);
/* Forgets the failures of actions that have a good answer. `checked`: as of struct step_context. */
void engine_forget_answered(struct engine_run *r, const json *checked);
/* Forgets those that have reached the limit. */
void engine_forget_reached(struct engine_run *r);
/* Forgets all counts of single actions. */
void engine_forget_each(struct engine_run *r);
/* The sections whose actions have reached the limit, the caller's; NULL: none. */
json *engine_reached(const struct engine_run *r);

/* session.c */
/* Opens the run and takes or renews the lease. -1: ERR_STATE if another session holds it. */
int engine_begin(struct engine_run *r, struct error *err);
/* Releases the lease if the run is done. */
void engine_release(struct engine_run *r);
/* True if the script of this action is running. */
bool engine_script_running(const struct engine_run *r, const json *action);

/* troubleshooter.c */
/* The outstanding call of the troubleshooter, or NULL. */
const json *engine_troubleshooter_action(const struct engine_run *r);
/* The trigger that is due before anything else is dispatched, or NULL; *count is its counter. */
const char *engine_troubleshooter_due(
	const struct engine_run *r, const struct step *step, unsigned long *count);
/* Calls it, unless it was called too often without progress. */
enum advance engine_troubleshooter_call(
	struct engine_run *r, const char *trigger, unsigned long count);
/* Applies its answer. */
enum advance engine_troubleshooter_answered(struct engine_run *r, const json *action);
/* Drops an unanswered call whose cause a person has removed. */
void engine_troubleshooter_discard(struct engine_run *r);
/* The environment has a remedy instead of a call (ADMISSION_REMEDY): what has failed is requested
 * again, and its counters begin at 0. */
void engine_troubleshooter_remedy(
	struct engine_run *r, const char *trigger, const struct admission *remedy);
/* It asked the user, or reached the limit of its calls: waits for the answer, or for a person who
 * resets the limit. */
enum advance engine_troubleshooter_wait(struct engine_run *r);

/* node.c: notes the outstanding actions without an answer, which is stale from now on, so that
 * whoever carries them out can end them. */
void engine_fence(struct engine_run *r, const char *why);
/* Ends the nodes of a manifest whose answers count, which may end the run. */
int engine_end_nodes(struct engine_run *r, const struct step_context *c, struct error *err);

/* admission.c: asks the environment. */
/*
 * How many of the first of these requests may be dispatched now, with their `tools`; a request
 * whose answer is not yes holds back those behind it. 0: the item waits for a time or for a person,
 * which is printed, unless it has outstanding actions, which come first.
 */
size_t engine_admit_requests(
	struct engine_run *r, const char *part, struct step_request *requests, size_t n, bool open);
/* The trigger of a question that a refusal has raised. */
#define ADMISSION_TRIGGER "dispatch_refused"
/* Forgets the question: the next request asks again. True: there was one. */
bool engine_admit_again(struct engine_run *r);
/* Forgets any question, and its answer. */
void engine_drop_question(struct engine_run *r);

/* wait.c */
/* The item waits until then. */
void engine_wait_begin(struct context_file *f, int64_t until, const char *reason);
/* Prints that the item waits for a time. ADVANCE_ON: it does not, or no longer. */
enum advance engine_wait(struct engine_run *r);

/* evidence.c */
json *engine_evidence_names(unsigned kinds);
/* The kinds of evidence that the good words of a state claim. */
unsigned engine_claims_of(const struct workflow *w, const struct step *step, const char *state);
/* Remembers what the answers to these requests will be compared with. */
int engine_evidence_requested(struct engine_run *r, const struct step *step,
	const struct step_context *c, struct error *err);
/* Checks the claims of a decision, and, if it leads to success, all that success requires. If they
 * hold, carries out the effects of the decision, which are a claim too: the remote may refuse a
 * push. *refused: an answer is to be asked for again (c->result is STEP_FAILED), or the state must
 * decide again. */
int engine_evidence_check(
	struct engine_run *r, struct step_context *c, bool *refused, struct error *err);
/* A list of the actions (of an answer without one, its section) whose claims were checked. */
int engine_evidence_checked(
	struct engine_run *r, const struct step *step, const json **checked, struct error *err);
void engine_evidence_note_checked(struct engine_run *r, const struct step_context *c);
/* The same in `done`, unless success was verified before. *fault: why it is none; else NULL. */
/* required.c: -1, ERR_STATE: the workflow requires less than when the item began. */
int engine_check_required(struct engine_run *r, struct error *err);
int engine_evidence_at_end(struct engine_run *r, const char **fault, struct error *err);

/* Loads what the remote's branch is known to have; remembers HEAD as that. */
int engine_evidence_before_push(struct engine_run *r, struct error *err);
void engine_evidence_pushed(struct engine_run *r);
/* HEAD cannot be pushed as it is: the next request is to correct that. */
void engine_evidence_unpushed(struct engine_run *r);
/* Notes that the remote has refused the push. True: its last refusal had the same words. */
bool engine_evidence_declined(struct engine_run *r, const char *words);

/* effects.c: carries out a set of enum effect and notes each outcome. */
int engine_carry_out(struct engine_run *r, unsigned effects, struct error *err);
/* The step fails and is not saved: notes what was carried out all the same. */
void engine_keep_effect_events(struct engine_run *r);

#endif
