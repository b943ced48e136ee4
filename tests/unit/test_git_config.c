#include "src/base/git_config.h"
#include "src/base/path.h"
#include "tests/lib/tree.h"
#include "tests/unit/unit.h"

struct place {
	char *dir;
	struct arena arena;
};

static int set_up(void **state)
{
	struct place *p = xmalloc(sizeof(*p));

	*p = (struct place){.dir = tree_scratch("config")};
	*state = p;
	return 0;
}

static int tear_down(void **state)
{
	struct place *p = *state;

	tree_remove(p->dir);
	free(p->dir);
	arena_release(&p->arena);
	free(p);
	return 0;
}

/* The URL that a configuration of this text gives; "" when libgit2 has to be asked. */
static void gives(struct place *p, const char *config, const char *want)
{
	CLEANUP(buf_release) struct buf url = BUF_INIT;
	bool found;

	tree_write(path_join(&p->arena, p->dir, ".git/config"), str_of(config));
	found = git_plain_origin(p->dir, &url);
	assert_int_equal(found, *want != '\0');
	if (found)
		assert_string_equal(url.s, want);
}

static void a_plain_url_is_read(void **state)
{
	struct place *p = *state;

	gives(p,
		"[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://h/o/r.git\n\tfetch = "
		"+refs/*:refs/*\n",
		"https://h/o/r.git");
	gives(p, "[remote \"other\"]\n\turl = x\n[Remote \"origin\"]\nURL=git@h:o/r\n",
		"git@h:o/r");
	gives(p,
		"# url = no\n[remote \"origin\"]\r\n  url = ssh://git@h:22/o/r.git  \r\n[branch "
		"\"main\"]\n\tremote = origin\n",
		"ssh://git@h:22/o/r.git");
}

static void what_needs_gits_own_rules_is_left_to_libgit2(void **state)
{
	struct place *p = *state;

	gives(p, "", "");
	gives(p, "[core]\n\tbare = false\n", "");
	gives(p, "[remote \"Origin\"]\n\turl = x/y\n", "");
	gives(p, "[include]\n\tpath = other\n[remote \"origin\"]\n\turl = https://h/o/r\n", "");
	gives(p,
		"[includeIf \"gitdir:/\"]\n\tpath = o\n[remote \"origin\"]\n\turl = "
		"https://h/o/r\n",
		"");
	gives(p, "[remote \"origin\"]\n\turl = https://h/o/r\n\turl = https://h/o/s\n", "");
	gives(p, "[remote \"origin\"]\n\turl = \"https://h/o/r\"\n", "");
	gives(p, "[remote \"origin\"]\n\turl = https://h/o/r # mine\n", "");
	gives(p, "[remote \"origin\"]\n\turl = https://h/o/\\\nr\n", "");
	gives(p, "[remote \"origin\"] url = https://h/o/r\n", "");
	gives(p, "[remote.origin]\n\turl = https://h/o/r\n", "");
	gives(p,
		"[extensions]\n\tworktreeConfig = true\n[remote \"origin\"]\n\turl = "
		"https://h/o/r\n",
		"");
	gives(p, "[remote \"origin\"]\n\turl\n", "");
	gives(p, "[remote \"origin\"]\n\turl = gh:o/r\n", "");
	gives(p, "[url \"https://h/\"]\n\tinsteadOf = x\n[remote \"origin\"]\n\turl = https://h/o/r\n", "");
	gives(p, "[remote \"origin\"]\n\turl = \xff\n", "");
}

static void a_linked_work_tree_reads_the_common_configuration(void **state)
{
	struct place *p = *state;
	CLEANUP(buf_release) struct buf url = BUF_INIT;

	tree_write(path_join(&p->arena, p->dir, "main/.git/config"),
		STR("[remote \"origin\"]\n\turl = https://h/o/r\n"));
	tree_write(path_join(&p->arena, p->dir, "main/.git/worktrees/w/commondir"), STR("../..\n"));
	tree_write(
		path_join(&p->arena, p->dir, "w/.git"), STR("gitdir: ../main/.git/worktrees/w\n"));
	assert_true(git_plain_origin(path_join(&p->arena, p->dir, "w"), &url));
	assert_string_equal(url.s, "https://h/o/r");
}

static void no_repository_is_no_url(void **state)
{
	struct place *p = *state;
	CLEANUP(buf_release) struct buf url = BUF_INIT;

	assert_false(git_plain_origin(p->dir, &url));
	tree_write(path_join(&p->arena, p->dir, ".git"), STR("not a link\n"));
	assert_false(git_plain_origin(p->dir, &url));
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_plain_url_is_read),
		T(what_needs_gits_own_rules_is_left_to_libgit2),
		T(a_linked_work_tree_reads_the_common_configuration),
		T(no_repository_is_no_url),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
