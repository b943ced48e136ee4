/*
 * worker_pool.h: which of several items may start now, and what has become of each: the highest
 * score first, never more at one time than allowed. It starts nothing itself, reads no clock and
 * calls nobody: who drives it asks, starts, and says how it ended.
 *
 *     worker_pool_init(...);
 *     while (!worker_pool_over(p)) {
 *             while (worker_pool_next(p, &item))
 *                     start it, or say WORKER_DEFERRED at once;
 *             wait for one, and say how it ended;
 *     }
 *
 * Ownership: all in the arena; items are borrowed and must outlive the pool.
 */
#ifndef DT_WORKER_POOL_H
#define DT_WORKER_POOL_H

#include "src/base/buf.h"

struct worker_item {
	const char *id;
	double score; /* the higher the earlier; what is no number comes last */
};

/* Deferred: not admitted; nobody tries it again here. */
enum worker_outcome { WORKER_SUCCEEDED, WORKER_FAILED, WORKER_DEFERRED, WORKER_OUTCOMES };

struct worker_end {
	const struct worker_item *item;
	const char *why; /* may be NULL */
};

struct worker_ends { /* in the order in which they ended */
	struct worker_end *list;
	size_t n;
};

struct worker_pool {
	struct arena *arena;
	const struct worker_item **queue; /* sorted */
	bool *running;                    /* of the same place in the queue */
	size_t n, next;
	unsigned max, in_flight, peak;
	struct worker_ends ended[WORKER_OUTCOMES];
};

/* Items of one score stay in their order. -1: ERR_USAGE, max_concurrent is 0, whatever the items.
 */
int worker_pool_init(struct arena *a, struct worker_pool *p, const struct worker_item *items,
	size_t n, unsigned max_concurrent, struct error *err);
/* The next one, in flight from now on. False: none is left, or as many as may run do. */
bool worker_pool_next(struct worker_pool *p, const struct worker_item **item);
/* Of one that is in flight. `why` is copied. */
void worker_pool_ended(struct worker_pool *p, const struct worker_item *item,
	enum worker_outcome how, const char *why);
/* None is left and none is in flight. */
bool worker_pool_over(const struct worker_pool *p);

#endif
