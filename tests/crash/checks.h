/*
 * checks.h: what must be so after a fault. Each adds what is wrong to `fault`.
 */
#ifndef DT_TESTS_CRASH_CHECKS_H
#define DT_TESTS_CRASH_CHECKS_H

#include "tests/crash/stage.h"

/* What the figures at the end count. */
struct figures {
	unsigned kills, failures, looks, shorts, pairs;
	unsigned torn;  /* a file was seen that no commit left */
	unsigned lost;  /* an answer was acknowledged and is not there, or the end is another one */
	unsigned twice; /* an action was dispatched twice under one lease, or counted twice */
};
extern struct figures figures;

/* Files right after it: whole, and known; what the run told the world is committed. */
void check_files(struct stage *s, const struct trace *t, struct buf *fault);
/* Runs the verb again, undisturbed, and compares all state with the undisturbed run's. */
void check_rerun(struct stage *s, struct buf *fault);
/* Plays the history through the engine: each document must come out as it was saved. */
void check_history(struct stage *s, struct buf *fault);
/* Compares all state without a further run. */
void check_end(struct stage *s, struct buf *fault);

/* All state as a text in which two runs with the same end are alike: files of the state folder,
 * events without their numbers, no journal lines of the store, no revision. */
void picture_add(const struct stage *s, struct buf *out);
/* The sum of all bytes of the state folder, and of all that differs with every run left out. */
void picture_sum(const struct stage *s, char sum[DIGEST_TEXT]);
/* The sum of a document without its revision; "" of an absent one. */
void document_sum(struct str text, char sum[DIGEST_TEXT]);
void document_now(const struct stage *s, char sum[DIGEST_TEXT]);
/* Adds each document of the journal to s->known; -1 and *err when it cannot be read whole. `last`:
 * the sum of the last one. */
int journal_read(struct stage *s, bool learn, char last[DIGEST_TEXT], struct error *err);

#endif
