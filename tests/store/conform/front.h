/*
 * front.h: a store in front of another one. front_ops hands everything on; who wants to come in
 * between copies the table, puts functions of its own in, and wraps the store in it.
 */
#ifndef DT_TESTS_FRONT_H
#define DT_TESTS_FRONT_H

#include "src/store/store.h"

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

#endif
