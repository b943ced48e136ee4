/*
 * find.h: the expressions of find: bin_find.c says what of them is allowed, find_names.c which
 * files are found.
 */
#ifndef DT_POLICY_FIND_H
#define DT_POLICY_FIND_H

#include "src/policy/found.h"

enum takes { NOTHING, A_TEXT, A_NUMBER, A_FILE };

struct find_predicate {
	const char *name;
	enum takes takes;
};

/* NULL: not known, or not allowed. */
const struct find_predicate *find_predicate(struct str name);
/* As find itself tells an expression from a place to start. */
bool find_begins(const struct arg *arg);
/* -newerXY: X is a time of each file, Y one of FILE ("read") or a date ("text"). NULL: neither. */
const char *find_newer(struct str name);

#endif
