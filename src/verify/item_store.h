/*
 * item_store.h: a store of one work item in memory, for one user: without locks, leases, guards,
 * blobs and faults. Its history is a single commit with all events.
 */
#ifndef DT_VERIFY_ITEM_STORE_H
#define DT_VERIFY_ITEM_STORE_H

#include "src/base/vec.h"
#include "src/store/store.h"

#define ITEM_DOCUMENT "doc/" /* the key of the document, whatever its name */

struct item_key {
	const char *key;
	struct buf value;
	int64_t mod; /* 0: deleted, or a document that is not committed */
};

struct item_store {
	struct store_backend backend; /* the first member */
	struct store store;           /* `ops` may be replaced */
	struct arena arena;           /* of the keys, without their values */
	VEC(struct item_key) keys;
	int64_t rev, seq;
	struct buf events; /* as in the history, each on a line */
};

extern const struct store_methods item_store_methods;

void item_store_init(struct item_store *s);
void item_store_copy(struct item_store *s, const struct item_store *from); /* `s` is not in use */
void item_store_release(struct item_store *s);
/* Past the history. A value is copied. */
void item_store_put(struct item_store *s, struct str key, struct str value, int64_t mod);

#endif
