/*
 * interrupt.h: Ctrl-C while children work. The first one asks: whoever waits on the descriptor ends
 * its program and comes back. The second one ends this process at once, which is safe too: nothing
 * is half on disk, and the children end what they have begun.
 */
#ifndef DT_INTERRUPT_H
#define DT_INTERRUPT_H

#include "src/base/error.h"

/* From here on INT, TERM, HUP and QUIT are caught. The descriptor becomes readable for good, in all
 * processes that have it. */
int interrupt_begin(int *fd, struct error *err);
/* For a child that has a program to end: however often it is told, it does that first. */
void interrupt_child(void);
/* The signal that came, or 0. */
int interrupt_caught(void);
/* The signals mean what they meant before. */
void interrupt_end(void);

#endif
