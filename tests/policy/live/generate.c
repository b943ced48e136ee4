#include "tests/policy/live/generate_internal.h"

static void may_blank(struct maker *m)
{
	if (chance(m, 60))
		make_blank(m);
}

static void name(struct maker *m)
{
	static const char *const names[] = {"ls", "cat", "git", "echo", "make", "test", "cd",
		"printf", "grep", "true", "false", "export", "read", "set", "rm", "sort", "tee",
		"wc"};
	static const char *const odd[] = {
		"l\"s\"", "'cat'", "\\ls", "g''it", "\"ls\"", "l\\s", "[", ":"};
	static const char *const wildest[] = {"/bin/ls", "./x", "$x", "l*", "eval", "alias",
		"function", "{ls", "select", "coproc", "[[", "((", "in", "do", "then", "1", "a.b",
		"exec", "source", "declare", "local", "let", "trap", "readonly", "typeset", "if",
		"e[a]"};

	if (wild(m, 20))
		put(m, PICK(m, wildest));
	else if (chance(m, 8))
		put(m, PICK(m, odd));
	else
		put(m, PICK(m, names));
}

static void document(struct maker *m)
{
	static const char *const plain[] = {"E", "EOF", "END", "e_1"};
	static const char *const forms[] = {"'%s'", "\"%s\"", "\\%s", "%s", "%s"};
	struct document *d;
	const char *delimiter = PICK(m, plain);
	unsigned form = roll(m, COUNT(forms));

	if (m->n == DOCUMENTS)
		return;
	d = &m->documents[m->n++];
	d->strip = chance(m, 30);
	d->literal = form < 3;
	(void)snprintf(d->delimiter, sizeof(d->delimiter), "%s", delimiter);
	put(m, d->strip ? "<<-" : "<<");
	if (chance(m, 20))
		put(m, " ");
	for (const char *f = forms[form]; *f; f++) {
		if (*f == '%') {
			put(m, delimiter);
			f++;
		} else {
			buf_addc(m->out, *f);
		}
	}
	if (wild(m, 15))
		put(m, "x");
}

static void redirect(struct maker *m)
{
	static const char *const operators[] = {
		">", ">>", "<", ">|", "2>", "2>>", "&>", "&>>", "1>", "0<"};
	static const char *const copies[] = {"2>&1", ">&2", "1>&2", "2>&-", "<&-", "<&0", ">&-"};
	static const char *const odd[] = {"<>f", "3>f", "{fd}>f", ">&f", "2>&1x", ">&$x", "<&3",
		"10>f", "> >f", "12>&1", "2>&1-", ">&01", "<<<", "0<<<a", "<(x)", "1<>f"};
	static const char *const targets[] = {"f", "out", "/dev/null", "\"f\"", "'f b'", "f1"};
	unsigned what = roll(m, 100);

	if (wild(m, 40)) {
		put(m, PICK(m, odd));
	} else if (what < 45) {
		put(m, PICK(m, operators));
		may_blank(m);
		if (chance(m, 75))
			put(m, PICK(m, targets));
		else
			make_word(m);
	} else if (what < 65) {
		put(m, PICK(m, copies));
	} else if (what < 78) {
		put(m, "<<<");
		may_blank(m);
		make_word(m);
	} else {
		document(m);
	}
}

static void assignment(struct maker *m)
{
	static const char *const names[] = {"FOO", "x", "CC", "_a1", "LC_ALL"};

	put(m, PICK(m, names));
	put(m, wild(m, 20) ? "+=" : "=");
	if (chance(m, 85))
		make_word(m);
}

static void simple(struct maker *m)
{
	while (chance(m, 8)) {
		assignment(m);
		make_blank(m);
	}
	if (chance(m, 3)) {
		redirect(m);
		make_blank(m);
	}
	name(m);
	for (unsigned i = roll(m, 5); i > 0; i--) {
		make_blank(m);
		if (chance(m, 12))
			redirect(m);
		else
			make_word(m);
	}
}

/* What ends a list inside a compound command, in front of a reserved word. */
static void end_of_list(struct maker *m)
{
	if (chance(m, 75) && !m->n)
		put(m, chance(m, 90) ? "; " : " ; ");
	else
		make_newline(m);
}

static void body(struct maker *m, const char *before, const char *after)
{
	put(m, before);
	if (chance(m, 85))
		make_blank(m);
	else
		make_newline(m);
	make_list(m);
	end_of_list(m);
	put(m, after);
}

static void if_command(struct maker *m)
{
	body(m, "if", "then");
	body(m, "", chance(m, 25) ? "elif" : "fi");
	if (str_ends(buf_str(m->out), "elif")) {
		body(m, "", "then");
		body(m, "", "else");
		body(m, "", "fi");
	}
}

