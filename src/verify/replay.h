/*
 * replay.h: verifies a history. The engine runs each recorded operation again, with an
 * environment and a store that answer from the journal; the document and the events of each commit
 * must be the recorded ones, byte for byte. Operations that cannot run again are taken as recorded
 * and counted (struct replay_taken).
 */
#ifndef DT_VERIFY_REPLAY_H
#define DT_VERIFY_REPLAY_H

#include "src/base/vec.h"
#include "src/verify/history.h"

/* The first commit that came out otherwise. */
struct replay_difference {
	int64_t rev;
	const char *op, *by; /* by: the version that wrote it; NULL: this one */
	const char *what;    /* "document", "events", or why there was no such commit */
	size_t line;         /* 0: nothing was saved */
	const char *recorded, *replayed;
};

/* Commits that were taken as recorded, by their operation. */
struct replay_taken {
	const char *op;
	size_t n;
};

struct replay_result {
	const struct history_place *place;
	size_t commits, events;  /* in the journal */
	size_t replayed, differ; /* commits that ran again; that came out otherwise */
	VEC(struct replay_taken) taken;
	struct replay_difference first; /* valid if `differ` is not 0 */
};

/* Texts and lists are in the arena. -1: ERR_INPUT as store_history_next(); a difference is no
 * error. */
int replay_verify(struct arena *a, const struct history_place *place, struct replay_result *v,
	struct error *err);
/* For people, or one JSON line. */
void replay_report(const struct replay_result *v, bool as_json, struct buf *out);

#endif
