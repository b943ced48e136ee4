/*
 * programs_rig.h: a policy that allows every program that there is a row for, so that what is said
 * about a line is said by the program's own rules. The tree is that of policy_rig.h.
 */
#ifndef DT_TESTS_PROGRAMS_RIG_H
#define DT_TESTS_PROGRAMS_RIG_H

#include "tests/lib/policy_rig.h"

int programs_make(void **state);

#endif
