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

SCRATCH_TEST(an_identity_has_the_settings_that_decide_what_the_remote_is)
{
	const char *const want[] = {"common directory ../..",
		"[remote \"origin\"] url = https://h/o/r",
		"[remote \"origin\"] uploadpack = /tmp/x", "[core] sshcommand = /tmp/y",
		"[URL \"/tmp/z\"] insteadof = https://h/", "[http] proxy = h",
		"[include] path = more", "[filter \"f\"] clean = cat", "[core] worktree = /t",
		"[remote \"origin\"] pushurl = /tmp/p",
		"[remote \"origin\"] url = /of/the/worktree"};
	struct git_identity got;
	struct error err;

	tree_write(at("main/.git/config"),
		STR("[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://h/o/r\n\tfetch = "
		    "+refs/*:refs/*\n\tgh-resolved = base\n\tuploadpack = /tmp/x\n[branch "
		    "\"b\"]\n\tremote = origin\n[core]\n\tsshCommand = /tmp/y\n[URL \"/tmp/z\"]\n"
		    "\tinsteadOf = https://h/\n[remote \"other\"]\n\turl = o\n[http]\n\tproxy = "
		    "h\n[include]\n\tpath = more\n[filter \"lfs\"]\n\tclean = git-lfs clean -- "
		    "%f\n\trequired = true\n[filter \"f\"]\n\tclean = cat\n[core]\n\tworktree = "
		    "/t\n[remote \"origin\"] pushurl = /tmp/p\n"));
	tree_write(at("main/.git/worktrees/w/commondir"), STR("../..\n"));
	tree_write(at("main/.git/worktrees/w/config.worktree"),
		STR("[remote \"origin\"]\n\turl = /of/the/worktree\n"));
	tree_write(at("w/.git"), STR("gitdir: ../main/.git/worktrees/w\n"));
	assert_int_equal(git_read_identity(&arena, at("w"), &got, &err), 0);
	assert_string_equal(got.directory, at("w/../main/.git/worktrees/w"));
	assert_int_equal(got.settings.n, COUNT(want));
	for (size_t i = 0; i < COUNT(want); i++)
		assert_string_equal(got.settings.items[i], want[i]);
	assert_int_equal(got.remotes.list.n, 3);
	assert_string_equal(got.remotes.list.items[1].name, "other");
	assert_string_equal(got.remotes.list.items[1].url, "o");
	assert_string_equal(got.remotes.list.items[2].url, "/of/the/worktree");
	assert_int_equal(git_read_identity(&arena, at("none"), &got, &err), 0);
	assert_null(got.directory);
	tree_write(at("w/.git"), STR("nonsense\n"));
	assert_int_equal(git_read_identity(&arena, at("w"), &got, &err), 0);
	assert_null(got.directory);
	tree_mkdirs(at("main/.git/worktrees/w/x"));
	tree_write(at("w/.git"), STR("gitdir: ../main/.git/worktrees/w\n"));
	assert_int_equal(unlink(at("main/.git/config")), 0);
	tree_mkdirs(at("main/.git/config"));
	assert_int_equal(git_read_identity(&arena, at("w"), &got, &err), -1);
}

/* The forms of a section that mean the same to git, and others that hide what follows. */
SCRATCH_TEST(no_form_of_a_section_keeps_a_setting_out_of_the_identity)
{
	static const char *const texts[] = {"[core] sshCommand = x # ]\n",
		"[remote \"ori\\gin\"]\n\tpushurl = x\n", "[url.x]\n\tinsteadOf = y\n",
		"[filter.x]\n\tclean = y\n", "[filter\t\"x\"]\n\tclean = y\n",
		"[filter \"x\"]\n\tclean = git-lfs x || y\n",
		"\xef\xbb\xbf[url \"x\"]\n\tinsteadOf = y\n[core]\n",
		"[a]\n\tb = c\\\n[b \"c\"]\n\tpushurl = x\n", "[core]\n\tfilemode = false\n",
		"[core]\n\tattributesfile = x\n", "[core]\n\tsparseCheckout = true\n"};
	struct git_identity got;
	struct error err;

	for (size_t i = 0; i < COUNT(texts); i++) {
		tree_write(at(".git/config"), str_of(texts[i]));
		assert_int_equal(git_read_identity(&arena, base, &got, &err), 0);
		assert_true(got.settings.n > 1);
	}
	tree_write(at(".git/config"),
		STR("[user]\n\tname = x # ]\n[branch \"a b\"]\n\tmerge = y\n[a-1]\n\tb\n[filter "
		    "\"lfs\"]\n\tprocess = git-lfs filter-process --skip\n"));
	assert_int_equal(git_read_identity(&arena, base, &got, &err), 0);
	assert_int_equal(got.settings.n, 1);
}

SCRATCH_TEST(attributes_of_the_repository_are_in_the_identity)
{
	static const char *const texts[] = {
		"f ident\n", "f -ident\nf ident\n", "f ident\nf -ident\n"};
	struct git_identity got, before = {0};
	struct error err;

	tree_mkdirs(at(".git"));
	for (size_t i = 0; i < COUNT(texts); i++) {
		tree_write(at(".git/info/attributes"), str_of(texts[i]));
		assert_int_equal(git_read_identity(&arena, base, &got, &err), 0);
		assert_int_equal(got.settings.n, 2);
		if (i)
			assert_string_not_equal(got.settings.items[1], before.settings.items[1]);
		before = got;
	}
	tree_write(at(".git/info/attributes"), STR(""));
	assert_int_equal(git_read_identity(&arena, base, &got, &err), 0);
	assert_int_equal(got.settings.n, 1);
}

