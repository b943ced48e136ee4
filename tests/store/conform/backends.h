/*
 * backends.h: what the conformance suite runs on beside the file backend.
 */
#ifndef DT_TESTS_BACKENDS_H
#define DT_TESTS_BACKENDS_H

#include "tests/store/conform/conformance.h"

/* ---- in memory ---- */

/* As simple as a store can be: what the file backend is compared with, and what the broken backends
 * are made of. Stores live as long as it does. */
struct memory *memory_new(void);
void memory_free(struct memory **m);
/* Another client. */
int memory_open(struct memory *m, const char *ns, enum store_mode mode, struct store **out,
	struct error *err);

/* ---- a store in front of another one ---- */

/* front_ops hands everything on. A wrapper copies the table and puts functions of its own in. */
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
	const char *fault;                        /* what it does */
	const char *meant;                        /* the name of the check that must find it */
	struct store_ops with;                    /* in place of those of front_ops */
	enum store_mode (*mode)(enum store_mode); /* how it is opened; NULL: as asked */
};
/* Ends with one without a fault. */
extern const struct broken broken_backends[];

#endif
