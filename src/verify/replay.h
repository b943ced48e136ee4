/*
 * replay.h: verifies a history. The real engine runs each operation again on a disk in memory, from
 * what the journal keeps about it; the documents and events after each commit must be the recorded
 * ones, byte for byte.
 */
#ifndef DT_VERIFY_REPLAY_H
#define DT_VERIFY_REPLAY_H

#include "src/verify/history.h"

enum { REPLAY_KEPT_KINDS = 32 };

struct replay_result {
	const struct history_place *place;
	size_t commits, events; /* in the journal */
	size_t old;             /* of the events: of format 1, which nothing was kept with */
	size_t redone;          /* commits that were made again */
	struct replay_kept {    /* commits that were taken as they are, by what was done */
		const char *op;
		size_t n;
	} taken[REPLAY_KEPT_KINDS];
	size_t n_taken;
	size_t differ; /* commits that came out otherwise */
	struct replay_difference {
		int64_t rev;
		const char *op, *by; /* by: the version that wrote it; NULL: this one */
		const char *what;    /* "document", "events", or why there was no such commit */
		size_t line;         /* 0: nothing was saved */
		const char *recorded, *replayed;
	} first;
};

/* Texts come out in the arena. -1: ERR_INPUT as store_log_next(); a difference is no error. */
int replay_verify(struct arena *a, const struct history_place *place, struct replay_result *v,
	struct error *err);
/* For people, or one JSON line. */
void replay_report(const struct replay_result *v, bool as_json, struct buf *out);

#endif
