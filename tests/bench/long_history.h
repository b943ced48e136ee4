/*
 * long_history.h: a work item with a long history, made quickly by the real engine in memory.
 */
#ifndef DT_TESTS_LONG_HISTORY_H
#define DT_TESTS_LONG_HISTORY_H

#include "src/base/buf.h"

/*
 * A run that goes from one state to the other and back until it has `events` events, with an answer
 * of about `size` bytes each time. `path` is the document's, absolute; its directory must be there.
 */
void long_history(const char *path, unsigned events, size_t size);

#endif
