/*
 * pattern_internal.h: a pattern as a tree (pattern_parse.c) and as a program (pattern.c).
 */
#ifndef DT_PATTERN_INTERNAL_H
#define DT_PATTERN_INTERNAL_H

#include "src/schema/pattern.h"

enum { REPEAT_MAX = 1000, REPEAT_ANY = -1 };

struct range {
	uint32_t from, to;
	const struct range *next;
};

enum pattern_kind {
	PART_EMPTY,
	PART_SET,
	PART_BEGIN,
	PART_END,
	PART_BOTH,
	PART_EITHER,
	PART_REPEAT
};

struct part {
	enum pattern_kind kind;
	bool negated; /* of a set */
	const struct range *ranges;
	const struct part *a, *b;
	int min, max;
};

/* The next character, and behind it. `text` is UTF-8 and not at its end. */
uint32_t utf8_next(struct str *text);
int pattern_parse(struct arena *a, struct str source, const struct part **out, struct error *err);

#endif
