/*
 * rebase_rig.h: a bare remote `org/o.git`, a clone `r`, and a worktree `wt` of branch feat/x that
 * has been pushed; main has a newer commit.
 */
#ifndef DT_TESTS_REBASE_RIG_H
#define DT_TESTS_REBASE_RIG_H

#include "src/merge/land.h"
#include "tests/lib/gate_rig.h"

extern struct allocation wt;
extern struct land done;

int rebase_setup(void **state);

#define REBASE_TEST(name) UNIT_TEST(name, rebase_setup, gate_teardown)

/* Another user merges `file` into main. */
void main_gets(const char *file, const char *text);
int try_rebase_of(struct land_ask *ask);
int try_rebase(void);
const char *rebase(void); /* its word */
const char *look(void);

#endif
