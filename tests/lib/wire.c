#include <ctype.h>
#include "tests/lib/tree.h"
#include "tests/lib/wire.h"

/* The word that this header defines for WIRE_NAME; empty when there is none. */
static struct str word_of(struct str header, struct str name)
{
	CLEANUP(buf_release) struct buf define = BUF_INIT;
	struct str rest;

	buf_addf(&define, "#define WIRE_%.*s ", (int)name.n, name.p);
	rest = str_sub(header, str_find(header, buf_str(&define)), header.n);
	if (!rest.n)
		return rest;
	rest = str_sub(rest, str_find(rest, STR("\"")) + 1, rest.n);
	return str_sub(rest, 0, str_find(rest, STR("\"")));
}

void wire_expand(struct buf *out, struct str text)
{
	CLEANUP(buf_release) struct buf header = BUF_INIT;

	(void)tree_read("tests/lib/wire.h", &header);
	for (;;) {
		size_t dollar = str_find(text, STR("$")), end = dollar + 1;
		struct str word;

		buf_add(out, str_sub(text, 0, dollar));
		if (dollar == text.n)
			return;
		while (end < text.n && (isupper((unsigned char)text.p[end]) || text.p[end] == '_'))
			end++;
		word = word_of(buf_str(&header), str_sub(text, dollar + 1, end));
		buf_add(out, word.n ? word : str_sub(text, dollar, end));
		text = str_sub(text, end, text.n);
	}
}
