/*
 * stage.h: where a scene plays, and what must come out of it.
 */
#ifndef DT_TESTS_CRASH_STAGE_H
#define DT_TESTS_CRASH_STAGE_H

#include "src/sys/digest.h"
#include "tests/crash/scenes.h"

enum { STAGE_DOCUMENTS = 64 };

struct stage {
	const struct scene *scene;
	char *dir;  /* scratch; below it: live, before, killed */
	char *live; /* the folder played in */
	char *state, *folder, *document;
	const char *argv[16];
	struct buf input;

	/* Of an undisturbed run. */
	struct buf picture, probe, out;
	unsigned calls;        /* its system calls */
	unsigned first_effect; /* the first of them that could change anything */
	/* The documents that may be seen: that before, and each that the run commits. */
	char known[STAGE_DOCUMENTS][DIGEST_TEXT];
	size_t n_known;
	char last[DIGEST_TEXT]; /* of the document at its end */
	unsigned by_hand;       /* commits that are an edit by hand */

	struct arena arena;
};

/* Prepares a scene and plays it once undisturbed. 0; 1 when tracing is not permitted; -1 and a text
 * in `fault` when the undisturbed run itself goes wrong. */
int stage_open(struct stage *s, const struct scene *scene, struct buf *fault);
void stage_close(struct stage *s);
/* Lays a place anew: "before" as it was prepared, "killed" as stage_keep() found it. */
void stage_restore(struct stage *s, const char *which);
void stage_keep(struct stage *s);
/* The verb under trace; t says what happens to it. */
int stage_trace(struct stage *s, struct trace *t);
/* For sh, in the repository's folder; ends the program when it fails. `out` may be NULL. */
void stage_shell(struct stage *s, const char *script, struct buf *out);

#endif
