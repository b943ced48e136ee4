/*
 * crowd.h: what the two crowds share: processes, each with random choices of its own that are the
 * same in every run, and memory in which they leave what they did.
 */
#ifndef DT_TESTS_CROWD_H
#define DT_TESTS_CROWD_H

#include "src/base/buf.h"

enum { CROWD = 8, CROWD_OPS = 1000 };

/* How many each process does; fewer with sanitizers. */
unsigned crowd_ops(void);

struct dice {
	uint64_t state;
};
/* 0 to n - 1. */
unsigned dice_throw(struct dice *d, unsigned n);

/* Memory that forked processes share; never given back. */
void *crowd_share(size_t n);
/* Runs member(i, arg) in CROWD processes at once. How many came to their end. */
unsigned crowd_run(void (*member)(unsigned i, void *arg), void *arg);
/* Ends a member: something is not as it must be. */
_Noreturn void crowd_fail(unsigned i, const char *fmt, ...) PRINTF(2, 3);

/* All on one store; all on a hundred work items, by the verbs. `dir`: an empty folder. */
void crowd_on_a_store(const char *dir);
void crowd_on_items(const char *dir);

#endif
