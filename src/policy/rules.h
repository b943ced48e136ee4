/*
 * rules.h: the prefix rules of a policy: which commands they describe. A rule is advice: a program
 * that builds its arguments itself is not seen. The sandbox and the broker are the barriers.
 *
 *     PROGRAM[|PROGRAM...] [SUBCOMMAND[|SUBCOMMAND...]...] [OPTION[|OPTION...]...]
 *
 * SUBCOMMAND tokens match the command's next words that are not options. OPTION tokens, which begin
 * with `-` or contain `*`, match if one of their alternatives matches any word: `-f` also in `-uf`,
 * `--force` also as `--force=VALUE`, and patterns as of fnmatch(3).
 */
#ifndef DT_POLICY_RULES_H
#define DT_POLICY_RULES_H

#include "src/policy/policy.h"

/* Whether the text is a rule in this notation. */
bool rules_notation(struct str text);
/* Whether the word is one of a list with blanks between them. */
bool rules_list_has(const char *list, const char *word);
/* The first rule that describes the command; NULL: none. words[0] is the program's name without its
 * directory; an unknown word is NULL. */
const struct policy_rule *rules_find(const struct policy *p, const char *const *words, size_t n);

#endif
