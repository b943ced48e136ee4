/*
 * replay_internal.h: the recorded operations of a history, and running them again. For the replay
 * files and their tests.
 */
#ifndef DT_VERIFY_REPLAY_INTERNAL_H
#define DT_VERIFY_REPLAY_INTERNAL_H

#include "src/base/clock.h"
#include "src/verify/replay.h"
#include "src/workflow/workflow.h"

/* ---- replay_operation.c ---- */

/* One commit, copied. */
struct recorded_commit {
	int64_t rev;
	size_t from, to; /* its bytes in the journal */
	json *note, *events;
	char ts[CLOCK_TEXT];
	const char *op; /* of the note; "" when none was said */
	int64_t part;   /* 1: the first commit of an operation */
	char key[264];  /* of the changed document; empty: none */
	bool changed, there;
	struct buf document; /* after this commit */
};

struct recorded_operation {
	struct recorded_commit *list;
	size_t n, cap;
	struct buf before; /* the document before the operation; empty: none */
};

/* Reads a history one operation at a time. Zero it first. */
struct recorded_operations {
	struct history history;
	struct buf journal; /* its bytes */
	struct recorded_operation now;
	bool ahead; /* history.commit is the first of the next one */
	size_t commits, events;
	size_t old; /* of the events: of format 1, before the first commit */
};

int recorded_open(
	struct recorded_operations *o, const struct history_place *place, struct error *err);
/* 1: o->now is the next one; 0 at the end; -1 as store_log_next(). */
int recorded_next(struct recorded_operations *o, struct error *err);
void recorded_close(struct recorded_operations *o); /* for CLEANUP */

static inline const struct recorded_commit *recorded_last(const struct recorded_operation *op)
{
	return &op->list[op->n - 1];
}

/* The next commit's bytes, up to and with its line; cuts them off *rest. False: none is whole. */
bool journal_next_region(struct str *rest, struct str *region);
/* Adds the lines of a region that are events. */
void journal_region_events(struct str region, struct buf *out);

/* ---- replay.c ---- */

struct replay {
	const struct history_place *place;
	struct disk *disk;
	char *path; /* of the document, as it was recorded */
	char *journal;
	struct arena arena, workflow_arena;
	struct workflow workflow;
	char workflow_sum[64];    /* empty: none is loaded */
	size_t at;                /* the journal on the disk is the recorded one up to here */
	struct context_file file; /* stays open from one operation to the next */
	struct error err;         /* why the last operation failed; code 0: it did not */
};

void replay_init(struct replay *r, const struct history_place *place);
void replay_close(struct replay *r); /* for CLEANUP */

/* Runs the operation. 1: the result is on the disk; 0: it cannot be run again, and nothing was
 * done. -1: the disk in memory fails. */
int replay_run(struct replay *r, struct str journal, const struct recorded_operation *op,
	struct error *err);
/* What the journal on the disk has after r->at. */
int replay_written(struct replay *r, struct buf *out, struct error *err);
/* Puts the disk into the recorded state after the operation. */
int replay_adopt(struct replay *r, struct str journal, const struct recorded_operation *op,
	struct error *err);

#endif
