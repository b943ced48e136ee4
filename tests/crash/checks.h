/*
 * checks.h: checks after a fault. Each adds the failures to `fault`.
 */
#ifndef DT_TESTS_CRASH_CHECKS_H
#define DT_TESTS_CRASH_CHECKS_H

#include "tests/crash/stage.h"

/* The counts of the final figures. */
struct figures {
	unsigned kills, failures, looks, shorts, pairs;
	unsigned torn;  /* a file was seen that no commit had written */
	unsigned lost;  /* an acknowledged answer is missing, or the end is another one */
	unsigned twice; /* an action was dispatched twice under one lease, or counted twice */
	unsigned again; /* evidence was saved, and collected a second time */
};
extern struct figures figures;

/* The output says that all was done. */
bool has_told(const struct stage *s, const struct trace *t);
/* Checks files right after the fault: complete and known; the effects of the run are committed. */
void check_files(struct stage *s, const struct trace *t, struct buf *fault);
/* Runs the verb again, undisturbed, and compares all state with that of the undisturbed run. */
void check_rerun(struct stage *s, struct buf *fault);
/* Replays the history through the engine: each document must equal the saved one. */
void check_history(struct stage *s, struct buf *fault);
/* Compares all state without a further run. */
void check_end(struct stage *s, struct buf *fault);

/* All state as a text that is equal for two runs with the same end: files of the state directory,
 * events without their numbers, no journal lines of the store. */
void picture_add(const struct stage *s, struct buf *out);
/* The sum of all bytes of the state directory, without what differs with every run. */
void picture_sum(const struct stage *s, char sum[DIGEST_TEXT]);
/* The sum of the document; "" of an absent one. */
void document_now(const struct stage *s, char sum[DIGEST_TEXT]);
/* Adds each document of the journal to s->known; -1 and *err when it cannot be read completely.
 * `last`: the sum of the last one. */
int journal_read(struct stage *s, bool learn, char last[DIGEST_TEXT], struct error *err);

#endif
