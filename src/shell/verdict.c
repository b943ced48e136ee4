#include <stdarg.h>
#include "src/shell/verdict.h"

static const struct {
	const char *id, *about;
} rules[] = {
#define RULE(name, id, about) {id, about},
#include "src/shell/rules.h"
#undef RULE
};

const char *rule_id(enum rule r)
{
	return rules[r < RULES ? r : RULE_INTERNAL].id;
}

const char *rule_about(enum rule r)
{
	return rules[r < RULES ? r : RULE_INTERNAL].about;
}

PRINTF(6, 0)
static int shell_verdict_fill(struct verdict *v, enum rule rule, struct span at, struct str word,
	struct str path, const char *fmt, va_list args)
{
	if (v->denied)
		return -1;
	v->denied = true;
	v->ask = false;
	v->rule = rule;
	v->at = at;
	v->word = word;
	v->path = path.n ? path : (struct str){0};
	vsnprintf(v->reason, sizeof(v->reason), fmt, args);
	return -1;
}

int deny(struct verdict *v, enum rule rule, struct span at, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	shell_verdict_fill(v, rule, at, (struct str){0}, (struct str){0}, fmt, args);
	va_end(args);
	return -1;
}

int deny_word(struct verdict *v, enum rule rule, struct span at, struct str word, struct str path,
	const char *fmt, ...)
{
	va_list args;

	if (!word.p)
		word = STR("");
	va_start(args, fmt);
	shell_verdict_fill(v, rule, at, word, path, fmt, args);
	va_end(args);
	return -1;
}

/* What moves the cursor, breaks a line, turns its direction or cannot be seen. */
static bool unseen(uint32_t c)
{
	return c < ' ' || (c >= 0x7f && c < 0xa0) || c == 0xad || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

/* Bytes of the character at `s`, or 0 when it must not reach a terminal as it is. */
static size_t shell_verdict_printable(struct str s)
{
	unsigned char first = (unsigned char)s.p[0];
	size_t n = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	uint32_t c = n == 1 ? first : first & (0xffU >> (n + 1));

	if (n > s.n || str_utf8_fault(str_sub(s, 0, n)))
		return 0;
	for (size_t i = 1; i < n; i++)
		c = c << 6 | ((unsigned char)s.p[i] & 0x3f);
	return unseen(c) ? 0 : n;
}

void text_visible(struct buf *out, struct str s)
{
	while (s.n) {
		size_t n = shell_verdict_printable(s);

		if (n)
			buf_add(out, str_sub(s, 0, n));
		else
			buf_addf(out, "\\x%02x", (unsigned char)s.p[0]);
		s = str_sub(s, n ? n : 1, s.n);
	}
}

static const char *shell_verdict_answer_of(const struct verdict *v)
{
	return v->denied ? "deny" : v->ask ? "ask" : "run";
}

void verdict_line(struct buf *out, const struct verdict *v)
{
	if (!v->denied && !v->ask) {
		buf_adds(out, "run");
		return;
	}
	buf_addf(out, "%s %s %zu-%zu", shell_verdict_answer_of(v), rule_id(v->rule), v->at.from,
		v->at.to);
	if (v->word.p) {
		buf_adds(out, " '");
		text_visible(out, v->word);
		buf_addc(out, '\'');
	}
	if (v->path.p) {
		buf_adds(out, " -> ");
		text_visible(out, v->path);
	}
	buf_adds(out, ": ");
	text_visible(out, str_of(v->reason));
}

/* A text that may be no UTF-8: JSON has no bytes, so these become `?`. */
static void shell_verdict_put_text(json *object, const char *key, struct str text)
{
	CLEANUP(buf_release) struct buf mended = BUF_INIT;

	buf_add(&mended, text);
	for (size_t i = 0; i < mended.len; i++)
		if (!mended.s[i])
			mended.s[i] = '?';
	buf_utf8_repair(&mended);
	json_put_str(object, key, buf_str(&mended));
}

json *verdict_object(const struct verdict *v)
{
	json *o = json_object();

	json_put_str(o, "verdict", str_of(shell_verdict_answer_of(v)));
	if (!v->denied && !v->ask)
		return o;
	json_put_str(o, "rule", str_of(rule_id(v->rule)));
	json_put_int(o, "from", (int64_t)v->at.from);
	json_put_int(o, "to", (int64_t)v->at.to);
	if (v->word.p)
		shell_verdict_put_text(o, "word", v->word);
	if (v->path.p)
		shell_verdict_put_text(o, "path", v->path);
	shell_verdict_put_text(o, "reason", str_of(v->reason));
	return o;
}
