/*
 * glob_match.h: one component of a pattern (between slashes) against a name, as bash does it in the
 * C locale. Backslashes make the next character literal. Time is at most the product of the two
 * lengths.
 */
#ifndef DT_POLICY_GLOB_MATCH_H
#define DT_POLICY_GLOB_MATCH_H

#include "src/base/buf.h"

enum glob_kind { GLOB_ONE, GLOB_ANY, GLOB_SET, GLOB_STAR };

struct glob_token {
	enum glob_kind kind;
	unsigned char c; /* GLOB_ONE */
	uint64_t set[4]; /* GLOB_SET: a bit a byte */
};

struct glob_part {
	struct glob_token *tokens;
	size_t n;
	bool wild; /* something else than GLOB_ONE is in it */
};

/* -1: a class that is not known, or one of those whose meaning is not clear (`[=a=]`, `[.a.]`). */
int glob_compile(struct arena *a, struct str text, struct glob_part *out);
/* `.` and `..` never match, other names with a dot first only where the pattern has one. */
bool glob_matches(const struct glob_part *part, struct str name);
/* Whether a name over ASCII matches depends on the locale that a shell runs in. */
bool glob_unsure(const struct glob_part *part, struct str name);
/* `.*`: with a shell that is older than bash 5.2, `..` too. */
bool glob_may_climb(const struct glob_part *part);
/* The text of a part that is not wild. */
struct str glob_literal(struct arena *a, const struct glob_part *part);

/* Reads a bracket expression, `text` beginning behind the bracket: bytes used, 0 when it has no
 * end (then the bracket is a character as any other). *odd: see glob_compile(). */
size_t glob_set(struct str text, uint64_t set[4], bool *odd);

#endif
