/*
 * list.h: the states that a work item's document had, a line each.
 */
#ifndef DT_LIST_H
#define DT_LIST_H

#include "src/verify/history.h"

/*
 * Adds a line for each commit, for people, or as JSON: docs/history.md. What is in the file and not
 * in the history yet stands below it as `now`.
 */
int list_all(const struct history_place *place, bool as_json, struct buf *out, struct error *err);

#endif
