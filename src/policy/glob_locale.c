/*
 * glob_locale.c: names whose match with a pattern is another one in another locale: there `?` and
 * `[...]` take a byte, or a character of several.
 */
#include "src/policy/glob_match.h"

enum { NAME_LONGEST = 255 };

enum mode {
	MODE_CHARACTERS, /* UTF-8; what a set says of other characters is not asked */
	MODE_ANY,        /* as in the most generous locale: any number of bytes over 0x7f is one */
};

static bool is_high(char c)
{
	return (unsigned char)c >= 0x80;
}

/* The next byte does not belong to the same character of UTF-8. */
static bool ends_character(struct str name, size_t i)
{
	return i + 1 == name.n || ((unsigned char)name.p[i + 1] & 0xc0) != 0x80;
}

/* What token `t` does with byte `i`: whether it can be through, and whether it can take more. */
static void step(const struct glob_token *t, struct str name, size_t i, enum mode mode,
	bool *through, bool *stays)
{
	unsigned char c = (unsigned char)name.p[i];

	*stays = t->kind == GLOB_STAR;
	if (t->kind == GLOB_ONE) {
		*through = t->c == c;
	} else if (c < 0x80) {
		*through = t->kind == GLOB_ANY ||
			   (t->kind == GLOB_SET && (t->set[c / 64] >> (c % 64) & 1));
	} else if (mode == MODE_ANY) {
		*through = *stays = true;
	} else {
		*through = t->kind == GLOB_ANY && ends_character(name, i);
		*stays = *stays || (t->kind == GLOB_ANY && !*through);
	}
}

/* A star may also take nothing. */
static void pass_stars(const struct glob_part *part, bool *at)
{
	for (size_t t = 0; t < part->n; t++)
		if (at[t] && part->tokens[t].kind == GLOB_STAR)
			at[t + 1] = true;
}

/* at[t]: the tokens before t can have taken the bytes so far. */
static bool fits(const struct glob_part *part, struct str name, enum mode mode)
{
	bool at[2 * NAME_LONGEST + 2] = {true}, next[2 * NAME_LONGEST + 2];

	if (name.n > NAME_LONGEST || part->n > 2 * name.n + 1)
		return name.n > NAME_LONGEST;
	pass_stars(part, at);
	for (size_t i = 0; i < name.n; i++) {
		memset(next, 0, sizeof(next));
		for (size_t t = 0; t < part->n; t++) {
			bool through, stays;

			if (!at[t])
				continue;
			step(&part->tokens[t], name, i, mode, &through, &stays);
			next[t] = next[t] || stays;
			next[t + 1] = next[t + 1] || through;
		}
		pass_stars(part, next);
		memcpy(at, next, sizeof(at));
	}
	return at[part->n];
}

static bool is_hidden(const struct glob_part *part, struct str name)
{
	const struct glob_token *first = part->tokens;

	return name.n && name.p[0] == '.' &&
	       (!part->n || first->kind != GLOB_ONE || first->c != '.');
}

bool glob_unsure(const struct glob_part *part, struct str name)
{
	bool high = false, counts = false;

	for (size_t i = 0; i < name.n && !high; i++)
		high = is_high(name.p[i]);
	for (size_t t = 0; high && t < part->n && !counts; t++)
		counts = part->tokens[t].kind == GLOB_ANY || part->tokens[t].kind == GLOB_SET;
	if (!counts || is_hidden(part, name) || !fits(part, name, MODE_ANY))
		return false;
	return !glob_matches(part, name) || !fits(part, name, MODE_CHARACTERS);
}
