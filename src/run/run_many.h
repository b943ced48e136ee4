/*
 * run_many.h: several work items at one time: each is a `dev-team run` of its
 * own, in a worktree of its own, at most as many at once as the pipeline's
 * maxConcurrent. For run.c.
 */
#ifndef DT_RUN_MANY_H
#define DT_RUN_MANY_H

#include "src/base/buf.h"
#include "src/config/resource.h"

struct many {
	const char *const *ids;
	size_t n;
	unsigned at_once;           /* 1..CONCURRENT_MAX */
	const char *artifacts;      /* folder of the events */
	const char *const *options; /* what each of them gets: `--name=value`; n_options */
	size_t n_options;
};

/*
 * Runs them in the order of `ids`, one failing or not. Adds one line: an array
 * with an object an item: id, result (`success`, `failed`, `stopped`), reason.
 * 0: all succeeded; ERR_CHECK: some failed; -1: one could not be run to an end,
 * or an interrupt.
 */
int run_many(struct arena *a, const struct many *m, struct buf *out, struct error *err);

/*
 * `text` (of --max-concurrent; NULL: not said), else what the pipeline (NULL:
 * none) resolves to, which is noted and told, else 1.
 */
int run_at_once(struct arena *a, const char *text, const struct resources *r,
	const struct pipeline *p, const char *artifacts, unsigned *out, struct error *err);

#endif
