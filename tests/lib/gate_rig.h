/*
 * gate_rig.h: a pool directory with its store, and other processes that use its gate.
 */
#ifndef DT_TESTS_GATE_RIG_H
#define DT_TESTS_GATE_RIG_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include "src/base/clock.h"
#include "src/sys/process.h"
#include "src/merge/gate.h"
#include "src/store/disk.h"
#include "tests/lib/git_rig.h"

extern struct pool pool; /* of pool_rig.c */

void pool_use(const char *state, const char *dir);
void gate_begin(void);
int gate_setup(void **state);
int gate_teardown(void **state);

#define GATE_TEST(name) UNIT_TEST(name, gate_setup, gate_teardown)

/* Another process with its own store. It sends a byte to `ready` when the test may go on. */
struct other {
	pid_t pid;
	int ready;
};

struct other other(void (*body)(int ready, void *data), void *data);

/* False: it ended without sending. */
bool wait_ready(struct other *o);
void send_ready(int ready);

/* Its exit status, or 128 + the signal. */
int exit_status(struct other *o);

/* Takes the gate, sends ready, and waits. */
void hold(int ready, void *data);
struct other holder(void);
struct gate *gate_now(unsigned wait_ms);

/* The gate is free, and this is its next fence; it is free afterwards. */
void gate_fence_is(int64_t fence);
/* How many hold it or wait; the holder. */
size_t gate_length(struct gate_holder *first, int64_t *fence);
/* It is free, and this was its last fence. */
void gate_is_free(int64_t last);
/* It cannot be taken now: err. */
bool gate_is_held(void);
void kill_holder(struct other *o);

#endif
