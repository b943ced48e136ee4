/*
 * memory_store.h: stores in memory: the reference for the other backends, and the base of the
 * broken ones of the conformance suite.
 */
#ifndef DT_TESTS_MEMORY_STORE_H
#define DT_TESTS_MEMORY_STORE_H

#include "src/store/store.h"

/* It owns its stores. */
struct memory *memory_store_new(void);
/*
 * As bad as the interface allows: revisions are skipped, there is no hold, a document over 1 MiB
 * does not fit, one request in four gets lost or its answer does (STORE_UNKNOWN), and one watch in
 * five is dropped (STORE_COMPACTED).
 */
struct memory *memory_store_new_nasty(uint64_t seed);
/*
 * The product keeps its stores in a nasty memory, but for long documents, which all processes share
 * that name the same directory: DIR/.memory is replaced after each change. Documents, events and
 * blobs are files too. An edited document is the commit of another client when an operation names
 * it.
 */
void memory_store_share(const char *dir);
void memory_store_free(struct memory **m);
struct store_backend *memory_store_backend(struct memory *m);
/* Another client of the store NS, which is DIR/NAME for store_open(). */
int memory_store_open(struct memory *m, const char *ns, enum store_mode mode, struct store **out,
	struct error *err);
/* The next open of the store makes a new one. */
void memory_store_drop(struct memory *m, const char *dir, const char *name);

#endif
