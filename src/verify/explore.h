/*
 * explore.h: runs every combination of the outcomes of a workflow's actions through the real
 * engine, and reports what is wrong with the workflow. docs/explore.md.
 */
#ifndef DT_VERIFY_EXPLORE_H
#define DT_VERIFY_EXPLORE_H

#include "src/workflow/workflow.h"

enum { EXPLORE_STATES = 200000 };

struct explore_options {
	unsigned changes; /* how many the troubleshooter may make in one run */
	size_t states;    /* stop when there are more */
	size_t trace;     /* print the script of this finding only; 0: print the report */
	bool json;
};

/* 0: no findings, or the script was printed. ERR_CHECK: findings, or the graph is not complete. -1:
 * there is no such finding, or no script shows it. */
int explore_workflow(const struct workflow *w, const struct explore_options *options,
	struct buf *out, struct error *err);

#endif
