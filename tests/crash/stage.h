/*
 * stage.h: the scenes of the sweep, each a verb in a prepared directory; and the directory of a
 * scene, with its expected result.
 */
#ifndef DT_TESTS_CRASH_STAGE_H
#define DT_TESTS_CRASH_STAGE_H

#include "src/sys/digest.h"
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
	bool lax;        /* it makes more durable than necessary: such a call may fail */
	bool talks;      /* it prints its progress before the error */
	bool gives_back; /* the fence differs from that of the undisturbed run when the first claim
			    fails */
	unsigned most;   /* kill points in the quick set; 0: all that matter */
	bool proof;      /* in no random sample: it takes long, and another verb shows the same */
	bool slow;       /* a random sample has half as many faults */
	bool varies;     /* it waits for children: its number of calls varies */
	bool prints;     /* its output is the same when it is run again */
	bool explains;   /* what explains a failure is left out where it cannot be read */
	bool counts;     /* questions to git and the forge are counted: saved answers are not asked
			    for again */
	bool only_kills; /* a failing call has another end */
	bool keeps;      /* each run keeps the refused text, and records a refusal */
	int status;      /* its exit status */
	int again;       /* its exit status when everything is done already; 0: as the first time */
	/* An event of the client: its output contains this text when all was done. A failed event
	 * also exits with status 0, and reports the failure in its output or does nothing. "": no
	 * text shows success. */
	const char *told;
	const char *next; /* for sh: what the client does next, where it does not repeat the verb */
	const char *probe; /* for sh, in the repository's directory: further state to compare */
};

extern const struct scene scenes[]; /* ended by a NULL name */

enum { STAGE_DOCUMENTS = 64 };

#define STAGE_ASKED "asked" /* in the live directory: a line of each question to the forge */

/* Questions to git about the work tree, and to the remote and the forge. */
struct asked {
	unsigned local, remote;
};

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
	struct asked asked;     /* if the scene counts questions */
	struct asked again;     /* by a second run of the verb */

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
/* Questions to git and the forge since the scene began; 0 if it does not count them. */
struct asked stage_asked(struct stage *s);
struct asked stage_asked_since(struct stage *s, struct asked before);
/* Runs the verb, or what comes next, undisturbed. */
struct run;
void stage_run(struct stage *s, struct run *r);
/* Runs sh in the repository's directory; ends the program when it fails. `out` may be NULL. */
void stage_shell(struct stage *s, const char *script, struct buf *out);

#endif
