/*
 * backends.h: the backends of the conformance suite other than the file backend.
 */
#ifndef DT_TESTS_BACKENDS_H
#define DT_TESTS_BACKENDS_H

#include "tests/lib/memory_store.h"
#include "tests/store/conform/conformance.h"

/* ---- a store in front of another one ---- */

/* front_ops forwards everything. A wrapper copies the table and replaces functions. */
struct front {
	struct store base;
	struct store *inner; /* closed with it */
	int64_t n;           /* for the wrapper's own use */
	int64_t m;
};

extern const struct store_ops front_ops;

/* Takes `inner`. `ops` must outlive it. */
struct store *front_new(struct store *inner, const struct store_ops *ops);
static inline struct front *front_of(struct store *s)
{
	return (struct front *)s;
}

/* ---- broken backends ---- */

struct broken {
	const char *fault;                        /* description */
	const char *meant;                        /* name of the check that must find it */
	struct store_ops with;                    /* replaces functions of front_ops */
	enum store_mode (*mode)(enum store_mode); /* opens it; NULL: as usual */
};
/* The last entry has no fault. */
extern const struct broken broken_backends[];

#endif
