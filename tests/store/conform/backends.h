/*
 * backends.h: the backends of the conformance suite other than the file backend.
 */
#ifndef DT_TESTS_BACKENDS_H
#define DT_TESTS_BACKENDS_H

#include "tests/lib/memory_store.h"
#include "tests/store/conform/conformance.h"

/* A backend with one fault. */
struct broken {
	const char *fault;                        /* description */
	const char *meant;                        /* name of the check that must find it */
	struct store_methods with;                /* replaces operations of the one in memory */
	enum store_mode (*mode)(enum store_mode); /* opens it; NULL: as usual */
};
/* The last entry has no fault. */
extern const struct broken broken_backends[];

#endif
