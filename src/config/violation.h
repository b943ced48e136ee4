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
bool violation_find(const char *name, enum violation *out);

struct violation_report {
	enum violation violation;
	const char *policy; /* its name; may be NULL */
	const char *rule, *reason;
	const char *word, *path; /* NULL: the rule is not about one */
};

/*
 * `wished`: the violation's word, NULL: that of the policy. 1: denied, *out is in the arena; 0: not
 * denied. -1: nothing ran and *err says why, or it is not a report: the command must not count as
 * passed.
 */
int violation_read(struct arena *a, const json *report, const char *wished,
	struct violation_report *out, struct error *err);
/* `RULE 'WORD' -> PATH: REASON` on one line; absent parts are left out. */
char *violation_line(struct arena *a, const struct violation_report *v);
/* The same of what violation_json() returned. */
char *violation_json_line(struct arena *a, const json *j);
/* {"status":"failed","policy":..,"violation":..,"rule":..,"word":..,"path":..,"reason":..}: the
 * last line of the answer of a denied script (docs/action-protocol.md). */
json *violation_json(const struct violation_report *v);

#endif
