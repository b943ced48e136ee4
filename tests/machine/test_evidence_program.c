/* Programs of the repository that a workflow runs as evidence. */
#include "src/local/local.h"
#include "tests/lib/git_rig.h"

static struct item_place where;

static const char *fault_of(const char *command, const char *upstream)
{
	const char *fault;

	assert_int_equal(
		evidence_check_programs(&arena, &where, upstream, command, &fault, &err), 0);
	return fault;
}

static const char *head(void)
{
	struct git_tip tip;

	assert_int_equal(git_read_tip(&arena, at("r"), &tip, &err), 0);
	return tip.commit;
}

static void begin(void)
{
	sh("cd r && mkdir s && echo 1 >s/p && echo 1 >s/q && git add . && git commit -qm 1");
	where = (struct item_place){.directory = at("r"), .base = head()};
}

GIT_TEST(a_program_must_be_that_of_the_base)
{
	static const char *const commands[] = {"s/p \"$1\"", "./s/p", "sh -eu s/p", "bash 's/p'",
		"A=1 exec s/p", "true && s/p", "\"$PWD/s/p\"", "(. s/p)"};
	static const char *const others[] = {
		"s/q", "p", "test -e s/p", "/usr/bin/s/p", "$HOME/s/p", "s/none", ""};

	begin();
	for (size_t i = 0; i < COUNT(commands); i++)
		assert_null(fault_of(commands[i], NULL));
	assert_null(fault_of(arena_printf(&arena, "%s/s/p", at("r")), NULL));
	sh("cd r && echo 2 >s/p");
	for (int committed = 0; committed < 2; committed++) {
		for (size_t i = 0; i < COUNT(commands); i++)
			assert_non_null(fault_of(commands[i], NULL));
		assert_non_null(fault_of(arena_printf(&arena, "%s/s/p", at("r")), NULL));
		for (size_t i = 0; i < COUNT(others); i++)
			assert_null(fault_of(others[i], NULL));
		sh("cd r && git commit -q --allow-empty -am 2");
	}
	assert_null(fault_of("s/p", head()));
}

GIT_TEST(a_program_that_is_new_a_link_or_missing_is_not_that_of_the_base)
{
	begin();
	sh("cd r && echo 1 >s/new");
	assert_non_null(fault_of("s/new", NULL));
	sh("cd r && mv s t && ln -s t s");
	assert_non_null(fault_of("s/p", NULL));
	sh("cd r && rm s && mv t s && rm s/p");
	assert_non_null(fault_of("s/p", NULL));
}
