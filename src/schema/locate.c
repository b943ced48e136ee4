#include "src/schema/scan.h"
#include "src/schema/schema.h"

/* The next part of a JSON pointer, `~1` and `~0` read; false: there is none. */
static bool next_part(const char **pointer, struct buf *part)
{
	const char *p = *pointer;

	if (*p != '/')
		return false;
	buf_clear(part);
	for (p++; *p && *p != '/'; p++) {
		if (*p == '~' && (p[1] == '0' || p[1] == '1'))
			buf_addc(part, *++p == '0' ? '~' : '/');
		else
			buf_addc(part, *p);
	}
	*pointer = p;
	return true;
}

/* -1: it is no index. */
static long index_of(const struct buf *part)
{
	long n = 0;

	if (!part->len || part->len > 9 || (part->s[0] == '0' && part->len > 1))
		return -1;
	for (size_t i = 0; i < part->len; i++) {
		if (part->s[i] < '0' || part->s[i] > '9')
			return -1;
		n = n * 10 + (part->s[i] - '0');
	}
	return n;
}

static bool enter_member(struct scan *s, const struct buf *name)
{
	CLEANUP(buf_release) struct buf key = BUF_INIT;

	for (s->at++; scan_peek(s) == '"'; s->at++) {
		buf_clear(&key);
		if (!scan_text(s, &key) || scan_peek(s) != ':')
			return false;
		s->at++;
		if (str_eq(buf_str(&key), buf_str(name)))
			return true;
		if (!scan_value(s) || scan_peek(s) != ',')
			return false;
	}
	return false;
}

static bool enter_item(struct scan *s, long index)
{
	for (s->at++; scan_peek(s) != ']'; s->at++) {
		if (index-- == 0)
			return true;
		if (!scan_value(s) || scan_peek(s) != ',')
			return false;
	}
	return false;
}

bool json_locate(struct str text, const char *pointer, unsigned *line, unsigned *col)
{
	CLEANUP(buf_release) struct buf part = BUF_INIT;
	struct scan s = {.text = text};

	while (next_part(&pointer, &part)) {
		char c = scan_peek(&s);
		long index = index_of(&part);

		if (c == '{' ? !enter_member(&s, &part)
			     : c != '[' || index < 0 || !enter_item(&s, index))
			return false;
	}
	scan_peek(&s);
	if (*pointer || s.at >= text.n)
		return false;
	text_place(text, s.at, line, col);
	return true;
}
