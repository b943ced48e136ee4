/*
 * replay.h: verifies a history. The engine runs each recorded operation again, and gets its inputs
 * from the journal; the document and the events of each commit must be the recorded ones, byte for
 * byte. Operations that cannot run again are taken as recorded and counted.
 */
#ifndef DT_VERIFY_REPLAY_H
#define DT_VERIFY_REPLAY_H

#include "src/verify/history.h"

/* *result: as `history verify --json` prints it (docs/history.md); the caller's. -1: ERR_INPUT as
 * store_history_next(); a difference is no error. */
int replay_verify(const struct history_place *place, json **result, struct error *err);

#endif
