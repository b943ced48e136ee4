#include <fnmatch.h>
#include "src/policy/policy.h"

/* Options of programs whose value is the next word: they may stand before the subcommand. */
static const struct {
	const char *program, *options;
} valued[] = {
	{"git", "-C -c --git-dir --work-tree --namespace"},
	{"gh", "-R --repo --hostname"},
	{"npm", "--prefix -w --workspace -C"},
	{"pnpm", "--dir -C --filter"},
	{"cargo", "--config -Z"},
	{"docker", "--context -H --host"},
};

static bool is_option_token(struct str token)
{
	return token.p[0] == '-' || memchr(token.p, '*', token.n);
}

bool rules_notation(struct str text)
{
	struct str token;
	bool options = false;

	if (!str_piece(&text, ' ', &token) || is_option_token(token))
		return false;
	while (str_piece(&text, ' ', &token)) {
		if (options && !is_option_token(token))
			return false;
		options = is_option_token(token);
	}
	return true;
}

bool rules_list_has(struct str list, char between, const char *word)
{
	struct str one;

	while (str_piece(&list, between, &one))
		if (str_is(one, word))
			return true;
	return false;
}

static bool takes_value(const char *program, const char *option)
{
	for (size_t i = 0; i < COUNT(valued); i++)
		if (strcmp(valued[i].program, program) == 0)
			return rules_list_has(str_of(valued[i].options), ' ', option);
	return false;
}

/* The index of the next word after `at` that is no option; n: none. */
static size_t policy_rules_next_word(const char *const *words, size_t n, size_t at)
{
	for (at++; at < n; at++) {
		if (!words[at] || words[at][0] != '-')
			return at;
		if (takes_value(words[0], words[at]))
			at++;
	}
	return n;
}

/* `-f` in `-uf`, `--force` or `--force=x`, or a pattern. */
static bool option_matches(struct str alternative, const char *word)
{
	char pattern[256];
	size_t n = alternative.n;

	if (memchr(alternative.p, '*', n)) {
		(void)snprintf(pattern, sizeof(pattern), "%.*s", (int)n, alternative.p);
		return fnmatch(pattern, word, 0) == 0;
	}
	if (n == 2 && word[0] == '-' && word[1] != '-')
		return strchr(word + 1, alternative.p[1]) != NULL;
	return strncmp(word, alternative.p, n) == 0 && (!word[n] || word[n] == '=');
}

static bool any_matches(struct str token, const char *const *words, size_t n)
{
	struct str one;

	while (str_piece(&token, '|', &one))
		for (size_t i = 1; i < n; i++)
			if (words[i] && option_matches(one, words[i]))
				return true;
	return false;
}

static bool describes(struct str rule, const char *const *words, size_t n)
{
	struct str token;
	size_t at = 0;

	(void)str_piece(&rule, ' ', &token);
	if (!rules_list_has(token, '|', words[0]))
		return false;
	while (str_piece(&rule, ' ', &token)) {
		if (is_option_token(token)) {
			if (!any_matches(token, words, n))
				return false;
			continue;
		}
		at = policy_rules_next_word(words, n, at);
		if (at >= n || !words[at] || !rules_list_has(token, '|', words[at]))
			return false;
	}
	return true;
}

const struct policy_rule *rules_find(const struct policy *p, const char *const *words, size_t n)
{
	for (size_t i = 0; n && words[0] && i < p->n_rules; i++)
		if (describes(str_of(p->rules[i].command), words, n))
			return &p->rules[i];
	return NULL;
}
