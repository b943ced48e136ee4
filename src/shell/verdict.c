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

int deny_word(struct verdict *v, enum rule rule, struct span at, struct str word, struct str path,
	const char *fmt, ...)
{
	va_list args;

	if (v->denied)
		return -1;
	v->denied = true;
	v->ask = false;
	v->rule = rule;
	v->at = at;
	v->word = word.p ? word : STR("");
	v->path = path.n ? path : (struct str){0};
	va_start(args, fmt);
	vsnprintf(v->reason, sizeof(v->reason), fmt, args);
	va_end(args);
	return -1;
}

int deny(struct verdict *v, enum rule rule, struct span at, const char *fmt, ...)
{
	char reason[sizeof(v->reason)];
	bool first = !v->denied;
	va_list args;

	va_start(args, fmt);
	vsnprintf(reason, sizeof(reason), fmt, args);
	va_end(args);
	(void)deny_word(v, rule, at, (struct str){0}, STR(""), "%s", reason);
	if (first)
		v->word = (struct str){0};
	return -1;
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
		buf_add_printable(out, v->word, SIZE_MAX);
		buf_addc(out, '\'');
	}
	if (v->path.p) {
		buf_adds(out, " -> ");
		buf_add_printable(out, v->path, SIZE_MAX);
	}
	buf_adds(out, ": ");
	buf_add_printable(out, str_of(v->reason), SIZE_MAX);
}

static void shell_verdict_put_text(json *object, const char *key, struct str text)
{
	CLEANUP(buf_release) struct buf printable = BUF_INIT;

	buf_add_printable(&printable, text, SIZE_MAX);
	json_put_str(object, key, buf_str(&printable));
}

json *verdict_object(const struct verdict *v)
{
	json *o = JSON_OBJECT(JSON_TEXT("verdict", shell_verdict_answer_of(v)));

	if (!v->denied && !v->ask)
		return o;
	JSON_ADD(o, JSON_TEXT("rule", rule_id(v->rule)), JSON_INT("from", (int64_t)v->at.from),
		JSON_INT("to", (int64_t)v->at.to));
	if (v->word.p)
		shell_verdict_put_text(o, "word", v->word);
	if (v->path.p)
		shell_verdict_put_text(o, "path", v->path);
	shell_verdict_put_text(o, "reason", str_of(v->reason));
	return o;
}
