/* Roles and skills as one text: the search, the replacements, the refusals. */
#include "src/machine/brief.h"
#include "tests/lib/scratch.h"
#include "tests/lib/unit.h"

static struct instructions found;
static struct error err;

static int begin(void **state)
{
	int rc = scratch_make(state);

	err = (struct error){0};
	(void)setenv("HOME", at("home"), 1);
	return rc;
}

#define INSTRUCTIONS_TEST(name) UNIT_TEST(name, begin, scratch_remove)

static int skill(const char *name, const char *args)
{
	return instructions_skill(&arena, at("root"), at("repo"), name, args, &found, &err);
}

static void role(const char *name)
{
	assert_int_equal(instructions_agent(&arena, at("root"), at("repo"), name, &found, &err), 0);
}

INSTRUCTIONS_TEST(a_skill_gets_the_words_of_its_arguments)
{
	scratch_write("root/skills/do/SKILL.md",
		"---\nname: do\ndescription: d\n---\n\nOn $0 by $1, all: $ARGUMENTS; $7 $ $x.\n");
	assert_int_equal(skill("do", "T-1 'docs/a b.md'"), 0);
	assert_str(found.text, "On T-1 by docs/a b.md, all: T-1 'docs/a b.md'; $7 $ $x.");
}

INSTRUCTIONS_TEST(a_quote_in_an_argument_survives)
{
	scratch_write("root/skills/do/SKILL.md", "$0|$1");
	assert_int_equal(skill("do", "'it'\\''s' b"), 0);
	assert_str(found.text, "it's|b");
}

INSTRUCTIONS_TEST(what_an_argument_brings_is_not_replaced_again)
{
	scratch_write("root/skills/do/SKILL.md", "$0 $1");
	assert_int_equal(skill("do", "'$1' two"), 0);
	assert_str(found.text, "$1 two");
}

INSTRUCTIONS_TEST(the_plugins_own_come_before_the_repositorys_and_the_users)
{
	scratch_write("home/.claude/skills/do/SKILL.md", "user");
	assert_int_equal(skill("do", NULL), 0);
	assert_str(found.text, "user");
	scratch_write("repo/.claude/skills/do/SKILL.md", "repository");
	assert_int_equal(skill("do", NULL), 0);
	assert_str(found.text, "repository");
	scratch_write("root/skills/do/SKILL.md", "plugin");
	assert_int_equal(skill("dev-team:do", NULL), 0);
	assert_str(found.text, "plugin");
}

INSTRUCTIONS_TEST(a_name_leads_out_of_no_directory)
{
	scratch_write("root/SKILL.md", "outside");
	assert_int_equal(skill("..", NULL), 0);
	assert_int_equal(found.text.n, 0);
	assert_int_equal(skill("x/../..", NULL), 0);
	assert_int_equal(found.text.n, 0);
	assert_int_equal(skill("none", NULL), 0);
	assert_int_equal(found.text.n, 0);
}

/* One that may not edit files edits no notebooks either. */
INSTRUCTIONS_TEST(a_role_says_which_tools_it_has_not)
{
	static const char *const left[] = {"Bash", "Read", "Skill", "WebFetch", "WebSearch", NULL};

	scratch_write("root/agents/look.md", "---\ndisallowedTools: Edit, Write, Agent\n---\nx");
	role("look");
	for (size_t i = 0; left[i]; i++)
		assert_string_equal(found.tools[i], left[i]);
	assert_null(found.tools[COUNT(left) - 1]);
	scratch_write("root/agents/dev.md", "---\ndisallowedTools: Agent\n---\nx");
	role("dev");
	assert_true(str_in(STR("NotebookEdit"), found.tools));
}

INSTRUCTIONS_TEST(a_role_says_which_tools_it_has)
{
	scratch_write("root/agents/dev.md",
		"---\nname: dev\ntools: Bash, Read ,Edit\n---\nYou are it.\n");
	role("dev");
	assert_str(found.text, "You are it.");
	assert_string_equal(found.tools[0], "Bash");
	assert_string_equal(found.tools[1], "Read");
	assert_string_equal(found.tools[2], "Edit");
	assert_null(found.tools[3]);
	scratch_write("root/agents/list.md", "---\ntools:\n  - Bash\n  - Read\n---\nx");
	role("list");
	assert_string_equal(found.tools[1], "Read");
	assert_null(found.tools[2]);
	scratch_write("root/agents/all.md", "no frontmatter");
	role("all");
	assert_null(found.tools);
}

INSTRUCTIONS_TEST(what_is_no_text_is_refused_with_its_place)
{
	scratch_write("root/skills/do/SKILL.md", "\xff");
	assert_fails(skill("do", NULL), err, ERR_INPUT);
	assert_error(&err,
		arena_printf(&arena, "%s:1:1: not valid UTF-8", at("root/skills/do/SKILL.md")));
	scratch_write("root/skills/do/SKILL.md", "---\nname: [\n---\nx");
	assert_fails(skill("do", NULL), err, ERR_INPUT);
}
