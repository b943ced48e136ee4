#include "src/sys/git.h"
#include "tests/lib/scratch.h"

/* The URL that a configuration of this text gives; "" when libgit2 has to be asked. */
static void gives(const char *config, const char *want)
{
	CLEANUP(buf_release) struct buf url = BUF_INIT;
	bool found;

	tree_write(at(".git/config"), str_of(config));
	found = git_config_origin(base, &url);
	assert_int_equal(found, *want != '\0');
	if (found)
		assert_string_equal(url.s, want);
}

SCRATCH_TEST(a_plain_url_is_read)
{
	gives("[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://h/o/r.git\n\tfetch = "
	      "+refs/*:refs/*\n",
		"https://h/o/r.git");
	gives("[remote \"other\"]\n\turl = x\n[Remote \"origin\"]\nURL=git@h:o/r\n", "git@h:o/r");
	gives("# url = no\n[remote \"origin\"]\r\n  url = ssh://git@h:22/o/r.git  \r\n[branch "
	      "\"main\"]\n\tremote = origin\n",
		"ssh://git@h:22/o/r.git");
}

SCRATCH_TEST(what_needs_gits_own_rules_is_left_to_libgit2)
{
	gives("", "");
	gives("[core]\n\tbare = false\n", "");
	gives("[remote \"Origin\"]\n\turl = x/y\n", "");
	gives("[include]\n\tpath = other\n[remote \"origin\"]\n\turl = https://h/o/r\n", "");
	gives("[includeIf \"gitdir:/\"]\n\tpath = o\n[remote \"origin\"]\n\turl = "
	      "https://h/o/r\n",
		"");
	gives("[remote \"origin\"]\n\turl = https://h/o/r\n\turl = https://h/o/s\n", "");
	gives("[remote \"origin\"]\n\turl = \"https://h/o/r\"\n", "");
	gives("[remote \"origin\"]\n\turl = https://h/o/r # mine\n", "");
	gives("[remote \"origin\"]\n\turl = https://h/o/\\\nr\n", "");
	gives("[remote \"origin\"] url = https://h/o/r\n", "");
	gives("[remote.origin]\n\turl = https://h/o/r\n", "");
	gives("[extensions]\n\tworktreeConfig = true\n[remote \"origin\"]\n\turl = "
	      "https://h/o/r\n",
		"");
	gives("[remote \"origin\"]\n\turl\n", "");
	gives("[remote \"origin\"]\n\turl = gh:o/r\n", "");
	gives("[url \"https://h/\"]\n\tinsteadOf = x\n[remote \"origin\"]\n\turl = "
	      "https://h/o/r\n",
		"");
	gives("[remote \"origin\"]\n\turl = \xff\n", "");
}

SCRATCH_TEST(a_linked_work_tree_reads_the_common_configuration)
{
	CLEANUP(buf_release) struct buf url = BUF_INIT;

	tree_write(at("main/.git/config"), STR("[remote \"origin\"]\n\turl = https://h/o/r\n"));
	tree_write(at("main/.git/worktrees/w/commondir"), STR("../..\n"));
	tree_write(at("w/.git"), STR("gitdir: ../main/.git/worktrees/w\n"));
	assert_true(git_config_origin(at("w"), &url));
	assert_string_equal(url.s, "https://h/o/r");
}

SCRATCH_TEST(no_repository_is_no_url)
{
	CLEANUP(buf_release) struct buf url = BUF_INIT;

	assert_false(git_config_origin(base, &url));
	tree_write(at(".git"), STR("not a link\n"));
	assert_false(git_config_origin(base, &url));
}

/* The committer according to the files of a caller with that HOME: `NAME <EMAIL>`, "" for none. */
static void commits(const char *want)
{
	CLEANUP(buf_release) struct buf name = BUF_INIT;
	CLEANUP(buf_release) struct buf email = BUF_INIT;
	bool found = git_config_identity(base, &name, &email);

	assert_int_equal(found, *want != '\0');
	if (found)
		assert_string_equal(arena_printf(&arena, "%s <%s>", name.s, email.s), want);
}

SCRATCH_TEST(who_commits_is_read_from_the_users_own_files)
{
	char *home = getenv("HOME") ? arena_dup(&arena, str_of(getenv("HOME"))) : NULL;

	assert_int_equal(setenv("HOME", at("home"), 1), 0);
	assert_int_equal(unsetenv("XDG_CONFIG_HOME"), 0);
	assert_int_equal(unsetenv("GIT_CONFIG_GLOBAL"), 0);
	commits("");
	tree_write(at("home/.config/git/config"),
		STR("[user]\n\tname = Old Name\n\temail = old@example.org\n"));
	commits("Old Name <old@example.org>");
	tree_write(at("home/.gitconfig"),
		STR("[core]\n\tname = x\n[User]\n\tName=\"Jo #1\"\n[alias]\n\tx = !id\n"));
	commits("Jo #1 <old@example.org>");
	tree_write(at("home/.gitconfig"), STR("[user]\n\tname = A \\\"B\\\"\n"));
	commits("");
	tree_write(at("home/.gitconfig"), STR("[user]\n\tname = A # comment\n"));
	commits("");
	tree_write(at("other"), STR("[user]\nname=C\nemail=c@d\n"));
	assert_int_equal(setenv("GIT_CONFIG_GLOBAL", at("other"), 1), 0);
	commits("C <c@d>");
	tree_write(at(".git/config"), STR("[user]\n\tname = Of The Repository\n"));
	commits("");
	assert_int_equal(unsetenv("GIT_CONFIG_GLOBAL"), 0);
	assert_int_equal(home ? setenv("HOME", home, 1) : unsetenv("HOME"), 0);
}
