/*
 * violation.h: what a command that was denied means to a pipeline, and what the report of
 * `dev-team policy exec --report FILE` says of one. For all that run commands: the step machine and
 * whoever else goes through a workflow.
 */
#ifndef DT_VIOLATION_H
#define DT_VIOLATION_H

#include "src/base/json.h"

enum violation {
	VIOLATION_HARD_ABORT,      /* the whole run fails at once */
	VIOLATION_VALIDATION_FAIL, /* the command has failed: the workflow's own way to mend it */
};
const char *violation_name(enum violation v);
/* False: no such word; *out is VIOLATION_HARD_ABORT then. */
bool violation_named(const char *name, enum violation *out);

struct breach {
	enum violation violation;
	const char *policy; /* its name; NULL: not said */
	const char *rule, *reason;
	const char *word, *path; /* NULL: the rule is not about one */
};

/*
 * `wished`: the word for what it means, NULL: as the policy says. 1: denied, *out in the arena; 0:
 * nothing was. -1: nothing ran, *err says why; or this is no report, so that nothing is known. Then
 * nothing may pass.
 */
int breach_read(struct arena *a, const json *report, const char *wished, struct breach *out,
	struct error *err);
/* `RULE 'WORD' -> PATH: REASON` on one line; what is not there is left out. */
char *breach_line(struct arena *a, const struct breach *b);
/* The same of what breach_json() gave, or somebody else of that form. */
char *breach_told(struct arena *a, const json *j);
/* {"status":"failed","policy":..,"violation":..,"rule":..,"word":..,"path":..,"reason":..}: as the
 * last line of a script's answer it says so (docs/action-protocol.md). */
json *breach_json(const struct breach *b);

#endif
