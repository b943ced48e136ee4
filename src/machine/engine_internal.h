/* engine_internal.h: shared by the files of the engine. */
#ifndef DT_ENGINE_INTERNAL_H
#define DT_ENGINE_INTERNAL_H

#include "context/lease.h"
#include "src/machine/engine.h"

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
	json *unanswered;  /* the ids of the last save; NULL: not known */
	json *outstanding; /* as in the document; action_store() writes it back */
	json *print;       /* the array to print */
	bool returned;     /* `--returned` was given and is not used up yet */
	bool progress;     /* an answer came since the last array, and none of them was a failure */
	bool failure;      /* a failure was noted in this call */
	bool booted;       /* the run began in this call, which is not saved yet */
	unsigned done;     /* of enum effect: carried out in this attempt, and not saved yet */
	unsigned earlier;  /* ... in an attempt before it, whose save was refused */
	struct lease_holder holder; /* of the work item; ours if `holds` */
	bool holds;
};

/* engine.c */
const char *engine_state(const struct engine_run *r);
bool engine_is_terminal(const struct workflow *w, const char *state);
/* Drops the outstanding action that writes `section`. */
void engine_drop_section(struct engine_run *r, const char *section);
/* Drops the actions without an answer; the answers of the state's own actions stay. */
void engine_drop_unanswered(struct engine_run *r);
/* Enters state `to`. `why` (may be NULL) becomes the `outcome` if that is a terminal state. */
void engine_enter(struct engine_run *r, const char *to, const char *trigger, const char *why);
/* Shows a line to people. */
void engine_say(struct engine_run *r, const char *text);

/* dispatch.c: gives requests their ids and makes them outstanding and printed. */
void engine_dispatch(struct engine_run *r, const struct step *step, const struct step_context *c);
void engine_dispatch_troubleshooter(struct engine_run *r, const char *trigger, unsigned long count);
/* Prints the outstanding actions without an answer again; only the first if some have one. */
void engine_dispatch_again(struct engine_run *r);
void engine_dispatch_done(
	struct engine_run *r, const char *result, const char *reason, const char *question);
/* Asks for an outstanding action again under a new id. */
void engine_dispatch_reissue(struct engine_run *r, json *action);

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
/* It asked the user, or reached the limit of its calls: waits for the answer, or for a person who
 * resets the limit. */
enum advance engine_troubleshooter_wait(struct engine_run *r);

/* effects.c: carries out a set of enum effect and notes each outcome. */
int engine_carry_out(struct engine_run *r, unsigned effects, struct error *err);

#endif
