#include "src/workflow/words.h"
#include "src/workflow/workflow.h"

enum { MAX_SKILL = 100 };

static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static bool made_of(struct str s, size_t max, const char *inside)
{
	if (!s.n || s.n > max || !is_word_char(s.p[0]) || !is_word_char(s.p[s.n - 1]))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!is_word_char(s.p[i]) && (!s.p[i] || !strchr(inside, s.p[i])))
			return false;
	return true;
}

bool word_valid(struct str s)
{
	return made_of(s, FLOW_NAME, "-");
}

bool skill_valid(struct str s)
{
	return made_of(s, MAX_SKILL, "-.:");
}

const char *shown(struct str s, char out[SHOWN])
{
	size_t n = s.n < SHOWN - 4 ? s.n : SHOWN - 4;

	while (n < s.n && n > 0 && ((unsigned char)s.p[n] & 0xc0) == 0x80)
		n--;
	for (size_t i = 0; i < n; i++)
		out[i] = (unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f ? '?' : s.p[i];
	out[n] = '\0';
	return out;
}
