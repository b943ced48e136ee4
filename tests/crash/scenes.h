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
		*words[12]; /* of the verb, NULL-ended; `@x` is the file x beside the documents */
	const char *input;
	unsigned repeat; /* the input so many times; 0: once */
	enum trace_who who;
	const char *id;    /* whose document it is */
	unsigned most;     /* kill points in the quick set; 0: all that matter */
	bool varies;       /* it waits for children: its number of calls is not fixed */
	const char *probe; /* for sh, in the repository's folder: what else must come out alike */
};

extern const struct scene scenes[]; /* ended by a NULL name */

/* Where a scene plays, and what must come out of it. */
struct stage {
	const struct scene *scene;
	char *dir;             /* scratch; below it live, before, after */
	char *live, *document; /* the folder played in, the document's path */
	const char *argv[14];
	struct buf input;
	struct buf old, new;  /* the document before and after an undisturbed run; missing: empty */
	struct buf states[8]; /* the whole documents between the two */
	size_t n_states;
	struct buf picture;    /* all state after it */
	struct buf probe;      /* output of the scene's probe after it */
	unsigned calls;        /* system calls of an undisturbed run */
	unsigned first_effect; /* the first of them that could change anything */
	struct arena arena;
};

/* Prepares a scene and plays it once undisturbed. 0; 1 when tracing is not permitted; -1 and a text
 * in `fault` when the undisturbed run itself goes wrong. */
int stage_open(struct stage *s, const struct scene *scene, struct buf *fault);
void stage_close(struct stage *s);
/* Lays the prepared place anew. */
void stage_restore(struct stage *s);
/* The verb under trace; t says what happens to it. */
int stage_trace(struct stage *s, struct trace *t);

/* Each adds what is wrong to `fault`. */
void check_document(struct stage *s, struct buf *fault);
/* Runs the verb again, undisturbed, and compares all state with the undisturbed run's. */
void check_rerun(struct stage *s, struct buf *fault);
/* Compares all state without a further run. */
void check_end(struct stage *s, struct buf *fault);

#endif
