/*
 * log.h: progress and diagnostics for people, on stderr.
 */
#ifndef DT_LOG_H
#define DT_LOG_H

#include "src/base/base.h"

/*
 * Writes one line to stderr at once. Lines over 2 KiB are cut. A failure to write is ignored:
 * progress must not change the result of a verb.
 */
void log_line(const char *fmt, ...) PRINTF(1, 2);

#endif
