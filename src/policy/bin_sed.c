/*
 * sed has a language that can run programs and write files. Its script is read here as GNU sed
 * reads it, and only commands that edit, print and skip are let through; where two readings are
 * possible the script is denied.
 */
#include "src/policy/bin.h"

struct script {
	struct check *c;
	const struct call *call;
	struct arg arg; /* for denials */
	struct str s;
	size_t i;
};

static int fault(struct script *p, const char *why)
{
	return bin_refuse(p->c, RULE_SCRIPT, &p->arg, why);
}

static int peek(const struct script *p)
{
	return p->i < p->s.n ? (unsigned char)p->s.p[p->i] : -1;
}

static bool is_digit(int ch)
{
	return ch >= '0' && ch <= '9';
}

static void skip_blanks(struct script *p)
{
	while (peek(p) == ' ' || peek(p) == '\t')
		p->i++;
}

static void skip_digits(struct script *p)
{
	while (is_digit(peek(p)))
		p->i++;
}

static void skip_line(struct script *p)
{
	while (peek(p) >= 0 && peek(p) != '\n')
		p->i++;
}

/* `[...]`, where the delimiter stands for itself; p->i is behind the opening bracket. */
static int skip_bracket(struct script *p)
{
	if (peek(p) == '^')
		p->i++;
	if (peek(p) == ']')
		p->i++;
	for (; peek(p) >= 0 && peek(p) != '\n'; p->i++) {
		int kind = p->i + 1 < p->s.n ? p->s.p[p->i + 1] : 0;

		if (peek(p) == ']') {
			p->i++;
			return 0;
		}
		if (peek(p) != '[' || !(kind == ':' || kind == '.' || kind == '='))
			continue;
		for (p->i += 2; p->i + 1 < p->s.n; p->i++)
			if (p->s.p[p->i] == kind && p->s.p[p->i + 1] == ']')
				break;
		p->i++;
	}
	return fault(p, "a bracket without its end in the script");
}

/* Up to the delimiter and behind it. */
static int skip_part(struct script *p, int delimiter, bool regex)
{
	for (int ch; (ch = peek(p)) >= 0;) {
		p->i++;
		if (ch == delimiter)
			return 0;
		if (ch == '\n')
			break;
		if (ch == '\\') {
			if (peek(p) < 0)
				break;
			p->i++;
		} else if (ch == '[' && regex && skip_bracket(p) < 0) {
			return -1;
		}
	}
	return fault(p, "a pattern or text without its end in the script");
}

static int take_delimiter(struct script *p, int *delimiter)
{
	*delimiter = peek(p);
	if (*delimiter <= ' ' || *delimiter >= 0x7f || *delimiter == '\\' || *delimiter == '[')
		return fault(p, "a delimiter that is not plain in the script");
	p->i++;
	return 0;
}

/* One address; *any is false where there is none. */
static int skip_address(struct script *p, bool *any)
{
	int ch = peek(p), delimiter = '/';

	*any = true;
	if (is_digit(ch) ||
		((ch == '+' || ch == '~') && is_digit(p->i + 1 < p->s.n ? p->s.p[p->i + 1] : 0))) {
		p->i += !is_digit(ch);
		skip_digits(p);
		if (peek(p) == '~') {
			p->i++;
			skip_digits(p);
		}
		return 0;
	}
	if (ch == '$') {
		p->i++;
		return 0;
	}
	*any = ch == '/' || ch == '\\';
	if (!*any)
		return 0;
	p->i++;
	if ((ch == '\\' && take_delimiter(p, &delimiter) < 0) || skip_part(p, delimiter, true) < 0)
		return -1;
	while (peek(p) == 'I' || peek(p) == 'M')
		p->i++;
	return 0;
}

static int skip_addresses(struct script *p)
{
	bool any;

	if (skip_address(p, &any) < 0)
		return -1;
	skip_blanks(p);
	if (any && peek(p) == ',') {
		p->i++;
		skip_blanks(p);
		if (skip_address(p, &any) < 0)
			return -1;
		if (!any)
			return fault(p, "a range without its end in the script");
		skip_blanks(p);
	}
	while (peek(p) == '!' || peek(p) == ' ' || peek(p) == '\t')
		p->i++;
	return 0;
}

static int end_command(struct script *p)
{
	skip_blanks(p);
	switch (peek(p)) {
	case ';':
	case '\n':
		p->i++;
		return 0;
	case -1:
	case '}':
	case '#':
		return 0;
	default:
		return fault(p, "text behind a command in the script");
	}
}

/* Flags behind s///. There is no `e` and no `w`. */
static int end_substitution(struct script *p)
{
	while (peek(p) >= 0 && (is_digit(peek(p)) || strchr("gpiImM", peek(p))))
		p->i++;
	if (peek(p) == 'e')
		return fault(p, "s///e would run a program");
	if (peek(p) == 'w')
		return fault(p, "s///w would write a file");
	return end_command(p);
}

static int skip_two_parts(struct script *p, bool substitution)
{
	int delimiter;

	if (take_delimiter(p, &delimiter) < 0 || skip_part(p, delimiter, substitution) < 0 ||
		skip_part(p, delimiter, false) < 0)
		return -1;
	return substitution ? end_substitution(p) : end_command(p);
}

