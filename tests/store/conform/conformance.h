/*
 * conformance.h: the requirements of src/store/store.h as named checks against the interface alone.
 * A backend for another engine is correct when it passes all of them.
 */
#ifndef DT_TESTS_CONFORMANCE_H
#define DT_TESTS_CONFORMANCE_H

#include "src/store/store.h"

/* A way to open stores. A NULL member is not supported; checks that need it are skipped. */
struct backend {
	const char *name;
	void *self;
	/* Opens the store of that name, creating it if necessary, like store_open(). A second open
	 * of the name is another client of the same store. */
	int (*open)(const struct backend *b, const char *ns, enum store_mode mode,
		struct store **out, struct error *err);
	/* Sets the engine's clock forward, or back. */
	void (*advance)(const struct backend *b, int64_t seconds);
	/* Runs work(arg) and kills it at its n-th call of the disk, from 1; what was not durable is
	 * lost. `arg` is memory that outlives it. False: it finished first. */
	bool (*doom)(const struct backend *b, unsigned n, void (*work)(void *), void *arg);
	/* Edits the file of document NAME as a user does; text NULL: removes it. */
	void (*by_hand)(
		const struct backend *b, const char *ns, const char *name, const struct str *text);
	bool shared;        /* processes that a check forks reach the same stores */
	bool no_hold;       /* STORE_HOLD is STORE_WRITE */
	bool drops_watches; /* a watch may be COMPACTED at any time, and work when it is repeated */
};

/* The result of one check. */
struct verdict {
	const char *name;
	const char *why; /* NULL: passed */
	bool skipped;
};

/*
 * Runs the checks whose names contain `only` (NULL: all), each in a store of its own, and calls
 * `tell` after each.
 */
void conformance(const struct backend *b, const char *only,
	void (*tell)(void *to, const struct verdict *v), void *to);

/*
 * Does `steps` random operations on both, the same for the same seed, and compares all results
 * except the numbers of revisions. False with the first difference in `why`.
 */
bool conformance_compare(const struct backend *one, const struct backend *other, uint32_t seed,
	unsigned steps, struct buf *why);

/* Gets any key, documents with their texts. */
enum store_status conformance_get(
	struct store *s, struct arena *a, const char *key, struct store_kv *kv, struct error *err);

/* Time at which every check starts: 2026-01-01T00:00:00Z. */
#define CONFORMANCE_TIME ((int64_t)1767225600)

#endif
