/*
 * clock.h: the only source of the time of day, so that tests control it: DEV_TEAM_NOW, an RFC 3339
 * time in UTC such as 2026-11-21T01:34:55Z, fixes it.
 */
#ifndef DT_CLOCK_H
#define DT_CLOCK_H

#include "src/base/buf.h"

#define CLOCK_TEXT 24 /* bytes that clock_text() and clock_stamp() need */

/* Seconds since 1970 UTC. */
int64_t clock_now(void);
/* Milliseconds since then; whole seconds while the time is fixed. */
int64_t clock_now_ms(void);
/* Stops this process's clock at `t`; -1: lets it run again. For replay. */
void clock_fix(int64_t t);
/* `2026-11-21T01:34:55Z` */
void clock_text(int64_t t, char out[CLOCK_TEXT]);
/* Reads the form that clock_text() writes, of the years 1 to 9999. -1: it is something else. */
int clock_parse(const char *text, int64_t *t);
/*
 * An RFC 3339 date and time with any offset, as seconds since 1970 UTC. Fractions are dropped; a
 * leap second counts as the second after it.
 */
bool clock_parse_rfc3339(struct str text, int64_t *t);
/* `2026-11-21`: the first second of a day that exists. */
bool clock_parse_date(struct str text, int64_t *t);
/* `20261121T013455Z`, for file names. */
void clock_stamp(int64_t t, char out[CLOCK_TEXT]);
/* `2026-11-21T01-34-55-123` of these milliseconds, for names of branches. */
void clock_name(int64_t ms, char out[CLOCK_TEXT]);
/* Milliseconds of a monotonic clock; for durations and time limits only. */
int64_t clock_ticks(void);
/* While the time of day is fixed: moves it to `t`, also for the programs that this one starts, and
 * returns true. */
bool clock_move(int64_t t);
/* Waits; not at all while the time of day is fixed. */
void clock_pause(unsigned ms);

#endif
