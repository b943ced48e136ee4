/*
 * resources.h: the cost of loading a directory of resources inside a process.
 */
#ifndef DT_TESTS_BENCH_RESOURCES_H
#define DT_TESTS_BENCH_RESOURCES_H

/* Writes 100 files below `dir` and prints the time to load them, and to read them alone. */
void bench_resources(const char *dir);

#endif
