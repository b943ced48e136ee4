#include "src/policy/clearance.h"
#include "tests/lib/scratch.h"

static struct error err;

static char *written(const char *text)
{
	scratch_write("clearance.yaml", text);
	return at("clearance.yaml");
}

static struct clearance loaded(const char *text)
{
	struct clearance c;
	bool there = false;

	if (clearance_load(&arena, written(text), &c, &there, &err) < 0)
		fail_msg("%u:%u: %s", err.line, err.col, err.text);
	assert_true(there);
	return c;
}

static void assert_refused(const char *text, unsigned line, unsigned col, const char *message)
{
	struct clearance c;
	bool there;

	if (clearance_load(&arena, written(text), &c, &there, &err) == 0)
		fail_msg("taken: %s", text);
	assert_int_equal(err.code, ERR_INPUT);
	assert_string_equal(err.text, message);
	assert_int_equal(err.line, line);
	assert_int_equal(err.col, col);
	assert_true(there);
}

static const char *denial(const struct verdict *v)
{
	static char text[512];
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	verdict_line(&b, v);
	snprintf(text, sizeof(text), "%s", b.s);
	return text;
}

SCRATCH_TEST(without_the_file_nothing_is_configured)
{
	struct clearance c;
	bool there = true;

	assert_int_equal(clearance_load(&arena, at("none.yaml"), &c, &there, &err), 0);
	assert_false(there);
	/* A directory in its place is no absence. */
	assert_int_equal(clearance_load(&arena, base, &c, &there, &err), -1);
	assert_true(there);
}

SCRATCH_TEST(personas_have_policies_and_tools)
{
	struct clearance c = loaded("personas:\n"
				    "  task-runner: {policy: developer}\n"
				    "  dev-team:reviewer:\n"
				    "    policy: readonly\n"
				    "    tools: [Bash, Read, 'mcp__docs__*']\n"
				    "  planner: {tools: []}\n"
				    "");

	assert_int_equal(c.n, 3);
	assert_string_equal(c.personas[0].name, "task-runner");
	assert_string_equal(c.personas[0].policy, "developer");
	assert_false(c.personas[0].tools_listed);
	assert_string_equal(c.personas[1].policy, "readonly");
	assert_int_equal(c.personas[1].tools.n, 3);
	assert_null(c.personas[2].policy);
	assert_true(c.personas[2].tools_listed);
}

SCRATCH_TEST(a_path_of_a_policy_is_relative_to_the_file)
{
	struct clearance c = loaded("personas:\n"
				    "  a: {policy: mine.yaml}\n"
				    "  b: {policy: ../p/mine.yml}\n"
				    "  c: {policy: /etc/p.yaml}\n"
				    "  d: {policy: build}\n");

	assert_string_equal(c.personas[0].policy, at("mine.yaml"));
	assert_string_equal(c.personas[1].policy, at("../p/mine.yml"));
	assert_string_equal(c.personas[2].policy, "/etc/p.yaml");
	assert_string_equal(c.personas[3].policy, "build");
}

SCRATCH_TEST(a_broken_file_is_refused_at_its_place)
{
	assert_refused("", 1, 1, "'personas' is missing");
	assert_refused("- a\n", 1, 1, "a clearance file must be a map, not a list");
	assert_refused("personas: [a]\n", 1, 11, "'personas' must be a map, not a list");
	assert_refused(
		"personas: {}\nbash: exec\n", 2, 1, "unknown key 'bash': must be 'personas'");
	assert_refused("personas:\n  a b: {}\n", 2, 3, "name 'a b' must be the name of a persona");
	assert_refused(
		"personas:\n  a:b:c: {}\n", 2, 3, "name 'a:b:c' must be the name of a persona");
	assert_refused("personas:\n  a: developer\n", 2, 6, "'a' must be a map, not 'developer'");
	assert_refused("personas:\n  a: {polcy: x}\n", 2, 7,
		"unknown key 'polcy': must be 'policy' or 'tools'");
	assert_refused("personas:\n  a: {policy: [x]}\n", 2, 15,
		"'policy' must be the name of a policy or the path of a file, not a list");
	assert_refused(
		"personas:\n  a: {tools: Bash}\n", 2, 14, "'tools' must be a list, not 'Bash'");
	assert_refused("personas:\n  a: {tools: ['*']}\n", 2, 15,
		"'tools' must be the name of a tool, not '*'");
	assert_refused("personas:\n  a: {}\n  a: {}\n", 3, 3, "duplicate key 'a'");
	assert_refused("personas:\n  a: {tools: [}\n", 2, 15, "did not find expected node content");
}

SCRATCH_TEST(a_persona_is_found_by_its_name_with_and_without_the_plugin)
{
	struct clearance c = loaded("personas:\n"
				    "  reviewer: {policy: readonly}\n"
				    "  other:reviewer: {policy: build}\n");
	const struct persona *p;
	struct verdict v = {0};

	assert_int_equal(clearance_persona(&c, STR("reviewer"), &p, &v), 0);
	assert_string_equal(p->policy, "readonly");
	assert_int_equal(clearance_persona(&c, STR("dev-team:reviewer"), &p, &v), 0);
	assert_string_equal(p->policy, "readonly");
	assert_int_equal(clearance_persona(&c, STR("other:reviewer"), &p, &v), 0);
	assert_string_equal(p->policy, "build");
	assert_int_equal(clearance_persona(&c, STR("Reviewer"), &p, &v), -1);
	assert_string_equal(denial(&v),
		arena_printf(&arena,
			"deny persona 0-0 'Reviewer': '%s' has no persona of this name", c.file));
	for (size_t i = 0; i < 5; i++) {
		static const char *const others[] = {
			"", ":", "reviewer:", "dev-team:", "a:b:reviewer"};

		v = (struct verdict){0};
		assert_int_equal(clearance_persona(&c, str_of(others[i]), &p, &v), -1);
		assert_int_equal(v.rule, RULE_PERSONA);
	}
}

SCRATCH_TEST(tools_are_the_listed_ones_or_all)
{
	struct clearance c =
		loaded("personas:\n"
		       "  all: {policy: developer}\n"
		       "  some: {policy: readonly, tools: [Bash, Read, 'mcp__docs__*']}\n"
		       "  none: {tools: []}\n"
		       "  unlisted: {}\n");
	struct verdict v = {0}, w = {0}, x = {0}, y = {0};

	assert_int_equal(clearance_tool(&c.personas[0], STR("Anything"), &v), 0);
	assert_int_equal(clearance_tool(&c.personas[1], STR("Bash"), &v), 0);
	assert_int_equal(clearance_tool(&c.personas[1], STR("mcp__docs__search"), &v), 0);
	assert_false(v.denied);
	assert_int_equal(clearance_tool(&c.personas[1], STR("mcp__other__x"), &v), -1);
	assert_int_equal(clearance_tool(&c.personas[1], STR("Write"), &w), -1);
	assert_string_equal(
		denial(&w), "deny tool 0-0 'Write': the persona 'some' may not use this tool");
	assert_int_equal(clearance_tool(&c.personas[2], STR("Read"), &x), -1);
	assert_int_equal(clearance_tool(&c.personas[3], STR("Read"), &y), 0);
	assert_int_equal(clearance_tool(&c.personas[3], STR("Bash"), &y), -1);
	assert_string_equal(denial(&y), "deny tool 0-0 'Bash': the persona 'unlisted' has no "
					"policy, so it may not run commands");
}

UNIT_GROUP(NULL, arena_end)
