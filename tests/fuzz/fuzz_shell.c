/*
 * Any bytes as the text of a shell. Denied: with a reason and a position inside the text. Accepted:
 * commands stand in the order of the text, their words and redirections inside them and in order,
 * and a text is never longer than what it was read from.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/lib/shell_cases.h"

static void see_order(struct span at, struct span outer, size_t *last)
{
	expect(outer.from <= at.from && at.from <= at.to && at.to <= outer.to && at.from >= *last);
	*last = at.to;
}

static void see_word(const struct word *w, struct span outer, size_t *last)
{
	see_order(w->at, outer, last);
	if (w->text)
		expect(strlen(w->text) <= w->at.to - w->at.from);
}

static void see_redirect(const struct redirect *r, const struct command *c, size_t *last)
{
	struct span outer = r->at;
	size_t within = r->at.from;

	see_order(r->at, c->at, last);
	expect(r->fd >= 0 && r->fd <= 2 && r->other >= 0 && r->other <= 2);
	if (r->kind == REDIRECT_DUP || r->kind == REDIRECT_CLOSE)
		return;
	if (r->word.at.from >= r->at.to) /* of a here document */
		outer.to = r->word.at.to;
	see_word(&r->word, outer, &within);
}

static void see_command(const struct command *c)
{
	size_t last = c->at.from, after = c->at.from;

	expect(c->at.from < c->at.to);
	for (size_t i = 0; i < c->n_words; i++) {
		see_word(&c->words[i], c->at, &last);
		expect(c->words[i].at.from < c->words[i].at.to);
	}
	for (const struct redirect *r = c->redirects; r; r = r->next)
		see_redirect(r, c, &after);
	expect(c->n_words || c->n_assignments || c->redirects);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(buf_release) struct buf drawing = BUF_INIT;
	struct arena a = {0};
	struct verdict v = {0};
	struct command *commands = NULL;
	size_t last = 0;

	if (shell_parse(&a, (struct str){(const char *)data, size}, &commands, &v) == 0) {
		expect(!v.denied && commands);
		for (const struct command *c = commands; c; c = c->next) {
			expect(c->at.from >= last && c->at.to <= size);
			last = c->at.from;
			see_command(c);
		}
		shell_draw(&drawing, commands);
		expect(!str_utf8_fault(buf_str(&drawing)));
	} else {
		expect(!commands && v.denied && v.at.from <= v.at.to && v.at.to <= size);
		expect(v.reason[0] && !str_utf8_fault(str_of(v.reason)));
		expect(v.rule <= RULE_CONSTRUCT || v.rule == RULE_REDIRECT);
	}
	arena_release(&a);
	return 0;
}
