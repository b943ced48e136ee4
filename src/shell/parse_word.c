/*
 * parse_word.c: one word with its quotes. What bash would expand into something that only it knows
 * makes the word unknown, or is denied where it begins.
 */
#include "src/shell/parse_internal.h"

struct scan {
	struct parser *p;
	size_t from;
	bool bracket;      /* an unquoted `[` was there */
	bool brace, comma; /* an unquoted `{`; and a comma or `..` behind it */
	bool unknown;      /* known only when the command runs */
};

static size_t past_name(const struct parser *p, size_t at)
{
	size_t n = shell_name_length(p->s + at);

	return n ? at + n : at + (p->s[at] == '?');
}

/* `n` bytes at the cursor mean themselves. */
static int word_add_bytes(struct scan *s, size_t n)
{
	struct parser *p = s->p;

	/* The here document would begin somewhere inside the quotes. */
	if (p->n_documents && memchr(p->s + p->at, '\n', n))
		return shell_construct(
			p, n, "quotes over the end of a line that has a here document");
	memcpy(p->out + p->used, p->s + p->at, n);
	p->used += n;
	p->at += n;
	return 0;
}

static int single_quotes(struct scan *s)
{
	struct parser *p = s->p;
	const char *end = strchr(p->s + p->at + 1, '\'');

	if (!end)
		return deny(p->v, RULE_SYNTAX, (struct span){p->at, p->n},
			"unterminated single quotes");
	p->at++;
	if (word_add_bytes(s, (size_t)(end - p->s) - p->at) < 0)
		return -1;
	p->at++;
	return 0;
}

/* At `$(`. bash prints what it has parsed in it and runs what it then reads in the print. Behind a
 * here document some versions lose what joins commands on that way. */
static int output(struct parser *p)
{
	struct span at = shell_span_here(p, 3);
	unsigned commands = p->commands, read = p->read;

	if (p->s[p->at + 2] == '(')
		return deny(p->v, RULE_CONSTRUCT, at, "arithmetic expansion '$(( ))'");
	p->at++;
	if (shell_nested(p) < 0)
		return -1;
	if (p->read > read && p->commands > commands + 1)
		return deny(p->v, RULE_CONSTRUCT, at,
			"here document in '$( )' that is more than one command");
	return 0;
}

/* At `${`. */
static int braced(struct parser *p)
{
	size_t from = p->at + 2, to = past_name(p, from);

	if (to == p->n)
		return deny(p->v, RULE_SYNTAX, shell_span_here(p, to - p->at), "unterminated '${'");
	if (to == from || p->s[to] != '}')
		return shell_construct(p, to + 1 - p->at, "expansion other than '${name}'");
	p->at = to + 1;
	return 0;
}

static int dollar(struct scan *s, bool quoted)
{
	struct parser *p = s->p;
	size_t from = p->at + 1, to = past_name(p, from);
	char c = p->s[from];

	if (to > from) {
		s->unknown = true;
		p->at = to;
		return 0;
	}
	s->unknown |= c == '{' || c == '(';
	if (c == '{')
		return braced(p);
	if (c == '(')
		return output(p);
	if (c == '[')
		return shell_construct(p, 2, "arithmetic expansion '$[ ]'");
	if (!quoted && (c == '\'' || c == '"'))
		return shell_construct(p, 2, "quotes with '$'");
	if (c && strchr("0123456789@*#-$!", c))
		return shell_construct(p, 2, "positional or special parameter");
	if (c == '\\' && p->s[from + 1] == '\n')
		return shell_construct(p, 3, "line continuation behind '$'");
	return word_add_bytes(s, 1);
}

/* The backslash in double quotes: an escape only before $ ` " \ and newline. */
static int double_escape(struct scan *s)
{
	char c = s->p->s[s->p->at + 1];

	if (!c || !strchr("$`\"\\\n", c))
		return word_add_bytes(s, 1);
	s->p->at++;
	if (word_add_bytes(s, 1) < 0)
		return -1;
	s->p->used -= c == '\n';
	return 0;
}

