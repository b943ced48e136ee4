/*
 * steps.h: the table of steps, and what they share.
 */
#ifndef DT_STEPS_H
#define DT_STEPS_H

#include "src/machine/step.h"

#define X(name) extern const struct step step_##name;
#include "steps/list.h"
#undef X
extern const struct step step_declared; /* serves every state that the workflow declares */

extern const struct step *const steps[]; /* in the order of list.h, NULL-ended */

/* The step that serves `state`, or NULL. */
const struct step *step_for(const struct workflow *w, const char *state);
/* The same table as the workflow check reads it; ended by a NULL state. */
const struct serves *steps_serve(void);

/* Requests. Each is added to m->requests; the pointer is good until the next one. */
struct request *ask_agent(struct moment *m, const char *agent, const char *skill, const char *args,
	const char *writes, const char *format);
struct request *ask_script(
	struct moment *m, const char *command, unsigned timeout_s, const char *writes);
/* The shell command `rest` in the repository, under the workflow's policy. `name`: as the
 * workflow's `except` calls it. */
struct request *ask_command(struct moment *m, const char *name, const char *rest,
	unsigned timeout_s, const char *writes);
void ask_reads(struct moment *m, struct request *r, const char *section);
void ask_reads_if_there(struct moment *m, struct request *r, const char *section);
void ask_reads_fixes(
	struct moment *m, struct request *r); /* Fix 1, Fix 2, ... as far as they are there */

/* The result word of the answer in `section`: as recorded, else its JSON status; NUL-ended, "" when
 * none. */
const char *answer_word(const struct moment *m, const char *section);
const char *fix_section(struct moment *m); /* name of the fix section that is due: `Fix N` */

/*
 * `text`, cut at 1 MiB with a word about it: for what is copied from one section into another, so
 * that large answers cannot drive the document over its limit.
 */
struct str clipped(struct moment *m, struct str text);

/* What decide() says. */
void gives(struct moment *m, const char *trigger);
void could_not(struct moment *m, const char *section, const char *reason);

#endif
