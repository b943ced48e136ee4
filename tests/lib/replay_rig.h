/*
 * replay_rig.h: the engine's rig with functions for its history. Included by the tests of the
 * replay alone.
 */
#ifndef DT_TESTS_REPLAY_RIG_H
#define DT_TESTS_REPLAY_RIG_H

#include "tests/lib/engine_rig.h"

extern struct history_place place;

/* What the last verify() found. */
struct replay_seen {
	int64_t commits, events, replayed, differ;
	struct {
		const char *op, *what, *recorded, *replayed;
		const char *by; /* another version that wrote it */
		int64_t line;
	} first;
	const json *taken;
};
extern struct replay_seen v;

int replay_setup(void **state);
int replay_teardown(void **state);

#define REPLAY_TEST(name) UNIT_TEST(name, replay_setup, replay_teardown)

void verify(void);
void assert_same(void);
int64_t taken(const char *op);
char *at_rev(int64_t rev);
int64_t last_rev(void);

/* Replaces `from` in the document by `to`, as an editor does. */
void replay_edit(const char *from, const char *to);

/* A run with every kind of external input. */
void a_run(void);
char *journal_path(void);

#endif
