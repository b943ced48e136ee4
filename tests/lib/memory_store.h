/*
 * memory_store.h: stores in memory: the reference for the other backends.
 */
#ifndef DT_TESTS_MEMORY_STORE_H
#define DT_TESTS_MEMORY_STORE_H

#include "src/store/store.h"

/* It owns its stores. */
struct memory *memory_store_new(void);
void memory_store_free(struct memory **m);
/* Another client of the store NS. */
int memory_store_open(struct memory *m, const char *ns, enum store_mode mode, struct store **out,
	struct error *err);
/*
 * The product keeps its stores in a memory that all processes share which name the same directory:
 * DIR/.memory gets a record of each change. Documents, events and blobs are files too; without its
 * file of events a store is a new one. An edited document is the commit of another client when an
 * operation names it.
 *
 * It is as bad as the interface allows: there is no hold, a document over 1 MiB does not fit, one
 * request in four gets lost, and one answer in four (STORE_UNKNOWN), and one watch in five is
 * dropped (STORE_COMPACTED). Revisions are skipped if the test does not show them.
 */
void memory_store_share(const char *dir, bool skips);

#endif
