/*
 * redo.h: operations done again by the real engine, on a disk in memory, from what the journal
 * keeps with them.
 */
#ifndef DT_REDO_H
#define DT_REDO_H

#include "context/file.h"
#include "src/verify/operation.h"
#include "src/workflow/workflow.h"

struct redo {
	const struct history_place *place;
	struct disk *disk;
	char *path; /* of the document on it: as when it was written */
	char *journal;
	struct arena arena, workflow_arena;
	struct workflow workflow;
	char workflow_sum[64];    /* empty: none was loaded */
	size_t at;                /* the journal on the disk is the recorded one up to here */
	struct context_file file; /* stays open from one operation to the next */
	struct error err;         /* why the last one made fewer commits; code 0: it did not fail */
};

void redo_init(struct redo *r, const struct history_place *place);
void redo_close(struct redo *r); /* for CLEANUP */

/*
 * Does it. 1: the disk has what came of it; 0: it cannot be done again, nothing was done. -1: the
 * disk in memory fails.
 */
int redo_operation(
	struct redo *r, struct str journal, const struct operation *op, struct error *err);
/* What the journal on the disk has behind r->at. */
int redo_result(struct redo *r, struct buf *out, struct error *err);
/* The disk as the recorded operation left it. */
int redo_take(struct redo *r, struct str journal, const struct operation *op, struct error *err);

#endif
