#include "src/policy/glob_match.h"

int glob_compile(struct arena *a, struct str text, struct glob_part *out)
{
	bool odd = false;

	*out = (struct glob_part){.tokens = arena_alloc(a, (text.n + 1) * sizeof(*out->tokens))};
	for (size_t i = 0; i < text.n; i++) {
		struct glob_token *t = &out->tokens[out->n];
		char c = text.p[i];
		size_t used = 0;

		if (c == '*' && out->n && t[-1].kind == GLOB_STAR)
			continue;
		if (c == '[')
			used = glob_set(str_sub(text, i + 1, text.n), t->set, &odd);
		if (c == '\\' && i + 1 < text.n)
			c = text.p[++i];
		else if (c == '*' || c == '?' || used)
			t->kind = c == '*' ? GLOB_STAR : c == '?' ? GLOB_ANY : GLOB_SET;
		t->c = (unsigned char)c;
		out->wild = out->wild || t->kind != GLOB_ONE;
		i += used;
		out->n++;
	}
	return odd ? -1 : 0;
}

static bool takes(const struct glob_token *t, unsigned char c)
{
	switch (t->kind) {
	case GLOB_ONE:
		return t->c == c;
	case GLOB_SET:
		return t->set[c / 64] >> (c % 64) & 1;
	default:
		return true;
	}
}

static bool fits(const struct glob_part *part, struct str name)
{
	size_t t = 0, i = 0, star = part->n,
	       from = 0; /* the last star, and where it ends for now */

	if (name.n && name.p[0] == '.' &&
		(!part->n || part->tokens[0].kind != GLOB_ONE || part->tokens[0].c != '.'))
		return false;
	while (i < name.n) {
		if (t < part->n && part->tokens[t].kind == GLOB_STAR) {
			star = t++;
			from = i;
		} else if (t < part->n && takes(&part->tokens[t], (unsigned char)name.p[i])) {
			t++;
			i++;
		} else if (star < part->n) {
			t = star + 1;
			i = ++from;
		} else {
			return false;
		}
	}
	while (t < part->n && part->tokens[t].kind == GLOB_STAR)
		t++;
	return t == part->n;
}

bool glob_matches(const struct glob_part *part, struct str name)
{
	return !str_is(name, ".") && !str_is(name, "..") && fits(part, name);
}

bool glob_may_climb(const struct glob_part *part)
{
	return part->wild && fits(part, STR(".."));
}

struct str glob_literal(struct arena *a, const struct glob_part *part)
{
	char *text = arena_alloc(a, part->n + 1);

	for (size_t i = 0; i < part->n; i++)
		text[i] = (char)part->tokens[i].c;
	return (struct str){text, part->n};
}
