/*
 * pool_rig.h: git_rig.h and a pool of its repository `r`, whose worktrees are in `pool`.
 */
#ifndef DT_TESTS_POOL_RIG_H
#define DT_TESTS_POOL_RIG_H

#include "src/worktree/pool.h"
#include "tests/lib/git_rig.h"

extern struct pool pool;
extern struct worktree_pool_spec spec;

void pool_again(void);
int pool_setup(void **state);
int pool_teardown(void **state);

/* 0, or -1 with err. */
int take(const char *branch, struct allocation *of, bool *created);
struct allocation have(const char *branch);
bool refused(int rc, enum err code, const char *part);

#define POOL_TEST(name) UNIT_TEST(name, pool_setup, pool_teardown)

#endif
