/*
 * disk_tap.h: comes in between a store and its disk: kills the process at a moment, or has a disk
 * that lies about what is durable or locked.
 */
#ifndef DT_TESTS_DISK_TAP_H
#define DT_TESTS_DISK_TAP_H

#include "src/store/disk.h"

/* The process dies at its n-th moment: two for each call that changes something, before it and
 * after it (of an append: when half of it is written). For a process that was forked for it. */
void disk_tap_kill(struct disk *d, unsigned n);
/* Syncs do nothing and say that all is well; until disk_tap_off(). */
void disk_tap_lie(struct disk *d);
/* Everybody gets every lock; until disk_tap_off(). */
void disk_tap_unlock(struct disk *d);
void disk_tap_off(struct disk *d);

#endif
