/*
 * policy_report.h: what `policy exec --report FILE` leaves for machines. The command may be able to
 * write FILE itself, so it is made anew when nothing of the run is left, and put in place by a
 * rename.
 */
#ifndef DT_CLI_POLICY_REPORT_H
#define DT_CLI_POLICY_REPORT_H

#include "src/cli/policy.h"
#include "src/sandbox/execute.h"

/* What is known when it is written; members that are not may be NULL. */
struct policy_outcome {
	const struct policy *policy;
	const struct verdict *verdict;
	const struct execution_end *end;
	const struct error *error; /* it could not be run */
};

/* Whether it will be possible: asked before anything is started. `path` may be NULL: no report. */
int policy_report_try(struct arena *a, const char *path, struct error *err);
int policy_report_write(
	struct arena *a, const char *path, const struct policy_outcome *o, struct error *err);

#endif
