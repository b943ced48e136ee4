/*
 * stage.h: a work item on a stage of its own: the real engine and steps, with a disk in memory, a
 * clock and a world that do as they are told. Each call is one invocation of the program: it opens
 * the document, does its work, saves, and closes, so what one leaves to the next is on the disk
 * alone. explore and the model play on it.
 *
 * One stage at a time plays: a call fixes the process's clock (clock_fix) at the stage's own.
 */
#ifndef DT_STAGE_H
#define DT_STAGE_H

#include "src/machine/engine.h"
#include "src/store/disk_sim.h"

enum stage_checks { STAGE_CHECKS_GREEN, STAGE_CHECKS_RED, STAGE_CHECKS_UNKNOWN };

/* What the engine meets outside. Outcomes are for the player to set before a call. */
struct stage_world {
	unsigned specs; /* files that name the work item: 0, 1, 2 */
	bool find_fails, commit_fails, push_fails;
	bool nothing_to_commit, no_remote;
	enum stage_checks checks; /* of the pull request */
	const char *running;      /* id of the script that is at work; NULL: none */
	unsigned asked; /* what the engine has asked for, as enum effect; the player clears it */
	unsigned commits, pushes; /* that were made */
};

struct stage {
	const struct workflow *workflow;
	const char *id, *path; /* of the work item, of its document */
	struct disk *disk;
	int64_t now; /* seconds since 1970 */
	struct stage_world world;
	/* Called at the end of each call that was good, with the document as it was saved; NULL:
	 * not. */
	void (*closing)(void *data, const struct context *doc);
	void *data;
	struct arena arena;
};

/* The workflow must outlive it. The world is a friendly one, the disk empty. */
struct stage *stage_new(const struct workflow *w, const char *id, uint64_t seed);
/* The same document, journal, world and time on a disk of its own, without planned faults. */
struct stage *stage_copy(const struct stage *s);
void stage_free(struct stage **s); /* for CLEANUP; safe on NULL */

struct stage_call {
	const char *owner; /* NULL: not said */
	bool take_over, returned;
	const char *returned_id; /* NULL: not said */
};

/* `dev-team step`. *actions: the array that is printed; the caller's. -1 as the verb fails. */
int stage_step(struct stage *s, const struct stage_call *call, json **actions, struct error *err);
/* `dev-team record`; `owner` and `word` may be NULL. */
int stage_record(struct stage *s, const char *owner, const char *action, const char *word,
	struct str text, enum answer_fate *fate, struct error *err);
/* `dev-team context set`: what a person does, or the user's answer. An empty value empties it. */
int stage_set(struct stage *s, const char *key, struct str value, struct error *err);
/* For looking only; context_close() it. */
int stage_look(const struct stage *s, struct context_file *f, struct error *err);

/* The document's bytes; false when there is none. */
bool stage_document(const struct stage *s, struct buf *out);
/* All that was noted so far, as it is on the disk; false when there is nothing. */
bool stage_journal(const struct stage *s, struct buf *out);
/* Puts the document there as people do, past all faults. */
void stage_put_document(struct stage *s, struct str text);

/* The `n`th call to the disk from now that changes something (1: the next) meets `fault`. */
void stage_fault(struct stage *s, unsigned n, enum sim_fault fault);
/* After a fault that stops the machine: it runs again. See sim_disk_restart(). */
void stage_restart(struct stage *s, bool power);

#endif
