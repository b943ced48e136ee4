/*
 * resource_rig.h: folders of resources for tests, written in few words.
 */
#ifndef DT_TESTS_RESOURCE_RIG_H
#define DT_TESTS_RESOURCE_RIG_H

#include "src/config/decode.h"
#include "src/config/resource.h"
#include "tests/lib/scratch.h"

#define HEAD(kind, name)                                                                           \
	"apiVersion: dev-team/v1\nkind: " kind "\nmetadata:\n  name: " name "\nspec:\n"

#define PLAN_TEXT(name, of)                                                                        \
	HEAD("SubscriptionPlan", name) "  harness: " of "\n  billingMode: pay-per-token\n"

#define STAGES "  stages:\n    - name: only\n      holdsMergeGate: true\n"

static inline void resource_write(const char *name, const char *text)
{
	tree_write(at(name), str_of(text));
}

static inline struct resources resources_at(const char *dir)
{
	struct error err = {0};
	struct resources r;

	if (resources_load(&arena, dir, &r, &err) < 0)
		fail_msg("%s", err.text);
	return r;
}

/* All faults, one a line, without the folder. */
static inline char *faults_text(const struct resources *r)
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

static inline struct resources good(const char *text)
{
	struct error err = {0};
	struct resources r;

	if (resources_parse(&arena, "r.yaml", str_of(text), &r, &err) < 0)
		fail_msg("%u:%u: %s\n%s", err.line, err.col, err.text, text);
	return r;
}

static inline void assert_faults(const char *text, const char *expected)
{
	struct error err = {0};
	struct resources r;

	(void)resources_parse(&arena, "r.yaml", str_of(text), &r, &err);
	assert_string_equal(faults_text(&r), expected);
}

#endif
