#include "tests/lib/resource_rig.h"

struct resources resource_load_all(const char *dir)
{
	struct error err = {0};
	struct resources r;

	if (resources_load(&arena, dir, &r, &err) < 0)
		fail_msg("%s", err.text);
	return r;
}

char *resource_faults_text(const struct resources *r)
{
	struct buf b = BUF_INIT;
	char *text;

	for (size_t i = 0; i < r->n_faults; i++) {
		struct str file = path_base(r->faults[i].file);

		buf_addf(&b, "%.*s:%u:%u: %s\n", (int)file.n, file.p, r->faults[i].line,
			r->faults[i].col, r->faults[i].text);
	}
	text = arena_dup(&arena, buf_str(&b));
	buf_release(&b);
	return text;
}

struct resources resource_good(const char *text)
{
	struct error err = {0};
	struct resources r;

	if (resources_parse(&arena, "r.yaml", str_of(text), &r, &err) < 0)
		fail_msg("%u:%u: %s\n%s", err.line, err.col, err.text, text);
	return r;
}

void resource_assert_faults(const char *text, const char *expected)
{
	struct error err = {0};
	struct resources r;

	(void)resources_parse(&arena, "r.yaml", str_of(text), &r, &err);
	assert_string_equal(resource_faults_text(&r), expected);
}
