/*
 * event_log.h: checks of the events that tests write, _events.jsonl in a directory of artifacts.
 */
#ifndef DT_TESTS_EVENT_LOG_H
#define DT_TESTS_EVENT_LOG_H

#include <stddef.h>

/*
 * Ends the program when a line of the file is an event of the table and violates its schema; other
 * lines, which tests put there, are skipped. tree_remove() checks every event file that it removes.
 */
void event_log_check(const char *path);

/* The number of events of `type` (NULL: any) in `dir`. Every line must match the schema. */
size_t event_log_count(const char *dir, const char *type);

#endif
