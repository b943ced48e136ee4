/*
 * resources.h: what the reading of a folder of resources costs inside a process.
 */
#ifndef DT_TESTS_BENCH_RESOURCES_H
#define DT_TESTS_BENCH_RESOURCES_H

/* Lays 100 files below `dir` and prints what loading them takes, and reading them alone. */
void bench_resources(const char *dir);

#endif
