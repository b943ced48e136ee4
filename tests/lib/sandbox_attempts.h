/*
 * sandbox_attempts.h: attempts inside a sandbox, and the layers that refuse each of them.
 */
#ifndef DT_TESTS_SANDBOX_ATTEMPTS_H
#define DT_TESTS_SANDBOX_ATTEMPTS_H

#include "tests/lib/sandbox_rig.h"

/* One attempt. It returns 0 or -1 with errno. */
struct attempt {
	const char *name;
	int (*attempt)(void);
	unsigned by; /* layers that each refuse it alone; 0: it must succeed */
	int error;   /* if it matters, else 0 */
};

extern struct attempt attempts[ROWS];
extern size_t n_attempts;

/* Some of them, and their helper functions. */
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
