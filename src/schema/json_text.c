#include <limits.h>
#include <math.h>
#include "src/base/number.h"
#include "src/base/vec.h"
#include "src/schema/schema.h"

/* A position in a text. All of it is the caller's. */
struct json_scan {
	struct str text;
	size_t at;
	unsigned depth;
	struct buf *string; /* gets what the last string means */
	struct arena *keys; /* for the keys of the objects that are open; NULL: duplicates pass */
	const char *fault;  /* NULL: none so far; `at` is its position */
};

static bool scan_value(struct json_scan *s);

static bool json_text_fault_at(struct json_scan *s, size_t at, const char *what)
{
	s->fault = what;
	s->at = at;
	return false;
}

/* Skips white space; the character there, or NUL at the end. */
static char scan_peek(struct json_scan *s)
{
	while (s->at < s->text.n && memchr(" \t\r\n", s->text.p[s->at], 4))
		s->at++;
	return s->at < s->text.n ? s->text.p[s->at] : '\0';
}

static char here(const struct json_scan *s)
{
	return s->at < s->text.n ? s->text.p[s->at] : '\0';
}

/* Four hexadecimal digits; -1: something else. */
static long hex4(const struct json_scan *s, size_t at)
{
	uint64_t v;

	return at + 4 <= s->text.n && number_hex(str_sub(s->text, at, at + 4), &v) ? (long)v : -1;
}

static void put_utf8(struct buf *out, long c)
{
	static const unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};
	int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;

	buf_addc(out, (char)(first[more] | c >> 6 * more));
	while (more-- > 0)
		buf_addc(out, (char)(0x80 | (c >> 6 * more & 63)));
}

/* s->at is at the `u`. */
static bool scan_unicode(struct json_scan *s)
{
	size_t from = s->at - 1;
	long c = hex4(s, s->at + 1), low;

	if (c < 0)
		return json_text_fault_at(s, from, "expected four hexadecimal digits");
	if (c == 0)
		return json_text_fault_at(s, from, "a NUL character is not allowed");
	s->at += 5;
	if (c < 0xd800 || c > 0xdfff)
		return put_utf8(s->string, c), true;
	if (c > 0xdbff || here(s) != '\\' || s->at + 1 >= s->text.n || s->text.p[s->at + 1] != 'u')
		return json_text_fault_at(s, from, "unpaired surrogate");
	low = hex4(s, s->at + 2);
	if (low < 0xdc00 || low > 0xdfff)
		return json_text_fault_at(s, from, "unpaired surrogate");
	s->at += 6;
	put_utf8(s->string, 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00));
	return true;
}

/* s->at is at the backslash. */
static bool scan_escape(struct json_scan *s)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *k;

	s->at++;
	if (here(s) == 'u')
		return scan_unicode(s);
	k = here(s) ? strchr(from, here(s)) : NULL;
	if (!k)
		return json_text_fault_at(s, s->at - 1, "unknown escape");
	buf_addc(s->string, to[k - from]);
	s->at++;
	return true;
}

/* Skips a string into s->string. False: s->fault says why. */
static bool scan_text(struct json_scan *s)
{
	size_t from = s->at;

	if (here(s) != '"')
		return json_text_fault_at(s, s->at, "expected a string in double quotes");
	buf_clear(s->string);
	s->at++;
	while (s->at < s->text.n && s->text.p[s->at] != '"') {
		char c = s->text.p[s->at];

		if ((unsigned char)c < ' ')
			return json_text_fault_at(
				s, s->at, "a control character must be written as an escape");
		if (c == '\\') {
			if (!scan_escape(s))
				return false;
			continue;
		}
		buf_addc(s->string, c);
		s->at++;
	}
	if (s->at >= s->text.n)
		return json_text_fault_at(s, from, "the string is not terminated");
	s->at++;
	return true;
}

static bool json_text_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool scan_number(struct json_scan *s)
{
	size_t from = s->at, mantissa;
	struct str text, digits;
	double value;

	while (json_text_is_digit(here(s)) || (here(s) && strchr("+-.eE", here(s))))
		s->at++;
	text = str_sub(s->text, from, s->at);
	digits = str_sub(text, text.p[0] == '-', text.n);
	if (text.n > SCHEMA_JSON_DIGITS)
		return json_text_fault_at(s, from, "a number has too many digits");
	if (!number_double(text, -INFINITY, INFINITY, &value) ||
		(digits.p[0] == '0' && digits.n > 1 && json_text_is_digit(digits.p[1])))
		return json_text_fault_at(s, from, "malformed number");
	if (value > (double)JSON_MAX_INT || value < -(double)JSON_MAX_INT)
		return json_text_fault_at(s, from, "a number is too large");
	mantissa = str_find(text, STR("e"));
	for (size_t i = 0; value == 0 && i < mantissa && text.p[i] != 'E'; i++)
		if (text.p[i] >= '1' && text.p[i] <= '9')
			return json_text_fault_at(s, from, "a number is too small");
	return true;
}

static bool json_text_scan_word(struct json_scan *s, const char *word)
{
	if (!str_starts(str_sub(s->text, s->at, s->text.n), word))
		return json_text_fault_at(s, s->at, "this is not JSON");
	s->at += strlen(word);
	return true;
}

struct key_seen {
	const char *text;
	size_t at;
};

struct keys_seen {
	struct key_seen *items;
	size_t n, cap;
};

