/*
 * run_state.h: state.json of an issue: which stage runs, and that it still does. A heartbeat each
 * 60 s; older than 5 minutes is stale.
 */
#ifndef DT_RUN_STATE_H
#define DT_RUN_STATE_H

#include "src/artifact/artifact.h"

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

#endif
