#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include "src/base/number.h"
#include "src/sys/library.h"
#include "src/sys/regex.h"

#define FUNCTIONS(X)                                                                               \
	X(pcre2_compile_8)                                                                         \
	X(pcre2_dfa_match_8)                                                                       \
	X(pcre2_general_context_create_8)                                                          \
	X(pcre2_compile_context_create_8)                                                          \
	X(pcre2_match_data_create_8)                                                               \
	X(pcre2_match_data_free_8)                                                                 \
	X(pcre2_get_error_message_8)

enum { SOURCE_MAX = 4096, WORKSPACE_MIN = 1000, WORKSPACE_MAX = 4 << 20 };

/* ECMA-262: WhiteSpace and LineTerminator; as PCRE2 ranges, and all that is not in them. */
#define DIGIT     "0-9"
#define NOT_DIGIT "\\x{0}-/:-\\x{10ffff}"
#define WORD      "0-9A-Z_a-z"
#define NOT_WORD  "\\x{0}-/:-@\\x{5b}-^`\\x{7b}-\\x{10ffff}"
#define SPACE                                                                                      \
	"\\x{9}-\\x{d} \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}"    \
	"\\x{3000}\\x{feff}"
#define NOT_SPACE                                                                                  \
	"\\x{0}-\\x{8}\\x{e}-\\x{1f}!-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}"                 \
	"\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}"             \
	"\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}"

LIBRARY(FUNCTIONS, LIBPCRE2_SO, "regular expression", NULL);

struct regex {
	pcre2_code_8 *code;
};

/* An ECMA-262 expression on its way to the same in PCRE2's syntax. */
struct translation {
	struct str in;
	size_t at;
	struct buf out;
	bool in_class;
	bool repeatable; /* what precedes can take a quantifier */
	struct error *err;
};

static int regex_refuse(const struct translation *t, const char *why)
{
	return error_set(t->err, ERR_INPUT, "bad pattern: %s at byte %zu", why, t->at + 1);
}

static char regex_next(const struct translation *t)
{
	return t->at < t->in.n ? t->in.p[t->at] : '\0';
}

static int hex_escape(struct translation *t, size_t digits)
{
	uint64_t value;

	if (t->at + digits > t->in.n || !number_hex(str_sub(t->in, t->at, t->at + digits), &value))
		return regex_refuse(t, "hexadecimal digits are missing");
	if (value >= 0xd800 && value <= 0xdfff)
		return regex_refuse(t, "a surrogate is not a character");
	buf_addf(&t->out, "\\x{%x}", (unsigned)value);
	t->at += digits;
	return 0;
}

static void regex_add_set(struct translation *t, const char *ranges)
{
	buf_addf(&t->out, t->in_class ? "%s" : "[%s]", ranges);
}

/* t->at is behind the backslash. */
static int translate_escape(struct translation *t)
{
	static const struct {
		char name;
		const char *ranges;
	} sets[] = {{'d', DIGIT}, {'D', NOT_DIGIT}, {'w', WORD}, {'W', NOT_WORD}, {'s', SPACE},
		{'S', NOT_SPACE}};
	char c = regex_next(t);

	t->at++;
	t->repeatable = true;
	for (size_t i = 0; i < COUNT(sets); i++)
		if (c == sets[i].name)
			return regex_add_set(t, sets[i].ranges), 0;
	if (c == 'x' || c == 'u')
		return hex_escape(t, c == 'x' ? 2 : 4);
	if (c && strchr("tnvfr", c))
		return buf_addf(&t->out, "\\x{%x}", (unsigned)(strchr("t\tn\nv\vf\fr\r", c)[1])), 0;
	if (c && (strchr("^$\\.*+?()[]{}|/", c) || (c == '-' && t->in_class)))
		return buf_addf(&t->out, "\\%c", c), 0;
	t->at--;
	return regex_refuse(t, "an escape that is not supported");
}

static size_t digits_end(const struct translation *t, size_t at)
{
	uint64_t ignored;

	return at + number_digits(str_sub(t->in, at, t->in.n), &ignored);
}

/* `{2}`, `{2,}`, `{2,5}` */
static int translate_braces(struct translation *t)
{
	size_t begin = t->at + 1, n = digits_end(t, begin);

	if (n == begin)
		return regex_refuse(t, "a number is missing behind '{'");
	if (n < t->in.n && t->in.p[n] == ',')
		n = digits_end(t, n + 1);
	if (n >= t->in.n || t->in.p[n] != '}')
		return regex_refuse(t, "'}' is missing");
	buf_add(&t->out, str_sub(t->in, t->at, n + 1));
	t->at = n + 1;
	return 0;
}

