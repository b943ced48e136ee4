/*
 * tell.h: the events of resources that are refused: UnknownHarness, CyclicIndependenceConstraint,
 * DatabaseIsolationRequired.
 */
#ifndef DT_PIPELINE_REPORT_H
#define DT_PIPELINE_REPORT_H

#include "src/config/resource.h"

/* To the artifacts folder `dir`: of each pipeline, what its faults are of these. */
int pipeline_report_faults(
	struct arena *a, const char *dir, const struct resources *r, struct error *err);

#endif
