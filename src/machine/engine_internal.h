/*
 * engine_internal.h: shared by engine.c, dispatch.c, operation.c, ownership.c,
 * troubleshooter.c and effects.c alone.
 */
#ifndef DT_ENGINE_INTERNAL_H
#define DT_ENGINE_INTERNAL_H

#include "context/lease.h"
#include "src/machine/engine.h"

enum advance {
	ADVANCE_FAILED = -1,
	ADVANCE_ON,   /* something changed: look again */
	ADVANCE_STOP, /* somebody outside must act: m->print is what to say */
};

struct run {
	struct machine *m;
	struct context *doc;
	struct arena arena;
	json *outstanding; /* as in the document; written back by run_store() */
	json *print;       /* the array to print */
	bool returned;     /* not used up yet */
	bool fresh;        /* an answer came since the last array, and none of them was a failure */
	bool counted;      /* a failure was noted in this invocation */
	bool committed;    /* in this invocation */
	struct holder holder; /* of the work item; ours when `holds` */
	bool holds;
	bool began; /* with this call, and nobody held it before */
};

const char *run_state(const struct run *r);
void run_store(struct run *r); /* outstanding -> document */
void run_clear(struct run *r); /* no action is outstanding any more */
/* Only the answers of the state's own actions stay, to be used when the rest is there. */
void run_keep_answers(struct run *r);
/* The troubleshooter's action that is outstanding, or NULL. */
const json *run_troubleshooter(const struct run *r);

/* Takes `trigger` to state `to`; `why` (may be NULL) goes into `outcome` when that is an end. */
void run_enter(struct run *r, const char *to, const char *trigger, const char *why);
/* An event, and the count that it leads to. */
void run_note_failure(struct run *r, const char *action, const char *reason, unsigned long count);
bool run_is_terminal(const struct run *r, const char *state);

/* dispatch.c: gives requests their ids, makes them outstanding and the array to print. */
void dispatch_requests(struct run *r, const struct step *step, const struct moment *moment);
void dispatch_troubleshooter(struct run *r, const char *trigger, unsigned long count);
/* Outstanding actions without an answer, as they were printed; only the first when some have one.
 */
void print_outstanding(struct run *r);
void print_done(struct run *r, const char *result, const char *reason, const char *question);
/* The event of an action that is outstanding from now on, counted; the caller may put more into it.
 */
json *dispatch_note(struct run *r, const json *action);
/* Where the script of that state (or declared part) and attempt writes to. */
char *dispatch_log(struct run *r, const char *state, unsigned long attempt);

/* ownership.c */
/* Takes, renews or respects the lease. -1: ERR_STATE when another holds it. */
int run_claim(struct run *r, struct error *err);
/* When what is printed asks nobody for anything, nobody holds the work item. */
void run_give_back(struct run *r);
/* The call has failed: who has only begun to hold the work item does not, or a run that could not
 * begin would keep everybody else from it. */
void run_let_go(struct run *r);
/* The script of this action is being run. */
bool run_at_work(const struct run *r, const json *action);

/* troubleshooter.c */
/* The trigger that is due before anything more is dispatched, or NULL; *count is its counter. */
const char *trouble_due(const struct run *r, const struct step *step, unsigned long *count);
/* The answer of an outstanding troubleshooter is there. */
enum advance trouble_answered(struct run *r, const json *action, struct error *err);
/* The cause of an outstanding, unanswered call was removed by hand: nobody needs to be called. */
void trouble_drop_if_gone(struct run *r);
/* The troubleshooter asked the user: once that is answered, it is called again. */
enum advance trouble_question(struct run *r, struct error *err);
/* It was called too often (question_trigger without a question): says so until a person has set the
 * calls back. */
enum advance trouble_given_up(struct run *r, struct error *err);
/* Calls it, unless it has been called too often without anything else getting done. */
enum advance trouble_call(
	struct run *r, const char *trigger, unsigned long count, struct error *err);

/* operation.c: notes with the coming saves what this call was given, so that it can be done again.
 */
int run_operation(struct run *r, struct error *err);

/* drop.c: what people's changes have made pointless is not waited for any more. */
void run_drop_other_states(struct run *r);
int run_drop_dealt_with(struct run *r, struct error *err);

/* effects.c */
int run_effects(struct run *r, unsigned effects, struct error *err);

#endif