static int translate_quantifier(struct translation *t)
{
	if (!t->repeatable)
		return regex_refuse(t, "a quantifier has nothing to repeat");
	t->repeatable = false;
	if (regex_next(t) != '{')
		buf_addc(&t->out, t->in.p[t->at++]);
	else if (translate_braces(t) < 0)
		return -1;
	if (regex_next(t) == '?')
		buf_addc(&t->out, t->in.p[t->at++]);
	return 0;
}

static int translate_group(struct translation *t)
{
	struct str rest = str_sub(t->in, t->at, t->in.n);

	t->repeatable = false;
	if (str_starts(rest, "(?") && !str_starts(rest, "(?:"))
		return regex_refuse(t, "a group of this kind is not supported");
	buf_adds(&t->out, "(?:");
	t->at += str_starts(rest, "(?:") ? 3 : 1;
	return 0;
}

static int translate_in_class(struct translation *t, char c)
{
	if (c == '[') {
		buf_adds(&t->out, "\\["); /* PCRE2 has [[:alpha:]], ECMA-262 has not */
	} else {
		buf_addc(&t->out, c);
		t->in_class = c != ']';
		t->repeatable = !t->in_class;
	}
	t->at++;
	return 0;
}

static int translate_one(struct translation *t)
{
	char c = regex_next(t);

	if (c == '\\')
		return t->at++, translate_escape(t);
	if (t->in_class)
		return translate_in_class(t, c);
	if (c && strchr("*+?{", c))
		return translate_quantifier(t);
	if (c == '(')
		return translate_group(t);
	if (c == ']' || c == '}')
		return regex_refuse(t, "an unescaped bracket or brace");
	t->in_class = c == '[';
	t->repeatable = !strchr("^$|[", c);
	if (c == '.')
		buf_adds(&t->out, "[^\\n\\r\\x{2028}\\x{2029}]");
	else
		buf_addc(&t->out, c);
	t->at++;
	if (c == '[' && regex_next(t) == '^')
		buf_addc(&t->out, t->in.p[t->at++]);
	return 0;
}

static void *arena_malloc(size_t n, void *arena)
{
	return arena_alloc(arena, n);
}

static void arena_free(void *p, void *arena)
{
	(void)p;
	(void)arena;
}

static int sys_regex_compile(
	struct arena *a, struct str pattern, struct regex *r, struct error *err)
{
	pcre2_general_context_8 *memory =
		lib.pcre2_general_context_create_8(arena_malloc, arena_free, a);
	unsigned char why[200];
	size_t at;
	int code;

	r->code = lib.pcre2_compile_8((PCRE2_SPTR8)pattern.p, pattern.n,
		PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ALLOW_EMPTY_CLASS, &code, &at,
		lib.pcre2_compile_context_create_8(memory));
	if (r->code)
		return 0;
	(void)lib.pcre2_get_error_message_8(code, why, sizeof(why));
	return error_set(err, ERR_INPUT, "bad pattern: %s", (char *)why);
}

int regex_compile(struct arena *a, struct str source, struct regex **out, struct error *err)
{
	struct translation t = {.in = source, .err = err};
	int rc = 0;

	if (library_open(&library, err) < 0)
		return -1;
	if (source.n > SOURCE_MAX)
		return error_set(err, ERR_INPUT, "a pattern is longer than %d bytes", SOURCE_MAX);
	if (str_utf8_fault(source))
		return error_set(err, ERR_INPUT, "a pattern is not valid UTF-8");
	while (rc == 0 && t.at < source.n)
		rc = translate_one(&t);
	buf_adds(&t.out, "");
	*out = arena_alloc(a, sizeof(**out));
	if (rc == 0)
		rc = sys_regex_compile(a, buf_str(&t.out), *out, err);
	buf_release(&t.out);
	return rc;
}

bool regex_match(const struct regex *r, struct str text)
{
	pcre2_match_data_8 *data = lib.pcre2_match_data_create_8(1, NULL);
	int rc = PCRE2_ERROR_DFA_WSSIZE;

	for (size_t n = WORKSPACE_MIN; rc == PCRE2_ERROR_DFA_WSSIZE && n <= WORKSPACE_MAX; n *= 8) {
		CLEANUP(base_free) int *workspace = xmalloc(n * sizeof(int));

		rc = lib.pcre2_dfa_match_8(r->code, (PCRE2_SPTR8)(text.n ? text.p : ""), text.n, 0,
			PCRE2_DFA_SHORTEST | PCRE2_NO_UTF_CHECK, data, NULL, workspace, n);
	}
	lib.pcre2_match_data_free_8(data);
	return rc >= 0;
}
