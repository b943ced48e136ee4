#include "tests/policy/live/generate_internal.h"

void make_blank(struct maker *m)
{
	static const char *const odd[] = {"  ", "\t", " \\\n", "\\\n ", " \t ", "   "};

	put(m, chance(m, 93) ? " " : PICK(m, odd));
}

static void document_body(struct maker *m, const struct document *d)
{
	static const char *const lines[] = {"plain text", "", "it's \"quoted\"", "  indented",
		"a && b | c; d > e", "# no comment", "EOF ", " EOF", "E", "fi", ")", "tab\there",
		"\tEOF x", "caf\xc3\xa9", "'", "\""};
	static const char *const inert[] = {"$(id) `id`", "\\", "$x ${y:-z}", "\\$", "a\\"};

	for (unsigned i = roll(m, 4); i > 0; i--) {
		if (d->strip && chance(m, 50))
			put(m, "\t");
		put(m, (d->literal ? chance(m, 25) : wild(m, 40)) ? PICK(m, inert)
								  : PICK(m, lines));
		put(m, "\n");
	}
	if (d->strip && chance(m, 60))
		put(m, chance(m, 80) ? "\t" : "\t\t");
	if (!wild(m, 15))
		put(m, d->delimiter);
	if (wild(m, 10))
		put(m, " ");
}

void make_documents(struct maker *m, bool last)
{
	unsigned n = m->n;

	m->n = 0;
	for (unsigned i = 0; i < n; i++) {
		document_body(m, &m->documents[i]);
		if (!last || i + 1 < n || chance(m, 70))
			put(m, "\n");
	}
}

void make_comment(struct maker *m)
{
	static const char *const texts[] = {"# note", "#", "#; rm -rf /", "# it's \"here",
		"# $(id)", "# `id`", "# <<E", "## ( {"};

	put(m, PICK(m, texts));
}

void make_newline(struct maker *m)
{
	if (chance(m, 8)) {
		put(m, " ");
		make_comment(m);
	}
	put(m, "\n");
	make_documents(m, false);
	while (chance(m, 10))
		put(m, chance(m, 50) ? "\n" : "  \n");
}

static void inside_double(struct maker *m)
{
	static const char *const texts[] = {"a", "b c", "it's", "\\\"", "\\\\", "\\$x", "\\`",
		"\\n", ";", "&&", "|", ">", "#", "*", "{a,b}", "~", "$", "\\\n", "\n",
		"caf\xc3\xa9", "!", "<<E", "'", "(", ")", "\\a", "%s", "/"};

	put(m, PICK(m, texts));
}

static void output(struct maker *m)
{
	unsigned before = m->n;

	put(m, "$(");
	if (chance(m, 15))
		put(m, " ");
	make_list(m);
	if (m->n > before)
		make_newline(m);
	put(m, ")");
}

static void variable(struct maker *m)
{
	static const char *const names[] = {"x", "y", "HOME", "i", "FOO_1"};
	bool braces = chance(m, 40);

	put(m, braces ? "${" : "$");
	put(m, PICK(m, names));
	if (braces)
		put(m, "}");
}

static void double_quotes(struct maker *m)
{
	put(m, "\"");
	for (unsigned i = roll(m, 4); i > 0; i--) {
		unsigned what = roll(m, 100);

		if (what < 70)
			inside_double(m);
		else if (what < 85)
			variable(m);
		else if (m->depth < DEPTH && m->out->len < LONG)
			output(m);
	}
	put(m, "\"");
}

static void wild_piece(struct maker *m)
{
	static const char *const texts[] = {"`id`", "$((1+1))", "$'a\\n'", "$\"a\"", "{a,b}",
		"{1..3}", "~", "~/x", "${x:-y}", "${#x}", "$1", "$?", "$@", "<(id)", ">(id)",
		"$[1]", "@(a|b)", "x=~", "\\\n", "${x", "$(", "'", "\"", "(", ")", "a=(b)", "\\",
		"!(x)", "a[1]=b", "{a,$x}", "$((", "\xc2\xa0", "\r", "?(x)", "x:~", "${!x}", "{a..",
		"a,b}"};

	put(m, PICK(m, texts));
}

static void plain_piece(struct maker *m)
{
	static const char *const any[] = {"a", "b", "src", "main.c", "-l", "--x=y", "a=b", "x:y",
		"%s", "1", "42", "@", "{}", "{a}", "a,b", "}", "{", "=", "!", "^", "+", "^{c}",
		"@{u}", "HEAD~1", "a~", "caf\xc3\xa9", "*", "*.c", "?", "[ab]", "[", "]", "a/b",
		"./x", "..", "-", "--", "if", "fi", "done", "in", "do", "time", "\xe2\x80\x8b",
		"a..b", ".", ":", "e[", "$"};

	put(m, PICK(m, any));
}

static void quoted_piece(struct maker *m)
{
	static const char *const escapes[] = {"\\a", "\\ ", "\\;", "\\$", "\\\"", "\\'", "\\\\",
		"\\*", "\\(", "\\)", "\\|", "\\&", "\\<", "\\#", "\\~", "\\{", "\\!", "\\\xc3\xa9",
		"\\`"};
	static const char *const singles[] = {"''", "'a b'", "'$(id) `id`'", "'\"'", "'\\'",
		"'; id'", "'*'", "'#'", "'a\nb'", "'caf\xc3\xa9'", "'{a,b}'", "'~'", "'-x'"};
	unsigned what = roll(m, 100);

	if (what < 35)
		put(m, PICK(m, singles));
	else if (what < 75)
		double_quotes(m);
	else
		put(m, PICK(m, escapes));
}

void make_word(struct maker *m)
{
	unsigned n = chance(m, 75) ? 1 : 1 + roll(m, 4);

	for (unsigned i = 0; i < n; i++) {
		unsigned what = roll(m, 100);

		if (wild(m, 12))
			wild_piece(m);
		else if (what < 68)
			plain_piece(m);
		else if (what < 88)
			quoted_piece(m);
		else if (what < 95)
			variable(m);
		else if (m->depth < DEPTH && m->out->len < LONG)
			output(m);
		else
			put(m, "w");
	}
}
