/*
 * run_state.h: state.json of an issue: which stage runs, with a heartbeat every 60 s. A state whose
 * heartbeat is older than 5 minutes is stale.
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

/* Writes a heartbeat of now; s->heartbeat is not used. */
int run_state_write(const char *dir, const struct run_state *s, struct error *err);
/* *found is false without a file. Texts are in the arena. */
int run_state_read(struct arena *a, const char *dir, const char *issue, struct run_state *out,
	bool *found, struct error *err);
/* The heartbeat is more than HEARTBEAT_STALE_S old. One in the future is not stale. */
bool run_state_stale(const struct run_state *s, int64_t now);
/* All states, sorted by issue; none without the directory. Invalid ones are left out and counted in
 * *skipped (may be NULL). */
int run_state_list(struct arena *a, const char *dir, struct run_state **out, size_t *n,
	size_t *skipped, struct error *err);

#endif