static int skip_label(struct script *p)
{
	skip_blanks(p);
	while (peek(p) == '_' || peek(p) == '-' || peek(p) == '.' || is_digit(peek(p)) ||
		(peek(p) >= 'a' && peek(p) <= 'z') || (peek(p) >= 'A' && peek(p) <= 'Z'))
		p->i++;
	/* Where a label ends is not the same in every sed: what may be a comment may be none. */
	if (peek(p) == '#')
		return fault(p, "a label that may be longer than it looks in the script");
	return end_command(p);
}

/* a, i, c: a text to the end of the line, or of the last line that is continued. */
static int skip_text(struct script *p)
{
	skip_blanks(p);
	if (peek(p) == '\\') {
		p->i++;
		skip_blanks(p);
		if (peek(p) == '\\')
			return fault(p, "two backslashes in front of a text in the script");
		if (peek(p) == '\n')
			p->i++;
	}
	for (; peek(p) >= 0 && peek(p) != '\n'; p->i++)
		if (peek(p) == '\\' && p->i + 1 < p->s.n)
			p->i++;
	return 0;
}

static int read_file(struct script *p, int command)
{
	struct arg name = p->arg;
	size_t from;

	skip_blanks(p);
	from = p->i;
	skip_line(p);
	name.text = str_sub(p->s, from, p->i);
	if (!name.text.n)
		return fault(p, "no name of a file in the script");
	if (command == 'r' || command == 'R')
		return check_value(p->c, p->call, &name, STR("read"));
	return fault(p, "the script would write a file");
}

static int skip_command(struct script *p, unsigned *depth)
{
	int ch = peek(p);

	p->i++;
	if (ch == '{') {
		++*depth;
		return 0;
	}
	if (ch == '}' && (*depth)--)
		return end_command(p);
	if (ch == 's' || ch == 'y')
		return skip_two_parts(p, ch == 's');
	if (ch == 'a' || ch == 'i' || ch == 'c')
		return skip_text(p);
	if (ch == ':' || ch == 'b' || ch == 't' || ch == 'T')
		return skip_label(p);
	if (ch == 'r' || ch == 'R' || ch == 'w' || ch == 'W')
		return read_file(p, ch);
	if (ch == 'q' || ch == 'Q' || ch == 'l') {
		skip_blanks(p);
		skip_digits(p);
		return end_command(p);
	}
	if (ch == 'e')
		return fault(p, "the script would run a program");
	if (ch > 0 && strchr("=dDgGhHnNpPxzF", ch))
		return end_command(p);
	return fault(p, "a command of the script that is not known");
}

static int check_script(struct script *p)
{
	unsigned depth = 0;

	for (;;) {
		while (peek(p) == ' ' || peek(p) == '\t' || peek(p) == '\n' || peek(p) == ';')
			p->i++;
		if (peek(p) < 0)
			break;
		if (peek(p) == '#') {
			skip_line(p);
			continue;
		}
		if (skip_addresses(p) < 0)
			return -1;
		if (peek(p) < 0)
			return fault(p, "an address without a command in the script");
		if (skip_command(p, &depth) < 0)
			return -1;
	}
	if (depth)
		return fault(p, "a block without its end in the script");
	return asked(p->c, RULE_SCRIPT, p->arg.at, p->s, STR(""), 0);
}

static int add_script(struct check *c, struct buf *all, const struct arg *part)
{
	if (part->origin != ARG_KNOWN)
		return bin_refuse(c, RULE_SCRIPT, part, "a script that is not known from the text");
	if (all->len)
		buf_addc(all, '\n');
	buf_add(all, part->text);
	return 0;
}

/* All parts together, as sed puts them together. */
static int gather(
	struct check *c, const struct call *call, const struct parsed *p, struct script *out)
{
	CLEANUP(buf_release) struct buf all = BUF_INIT;

	*out = (struct script){.c = c, .call = call, .arg = call->args[0]};
	for (size_t i = 0; i < p->n; i++)
		if (str_is(p->options[i].name, "-e")) {
			out->arg = p->options[i].value;
			if (add_script(c, &all, &out->arg) < 0)
				return -1;
		}
	if (!given_any(p, "-e")) {
		if (!p->n_operands)
			return bin_refuse(c, RULE_OPERAND, &call->args[0], "no script");
		out->arg = p->operands[0];
		if (add_script(c, &all, &out->arg) < 0)
			return -1;
	}
	out->s = arena_str(c->arena, buf_str(&all));
	return 0;
}

int check_sed(struct check *c, const struct call *call)
{
	struct script script;
	struct parsed p;

	if (check_options(c, call, 1,
		    "-n,--quiet,--silent --debug -e,--expression:text --follow-symlinks "
		    "-i,--in-place?word{.bak,.orig,.old,.save,.tmp,~}@write "
		    "-l,--line-length:number --posix "
		    "-E,-r,--regexp-extended -s,--separate --sandbox -u,--unbuffered "
		    "-z,--null-data",
		    &p) < 0 ||
		gather(c, call, &p, &script) < 0 || check_script(&script) < 0)
		return -1;
	return check_operands(
		c, call, &p, given_any(&p, "-i") ? "text(-e) write*" : "text(-e) read*");
}
