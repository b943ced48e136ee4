/*
 * pool.h: the cost of the worktree pool beside plain git, and beside a stat of the directories.
 */
#ifndef DT_TESTS_BENCH_POOL_H
#define DT_TESTS_BENCH_POOL_H

/* Prints a row each. In directory `dir`, where HOME is; `program` is dev-team. */
void bench_pool(const char *dir, const char *program);

#endif
