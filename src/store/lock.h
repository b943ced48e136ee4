/*
 * lock.h: one writer at a time, by an open file description lock on a side file. The kernel drops
 * it when its holder dies, so there is nothing to clean up. The file tells people who holds it.
 *
 * Rule: the lock file is never removed, or two processes could lock two files of one name.
 */
#ifndef DT_LOCK_H
#define DT_LOCK_H

#include "src/base/buf.h"

struct lock;

/*
 * Waits up to `wait_ms` for the lock on `path` (made if missing). -1: ERR_STATE naming the holder,
 * or ERR_SYSTEM.
 * `*out` is the caller's until lock_drop().
 */
int lock_take(struct lock **out, const char *path, unsigned wait_ms, struct error *err);
/* Another process, or another lock of this one, has it: *who gets what its file tells of the
 * holder. Nothing is taken. */
int lock_look(const char *path, bool *held, struct buf *who, struct error *err);
/* Tells those who wait what takes so long, from now on; one line. Safe on NULL. */
void lock_note(struct lock *l, const char *what);
void lock_drop(struct lock **l); /* for CLEANUP too; safe on NULL */

#endif
