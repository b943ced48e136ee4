/*
 * The whole check on any text, with any policy: the first byte chooses a shipped one, or a policy
 * that lists its programs; the text follows the first line. Every input gets an answer: run, or
 * deny or ask with a reason and a position in the text.
 */
#include "src/policy/check.h"
#include "tests/fuzz/fuzz.h"

static bool choose(struct arena *a, struct str line, struct policy *out)
{
	const char *const *names = policy_shipped();
	struct error err;
	size_t n = 0, i;

	while (names[n])
		n++;
	i = line.n ? (uint8_t)line.p[0] % (n + 1) : 0;
	if (i == n)
		return policy_parse(a, "p", STR("allow: [ls, git]\n"), out, &err) == 0;
	return policy_load(a, names[i], out, &err) == 0;
}

static void look(const struct verdict *v, struct str text)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	CLEANUP(json_free) json *j = verdict_object(v);

	expect(v->rule < RULES && v->at.from <= v->at.to && v->at.to <= text.n);
	expect(v->reason[0]);
	verdict_line(&line, v);
	for (size_t i = 0; i < line.len; i++)
		expect((unsigned char)line.s[i] >= ' ' && line.s[i] != 0x7f);
	expect(!str_utf8_fault(buf_str(&line)));
	buf_clear(&line);
	json_print(&line, j);
	expect(!str_utf8_fault(buf_str(&line)));
}

static void check(struct arena *a, const struct policy *p, struct str text)
{
	struct root root;
	struct error err;
	struct verdict v;

	expect(root_open(a, "tests/fuzz", &root, &err) == 0);
	expect((policy_check(a, p, &root, "tests/fuzz", text, &v) < 0) == v.denied);
	if (v.denied || v.ask)
		look(&v, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct str rest = {(const char *)data, size}, line;
	struct policy policy;

	if (str_line(&rest, &line) && choose(&a, line, &policy))
		check(&a, &policy, rest);
	return 0;
}
