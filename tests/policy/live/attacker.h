/*
 * attacker.h: what a hostile program of the repository does. The test program is its own attacker:
 * it is copied into the tree and started there with the attack's name.
 */
#ifndef DT_TESTS_ATTACKER_H
#define DT_TESTS_ATTACKER_H

#include "src/base/base.h"

/* Where the test's lures are, as arguments of the attack: "PORT UDP-PORT PID SHM DIR". */
struct lure_args {
	int tcp, udp, pid, shm;
	const char *dir;
};

/* Exit status of the attack; 2: there is none of that name. Prints `escaped: WHAT` for what worked.
 */
int attack(const char *name, const struct lure_args *to);

#endif
