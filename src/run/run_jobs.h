/*
 * run_jobs.h: the actions of one array, done at the same time, each in a child process of its own.
 */
#ifndef DT_RUN_JOBS_H
#define DT_RUN_JOBS_H

#include "src/run/run_part.h"

enum { JOBS_AT_ONCE = 16 };

/* How a part ended. */
struct outcome {
	int rc;
	struct error err; /* rc -1 */
	char word[WORD_SIZE];
};

/* Called for each part as it ends. */
typedef void part_ended(void *data, const struct part *p, const struct outcome *o);

/*
 * Does all of them. One that fails does not stop those that run; -1 then has the first failure.
 * After an interrupt (interrupt.h) no more are begun, and those that run are ended.
 */
int jobs_run(const struct stage *s, const struct part *parts, size_t n, part_ended *ended,
	void *data, struct error *err);

#endif
