/*
 * bench.h: the clock, a row of the table, and the parts of the bench. Only ratios of what runs in
 * turn can be compared.
 */
#ifndef DT_TESTS_BENCH_H
#define DT_TESTS_BENCH_H

#include "src/base/buf.h"

double bench_now(void); /* milliseconds */

/* Prints the median and the 95 % quantile of both, the ratio of the medians and the median of the
 * ratios. a[i] and b[i] were measured in turn. */
void bench_row(const char *name, const double *a, const double *b, unsigned n, const char *target);

/* Rows of the worktree pool beside plain git, and beside a stat of the directories. In directory
 * `dir`, where HOME is; `program` is dev-team. */
void bench_pool(const char *dir, const char *program);
/* Rows of copying a database of 1 GiB beside cp and sync, and of handing a branch over beside
 * `bare`; how many of their libraries a stage without a database loads. */
void bench_databases(const char *dir, const char *program, const char *bare);
/* A row of loading 100 resources below `dir` inside a process, beside reading them alone. */
void bench_resources(const char *dir);
/* Rows of reading and checking large manifests, beside parsing their files, and of a step of one.
 */
void bench_manifests(const char *dir, const char *program);

/*
 * Makes a work item with a long history, quickly, by the real engine in memory: a run that goes
 * from one state to the other and back until it has `events` events, with an answer of about `size`
 * bytes each time. `path` is the document's, absolute; its directory must be there.
 */
void long_history(const char *path, unsigned events, size_t size);

#endif
