/*
 * contexts: a row of the tables keeps its verdict wherever it stands: in a subshell, in any branch,
 * in a loop, in a pipeline, in $( ), in the background, behind and in front of other commands. What
 * must be denied stays denied in all of them; what must be allowed stays allowed where the context
 * changes nothing for it.
 *
 *     contexts FILE...
 */
#include "src/policy/table.h"
#include "tests/lib/tap.h"

enum { SHOWN = 20 };

static const struct context {
	const char *name, *before, *after;
	bool allowed; /* for allow rows too */
} contexts[] = {
	{"subshell", "(\n", "\n)", true},
	{"group", "{\n", "\n}", true},
	{"behind &&", "echo a &&\n{ ", "\n}", true},
	{"behind ||", "echo a ||\n{ ", "\n}", true},
	{"then", "if echo a; then\n", "\nfi", true},
	{"else", "if echo a; then echo b; else\n", "\nfi", true},
	{"condition", "if\n", "\nthen echo a; fi", true},
	{"loop", "for zz in 1 2; do\n", "\ndone", false},
	{"while", "while echo a; do\n", "\ndone", false},
	{"arm", "case a in b)\n", "\n;; esac", true},
	{"behind a line", "echo a\n", "", true},
	{"in front of a line", "", "\necho a", true},
	{"behind a cd", "cd src && cd .. && {\n", "\n}", true},
	{"pipeline", "{\n", "\n} | {\necho a\n}", true},
	{"end of a pipeline", "echo a | {\n", "\n}", false},
	{"background", "{\n", "\n} &\necho a", true},
	{"negated", "! {\n", "\n}", true},
	{"timed", "time {\n", "\n}", true},
	{"output", "echo \"$(\n", "\n)\"", false},
};

struct totals {
	size_t asked, bad;
};

static bool applies(const struct context *c, const struct table_row *row)
{
	/* A text that is not whole may become so, or is whole nowhere. */
	if (strcmp(row->class, "malformed") == 0)
		return false;
	if (!row->allow)
		return true;
	return c->allowed;
}

static void ask(struct totals *t, const struct fixture *f, const struct context *c,
	const struct table *table, const struct table_row *row)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct table_row changed = *row;
	struct verdict v;
	bool allowed;

	buf_adds(&text, c->before);
	buf_add(&text, row->command);
	buf_adds(&text, c->after);
	changed.command = buf_str(&text);
	allowed = fixture_check(&a, f, &changed, &v) == 0;
	t->asked++;
	if (allowed == row->allow || t->bad++ >= SHOWN)
		return;
	tap_notef("%s:%u: %s must stay %s, %s:", table->file, row->line, row->id,
		row->allow ? "allowed" : "denied", c->name);
	tap_note(buf_str(&text));
	buf_clear(&text);
	verdict_line(&text, &v);
	tap_note(buf_str(&text));
}

/* Only rows that come out right alone: what does not is told elsewhere. */
static void ask_row(struct totals *t, const struct fixture *f, const struct table *table,
	const struct table_row *row)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct verdict v;

	if ((fixture_check(&a, f, row, &v) == 0) != row->allow)
		return;
	for (size_t i = 0; i < COUNT(contexts); i++)
		if (applies(&contexts[i], row))
			ask(t, f, &contexts[i], table, row);
}

int main(int argc, char **argv)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(fixture_release) struct fixture f = {.root.fd = -1};
	struct totals t = {0, 0};
	struct error err;

	if (fixture_make(&a, &f, &err) < 0)
		die("%s", err.text);
	for (int i = 1; i < argc; i++) {
		struct table table;

		if (table_read(&a, argv[i], &table, &err) < 0)
			die("%s:%u:%u: %s", err.file, err.line, err.col, err.text);
		for (size_t k = 0; k < table.n; k++)
			ask_row(&t, &f, &table, &table.rows[k]);
	}
	tap(t.bad == 0, "rows keep their verdicts in every context");
	tap(t.asked > 0, "there are rows");
	tap_notef("figures: contexts: %zu texts, %zu with another verdict", t.asked, t.bad);
	return tap_end();
}