static int double_quotes(struct scan *s)
{
	struct parser *p = s->p;
	size_t from = p->at++;
	int rc = 0;

	while (rc == 0 && p->s[p->at] != '"') {
		switch (p->s[p->at]) {
		case '\0':
			return deny(p->v, RULE_SYNTAX, (struct span){from, p->n},
				"unterminated double quotes");
		case '`':
			return shell_construct(p, 1, "command substitution with backticks");
		case '\\':
			rc = double_escape(s);
			break;
		case '$':
			rc = dollar(s, true);
			break;
		default:
			rc = word_add_bytes(s, strcspn(p->s + p->at, "\"\\$`"));
		}
	}
	p->at += rc == 0;
	return rc;
}

static int plain(struct scan *s)
{
	struct parser *p = s->p;
	const char *c = p->s + p->at;

	switch (*c) {
	case '~':
		if (p->at == s->from || c[-1] == '=' || c[-1] == ':')
			return shell_construct(p, 1, "tilde expansion");
		break;
	case '{':
		s->brace = true;
		break;
	case ',':
	case '.':
		s->comma |= s->brace && (*c == ',' || c[1] == '.');
		break;
	case '}':
		if (s->comma) /* in more cases than bash, which looks for pairs */
			return deny(p->v, RULE_CONSTRUCT, (struct span){s->from, p->at + 1},
				"brace expansion");
		break;
	case '[':
		s->bracket = true;
		break;
	case ']':
		s->unknown |= s->bracket;
		break;
	case '*':
	case '?':
		s->unknown = true;
		break;
	}
	return word_add_bytes(s, 1);
}

static int escaped(struct scan *s)
{
	struct parser *p = s->p;

	if (!p->s[p->at + 1])
		return deny(
			p->v, RULE_SYNTAX, shell_span_here(p, 1), "nothing behind the backslash");
	if (p->s[p->at + 1] == '\n')
		return shell_construct(p, 2, "line continuation inside a word");
	p->at++;
	return word_add_bytes(s, 1);
}

/* What stands right behind the word can change what it is. */
static int check_end(const struct scan *s)
{
	struct parser *p = s->p;
	char c = p->s[p->at];

	if (c == '(')
		return deny(p->v, RULE_CONSTRUCT, (struct span){s->from, p->at + 1},
			"'(' behind a word: function, array or pattern");
	if ((c == '<' || c == '>') && p->s[s->from] == '{' && p->s[p->at - 1] == '}')
		return deny(p->v, RULE_REDIRECT, (struct span){s->from, p->at + 1},
			"redirection that puts its number into a variable");
	return 0;
}

static int part(struct scan *s)
{
	switch (s->p->s[s->p->at]) {
	case '\'':
		return single_quotes(s);
	case '"':
		return double_quotes(s);
	case '\\':
		return escaped(s);
	case '$':
		return dollar(s, false);
	case '`':
		return shell_construct(s->p, 1, "command substitution with backticks");
	default:
		return plain(s);
	}
}

/* A continued line with a blank behind it ends the word, too. */
static bool word_ends(const struct parser *p)
{
	const char *c = p->s + p->at;

	return shell_is_meta(*c) || (c[0] == '\\' && c[1] == '\n' && shell_is_blank(c[2]));
}

int shell_word(struct parser *p, struct word *out)
{
	struct scan s = {.p = p, .from = p->at};
	size_t begin = p->used;

	if (p->words++ == SHELL_WORDS)
		return deny(
			p->v, RULE_LIMIT, shell_span_here(p, 1), "more than %d words", SHELL_WORDS);
	while (!word_ends(p))
		if (part(&s) < 0)
			return -1;
	p->out[p->used++] = '\0';
	*out = (struct word){{s.from, p->at}, s.unknown ? NULL : p->out + begin};
	return check_end(&s);
}
