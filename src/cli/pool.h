/*
 * pool.h: the parts of `dev-team pool`, one function a subcommand. For the files pool*.c alone.
 */
#ifndef DT_CLI_POOL_H
#define DT_CLI_POOL_H

#include "src/base/json.h"
#include "src/cli/cli.h"
#include "src/worktree/pool.h"

enum pool_option {
	POOL_RESOURCES,
	POOL_NAME,
	POOL_REPO,
	POOL_ARTIFACTS,
	POOL_BASE,
	POOL_TARGET,
	POOL_SPARSE,
	POOL_PORTS,
	POOL_PORT,
	POOL_COUNT,
	POOL_SLOTS,
	POOL_SLOT_PORTS,
	POOL_PARENT,
	POOL_RUN,
	POOL_HOLDER,
	POOL_ISSUE,
	POOL_APPLY,
	POOL_CONFIRM,
	POOL_JSON,
};

/* The pool that the command line names. What could not be repaired is said. */
int pool_of(struct invocation *in, struct pool *p, struct error *err);
/* A whole number min..max of option `k`; `otherwise` when it was not given. -1: ERR_USAGE. */
int pool_number(struct invocation *in, enum pool_option k, unsigned min, unsigned max,
	unsigned otherwise, unsigned *out, struct error *err);
/* The spec of the pool that the command line names. */
int pool_spec(struct invocation *in, struct worktree_pool_spec *out, struct error *err);

/* "making", "live", "removing" */
const char *state_word(enum allocation_state s);
json *allocation_json(const struct allocation *of);
/* "3453" or "3453-3455"; "-" where it has none. */
void ports_text(struct buf *out, const struct allocation *of);
void put_line(struct buf *out, json *j); /* takes j */

/* Each has the signature of verb.run; words[0] is its own name. */
int pool_run_allocate(struct invocation *in, struct error *err);
int pool_run_adopt(struct invocation *in, struct error *err);
int pool_run_reclaim(struct invocation *in, struct error *err);
int pool_run_list(struct invocation *in, struct error *err);
int pool_run_sweep(struct invocation *in, struct error *err);
int pool_run_audit(struct invocation *in, struct error *err);
int pool_run_port(struct invocation *in, struct error *err);

#endif
