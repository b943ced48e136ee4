/*
 * pool.h: what the worktree pool costs beside plain git, and beside looking at the folders alone.
 */
#ifndef DT_TESTS_BENCH_POOL_H
#define DT_TESTS_BENCH_POOL_H

/* Prints a row each. In folder `dir`, where HOME is; `program` is dev-team. */
void bench_pool(const char *dir, const char *program);

#endif
