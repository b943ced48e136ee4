#include "src/schema/scan.h"

static bool fault_at(struct scan *s, size_t at, const char *what)
{
	s->fault = what;
	s->at = at;
	return false;
}

char scan_peek(struct scan *s)
{
	while (s->at < s->text.n && memchr(" \t\r\n", s->text.p[s->at], 4))
		s->at++;
	return s->at < s->text.n ? s->text.p[s->at] : '\0';
}

static char here(const struct scan *s)
{
	return s->at < s->text.n ? s->text.p[s->at] : '\0';
}

/* Four hexadecimal digits; -1: they are none. */
static long hex4(const struct scan *s, size_t at)
{
	long v = 0;

	for (size_t i = at; i < at + 4; i++) {
		static const char digits[] = "0123456789abcdef";
		char c = i < s->text.n ? s->text.p[i] : '\0';
		const char *d;

		if (c >= 'A' && c <= 'F')
			c = (char)(c + 32);
		d = c ? strchr(digits, c) : NULL;
		if (!d)
			return -1;
		v = v * 16 + (d - digits);
	}
	return v;
}

static void put_utf8(struct buf *out, long c)
{
	if (!out)
		return;
	if (c < 0x80) {
		buf_addc(out, (char)c);
	} else if (c < 0x800) {
		buf_addc(out, (char)(0xc0 | c >> 6));
		buf_addc(out, (char)(0x80 | (c & 63)));
	} else if (c < 0x10000) {
		buf_addc(out, (char)(0xe0 | c >> 12));
		buf_addc(out, (char)(0x80 | (c >> 6 & 63)));
		buf_addc(out, (char)(0x80 | (c & 63)));
	} else {
		buf_addc(out, (char)(0xf0 | c >> 18));
		buf_addc(out, (char)(0x80 | (c >> 12 & 63)));
		buf_addc(out, (char)(0x80 | (c >> 6 & 63)));
		buf_addc(out, (char)(0x80 | (c & 63)));
	}
}

/* s->at is at the `u`. */
static bool scan_unicode(struct scan *s, struct buf *out)
{
	size_t from = s->at - 1;
	long c = hex4(s, s->at + 1), low;

	if (c < 0)
		return fault_at(s, from, "four hexadecimal digits are missing");
	if (c == 0)
		return fault_at(s, from, "a NUL character is not allowed");
	s->at += 5;
	if (c < 0xd800 || c > 0xdfff)
		return put_utf8(out, c), true;
	if (c > 0xdbff || here(s) != '\\' || s->at + 1 >= s->text.n || s->text.p[s->at + 1] != 'u')
		return fault_at(s, from, "half of a surrogate pair is missing");
	low = hex4(s, s->at + 2);
	if (low < 0xdc00 || low > 0xdfff)
		return fault_at(s, from, "half of a surrogate pair is missing");
	s->at += 6;
	put_utf8(out, 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00));
	return true;
}

/* s->at is at the backslash. */
static bool scan_escape(struct scan *s, struct buf *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *k;

	s->at++;
	if (here(s) == 'u')
		return scan_unicode(s, out);
	k = here(s) ? strchr(from, here(s)) : NULL;
	if (!k)
		return fault_at(s, s->at - 1, "no such escape");
	if (out)
		buf_addc(out, to[k - from]);
	s->at++;
	return true;
}

bool scan_text(struct scan *s, struct buf *out)
{
	size_t from = s->at;

	if (here(s) != '"')
		return fault_at(s, s->at, "a text in double quotes must stand here");
	s->at++;
	while (s->at < s->text.n && s->text.p[s->at] != '"') {
		char c = s->text.p[s->at];

		if ((unsigned char)c < ' ')
			return fault_at(
				s, s->at, "a control character must be written as an escape");
		if (c == '\\') {
			if (!scan_escape(s, out))
				return false;
			continue;
		}
		if (out)
			buf_addc(out, c);
		s->at++;
	}
	if (s->at >= s->text.n)
		return fault_at(s, from, "the text does not end");
	s->at++;
	return true;
}

static bool digits(struct scan *s)
{
	size_t from = s->at;

	while (here(s) >= '0' && here(s) <= '9')
		s->at++;
	return s->at > from;
}

static bool number_form(struct scan *s)
{
	if (here(s) == '-')
		s->at++;
	if (here(s) == '0')
		s->at++;
	else if (!digits(s))
		return false;
	if (here(s) == '.') {
		s->at++;
		if (!digits(s))
			return false;
	}
	if (here(s) == 'e' || here(s) == 'E') {
		s->at++;
		if (here(s) == '+' || here(s) == '-')
			s->at++;
		if (!digits(s))
			return false;
	}
	return true;
}

