#include "tests/lib/shell_cases.h"

static void draw_word(struct buf *out, const char *before, const struct word *w)
{
	buf_adds(out, before);
	if (w->text)
		buf_addf(out, "'%s'", w->text);
	else
		buf_addc(out, '?');
}

static void draw_redirect(struct buf *out, const struct redirect *r)
{
	static const char *const signs[] = {"<", ">", ">&", ">&-", "<<<"};

	buf_addf(out, " %d", r->fd);
	if (r->kind == REDIRECT_DUP || r->kind == REDIRECT_CLOSE)
		buf_adds(out, signs[r->kind]);
	else
		draw_word(out, signs[r->kind], &r->word);
	if (r->kind == REDIRECT_DUP)
		buf_addf(out, "%d", r->other);
}

void shell_draw(struct buf *out, const struct command *commands)
{
	for (const struct command *c = commands; c; c = c->next) {
		buf_adds(out, c == commands ? "[" : " [");
		for (size_t i = 0; i < c->n_assignments; i++)
			buf_addc(out, '=');
		for (size_t i = 0; i < c->n_words; i++)
			draw_word(out, i ? " " : "", &c->words[i]);
		for (const struct redirect *r = c->redirects; r; r = r->next)
			draw_redirect(out, r);
		buf_addc(out, ']');
	}
}
