/*
 * simulator.h: one work item in a simulated store, clock and environment. Each call is one
 * invocation of the program: it opens the document, runs the real engine and steps, saves, and
 * closes, so that a call leaves the next one only what is in the store.
 *
 * A call fixes the clock of the process (clock_fix) at the simulator's time: one simulator runs at
 * a time.
 */
#ifndef DT_VERIFY_SIMULATOR_H
#define DT_VERIFY_SIMULATOR_H

#include "src/machine/engine.h"
#include "src/store/store.h"

struct simulator;
struct simulator_call;

/* How a simulator makes its store and its calls. tests/model has one with faults and checks. */
struct simulator_kind {
	struct store_backend *(*create)(void);
	struct store_backend *(*copy)(const struct store_backend *b);
	void (*release)(struct store_backend *b);
	/* Writes the document as people do, past the store. */
	void (*put)(struct store_backend *b, const char *path, struct str text);
	int (*invoke)(struct simulator *s, const struct simulator_call *c, json **printed,
		struct error *err);
};

extern const struct simulator_kind simulator_in_memory; /* simulator_invoke(), no faults */

enum simulator_checks { CHECKS_GREEN, CHECKS_RED, CHECKS_UNKNOWN };

/* What the engine meets outside. The caller sets the outcomes before a call. */
struct simulator_environment {
	unsigned specs; /* files that name the work item: 0, 1 or 2 */
	bool find_fails, commit_fails, push_fails, enter_fails;
	bool nothing_to_commit, no_remote;
	unsigned refuted;             /* enum evidence_kind: what is not as the answers claim */
	bool moved;                   /* HEAD is not where it was when the answers were requested */
	enum simulator_checks checks; /* of the pull request */
	const char *running;          /* id of the script that still runs, or NULL */
	unsigned requested;           /* enum effect, SIMULATOR_...: what the last step requested */
	unsigned claimed;             /* enum evidence_kind: what it asked about */
};

enum {
	SIMULATOR_PLACE = 1 << 8,    /* a place for the item was chosen */
	SIMULATOR_EVIDENCE = 1 << 9, /* claims were compared with evidence */
};

struct simulator {
	const struct workflow *workflow;
	const struct simulator_kind *kind;
	const char *id, *dir, *path, *journal; /* of the work item; paths of its files */
	struct store_backend *backend;
	int64_t now; /* seconds since 1970 */
	struct simulator_environment environment;
	enum answer_outcome outcome; /* of the last `record` */
	const char *facts; /* about evidence, as the last step left them: EVIDENCE_KEY; or "" */
	bool placed;       /* the last step left a place */
	struct arena arena;
};

/* An empty store and an environment in which nothing fails. The workflow must outlive it. */
struct simulator *simulator_new(
	const struct workflow *w, const char *id, const struct simulator_kind *kind);
/* The same files, environment and time. */
struct simulator *simulator_copy(const struct simulator *s);
void simulator_free(struct simulator **s); /* for CLEANUP; safe on NULL */

/* One invocation: `record` with an action, `context set` with a key, else `step`. */
struct simulator_call {
	const char *owner; /* NULL: no `--owner` */
	bool take_over, returned, cancel;
	const char *returned_id;   /* NULL: none */
	const char *action, *word; /* word NULL: no `--result` */
	const char *key;
	struct str text; /* recorded, or the value of the key; an empty one removes it */
};

/* As if an earlier step had left these facts, and a place. */
void simulator_put_facts(struct simulator *s, const char *facts, bool placed);
/* *printed: the array of a step, the caller's. -1: the verb fails. */
int simulator_invoke(
	struct simulator *s, const struct simulator_call *c, json **printed, struct error *err);
/* Reads the document as people see it, without its journal; context_release() it. */
int simulator_read(const struct simulator *s, struct context *c, struct error *err);

#endif
