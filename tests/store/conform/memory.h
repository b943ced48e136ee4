/*
 * memory.h: the store as simple as it can be, all in memory: what the file backend is compared
 * with, and what the broken backends are made of.
 */
#ifndef DT_TESTS_MEMORY_H
#define DT_TESTS_MEMORY_H

#include "tests/store/conform/conformance.h"

/* Stores live as long as it does. */
struct memory *memory_new(void);
void memory_free(struct memory **m);
/* Another client. */
int memory_open(struct memory *m, const char *ns, enum store_mode mode, struct store **out,
	struct error *err);

#endif
