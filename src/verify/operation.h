/*
 * operation.h: one operation on a work item as the journal has it: the commits that it made, with
 * their bytes. And the regions of a journal in which commits stand.
 */
#ifndef DT_REPLAY_OPERATION_H
#define DT_REPLAY_OPERATION_H

#include "src/base/clock.h"
#include "src/verify/history.h"

/* One commit, copied. */
struct once {
	int64_t rev;
	size_t from, to; /* its bytes in the journal */
	json *note, *events;
	char ts[CLOCK_TEXT];
	const char *op; /* of the note; "" when none was said */
	int64_t part;   /* 1: begins an operation */
	char key[264];  /* of the document that it changed; empty: none */
	bool changed, there;
	struct buf document; /* as it is from this commit on */
};

struct operation {
	struct once *list;
	size_t n, cap;
	struct buf before; /* the document as it was when it began; empty when there was none */
};

/* All commits of one history, an operation at a time. Zero it first. */
struct operations {
	struct history history;
	struct buf journal; /* its bytes */
	struct operation now;
	bool ahead; /* history.commit is the first of the next one */
	size_t commits, events;
	size_t old; /* of the events: of format 1, before the first commit */
};

int operations_open(struct operations *o, const struct history_place *place, struct error *err);
/* 1: o->now is the next one; 0 at the end; -1 as store_log_next(). */
int operations_next(struct operations *o, struct error *err);
void operations_close(struct operations *o); /* for CLEANUP */

static inline const struct once *operation_last(const struct operation *op)
{
	return &op->list[op->n - 1];
}

/* The next commit's bytes, up to and with its line; cuts them off *rest. False: none is whole. */
bool region_next(struct str *rest, struct str *region);
/* Adds the lines of a region that are events. */
void region_events(struct str region, struct buf *out);

#endif
