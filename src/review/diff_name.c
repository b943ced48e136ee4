#include "src/review/diff_internal.h"

static bool octal(char c)
{
	return c >= '0' && c <= '7';
}

/* What stands behind a backslash, *i on its first byte and then on its last; -1: nothing known. */
static int unescape(struct str s, size_t *i)
{
	static const char from[] = "abtnvfr\"\\", to[] = "\a\b\t\n\v\f\r\"\\";
	const char *at;

	if (*i + 2 < s.n && s.p[*i] >= '0' && s.p[*i] <= '3' && octal(s.p[*i + 1]) &&
		octal(s.p[*i + 2])) {
		int byte = (s.p[*i] - '0') * 64 + (s.p[*i + 1] - '0') * 8 + s.p[*i + 2] - '0';

		*i += 2;
		return byte ? byte : -1;
	}
	at = *i < s.n && s.p[*i] ? strchr(from, s.p[*i]) : NULL;
	return at ? to[at - from] : -1;
}

/* `"..."` at the start of *text, which then begins behind it. */
static bool unquote(struct str *text, struct buf *out)
{
	for (size_t i = 1; i < text->n; i++) {
		int c = (unsigned char)text->p[i];

		if (c == '"') {
			*text = str_sub(*text, i + 1, text->n);
			return true;
		}
		if (c == '\\') {
			i++;
			c = unescape(*text, &i);
		}
		if (c < 0)
			return false;
		buf_addc(out, (char)c);
	}
	return false;
}

static const char *less_prefix(struct arena *a, struct str name, const char *prefix)
{
	size_t n = strlen(prefix);

	if (!str_starts(name, prefix) || name.n == n || memchr(name.p, '\0', name.n))
		return NULL;
	return arena_dup(a, str_sub(name, n, name.n));
}

const char *diff_name(struct arena *a, struct str *text, const char *prefix)
{
	CLEANUP(buf_release) struct buf name = BUF_INIT;

	if (text->n && text->p[0] == '"')
		return unquote(text, &name) ? less_prefix(a, buf_str(&name), prefix) : NULL;
	/* Git quotes names with these. */
	if (text->n && (memchr(text->p, '\t', text->n) || memchr(text->p, '\r', text->n)))
		return NULL;
	buf_add(&name, *text);
	*text = (struct str){0};
	return less_prefix(a, buf_str(&name), prefix);
}

static const char *quoted_pair(struct arena *a, struct str text)
{
	const char *old = diff_name(a, &text, "a/"), *new;

	if (!old || !str_starts(text, " \""))
		return NULL;
	text = str_sub(text, 1, text.n);
	new = diff_name(a, &text, "b/");
	return new && !text.n &&strcmp(old, new) == 0 ? old : NULL;
}

const char *diff_names(struct arena *a, struct str text)
{
	size_t half = text.n / 2; /* the blank between two of one length */
	struct str old, new;

	if (text.n && text.p[0] == '"')
		return quoted_pair(a, text);
	if (text.n < 7 || text.n % 2 == 0 || text.p[half] != ' ')
		return NULL;
	old = str_sub(text, 0, half);
	new = str_sub(text, half + 1, text.n);
	if (!str_starts(old, "a/") || !str_starts(new, "b/") ||
		!str_eq(str_sub(old, 2, old.n), str_sub(new, 2, new.n)))
		return NULL;
	return diff_name(a, &old, "a/");
}
