#include "src/shell/parse_internal.h"

static const char *const texts[] = {
#define RESERVED(name, text) [RESERVED_##name] = text,
	RESERVED_WORDS(RESERVED)
#undef RESERVED
};

void take(struct parser *p, size_t to)
{
	p->at = to;
}

/* bash knows no other blanks, whatever the locale. */
bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

bool is_meta(char c)
{
	switch (c) {
	case '\0':
	case ' ':
	case '\t':
	case '\n':
	case '|':
	case '&':
	case ';':
	case '<':
	case '>':
	case '(':
	case ')':
		return true;
	default:
		return false;
	}
}

static bool continued(const struct parser *p, size_t at)
{
	return p->s[at] == '\\' && p->s[at + 1] == '\n';
}

static size_t past_continuations(const struct parser *p, size_t at)
{
	while (continued(p, at))
		at += 2;
	return at;
}

/* bash glues what stands around a continuation together, so only a blank behind it ends a word. */
bool token_ends(const struct parser *p, size_t at)
{
	if (!continued(p, at))
		return is_meta(p->s[at]);
	return is_blank(p->s[past_continuations(p, at)]);
}

/* The next byte must not make another operator of it when bash drops the continuation. */
int take_operator(struct parser *p, size_t length)
{
	size_t from = p->at, next;

	take(p, from + length);
	p->after_word = false;
	next = past_continuations(p, p->at);
	if (next != p->at && p->s[next] && strchr("|&;<>()-", p->s[next]))
		return deny(p->v, RULE_CONSTRUCT, (struct span){from, next + 1},
			"line continuation inside an operator");
	return 0;
}

void skip_blanks(struct parser *p)
{
	size_t i = p->at;

	for (;;) {
		if (is_blank(p->s[i]))
			i++;
		else if (continued(p, i))
			i += 2;
		else
			break;
	}
	if (p->s[i] == '#') {
		while (p->s[i] && p->s[i] != '\n')
			i++;
		p->comment = i;
	}
	take(p, i);
}

/* A backslash does not continue a comment, though people and other parsers may think so. */
int take_newline(struct parser *p)
{
	if (p->at && p->at == p->comment && p->s[p->at - 1] == '\\')
		return deny(p->v, RULE_CONSTRUCT, (struct span){p->at - 1, p->at + 1},
			"backslash at the end of a comment");
	take(p, p->at + 1);
	p->after_word = false;
	return p->documents ? read_documents(p) : 0;
}

int skip_newlines(struct parser *p)
{
	for (;;) {
		skip_blanks(p);
		if (p->s[p->at] != '\n')
			return 0;
		if (take_newline(p) < 0)
			return -1;
	}
}

bool word_here(const struct parser *p)
{
	return !is_meta(p->s[p->at]);
}

const char *reserved_text(enum reserved r)
{
	return texts[r];
}

bool keyword_here(const struct parser *p, enum reserved r)
{
	size_t n = strlen(texts[r]);

	return !strncmp(p->s + p->at, texts[r], n) && token_ends(p, p->at + n);
}

enum reserved reserved_here(const struct parser *p)
{
	char c = p->s[p->at];

	if (p->after_word || !c)
		return RESERVED_NONE;
	for (enum reserved r = 0; r < RESERVED_NONE; r++)
		if (texts[r][0] == c && keyword_here(p, r))
			return r;
	return RESERVED_NONE;
}

void take_reserved(struct parser *p, enum reserved r)
{
	take(p, p->at + strlen(texts[r]));
	p->after_word = false;
}

struct span span_here(const struct parser *p, size_t length)
{
	size_t left = p->n - p->at;

	return (struct span){p->at, p->at + (length < left ? length : left)};
}

static size_t token_length(const struct parser *p)
{
	size_t n = 0;

	while (!is_meta(p->s[p->at + n]))
		n++;
	if (!n && p->at < p->n)
		n = p->s[p->at + 1] == p->s[p->at] ? 2 : 1;
	return n;
}

int unexpected(struct parser *p)
{
	size_t n = token_length(p), shown = 0;
	struct span at = span_here(p, n);

	if (p->at == p->n)
		return deny(p->v, RULE_SYNTAX, at, "unexpected end");
	if (p->s[p->at] == '\n')
		return deny(p->v, RULE_SYNTAX, at, "unexpected end of the line");
	while (shown < n && shown < 40 && (unsigned char)p->s[p->at + shown] < 0x80)
		shown++;
	return deny(p->v, RULE_SYNTAX, at, "unexpected '%.*s%s'", (int)shown, p->s + p->at,
		shown < n ? ".." : "");
}

/* Doubles at every power of two. */
void *array_push(struct arena *a, void *array, size_t n, size_t size)
{
	void *larger;

	if (n & (n - 1))
		return array;
	larger = arena_alloc(a, (n ? 2 * n : 1) * size);
	if (n)
		memcpy(larger, array, n * size);
	return larger;
}

int enter(struct parser *p)
{
	if (p->depth == SHELL_DEPTH)
		return deny(p->v, RULE_LIMIT, span_here(p, 1),
			"more than %d levels inside one another", SHELL_DEPTH);
	p->depth++;
	return 0;
}

void leave(struct parser *p)
{
	p->depth--;
}
