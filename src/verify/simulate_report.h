/*
 * simulate_report.h: what a simulation has found, for people and for programs.
 */
#ifndef DT_SIMULATE_REPORT_H
#define DT_SIMULATE_REPORT_H

#include "src/verify/simulate.h"

/* `trace`: of the run that broke a promise, in lines; empty when none did. */
void simulate_report(struct buf *out, const struct simulate_plan *plan,
	const struct simulate_sums *s, struct str trace);
/* One line, an object. */
void simulate_report_json(struct buf *out, const struct simulate_plan *plan,
	const struct simulate_sums *s, struct str trace);

#endif
