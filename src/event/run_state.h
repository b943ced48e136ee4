/*
 * run_state.h: state.json of an issue: which stage runs, and that it still does. A heartbeat each
 * 60 s; older than 5 minutes is stale.
 */
#ifndef DT_RUN_STATE_H
#define DT_RUN_STATE_H

#include "src/event/artifact.h"

enum { HEARTBEAT_S = 60, HEARTBEAT_STALE_S = 300 };

enum run_status { RUN_PENDING, RUN_RUNNING, RUN_SUCCESS, RUN_FAILURE, RUN_SKIPPED };

struct run_state {
	const char *issue, *stage;
	enum run_status status;
	int64_t started, heartbeat; /* seconds since 1970 */
	/* The rest may be NULL or 0. */
	const char *harness, *model, *worktree;
	unsigned port;
};

const char *run_status_word(enum run_status status);

/* Heartbeat is set to now in the file, not in *s. */
int run_state_write(const char *dir, const struct run_state *s, struct error *err);
/* *there false and 0 when there is none. Texts in the arena. */
int run_state_read(struct arena *a, const char *dir, const char *issue, struct run_state *out,
	bool *there, struct error *err);
/* More than HEARTBEAT_STALE_S old. A heartbeat of the future is as fresh as one of now. */
bool run_state_stale(const struct run_state *s, int64_t now);
/* All that there are, sorted by issue; none when there is no folder. What is no state is told by
 * *skipped (may be NULL) and left out. */
int run_state_list(struct arena *a, const char *dir, struct run_state **out, size_t *n,
	size_t *skipped, struct error *err);

/*
 * The beat of a stage that runs in another process: whoever waits for that calls heartbeat_tick()
 * now and then. No thread, and no beat at the start: the first is due
 * one interval later. What `beat` fails at is not this one's to tell: it beats again.
 */
struct heartbeat {
	int64_t next; /* milliseconds of clock_ticks(); 0: not started */
	int (*beat)(void *data, struct error *err);
	void *data;
};

/* -1: ERR_STATE, it was started already. */
int heartbeat_start(struct heartbeat *h, int64_t now, int (*beat)(void *data, struct error *err),
	void *data, struct error *err);
/* Beats when it is time; milliseconds until the next, -1 when it was not started. */
int64_t heartbeat_tick(struct heartbeat *h, int64_t now);
void heartbeat_stop(struct heartbeat *h); /* also a second time */

#endif
