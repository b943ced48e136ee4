/*
 * sandbox_attempts.h: what is tried inside a sandbox, and which layers each refuse it.
 */
#ifndef DT_TESTS_SANDBOX_ATTEMPTS_H
#define DT_TESTS_SANDBOX_ATTEMPTS_H

#include "tests/lib/sandbox_rig.h"

/* One thing tried inside. Each gives 0 or -1 with errno. */
struct attempt {
	const char *name;
	int (*attempt)(void);
	unsigned by; /* layers of which each refuses it alone; 0: it must work */
	int error;   /* where it matters, else 0 */
};

extern const struct attempt attempts[];
extern const size_t n_attempts;

/* Some of them, and what they are made of. */
int close_it(int fd);
int from_call(long rc);
const char *in_tree(const char *name);
const char *in_outside(const char *name);
int read_outside(void);
int write_outside(void);
int connect_tcp(void);
int send_udp(void);
int raw_packets(void);
int write_inside(void);
int write_to_tmp(void);
int read_names(void);
int run_a_program(void);

#endif
