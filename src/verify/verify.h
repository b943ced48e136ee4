/*
 * verify.h: a history proved: each operation is done again by the real engine on a disk in memory,
 * from what the journal keeps with it, and the document after each commit is compared byte for byte
 * with the one that was. So are the events.
 */
#ifndef DT_VERIFY_H
#define DT_VERIFY_H

#include "src/verify/history.h"

enum { TAKEN_KINDS = 32 };

struct verified {
	const struct history_place *place;
	size_t commits, events; /* in the journal */
	size_t old;             /* of the events: of format 1, which nothing was kept with */
	size_t redone;          /* commits that were made again */
	struct taken {          /* commits that were taken as they are, by what was done */
		const char *op;
		size_t n;
	} taken[TAKEN_KINDS];
	size_t n_taken;
	size_t differ; /* commits that came out otherwise */
	struct difference {
		int64_t rev;
		const char *op, *by; /* by: the version that wrote it; NULL: this one */
		const char *what;    /* "document", "events", or why there was no such commit */
		size_t line;         /* 0: nothing was saved */
		const char *recorded, *replayed;
	} first;
};

/* Texts come out in the arena. -1: ERR_INPUT as store_log_next(); a difference is no error. */
int verify_history(
	struct arena *a, const struct history_place *place, struct verified *v, struct error *err);
/* For people, or one JSON line. */
void verify_tell(const struct verified *v, bool as_json, struct buf *out);

#endif
