/*
 * scenes.h: the scenes of the sweep: a verb in a prepared directory. Each is a row in scenes.c.
 */
#ifndef DT_TESTS_CRASH_SCENES_H
#define DT_TESTS_CRASH_SCENES_H

#include "tests/crash/trace.h"

struct scene {
	const char *name;
	const char *setup; /* for sh, in the repository's directory */
	const char
		*words[14]; /* of the verb, NULL-ended; `@x` is the file x beside the documents */
	const char *input;
	unsigned repeat; /* repetitions of the input; 0: once */
	enum trace_who who;
	const char *id;  /* the owner of its document; NULL: T-1 */
	bool full;       /* in the full set only: another verb shows the same in the quick one */
	bool lax;        /* it makes more durable than necessary: such a call may fail */
	bool talks;      /* it prints its progress before the error */
	bool gives_back; /* the fence differs from that of the undisturbed run when the first claim
			    fails */
	unsigned most;   /* kill points in the quick set; 0: all that matter */
	bool sample; /* takes long: in the quick set a third of the calls that can fail do; a random
			sample has half as many points */
	bool varies; /* it waits for children: its number of calls varies */
	bool prints; /* its output is the same when it is run again */
	bool keeps;  /* each run keeps the refused text, and records a refusal */
	int status;  /* its exit status */
	int again;   /* its exit status when everything is done already; 0: as the first time */
	const char *probe; /* for sh, in the repository's directory: further state to compare */
};

extern const struct scene scenes[]; /* ended by a NULL name */

#endif
