/* screen.h: a text that fills the terminal and is drawn again when it changes. */
#ifndef DT_CLI_SCREEN_H
#define DT_CLI_SCREEN_H

#include "src/base/buf.h"

typedef int screen_text(void *data, struct buf *out, struct error *err);

/*
 * Calls `text` again and again, at least once a second unless that takes too long, until Ctrl-C,
 * `q` or a signal; the terminal is as before then. Lines that do not fit are left out, which the
 * last one says. Not on a terminal: prints the text whenever it has changed. -1: as `text`, or
 * ERR_SYSTEM.
 */
int screen_watch(screen_text *text, void *data, struct error *err);

#endif
