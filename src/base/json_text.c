#include "src/base/json_internal.h"

bool json_nul_escape(struct str text)
{
	size_t at = 0;

	for (; (at += str_find(str_sub(text, at, text.n), STR("\\u0000"))) < text.n; at++) {
		size_t slashes = 0;

		while (slashes <= at && at - slashes < text.n && text.p[at - slashes] == '\\') {
			slashes++;
			if (slashes > at)
				break;
		}
		if (slashes % 2)
			return true;
	}
	return false;
}

static void print_escape(struct buf *out, unsigned char c)
{
	static const char *const names[] = {['"'] = "\\\"",
		['\\'] = "\\\\",
		['\b'] = "\\b",
		['\f'] = "\\f",
		['\n'] = "\\n",
		['\r'] = "\\r",
		['\t'] = "\\t"};

	if (c < COUNT(names) && names[c])
		buf_adds(out, names[c]);
	else
		buf_addf(out, "\\u%04x", c);
}

void json_print_text(struct buf *out, struct str s)
{
	size_t from = 0;

	buf_addc(out, '"');
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c >= 0x20 && c != '"' && c != '\\')
			continue;
		buf_add(out, str_sub(s, from, i));
		print_escape(out, c);
		from = i + 1;
	}
	if (s.n)
		buf_add(out, str_sub(s, from, s.n));
	buf_addc(out, '"');
}

static void print_members(struct buf *out, const json *j, const char *brackets)
{
	buf_addc(out, brackets[0]);
	for (const json *c = json_first(j); c; c = json_next(c)) {
		if (c != json_first(j))
			buf_addc(out, ',');
		if (brackets[0] == '{') {
			json_print_text(out, str_of(json_key(c)));
			buf_addc(out, ':');
		}
		json_print(out, c);
	}
	buf_addc(out, brackets[1]);
}

void json_print(struct buf *out, const json *j)
{
	const char *text = json_text(j);
	int64_t n;

	if (json_is_object(j) || json_is_array(j))
		print_members(out, j, json_is_object(j) ? "{}" : "[]");
	else if (text)
		json_print_text(out, str_of(text));
	else if ((n = json_int(j, -1)) >= 0)
		buf_addf(out, "%lld", (long long)n);
	else
		json_print_other(out, j);
}
