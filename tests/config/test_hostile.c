/*
 * Hostile files in the directory of resources: each is reported with its position, and the valid
 * file beside it is read.
 */
#include <sys/stat.h>
#include "tests/lib/resource_rig.h"

#define GOOD_HEAD HEAD("WorktreePool", "w")
#define GOOD      GOOD_HEAD "  {}\n"

SCRATCH_TEST(texts_that_are_no_resources)
{
	static const struct {
		const char *text, *fault;
	} rows[] = {
		{"", "1:1: 'kind' is missing"},
		{"# nothing\n", "1:1: 'kind' is missing"},
		{"just a text\n",
			"1:1: a resource must be a map: apiVersion, kind, metadata, spec"},
		{"- a\n- b\n", "1:1: a resource must be a map: apiVersion, kind, metadata, spec"},
		{"kind: [Pipeline]\n", "1:7: 'kind' is missing"},
		{"kind: pipeline\n", "1:7: unknown kind: must be Pipeline, WorktreePool, "
				     "SubscriptionPlan or DatabaseBranchPool"},
		{"kind: WorktreePool\nkind: Pipeline\n", "2:1: duplicate key 'kind'"},
		{"kind: &a WorktreePool\n", "1:7: anchors are not allowed"},
		{"kind: !!str WorktreePool\n", "1:7: tags are not allowed"},
		{"a: &x {b: *x}\n", "1:4: anchors and tags are not allowed"},
		{"<<: {kind: WorktreePool}\n", "1:1: 'kind' is missing"},
		{GOOD "---\n" GOOD, "7:1: a second document is not allowed"},
		{"kind: 'unclosed\n", "2:1: "},
		{"kind:\tWorktreePool\n\tx: 1\n", "2:1: "},
		{"{a: b", "2:1: "},
		{"? [a]\n: b\n", "1:3: a key must be a single word or text"},
		{"kind: \"a\\0b\"\n", "1:7: a text with a NUL byte is not allowed"},
		{"kind: \xff\n", "1:7: "},
		{"kind: a\xc3\n", "1:"},
		{"\xff\xfek\0i\0", "1:1: "},
		{"%YAML 9.9\n---\na: b\n", "1:1: "},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct resources r;

		scratch_write("a.yaml", rows[i].text);
		scratch_write("b.yaml", GOOD);
		r = resource_load_all(base);
		if (!str_starts(str_of(resource_faults_text(&r)),
			    arena_printf(&arena, "a.yaml:%s", rows[i].fault)) ||
			r.n_faults != 1)
			fail_msg("row %zu: %s", i, resource_faults_text(&r));
		assert_int_equal(str_utf8_fault(str_of(r.faults[0].text)), 0);
		assert_non_null(resources_pool(&r, "w"));
	}
}

SCRATCH_TEST(files_that_are_no_texts)
{
	struct resources r;

	scratch_write("good.yaml", GOOD);
	tree_mkdirs(at("dir.yaml"));
	assert_int_equal(mkfifo(at("pipe.yaml"), 0600), 0);
	scratch_write("long.yaml", repeated("", "a: b\n", (1 << 20) / 5 + 1, "").p);
	r = resource_load_all(base);
	assert_int_equal(r.n_faults, 3);
	assert_true(str_ends(str_of(r.faults[0].file), "/dir.yaml"));
	assert_true(str_ends(str_of(r.faults[1].file), "/long.yaml"));
	assert_true(str_ends(str_of(r.faults[2].file), "/pipe.yaml"));
	assert_non_null(resources_pool(&r, "w"));
}

SCRATCH_TEST(a_link_to_nothing_is_told)
{
	struct error err = {0};
	struct resources r;

	assert_int_equal(symlink("/nonesuch", at("a.yaml")), 0);
	assert_fails(resources_load(&arena, base, &r, &err), err, ERR_SYSTEM);
}

SCRATCH_TEST(deep_and_wide_ones_come_to_an_end)
{
	const char *texts[] = {
		repeated("", "[", 100000, "").p,
		repeated("", "{a: ", 100000, "").p,
		repeated("a:\n", "- ", 100000, "").p,
		repeated(HEAD("Pipeline", "p") "  stages: [", "{name: a},", 201, "]\n").p,
		repeated(HEAD("Pipeline", "p") "  stages: [", "{x: 1},", 199, "]\n").p,
		repeated(GOOD_HEAD "  databaseBranchPools: [", "x,", 100000, "]\n").p,
		repeated(GOOD_HEAD "  rootDir: /", "\xc3\xa9", 5000, "\n").p,
		arena_printf(
			&arena, HEAD("WorktreePool", "%s") "  {}\n", repeated("", "w", 254, "").p),
	};

	for (size_t i = 0; i < COUNT(texts); i++) {
		struct resources r;

		scratch_write("a.yaml", texts[i]);
		r = resource_load_all(base);
		assert_true(r.n_faults > 0);
		for (size_t k = 0; k < r.n_faults; k++)
			assert_int_equal(str_utf8_fault(str_of(r.faults[k].text)), 0);
	}
}

/* The number of reported faults is bounded. */
SCRATCH_TEST(faults_come_to_an_end)
{
	struct resources r;

	for (unsigned i = 0; i < 20; i++)
		scratch_write(arena_printf(&arena, "p%u.yaml", i),
			arena_printf(&arena, HEAD("Pipeline", "p%u") "  stages: [%s]\n", i,
				repeated("", "{x: 1},", 199, "").p));
	r = resource_load_all(base);
	assert_int_equal(r.n_faults, 1000);
}

SCRATCH_TEST(messages_are_printable)
{
	resource_assert_faults(GOOD_HEAD "  layout: \"a\\x07\\e[31m\\x7f\"\n  \"k\\n\": 1\n",
		"r.yaml:6:11: 'layout' must be 'workspace-scoped' or 'repo-local', not "
		"'a\\x07\\x1b[31m\\x7f'\nr.yaml:7:3: unknown key 'k\\x0a'\n");
}

UNIT_GROUP(NULL, arena_end)
