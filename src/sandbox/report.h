/*
 * report.h: what `policy exec --report FILE` leaves for machines. The command may be able to write
 * FILE itself, so it is made anew when nothing of the run is left, and put in place by a rename.
 */
#ifndef DT_SANDBOX_REPORT_H
#define DT_SANDBOX_REPORT_H

#include "src/sandbox/execute.h"

/* What is known when it is written; each may be NULL. */
struct execution_report {
	const struct policy *policy;
	const struct verdict *verdict;
	const struct execution_end *end;
	const struct error *error; /* it could not be run */
};

/* Tries before anything is started whether FILE can be written. `path` NULL: no report. */
int execution_report_try(struct arena *a, const char *path, struct error *err);
int execution_report_write(
	struct arena *a, const char *path, const struct execution_report *o, struct error *err);

#endif
