#include "src/base/json.h"

static void new_line(struct buf *out, unsigned level)
{
	buf_addc(out, '\n');
	while (level--)
		buf_adds(out, "  ");
}

static void print_level(struct buf *out, const json *j, unsigned level)
{
	bool object = json_is_object(j);

	if ((!object && !json_is_array(j)) || !json_first(j)) {
		json_print(out, j);
		return;
	}
	buf_addc(out, object ? '{' : '[');
	for (const json *c = json_first(j); c; c = json_next(c)) {
		if (c != json_first(j))
			buf_addc(out, ',');
		new_line(out, level + 1);
		if (object) {
			json_print_text(out, str_of(json_key(c)));
			buf_adds(out, ": ");
		}
		print_level(out, c, level + 1);
	}
	new_line(out, level);
	buf_addc(out, object ? '}' : ']');
}

void json_print_pretty(struct buf *out, const json *j)
{
	print_level(out, j, 0);
	buf_addc(out, '\n');
}
