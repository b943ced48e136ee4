#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "tests/bench/bench.h"

double bench_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void sort(struct arena *a, double **values, const double *from, unsigned n)
{
	*values = memcpy(arena_alloc(a, n * sizeof(**values)), from, n * sizeof(**values));
	qsort(*values, n, sizeof(**values), by_value);
}

void bench_row(const char *name, const double *a, const double *b, unsigned n, const char *target)
{
	CLEANUP(arena_release) struct arena arena = {0};
	double *of_a, *of_b, *pairs = arena_alloc(&arena, n * sizeof(*pairs));
	unsigned middle = (n - 1) / 2, most = (n - 1) * 95 / 100;

	for (unsigned i = 0; i < n; i++)
		pairs[i] = a[i] / b[i];
	sort(&arena, &of_a, a, n);
	sort(&arena, &of_b, b, n);
	qsort(pairs, n, sizeof(*pairs), by_value);
	printf("%-42s %8.2f %8.2f %8.2f %8.2f %7.2fx %7.2fx  %s\n", name, of_a[middle], of_a[most],
		of_b[middle], of_b[most], of_a[middle] / of_b[middle], pairs[middle], target);
	fflush(stdout);
}
