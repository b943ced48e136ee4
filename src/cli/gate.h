/*
 * gate.h: the parts of `dev-team gate`, one function a subcommand. For the files gate*.c alone.
 */
#ifndef DT_CLI_GATE_H
#define DT_CLI_GATE_H

#include "src/cli/pool.h"
#include "src/merge/gate.h"
#include "src/merge/requeue.h"

/* The first four stand where pool_of() looks for them. */
enum gate_option {
	GATE_RESOURCES = POOL_RESOURCES,
	GATE_POOL = POOL_NAME,
	GATE_REPO = POOL_REPO,
	GATE_ARTIFACTS = POOL_ARTIFACTS,
	GATE_WHO,
	GATE_WAIT,
	GATE_TTL,
	GATE_TARGET,
	GATE_ATTEMPTS,
	GATE_AGAIN,
	GATE_ISSUE,
	GATE_FENCE,
	GATE_FORCE,
	GATE_JSON,
};

/* A whole number min..max of option `k`; `otherwise` when it was not given. -1: ERR_USAGE. */
int gate_number(struct invocation *in, enum gate_option k, int64_t min, int64_t max,
	int64_t otherwise, int64_t *out, struct error *err);
/* --wait in milliseconds and --ttl in seconds. */
int gate_times(struct invocation *in, unsigned *wait_ms, int *ttl_s, struct error *err);
json *gate_paths_json(const char *const *paths);

int gate_run_run(struct invocation *in, struct error *err);
int gate_run_status(struct invocation *in, struct error *err);
int gate_run_rebase(struct invocation *in, struct error *err);
int gate_run_release(struct invocation *in, struct error *err);

#endif
