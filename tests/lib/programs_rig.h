/*
 * programs_rig.h: a policy that allows every program with a row, so that only the program's own
 * rules decide. The tree is that of policy_rig.h.
 */
#ifndef DT_TESTS_PROGRAMS_RIG_H
#define DT_TESTS_PROGRAMS_RIG_H

#include "tests/lib/policy_rig.h"

int programs_make(void **state);

#endif
