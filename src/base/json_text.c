#include "src/base/json.h"

static void print_escape(struct buf *out, unsigned char c)
{
	static const char *const names[] = {
		['"'] = "\\\"", ['\\'] = "\\\\", ['\n'] = "\\n", ['\r'] = "\\r", ['\t'] = "\\t"};

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