static void for_command(struct maker *m)
{
	put(m, "for ");
	put(m, chance(m, 70) ? "i" : "x");
	if (chance(m, 95)) {
		put(m, chance(m, 95) ? " in" : "\nin");
		for (unsigned i = roll(m, 4); i > 0; i--) {
			make_blank(m);
			make_word(m);
		}
	}
	end_of_list(m);
	body(m, "do", "done");
}

static void case_command(struct maker *m)
{
	put(m, "case ");
	make_word(m);
	put(m, " in");
	if (chance(m, 50))
		make_newline(m);
	else
		put(m, " ");
	for (unsigned i = roll(m, 3); i > 0; i--) {
		if (chance(m, 30))
			put(m, "(");
		make_word(m);
		if (chance(m, 25)) {
			put(m, chance(m, 50) ? "|" : " | ");
			make_word(m);
		}
		put(m, ") ");
		if (chance(m, 85))
			make_list(m);
		if (m->n)
			make_newline(m);
		put(m, wild(m, 15) ? " ;& " : chance(m, 80) ? " ;; " : ";;\n");
	}
	put(m, "esac");
}

static void compound(struct maker *m)
{
	unsigned what = roll(m, 100);
	unsigned before = m->n;

	if (what < 25) {
		put(m, chance(m, 70) ? "(" : "( ");
		make_list(m);
		if (m->n > before && chance(m, 80))
			make_newline(m);
		put(m, chance(m, 70) ? ")" : " )");
	} else if (what < 45) {
		body(m, "{", "}");
	} else if (what < 65) {
		if_command(m);
	} else if (what < 80) {
		body(m, chance(m, 50) ? "while" : "until", "do");
		body(m, "", "done");
	} else if (what < 92) {
		for_command(m);
	} else {
		case_command(m);
	}
	while (chance(m, 12)) {
		may_blank(m);
		redirect(m);
	}
}

static void command(struct maker *m)
{
	m->depth++;
	if (m->depth < DEPTH && m->out->len < LONG && chance(m, 14))
		compound(m);
	else
		simple(m);
	m->depth--;
}

static void pipeline(struct maker *m)
{
	static const char *const bars[] = {" | ", "|", " |", "| ", " |& ", " |\n", "|\\\n"};

	if (chance(m, 4))
		put(m, "! ");
	if (chance(m, 2))
		put(m, chance(m, 70) ? "time " : "time -p ");
	command(m);
	while (chance(m, 12)) {
		const char *bar = PICK(m, bars);

		put(m, bar);
		if (str_ends(str_of(bar), "|\n"))
			make_documents(m, false);
		command(m);
	}
}

void make_list(struct maker *m)
{
	static const char *const between[] = {
		" && ", " || ", "; ", ";", " ; ", "&&", "||", " & ", "&", " &&\n"};

	m->depth++;
	pipeline(m);
	while (chance(m, 22) && m->out->len < LONG) {
		if (chance(m, 20)) {
			make_newline(m);
		} else {
			const char *sep = PICK(m, between);

			put(m, sep);
			if (str_ends(str_of(sep), "\n"))
				make_documents(m, false);
		}
		pipeline(m);
	}
	m->depth--;
}

/* One byte otherwise: what was right is then nearly right. */
static void mutate(struct maker *m)
{
	static const char bytes[] = " \t\n;&|<>(){}[]'\"\\$`#!*?~=-aE0\x01\r,.:@";
	struct buf *b = m->out;
	size_t at = roll(m, (unsigned)b->len);
	char c = bytes[roll(m, sizeof(bytes) - 1)];
	unsigned what = roll(m, 3);

	if (what == 0) {
		b->s[at] = c;
	} else if (what == 1) {
		memmove(b->s + at, b->s + at + 1, b->len - at);
		b->len--;
	} else {
		buf_addc(b, c);
		memmove(b->s + at + 1, b->s + at, b->len - 1 - at);
		b->s[at] = c;
	}
}

void generate(struct buf *out, uint64_t seed, uint64_t number)
{
	struct maker m = {.out = out};
	struct random first = {number};

	/* Its own place in the cycle, not the next one of the text before. */
	m.random.state = seed ^ random_next(&first);
	buf_clear(out);
	if (chance(&m, 3)) {
		make_comment(&m);
		put(&m, "\n");
	}
	make_list(&m);
	if (m.n) {
		put(&m, "\n");
		make_documents(&m, true);
	} else if (chance(&m, 15)) {
		static const char *const ends[] = {"\n", ";", " ", "\n\n", " # end", " &", ";\n"};

		put(&m, PICK(&m, ends));
	}
	while (out->len && chance(&m, 30))
		mutate(&m);
}
