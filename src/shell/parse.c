#include "src/shell/parse_internal.h"

/* C1 control characters are two bytes in UTF-8. */
static bool is_control(struct str text, size_t i)
{
	unsigned char c = (unsigned char)text.p[i];

	if (c < 0x20)
		return c != '\t' && c != '\n';
	return c == 0x7f || (c == 0xc2 && (unsigned char)text.p[i + 1] < 0xa0);
}

static int check_bytes(struct str text, struct verdict *v)
{
	size_t fault = str_utf8_fault(text);

	if (fault)
		return deny(v, RULE_INPUT_BYTES, (struct span){fault - 1, fault},
			text.p[fault - 1] ? "invalid UTF-8" : "NUL in the text");
	for (size_t i = 0; i < text.n; i++)
		if (is_control(text, i))
			return deny(v, RULE_INPUT_BYTES, (struct span){i, i + 1},
				"control character 0x%02x",
				(unsigned char)text.p[i + ((unsigned char)text.p[i] == 0xc2)]);
	return 0;
}

static int shell_parse_check_text(struct str text, struct verdict *v)
{
	if (text.n > SHELL_MAX)
		return deny(v, RULE_INPUT_LENGTH, (struct span){SHELL_MAX, text.n},
			"more than %d bytes", SHELL_MAX);
	return check_bytes(text, v);
}

static int parse_all(struct parser *p, struct node **out)
{
	if (skip_newlines(p) < 0)
		return -1;
	if (p->at == p->n)
		return deny(p->v, RULE_INPUT_EMPTY, (struct span){0, p->n}, "no command");
	if (parse_list(p, out) < 0)
		return -1;
	if (p->at != p->n)
		return unexpected(p);
	if (p->documents)
		return deny(p->v, RULE_SYNTAX,
			p->documents->node->redirects[p->documents->redirect].at,
			"here document without its lines");
	return 0;
}

int shell_parse(struct arena *a, struct str text, struct node **out, struct verdict *v)
{
	struct parser p = {.a = a, .v = v, .n = text.n};

	*out = NULL;
	if (shell_parse_check_text(text, v) < 0)
		return -1;
	p.s = arena_dup(a, text);
	p.out = arena_alloc(a, text.n + 1);
	if (parse_all(&p, out) == 0)
		return 0;
	*out = NULL;
	return -1;
}
