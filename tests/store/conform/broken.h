/*
 * broken.h: backends with one fault each, in front of the one in memory. They prove that the suite
 * finds such a fault, and by the check that is meant for it.
 */
#ifndef DT_TESTS_BROKEN_H
#define DT_TESTS_BROKEN_H

#include "tests/store/conform/conformance.h"

struct broken {
	const char *fault;                        /* what it does */
	const char *meant;                        /* the name of the check that must find it */
	void (*spoil)(struct store_ops *ops);     /* puts its own in place of some of front_ops */
	enum store_mode (*mode)(enum store_mode); /* how it is opened; NULL: as asked */
};
/* Ends with one without a fault. */
extern const struct broken broken_txns[], broken_leases[], broken_views[];

#endif
