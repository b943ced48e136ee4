/*
 * memory.h: what one check of one line has looked up already: programs by name, places by folder
 * and path. Only for answers that were good: a denial ends the check. The executor, for which the
 * disk changes between two questions, has none. For check.c and
 * expand.c alone.
 */
#ifndef DT_POLICY_MEMORY_H
#define DT_POLICY_MEMORY_H

#include "src/policy/where.h"

struct memory;

struct memory *memory_new(struct arena *a);
/* p == NULL: not asked yet. */
struct str memory_program(const struct memory *m, struct str name);
void memory_put_program(struct memory *m, struct str name, struct str path);

struct question {
	struct str cwd, path;
	enum access access;
	bool whole;
};
/* NULL: not asked yet. */
const struct place *memory_place(const struct memory *m, const struct question *q);
void memory_put_place(struct memory *m, const struct question *q, const struct place *place);

/* NULL: not asked yet. */
const struct texts *memory_matches(const struct memory *m, struct str cwd, struct str glob);
void memory_put_matches(
	struct memory *m, struct str cwd, struct str glob, const struct texts *matches);

#endif