static bool scan_number(struct scan *s)
{
	size_t from = s->at, n;
	char text[JSON_DIGITS + 1];
	double value;

	if (!number_form(s))
		return fault_at(s, from, "a number is not written so");
	n = s->at - from;
	if (n > JSON_DIGITS)
		return fault_at(s, from, "a number has too many digits");
	memcpy(text, s->text.p + from, n);
	text[n] = '\0';
	value = strtod(text, NULL);
	if (!(value <= (double)JSON_MAX_INT && value >= -(double)JSON_MAX_INT))
		return fault_at(s, from, "a number is too large");
	text[strcspn(text, "eE")] = '\0';
	if (value == 0 && strpbrk(text, "123456789"))
		return fault_at(s, from, "a number is too small");
	return true;
}

static bool scan_word(struct scan *s, const char *word)
{
	if (!str_starts(str_sub(s->text, s->at, s->text.n), word))
		return fault_at(s, s->at, "this is not JSON");
	s->at += strlen(word);
	return true;
}

struct key {
	const struct key *before;
	struct str text;
	size_t at;
};

static int by_key(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	size_t n = x->text.n < y->text.n ? x->text.n : y->text.n;
	int d = n ? memcmp(x->text.p, y->text.p, n) : 0;

	if (d)
		return d;
	if (x->text.n != y->text.n)
		return x->text.n < y->text.n ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* The first of the text that has come before; the second of two by place. */
static bool keys_differ(struct scan *s, const struct key *last, size_t n)
{
	struct key *all;
	size_t twice = SIZE_MAX;

	if (n < 2)
		return true;
	all = arena_alloc(s->keys, n * sizeof(*all));
	for (size_t i = n; last; last = last->before)
		all[--i] = *last;
	qsort(all, n, sizeof(*all), by_key);
	for (size_t i = 1; i < n; i++)
		if (str_eq(all[i].text, all[i - 1].text) && all[i].at < twice)
			twice = all[i].at;
	return twice == SIZE_MAX ? true : fault_at(s, twice, "duplicate key");
}

static const struct key *key_add(
	struct scan *s, const struct key *before, const struct buf *text, size_t at)
{
	struct key *k = arena_alloc(s->keys, sizeof(*k));

	*k = (struct key){before, arena_str(s->keys, buf_str(text)), at};
	return k;
}

/* One member, from its key to behind its value. */
static bool scan_member(struct scan *s, const struct key **last)
{
	CLEANUP(buf_release) struct buf key = BUF_INIT;
	size_t at;

	scan_peek(s);
	at = s->at;
	if (!scan_text(s, s->keys ? &key : NULL))
		return false;
	if (s->keys)
		*last = key_add(s, *last, &key, at);
	if (scan_peek(s) != ':')
		return fault_at(s, s->at, "':' is missing");
	s->at++;
	return scan_value(s);
}

static bool scan_members(struct scan *s, char close)
{
	const struct key *last = NULL;
	size_t n = 0;

	s->at++;
	if (scan_peek(s) == close)
		return s->at++, true;
	for (;; s->at++) {
		char c;

		if (close == '}' ? !scan_member(s, &last) : !scan_value(s))
			return false;
		n++;
		c = scan_peek(s);
		if (c == close)
			break;
		if (c != ',')
			return fault_at(s, s->at,
				close == '}' ? "',' or '}' is missing" : "',' or ']' is missing");
	}
	if (s->keys && close == '}' && !keys_differ(s, last, n))
		return false;
	s->at++;
	return true;
}

bool scan_value(struct scan *s)
{
	char c = scan_peek(s);
	bool good;

	if (s->at >= s->text.n)
		return fault_at(s, s->at, "a value is missing");
	if (s->depth >= JSON_DEPTH)
		return fault_at(s, s->at, "nested too deep");
	s->depth++;
	if (c == '{' || c == '[')
		good = scan_members(s, c == '{' ? '}' : ']');
	else if (c == '"')
		good = scan_text(s, NULL);
	else if (c == '-' || (c >= '0' && c <= '9'))
		good = scan_number(s);
	else
		good = scan_word(s, c == 't' ? "true" : c == 'f' ? "false" : "null");
	s->depth--;
	return good;
}

static bool scan_whole(struct scan *s)
{
	size_t bad = utf8_fault(s->text);

	if (bad)
		return fault_at(s, bad - 1,
			s->text.p[bad - 1] ? "invalid UTF-8" : "a NUL character is not allowed");
	if (!scan_value(s))
		return false;
	scan_peek(s);
	return s->at >= s->text.n ? true : fault_at(s, s->at, "text after the JSON value");
}

int json_read(json **out, const char *file, struct str text, struct error *err)
{
	struct arena keys = {0};
	struct scan s = {.text = text, .keys = &keys};
	bool good = scan_whole(&s);

	*out = NULL;
	arena_release(&keys);
	if (!good) {
		unsigned line, col;

		text_place(text, s.at, &line, &col);
		return error_at(err, file, line, col, "%s", s.fault);
	}
	if (json_parse(out, text, err) < 0)
		return error_at(err, file, 1, 1, "this is not JSON");
	return 0;
}
