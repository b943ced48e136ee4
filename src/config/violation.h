/*
 * violation.h: what a denied command means for a run, and how the report of
 * `dev-team policy exec --report FILE` is read. For the rooms that run commands.
 */
#ifndef DT_VIOLATION_H
#define DT_VIOLATION_H

#include "src/base/json.h"

enum violation {
	VIOLATION_HARD_ABORT,      /* the whole run fails at once */
	VIOLATION_VALIDATION_FAIL, /* the command has failed, and the workflow handles it */
};
const char *violation_name(enum violation v);
/* False: an unknown word; *out is then VIOLATION_HARD_ABORT. */
bool violation_named(const char *name, enum violation *out);

struct breach {
	enum violation violation;
	const char *policy; /* its name; may be NULL */
	const char *rule, *reason;
	const char *word, *path; /* NULL: the rule is not about one */
};

/*
 * `wished`: the violation's word, NULL: that of the policy. 1: denied, *out is in the arena; 0: not
 * denied. -1: nothing ran and *err says why, or it is no report: the command must not count as
 * passed.
 */
int breach_read(struct arena *a, const json *report, const char *wished, struct breach *out,
	struct error *err);
/* `RULE 'WORD' -> PATH: REASON` on one line; absent parts are left out. */
char *breach_line(struct arena *a, const struct breach *b);
/* The same of an object of the form of breach_json(). */
char *breach_told(struct arena *a, const json *j);
/* {"status":"failed","policy":..,"violation":..,"rule":..,"word":..,"path":..,"reason":..}: the
 * last line of the answer of a denied script (docs/action-protocol.md). */
json *breach_json(const struct breach *b);

#endif
