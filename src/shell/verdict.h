/*
 * verdict.h: what the policy says of a command, and why: the rule, the bytes that it is about, the
 * word as it would be passed on, the file that it leads to.
 *
 * Every check returns 0 (nothing against it) or -1 with the verdict filled in by deny(). Whatever
 * goes wrong inside is a denial too (RULE_INTERNAL): there is no third answer.
 */
#ifndef DT_SHELL_VERDICT_H
#define DT_SHELL_VERDICT_H

#include "src/base/json.h"

/* src/shell/rules.h: one row a rule: RULE(NAME, "id", "what it asks, in one line"). */
enum rule {
#define RULE(name, id, about) RULE_##name,
#include "src/shell/rules.h"
#undef RULE
	RULES
};

const char *rule_id(enum rule r);
const char *rule_about(enum rule r);

/* Bytes [from, to) of the command's text. */
struct span {
	size_t from, to;
};

/* One of three answers: deny, ask (the user decides), or run. Texts are the arena's that the check
 * worked in. */
struct verdict {
	bool denied, ask;
	bool unread; /* the text was not understood, so no rule was applied to it */
	enum rule rule;
	struct span at;
	struct str word;  /* with quotes resolved; p == NULL: the rule is not about a word */
	struct str path;  /* absolute, as far as it could be followed; p == NULL: none */
	char reason[320]; /* for people: fault first, lower case, no full stop */
};

/* Fills *v unless something was denied before; always -1. `path` can be "", and word.p NULL. */
int deny_word(struct verdict *v, enum rule rule, struct span at, struct str word, struct str path,
	const char *fmt, ...) PRINTF(6, 7);
/* The same, not about a word. */
int deny(struct verdict *v, enum rule rule, struct span at, const char *fmt, ...) PRINTF(4, 5);

/*
 * Writes one line without a newline: `run`, or `deny` or `ask` with
 * ` RULE FROM-TO 'WORD' -> PATH: REASON`, without the parts that the verdict lacks. Control
 * characters of the command are replaced.
 */
void verdict_line(struct buf *out, const struct verdict *v);
/* {"verdict":"run"} or
 * {"verdict":"deny","rule":..,"from":..,"to":..,"word":..,"path":..,"reason":..} */
json *verdict_object(const struct verdict *v);

#endif
