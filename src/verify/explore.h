/*
 * explore.h: walks every combination of outcomes of every action of a workflow with the real
 * engine, and tells what is wrong with the workflow. docs/explore.md.
 */
#ifndef DT_EXPLORE_EXPLORE_H
#define DT_EXPLORE_EXPLORE_H

#include "src/workflow/workflow.h"

enum { EXPLORE_STATES = 200000 };

struct explore_wish {
	unsigned changes;    /* how often in one run the troubleshooter may change things */
	size_t states;       /* the walk stops when there are more */
	unsigned long trace; /* print the script of this finding alone; 0: the report */
	bool json;
};

/* 0: free of findings, or the script was printed. ERR_CHECK: there are findings, or the walk was
 * not finished. -1: there is no such finding, or no script that shows it. */
int explore_workflow(const struct workflow *w, const struct explore_wish *wish, struct buf *out,
	struct error *err);

#endif
