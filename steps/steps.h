/*
 * steps.h: the table of steps, and what they share.
 */
#ifndef DT_STEPS_H
#define DT_STEPS_H

#include "src/machine/step.h"

/* The section of the result of `validating`. */
#define STEPS_VALIDATION "Validate Result"

#define X(name) extern const struct step step_##name;
#include "steps/list.h"
#undef X
extern const struct step steps_declared; /* of every state that the workflow declares */
extern const struct step steps_graph;    /* of the state of a manifest */

extern const struct step *const steps[]; /* in the order of list.h, NULL-ended */

/* The step of `state`, or NULL. */
const struct step *steps_find(const struct workflow *w, const char *state);
/* The table in the form that workflow_check() reads; ended by a NULL state. */
const struct workflow_builtin *steps_builtin(void);

enum { STEPS_VALIDATE_S = 1800 }; /* unless the workflow sets another limit */

/* Requests. Each is added to c->requests; the pointer is valid until the next one. */
/* The message is `DOING ID`, the argument the id. Of STEPS_READS() sections, STEPS_FIXES stands for
 * Fix 1, Fix 2, ... as far as they exist. NULL, nothing is added: the answer, section `writes`, is
 * there, or some answers are and a request too: what is missing is requested one at a time. */
struct step_request *steps_request_agent(struct step_context *c, const char *doing,
	const char *agent, const char *skill, const char *writes, const char *format,
	const char *const *reads);
/* The role that reviews. */
const char *steps_reviewer(const struct step_context *c);
#define STEPS_READS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define STEPS_FIXES      CONTEXT_FIX "N"
#define STEPS_LANDING    "Landing" /* why the branch did not land; left out if it has not tried */
/* A person approves `what`. NULL as above. */
struct step_request *steps_request_approval(
	struct step_context *c, const char *what, const char *writes, const char *format);
/* A work item of its own. NULL as above. */
struct step_request *steps_request_child(
	struct step_context *c, const struct declared_action *item, const char *format);
/* The shell command `rest`, under the workflow's policy. `name` is what the workflow's `except`
 * calls it. NULL as above. */
struct step_request *steps_request_command(struct step_context *c, const char *name,
	const char *rest, unsigned timeout_s, const char *writes);
/* The command that validates the item's directory. */
const char *steps_validate_command(const struct step_context *c);
/* The validation and then `rest`, as the command of the script `name`: the validation is under the
 * policy, also if `name` is not. NULL as above. */
struct step_request *steps_request_validated(struct step_context *c, const char *name,
	const char *rest, unsigned timeout_s, const char *writes);
void steps_add_reads(struct step_context *c, struct step_request *r, const char *section);

/* True if `section` has an answer: that of a script only with its action (may be NULL), to which
 * the result was recorded, because anyone can write the section. */
bool steps_has_answer(
	const struct step_context *c, const char *section, bool script, const json *action);
/* The result word of the answer in `section`: as recorded with its action (may be NULL), else that
 * of its text, as verdict_text_word() says; "" if neither. */
const char *steps_word(
	const struct step_context *c, const char *section, const char *format, const json *action);
/* True if `word` is the result of the answer in `section`. For decide(). */
bool steps_answer_is(const struct step_context *c, const char *section, const char *word);
/* The name of the fix section that is due: `Fix N`. */
const char *steps_fix_section(struct step_context *c);
/* `text` as one word of a shell command. */
const char *steps_quote(struct step_context *c, const char *text);
/* `text`, cut at 1 MiB with a note: what is copied from one section into another must not drive the
 * document over its limit. */
struct str steps_clip(struct step_context *c, struct str text);
/* Adds a section to the text of Last Failure. */
void steps_add_failure(struct step_context *c, struct buf *failures, const char *section);

/* Where each item of the declared state is; sets what request() sets, but for the requests. */
const enum item_status *steps_declared_status(struct step_context *c);

/* For another attempt of a declared state with an order: removes the answers that are not good, and
 * those of the items behind them or behind one that has no answer. False: there are none such. */
bool steps_declared_again(struct step_context *c);

/* The results of decide(). */
/* The answer in `section` claims `kinds` (enum evidence_kind). Returns whether that is verified: if
 * not, decide() returns, and is called again. */
bool steps_claim(struct step_context *c, const char *section, unsigned kinds);
void steps_set_trigger(struct step_context *c, const char *trigger);
void steps_set_failed(struct step_context *c, const char *section, const char *reason);

#endif
