/*
 * pipeline_report.h: what loading the resources of a pipeline reports: an event for faults of some
 * classes, and how many issues the pipeline works on at one time.
 */
#ifndef DT_PIPELINE_REPORT_H
#define DT_PIPELINE_REPORT_H

#include "src/base/json.h"
#include "src/config/resource.h"

/* Emits UnknownHarness, CyclicIndependenceConstraint and DatabaseIsolationRequired for the faults
 * of the pipelines, to the directory of artifacts. */
int pipeline_report_faults(
	struct arena *a, const char *dir, const struct resources *r, struct error *err);

/* {pipeline, maxConcurrent, source, clampedFrom, plans, harnesses}, the fields of the event. */
json *pipeline_parallelism_json(const struct pipeline *p, const struct parallelism *r);
/* Writes resolvedParallelism.PIPELINE in DIR/_pipeline/runtime.json and emits ResolvedParallelism.
 * `dir` NULL: nothing is written. */
int pipeline_report_parallelism(
	const char *dir, const struct pipeline *p, const struct parallelism *r, struct error *err);

#endif