/* The first worktree, and the client, add them while another item is in progress. */
SCRATCH_TEST(lines_that_hide_worktrees_and_the_clients_files_are_not_in_the_identity)
{
	static const char *const pairs[][2] = {{"", "/.dev-team/worktrees/\n"},
		{"*.o", "*.o\n/.dev-team/worktrees/\n"},
		{"*.o\nx\n", "*.o\n/.dev-team/worktrees/\nx\n"},
		{"*.o\n", "*.o\n# "
			  "claude-code-runtime\n**/.claude/scheduled_tasks.lock\n**/.claude/"
			  "routines/.state/\n"}};
	static const char *const others[] = {"/.dev-team/worktrees/x\n", "/.dev-team/\n",
		"!/.dev-team/worktrees/\n", " /.dev-team/worktrees/\n", "/.claude/x\n",
		"**/.claude/x filter=x\n", "# a comment\n"};
	struct git_identity got, before;
	struct error err;

	tree_mkdirs(at(".git"));
	for (size_t i = 0; i < COUNT(pairs); i++) {
		tree_write(at(".git/info/exclude"), str_of(pairs[i][0]));
		assert_int_equal(git_read_identity(&arena, base, &before, &err), 0);
		tree_write(at(".git/info/exclude"), str_of(pairs[i][1]));
		assert_int_equal(git_read_identity(&arena, base, &got, &err), 0);
		assert_int_equal(got.settings.n, before.settings.n);
		assert_string_equal(got.settings.items[got.settings.n - 1],
			before.settings.items[got.settings.n - 1]);
	}
	tree_write(at(".git/info/exclude"), STR("/.dev-team/worktrees/\n\0x\n"));
	assert_int_equal(git_read_identity(&arena, base, &got, &err), 0);
	assert_int_equal(got.settings.n, 2);
	for (size_t i = 0; i < COUNT(others); i++) {
		tree_write(at(".git/info/exclude"), str_of(others[i]));
		assert_int_equal(git_read_identity(&arena, base, &got, &err), 0);
		assert_int_equal(got.settings.n, 2);
	}
}

SCRATCH_TEST(the_core_of_a_configuration_is_read)
{
	static const struct {
		const char *config, *worktree;
		bool bare;
	} rows[] = {
		{"[core]\n\tbare = false\n", NULL, false},
		{"[core]\n\tbare = true\n\tworktree = \"../a b\"\n", "../a b", true},
		{"[Core]\nBare=true\n[core]\nworktree=/x\nbare = false\n", "/x", false},
		{"[core \"x\"]\nbare = true\nworktree = /x\n[user]\nbare = true\n", NULL, false},
		{"", NULL, false},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct git_core got;

		tree_write(at("c/config"), str_of(rows[i].config));
		git_config_core(&arena, at("c"), &got);
		assert_int_equal(got.bare, rows[i].bare);
		assert_true(got.worktree ? rows[i].worktree &&
						   strcmp(got.worktree, rows[i].worktree) == 0
					 : !rows[i].worktree);
	}
}

SCRATCH_TEST(what_the_user_has_configured_about_files_is_in_the_identity)
{
	static const char *const want[] = {"[filter \"own\"] clean = x",
		"[core] attributesfile = ~/a", "attributes ", "info/exclude "};
	char *home = getenv("HOME") ? arena_dup(&arena, str_of(getenv("HOME"))) : NULL;
	struct git_identity got;
	struct error err;

	assert_int_equal(setenv("HOME", at("home"), 1), 0);
	assert_int_equal(unsetenv("XDG_CONFIG_HOME"), 0);
	tree_mkdirs(at(".git"));
	tree_write(at(".git/info/exclude"), STR("*.o\n"));
	tree_write(at("home/.config/git/config"), STR("[filter \"own\"]\n\tclean = x\n"));
	tree_write(at("home/.config/git/attributes"), STR("f ident\n"));
	tree_write(at("home/.gitconfig"),
		STR("[user]\n\tname = A\n[core]\n\tattributesFile = ~/a\n\tautocrlf = x\n[filter "
		    "\"lfs\"]\n\tclean = git-lfs clean -- %f\n[remote \"x\"]\n\turl = /x\n"));
	assert_int_equal(git_read_identity(&arena, base, &got, &err), 0);
	assert_int_equal(got.remotes.list.n, 0);
	assert_int_equal(got.settings.n, 1 + COUNT(want));
	for (size_t i = 0; i < COUNT(want); i++) {
		bool found = false;

		for (size_t k = 0; k < got.settings.n; k++)
			found |= str_starts(str_of(got.settings.items[k]), want[i]);
		assert_true(found);
	}
	assert_int_equal(setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1), 0);
	assert_int_equal(git_read_identity(&arena, base, &got, &err), 0);
	assert_int_equal(got.settings.n, 3);
	assert_int_equal(unsetenv("GIT_CONFIG_GLOBAL"), 0);
	assert_int_equal(home ? setenv("HOME", home, 1) : unsetenv("HOME"), 0);
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
