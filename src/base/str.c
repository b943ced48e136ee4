#include "src/base/buf.h"

bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool str_is(struct str a, const char *b)
{
	return str_eq(a, str_of(b));
}

bool str_starts(struct str s, const char *prefix)
{
	size_t n = strlen(prefix);

	return s.n >= n && (n == 0 || memcmp(s.p, prefix, n) == 0);
}

bool str_ends(struct str s, const char *suffix)
{
	size_t n = strlen(suffix);

	return s.n >= n && (n == 0 || memcmp(s.p + s.n - n, suffix, n) == 0);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct str str_trim(struct str s)
{
	while (s.n && is_blank(s.p[0])) {
		s.p++;
		s.n--;
	}
	while (s.n && is_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

struct str str_sub(struct str s, size_t from, size_t to)
{
	return (struct str){from ? s.p + from : s.p, to - from}; /* an empty text may be NULL */
}

size_t str_find(struct str s, struct str needle)
{
	const char *hit = s.n ? memmem(s.p, s.n, needle.p, needle.n) : NULL;

	return hit ? (size_t)(hit - s.p) : s.n;
}

bool str_line(struct str *rest, struct str *line)
{
	const char *end;
	size_t n;

	if (!rest->n)
		return false;
	end = memchr(rest->p, '\n', rest->n);
	n = end ? (size_t)(end - rest->p) : rest->n;
	*line = (struct str){rest->p, n};
	if (end && n && line->p[n - 1] == '\r')
		line->n--;
	n += end != NULL;
	rest->p += n;
	rest->n -= n;
	return true;
}

/* Length of the well-formed sequence at p (RFC 3629: no overlong forms, no surrogates), or 0. */
static size_t sequence(const unsigned char *p, size_t n)
{
	size_t len = p[0] < 0x80   ? 1
		     : p[0] < 0xc2 ? 0
		     : p[0] < 0xe0 ? 2
		     : p[0] < 0xf0 ? 3
		     : p[0] < 0xf5 ? 4
				   : 0;

	if (len == 0 || len > n || p[0] == 0)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
		(p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return len;
}

enum { BLOCK = 32 };

/* True when the bytes of the block at p are ASCII and none is NUL: taking one from each byte sets
 * the high bit of a NUL alone. */
static bool plain_block(const char *p)
{
	const uint64_t high = 0x8080808080808080u, ones = 0x0101010101010101u;
	uint64_t w[BLOCK / 8], all = 0;

	memcpy(w, p, sizeof(w));
	for (size_t i = 0; i < COUNT(w); i++)
		all |= w[i] | (w[i] - ones);
	return !(all & high);
}

size_t utf8_fault(struct str s)
{
	size_t i = 0;

	while (i < s.n) {
		size_t len;

		if (s.n - i >= BLOCK && plain_block(s.p + i)) {
			i += BLOCK;
			continue;
		}
		len = sequence((const unsigned char *)s.p + i, s.n - i);
		if (!len)
			return i + 1;
		i += len;
	}
	return 0;
}

void utf8_mend(struct buf *b)
{
	size_t from = 0;

	while (from < b->len) {
		size_t bad = utf8_fault((struct str){b->s + from, b->len - from});

		if (!bad)
			return;
		from += bad;
		b->s[from - 1] = '?';
	}
}

void text_place(struct str text, size_t at, unsigned *line, unsigned *col)
{
	size_t start = 0;

	*line = *col = 1;
	for (size_t i = 0; i < at && i < text.n; i++) {
		if (text.p[i] == '\n') {
			++*line;
			start = i + 1;
		}
	}
	for (size_t i = start; i < at && i < text.n; i++)
		if (((unsigned char)text.p[i] & 0xc0) != 0x80)
			++*col;
}
