/*
 * protocol_internal.h: between protocol.c, which goes through the moves, protocol_moves.c, which
 * makes them, and protocol_key.c, which tells states apart.
 */
#ifndef DT_PROTOCOL_INTERNAL_H
#define DT_PROTOCOL_INTERNAL_H

#include "tests/model/protocol.h"
#include "tests/model/simulate_play.h"

enum move_kind {
	MOVE_STEP,
	MOVE_RETURNED,
	MOVE_TAKE_OVER,
	MOVE_RECORD,
	MOVE_CLOCK,    /* passes the end of the lease */
	MOVE_BLACKOUT, /* a power cut while nothing runs */
};

enum who { WHO_A, WHO_B, WHO_NOBODY, WHO_ALL };

struct move {
	unsigned char kind, who;
	unsigned short action;   /* MOVE_RECORD: index in the audit's account */
	unsigned short crash_at; /* call to the disk before which the machine stops; 0: none */
	unsigned short power;    /* 0: only the process dies; else a seed of what is lost */
};

extern const char *const who_names[WHO_ALL]; /* NULL: no name */

/* A state, whole. `loops` of the play are A and B. */
void state_init(struct play *to, const struct simulate_plan *plan, struct simulate_sums *sums);
void state_copy(struct play *to, const struct play *from);
void state_release(struct play *p);

/* Some more moves are possible from here; `moves` has room for MOVES_MAX. */
enum { MOVES_MAX = 64 };
unsigned moves_from(const struct play *p, struct move *moves);
/* Makes it; calls to the disk that it took. */
unsigned move_make(struct play *p, const struct move *m);
/* Whoever is locked out now can get in, with and without force, and come to the end. */
void check_progress(const struct play *p, struct protocol_sums *sums);

/* What decides the future, as 32 digits. */
void state_key(const struct play *p, unsigned crashes, char out[DIGEST_TEXT]);

#endif