static int json_text_by_key(const void *a, const void *b)
{
	const struct key_seen *x = a, *y = b;
	int d = strcmp(x->text, y->text);

	return d ? d : x->at < y->at ? -1 : x->at > y->at;
}

/* Reports the first key that repeats an earlier one. */
static bool keys_differ(struct json_scan *s, struct keys_seen *keys)
{
	const struct key_seen *all = keys->items;
	size_t twice = SIZE_MAX;

	vec_sort(keys, json_text_by_key);
	for (size_t i = 1; i < keys->n; i++)
		if (strcmp(all[i].text, all[i - 1].text) == 0 && all[i].at < twice)
			twice = all[i].at;
	return twice == SIZE_MAX ? true : json_text_fault_at(s, twice, "duplicate key");
}

static bool scan_member(struct json_scan *s, struct keys_seen *keys)
{
	size_t at;

	scan_peek(s);
	at = s->at;
	if (!scan_text(s))
		return false;
	if (s->keys)
		vec_push_in(s->keys, keys,
			(struct key_seen){arena_dup(s->keys, buf_str(s->string)), at});
	if (scan_peek(s) != ':')
		return json_text_fault_at(s, s->at, "':' is missing");
	s->at++;
	return scan_value(s);
}

static bool scan_members(struct json_scan *s, char close)
{
	struct keys_seen keys = {0};

	s->at++;
	if (scan_peek(s) == close)
		return s->at++, true;
	for (;; s->at++) {
		char c;

		if (close == '}' ? !scan_member(s, &keys) : !scan_value(s))
			return false;
		c = scan_peek(s);
		if (c == close)
			break;
		if (c != ',')
			return json_text_fault_at(s, s->at,
				close == '}' ? "',' or '}' is missing" : "',' or ']' is missing");
	}
	if (!keys_differ(s, &keys))
		return false;
	s->at++;
	return true;
}

static bool scan_value(struct json_scan *s)
{
	char c = scan_peek(s);
	bool good;

	if (s->at >= s->text.n)
		return json_text_fault_at(s, s->at, "a value is missing");
	if (s->depth >= SCHEMA_JSON_DEPTH)
		return json_text_fault_at(s, s->at, "nested too deeply");
	s->depth++;
	if (c == '{' || c == '[')
		good = scan_members(s, c == '{' ? '}' : ']');
	else if (c == '"')
		good = scan_text(s);
	else if (c == '-' || json_text_is_digit(c))
		good = scan_number(s);
	else
		good = json_text_scan_word(s, c == 't' ? "true" : c == 'f' ? "false" : "null");
	s->depth--;
	return good;
}

static bool scan_whole(struct json_scan *s)
{
	size_t bad = str_utf8_fault(s->text);

	if (bad)
		return json_text_fault_at(s, bad - 1,
			s->text.p[bad - 1] ? "invalid UTF-8" : "a NUL character is not allowed");
	if (!scan_value(s))
		return false;
	scan_peek(s);
	return s->at >= s->text.n ? true
				  : json_text_fault_at(s, s->at, "text after the JSON value");
}

int schema_read_json(json **out, const char *file, struct str text, struct error *err)
{
	CLEANUP(buf_release) struct buf string = BUF_INIT;
	struct arena keys = {0};
	struct json_scan s = {.text = text, .string = &string, .keys = &keys};
	bool good = scan_whole(&s);

	*out = NULL;
	arena_release(&keys);
	if (!good) {
		unsigned line, col;

		str_position(text, s.at, &line, &col);
		return error_at(err, file, line, col, "%s", s.fault);
	}
	if (json_parse(out, text, err) < 0)
		return error_at(err, file, 1, 1, "this is not JSON");
	return 0;
}

/* The next part of a JSON pointer, unescaped; false at its end. */
static bool json_text_next_part(const char **pointer, struct buf *part)
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

/* No zero stands before other digits. */
static bool json_text_read_index(const struct buf *part, uint64_t *index)
{
	return number_parse(buf_str(part), 0, INT_MAX, index) &&
	       (part->s[0] != '0' || part->len == 1);
}

static bool enter_member(struct json_scan *s, const struct buf *name)
{
	for (s->at++; scan_peek(s) == '"'; s->at++) {
		if (!scan_text(s) || scan_peek(s) != ':')
			return false;
		s->at++;
		if (str_eq(buf_str(s->string), buf_str(name)))
			return true;
		if (!scan_value(s) || scan_peek(s) != ',')
			return false;
	}
	return false;
}

static bool enter_item(struct json_scan *s, uint64_t index)
{
	for (s->at++; scan_peek(s) != ']'; s->at++) {
		if (index-- == 0)
			return true;
		if (!scan_value(s) || scan_peek(s) != ',')
			return false;
	}
	return false;
}

bool schema_locate_json(struct str text, const char *pointer, unsigned *line, unsigned *col)
{
	CLEANUP(buf_release) struct buf part = BUF_INIT, string = BUF_INIT;
	struct json_scan s = {.text = text, .string = &string};

	while (json_text_next_part(&pointer, &part)) {
		char c = scan_peek(&s);
		uint64_t index;

		if (c == '{' ? !enter_member(&s, &part)
			     : c != '[' || !json_text_read_index(&part, &index) ||
					!enter_item(&s, index))
			return false;
	}
	scan_peek(&s);
	if (*pointer || s.at >= text.n)
		return false;
	str_position(text, s.at, line, col);
	return true;
}
