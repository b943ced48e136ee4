/* The tables of all verbs, and what is made from them. */
#include "src/cli/cli.h"
#include "tests/lib/scratch.h"

enum { WIDTH = 80 };

static size_t size; /* of the values of the verb that is looked at */

static void each_verb(void (*look)(const char *path, const struct verb *v))
{
	for (size_t i = 0; cli_program.subcommands[i]; i++) {
		const struct verb *v = cli_program.subcommands[i];

		size = v->size;
		look(v->name, v);
		for (size_t k = 0; v->subcommands && v->subcommands[k]; k++) {
			size = v->subcommands[k]->size ? v->subcommands[k]->size : v->size;
			look(arena_printf(&arena, "%s %s", v->name, v->subcommands[k]->name),
				v->subcommands[k]);
		}
	}
}

static void assert_narrow(const char *what, struct str text)
{
	struct str line;

	while (str_line(&text, &line))
		if (line.n > WIDTH && !strstr(arena_dup(&arena, line), "—"))
			fail_msg("%s: over %d columns: %.*s", what, WIDTH, (int)line.n, line.p);
}

static void look_at_help(const char *path, const struct verb *v)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	option_help(&out, path, v);
	assert_narrow(path, buf_str(&out));
}

TEST(help_fits_into_eighty_columns)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	option_help(&out, NULL, &cli_program);
	assert_narrow("program", buf_str(&out));
	each_verb(look_at_help);
}

static void look_at_rows(const char *path, const struct verb *v)
{
	unsigned n = 0;

	if (!v->run && !v->subcommands)
		fail_msg("%s does nothing", path);
	OPTION_EACH(v, o)
	{
		unsigned same = 0;

		if (!o->argument != (o->kind == OPTION_KIND_FLAG) || o->field >= size)
			fail_msg("%s: bad row --%s", path, o->name);
		if (o->help[0] >= 'A' && o->help[0] <= 'Z' && o->help[1] >= 'a')
			fail_msg("%s: --%s: help begins in upper case", path, o->name);
		OPTION_EACH(v, other)
		same += strcmp(o->name, other->name) == 0;
		if (same != 1)
			fail_msg("%s: --%s is there twice", path, o->name);
		n++;
	}
	assert_true(n < 64);
}

TEST(no_table_has_a_fault)
{
	each_verb(look_at_rows);
}

static struct buf made;

static void look_for_options(const char *path, const struct verb *v)
{
	if (!strstr(made.s, path))
		fail_msg("no '%s' in\n%.2000s", path, made.s);
	OPTION_EACH(v, o)
	if (!strstr(made.s, o->name))
		fail_msg("no '%s' of '%s'", o->name, path);
}

TEST(completion_and_manual_have_every_verb_and_option)
{
	static void (*const makers[])(struct buf * out, const struct verb *program) = {
		option_bash, option_zsh, option_fish, option_manual_commands};

	for (size_t i = 0; i < COUNT(makers); i++) {
		buf_clear(&made);
		makers[i](&made, &cli_program);
		each_verb(look_for_options);
	}
	buf_release(&made);
}

static void look_for_docs(const char *path, const struct verb *v)
{
	const char *row = arena_printf(&arena, "| `%s` | %s |\n", v->name, v->about);

	if (v->group && !strstr(made.s, row))
		fail_msg("docs/verbs.md has no row %s", row);
	OPTION_EACH(v, o)
	if (!strstr(made.s, arena_printf(&arena, "--%s", o->name)))
		fail_msg("docs/verbs.md does not name --%s of '%s'", o->name, path);
}

TEST(the_page_of_the_verbs_has_every_verb_and_option)
{
	buf_clear(&made);
	assert_true(tree_read("docs/verbs.md", &made));
	each_verb(look_for_docs);
	buf_release(&made);
}

UNIT_GROUP(NULL, arena_end)
