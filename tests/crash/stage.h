/*
 * stage.h: the directory of a scene, and its expected result.
 */
#ifndef DT_TESTS_CRASH_STAGE_H
#define DT_TESTS_CRASH_STAGE_H

#include "src/sys/digest.h"
#include "tests/crash/scenes.h"

enum { STAGE_DOCUMENTS = 64 };

struct stage {
	const struct scene *scene;
	const char *id; /* the owner of its document */
	char *dir;      /* scratch; below it: made, live, before, killed */
	char *live;     /* the directory in use */
	char *state, *directory, *document;
	const char *argv[16];
	struct buf input;

	/* Of an undisturbed run. */
	struct buf picture, probe, out;
	unsigned calls;        /* its system calls */
	unsigned first_effect; /* the first of them that could change anything */
	/* The documents that may be seen: the first, and each one that the run commits. */
	char known[STAGE_DOCUMENTS][DIGEST_TEXT];
	size_t n_known;
	char last[DIGEST_TEXT]; /* of the document at its end */
	unsigned by_hand;       /* commits that are an edit by hand */

	struct arena arena;
};

/* Prepares a scene and runs it once undisturbed. 0; 1 when tracing is not permitted; -1 and a text
 * in `fault` when the undisturbed run itself fails. */
int stage_open(struct stage *s, const struct scene *scene, struct buf *fault);
void stage_close(struct stage *s);
/* After the last scene: removes what they have in common. */
void stage_end(void);
/* Restores a directory: "before" as it was prepared, "killed" as stage_keep() found it. */
void stage_restore(struct stage *s, const char *which);
void stage_keep(struct stage *s);
/* Runs the verb under trace; t says how it is disturbed. */
int stage_trace(struct stage *s, struct trace *t);
/* Runs sh in the repository's directory; ends the program when it fails. `out` may be NULL. */
void stage_shell(struct stage *s, const char *script, struct buf *out);

#endif
