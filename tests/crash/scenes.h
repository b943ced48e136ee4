/*
 * scenes.h: what the sweep runs: a verb in a prepared place. To add one: a row in scenes.c.
 */
#ifndef DT_TESTS_CRASH_SCENES_H
#define DT_TESTS_CRASH_SCENES_H

#include "tests/crash/trace.h"

struct scene {
	const char *name;
	const char *setup; /* for sh, in the repository's folder */
	const char
		*words[14]; /* of the verb, NULL-ended; `@x` is the file x beside the documents */
	const char *input;
	unsigned repeat; /* the input so many times; 0: once */
	enum trace_who who;
	const char *id;  /* whose document it is */
	bool full;       /* in the full set only: another verb shows the same in the quick one */
	bool lax;        /* it makes more durable than it has to: there a call may fail */
	bool talks;      /* it tells how far it is, before what went wrong */
	bool gives_back; /* what it was first to hold, when it fails: the next fence is another one
			  */
	unsigned most;   /* kill points in the quick set; 0: all that matter */
	bool sample;     /* in the quick set, a third of the calls that could fail do */
	bool varies;     /* it waits for children: its number of calls is not fixed */
	bool prints;     /* what it prints is the same when it is run again */
	bool keeps;      /* each run keeps what was offered, and notes a refusal */
	int status;      /* its exit status */
	int again;       /* its exit status when all was done before; 0: as the first */
	const char *probe; /* for sh, in the repository's folder: what else must come out alike */
};

extern const struct scene scenes[]; /* ended by a NULL name */

#endif
