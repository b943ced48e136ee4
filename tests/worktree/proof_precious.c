#include "tests/lib/pool_rig.h"

/* Work where git does not show it, or where git's registration is missing. */

static bool in_the_way(const char *why)
{
	return take_refused("x", ERR_STATE, why);
}

/* `r` has a submodule of this name, and it is on the remote. */
static void with_submodule(const char *name)
{
	sh("git config --global protocol.file.allow always && git init -q lib && cd lib && echo l "
	   ">l && git add l && git commit -qm l");
	sh(arena_printf(&arena,
		"cd r && git submodule --quiet add \"$PWD/../lib\" %s && git commit -qm sub && git "
		"push -q origin main",
		name));
}

/* ---- a pool inside the repository ---- */

POOL_TEST(a_pool_in_the_repository_hides_itself_alone)
{
	spec.root = at("r/own/pool");
	pool_again();
	(void)have("x");
	sh("test -z \"$(git -C r status --porcelain)\" && grep -qx /own/pool/ r/.git/info/exclude");
	sh("cd r && mkdir other && echo 1 >other/new && test \"$(git status --porcelain)\" = "
	   "'?? other/'");
	/* what a kill leaves during its creation */
	sh("rm r/own/pool/.pool && mv r/.git/info/exclude r/.git/info/exclude.new");
	(void)have("x");
	goes("x", false);
	sh("test -e r/own/pool/.pool && grep -qx /own/pool/ r/.git/info/exclude");
}

/* The file is as it was, with one line more. */
POOL_TEST(hiding_a_pool_keeps_the_other_lines)
{
#define LINE "/p\\[\\*/\n"
	static const struct {
		const char *before, *after;
	} rows[] = {
		{"rm -rf r/.git/info", LINE},
		{"printf '*.o\\r\\nx' >r/.git/info/exclude", "*.o\r\nx\n" LINE},
		{"printf '#/p\\[\\*/\\n!/p\\[\\*/\\n' >r/.git/info/exclude",
			"#/p\\[\\*/\n!/p\\[\\*/\n" LINE},
		{"printf '/p\\\\[\\\\*/\\nx' >r/.git/info/exclude", LINE "x"},
		{"printf 'x\\n' >shared && chmod 640 shared && ln -sf ../../../shared "
		 "r/.git/info/exclude",
			"x\n" LINE},
	};

	spec.root = at("r/p[*");
	pool_again();
	for (size_t i = 0; i < COUNT(rows); i++) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;

		sh(rows[i].before);
		(void)have("x");
		assert_true(tree_read(at("r/.git/info/exclude"), &text));
		if (!str_is(buf_str(&text), rows[i].after))
			fail_msg("row %zu: %.*s", i, (int)text.len, text.s);
	}
	sh("test -z \"$(git -C r status --porcelain)\" && test -L r/.git/info/exclude && test "
	   "\"$(stat -c %a shared)\" = 640");
}
#undef LINE

POOL_TEST(a_directory_with_files_of_the_repository_is_no_pool)
{
	static const char *const rows[] = {
		"mkdir -p r/src && echo 1 >r/src/tracked && git -C r add . && git -C r commit -qm "
		"s",
		"mkdir -p r/src/deep && echo 1 >r/src/deep/new",
		"mkdir -p r/src && echo '*.o' >r/src/.gitignore",
		"mkdir -p r/src && echo '*' >r/src/.gitignore && git -C r add -f src && git -C r "
		"commit -qm i && echo 1 >r/src/new && rm r/src/.gitignore",
	};

	spec.root = at("r/src");
	pool_again();
	for (size_t i = 0; i < COUNT(rows); i++) {
		sh(rows[i]);
		if (!in_the_way("cannot hold worktrees: it has files of the repository, such as"))
			fail_msg("row %zu", i);
		sh("test ! -e r/src/x && git -C r reset -q --hard origin/main && rm -rf r/src");
	}
}

/* ---- submodules and clones ---- */

POOL_TEST(files_where_a_submodule_would_be_are_work)
{
	with_submodule("lib");
	(void)have("x");
	goes("x", false); /* an empty directory is none */
	(void)have("x");
	sh("echo 1 >pool/x/lib/notes && test -z \"$(git -C pool/x status --porcelain)\"");
	assert_true(stays("x", "'lib/notes', in the directory of a submodule that does not exist"));
	/* the same when it is no longer a worktree */
	sh("rm -r r/.git/worktrees/x");
	assert_true(stays("x", "such as 'lib/notes'"));
	assert_true(in_the_way("such as 'lib/notes'"));
	goes("x", true);
}

POOL_TEST(a_submodule_of_any_name_is_looked_into)
{
	static const char *const rows[] = {".vendor/lib", "z/b/c/d/e/f/g/h/i/j/k/lib"};

	with_submodule("first");
	for (size_t i = 0; i < COUNT(rows); i++) {
		sh(arena_printf(&arena,
			"cd r && git submodule --quiet add \"$PWD/../lib\" %s && git commit -qm "
			"sub && git push -q origin main",
			rows[i]));
		(void)have("x");
		sh(arena_printf(&arena,
			"cd pool/x && git submodule --quiet update --init %s && cd %s && git "
			"commit -q --allow-empty -m mine && cd - >/dev/null && git commit -qam "
			"bump && git push -qf origin x",
			rows[i], rows[i]));
		if (!stays("x", "is on no remote and only in its submodule"))
			fail_msg("row %zu", i);
		goes("x", true);
		sh("git -C r branch -qD x && git -C r push -q origin :x");
	}
}

POOL_TEST(what_is_hidden_in_a_submodule_is_work)
{
	static const char *const rows[] = {
		"git update-index --assume-unchanged l && echo 2 >l",
		"git update-index --skip-worktree l && echo 2 >l",
		"git worktree add -q -b w ../../w",
	};

	with_submodule("lib");
	for (size_t i = 0; i < COUNT(rows); i++) {
		(void)have("x");
		sh(arena_printf(&arena,
			"cd pool/x && git submodule --quiet update --init && cd lib && %s",
			rows[i]));
		if (!stays("x", i < 2 ? "'l', which git was told" : "has worktrees of its own"))
			fail_msg("row %zu", i);
		goes("x", true);
	}
}

POOL_TEST(a_clone_among_the_files_is_looked_into)
{
	static const struct {
		const char *act, *why;
	} rows[] = {
		/* embedded: a link in the index, and its repository here */
		{"git init -q in && cd in && echo 1 >p && git add p && git commit -qm mine && cd "
		 ".. && git add in 2>/dev/null && git commit -qm bump && git push -qf origin x",
			"is on no remote"},
		/* where git ignores it */
		{"git clone -q ../../org/o.git out && cd out && git commit -q --allow-empty -m "
		 "mine",
			"is on no remote"},
		{"git clone -q ../../org/o.git out && cd out && echo 2 >a && git stash -q",
			"is on no remote"},
		{"git clone -q ../../org/o.git out && echo 2 >out/a", "' M a'"},
		{"mkdir out && git clone -q ../../org/o.git out/in && echo 2 >out/in/new",
			"'?? new'"},
		{"mkdir out && git clone -q ../../org/o.git out/in && chmod 0 out/in",
			"cannot find out what is in"},
		{"git clone -q ../../org/o.git ../../other && git -C ../../other worktree add -q "
		 "-b o \"$PWD/out\" && echo 1 >out/new",
			"contains another worktree"},
		{"mkdir out && git init -q --separate-git-dir=out/g out/w && cd out/w && git "
		 "commit -q --allow-empty -m mine",
			"is on no remote"},
	};

	sh("echo /out/ >>r/.git/info/exclude");
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (geteuid() == 0 && strstr(rows[i].act, "chmod 0"))
			continue; /* nothing is closed to root */
		(void)have("x");
		sh(arena_printf(&arena, "cd pool/x && %s", rows[i].act));
		if (!stays("x", rows[i].why))
			fail_msg("row %zu", i);
		sh("test -d pool/x && chmod 700 pool/x/out/in 2>/dev/null || :");
		goes("x", true);
		sh("{ git -C r branch -qD x; git -C r push -q origin :x; } 2>/dev/null || :; rm "
		   "-rf other");
	}
	/* one without work of its own is removed */
	(void)have("x");
	sh("git clone -q org/o.git pool/x/out");
	goes("x", false);
}

/* ---- its directory does not exist ---- */

POOL_TEST(what_git_alone_has_of_a_directory_that_is_gone_stays)
{
	static const struct {
		const char *act, *why;
		bool never; /* not even confirmed */
	} rows[] = {
		{"git worktree lock --reason usb .", "is locked: usb", true},
		{"git checkout -q --detach && git commit -q --allow-empty -m mine",
			": save it with", false},
		{"git commit -q --allow-empty -m mine && git update-ref refs/worktree/own HEAD && "
		 "git reset -q --hard HEAD~1",
			": save it with", false},
		{"echo 1 >new && git add new", "'new' is staged", false},
		{"echo 2 >a && git add a", "'a' is staged", false},
		{"git bisect start && git bisect bad", "a bisect is in progress", false},
		{"git submodule --quiet update --init && git -C lib commit -q --allow-empty -m "
		 "mine",
			"only in its submodule", false},
	};

	with_submodule("lib");
	for (size_t i = 0; i < COUNT(rows); i++) {
		(void)have("x");
		sh(arena_printf(&arena,
			"cd pool/x && { %s; } >/dev/null && cd ../.. && mv pool/x gone",
			rows[i].act));
		if (!stays("x", rows[i].why) || !in_the_way(rows[i].why))
			fail_msg("row %zu", i);
		sh("test -e r/.git/worktrees/x/HEAD");
		if (rows[i].never) {
			assert_true(stays_confirmed("x", rows[i].why));
			sh("git -C r worktree unlock x");
		}
		goes("x", true);
		sh("rm -rf gone && git -C r branch -qD x 2>/dev/null || :");
	}
	/* nothing of that */
	(void)have("x");
	sh("rm -r pool/x");
	goes("x", false);
}

POOL_TEST(a_worktree_whose_disk_is_away_is_not_dropped)
{
	sh("mkdir disk && git -C r worktree add -q -b x ../disk/x && mv disk away");
	assert_true(in_the_way("nor does the directory around it"));
	sh("mv away disk && test -z \"$(git -C disk/x status --porcelain)\" && rm -r disk/x");
	(void)have("x");
}

/* ---- it is no longer a worktree ---- */

POOL_TEST(another_worktree_in_what_is_left_stays)
{
	static const char *const rows[] = {
		"git -C r worktree add -q ../pool/x/.worktrees/y -b y",
		"git clone -q org/o.git pool/x/.worktrees/y",
	};

	sh("echo /.worktrees/ >>r/.git/info/exclude");
	for (size_t i = 0; i < COUNT(rows); i++) {
		(void)have("x");
		sh(rows[i]);
		sh("echo 1 >pool/x/.worktrees/y/new && rm pool/x/.git");
		if (!in_the_way("/x/.worktrees/y'") || !stays("x", "/x/.worktrees/y'"))
			fail_msg("row %zu", i);
		sh("test -e pool/x/.worktrees/y/new && rm -rf pool/x/.worktrees && git -C r "
		   "worktree prune");
		goes("x", false);
	}
}

POOL_TEST(a_file_that_somebody_shortened_is_work)
{
	static const char *const rows[] = {
		"printf o >pool/x/a", ": >pool/x/a", "chmod +x pool/x/a"};

	for (size_t i = 0; i < COUNT(rows); i++) {
		(void)have("x");
		sh(rows[i]);
		sh("rm -r r/.git/worktrees/x");
		if (!stays("x", "such as 'a'") || !in_the_way("such as 'a'"))
			fail_msg("row %zu", i);
		goes("x", true);
	}
	/* as it was checked out, some of it removed */
	(void)have("x");
	sh("rm -r r/.git/worktrees/x pool/x/a");
	goes("x", false);
}

POOL_TEST(hidden_files_are_held_against_their_own_commit)
{
	static const struct {
		const char *act;
		bool kept;
	} rows[] = {
		{"git update-index --assume-unchanged a && printf o >a", true},
		{"git update-index --skip-worktree a && : >a", true},
		{"echo two >a && git commit -qam two && git push -q origin x && git update-index "
		 "--assume-unchanged a && echo one >a",
			true},
		{"echo two >a && git commit -qam two && git push -q origin x && git update-index "
		 "--assume-unchanged a",
			false},
		{"git update-index --skip-worktree a && rm a", false},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		(void)have("x");
		sh(arena_printf(&arena, "cd pool/x && %s", rows[i].act));
		if (rows[i].kept && !stays("x", "'a', which git was told not to look at"))
			fail_msg("row %zu", i);
		goes("x", rows[i].kept);
		sh("{ git -C r branch -qD x; git -C r push -q origin :x; } 2>/dev/null || :");
	}
}

/* ---- locks ---- */

POOL_TEST(only_a_named_process_that_is_dead_frees_a_lock)
{
	static const struct {
		const char *text;
		bool dead;
	} rows[] = {
		{"keep for the rapid release 4194999", false},
		{"pid", false},
		{"pid 4194999x", false},
		{"pid x 4194999", false},
		{"my-pid 4194999", false},
		{"pid4194999", false},
		{"pid 1, pid 4194999", false},
		{"pid 4194999-4195000", false},
		{"agent (pid 4194999)", true},
		{"pid=4194999", true},
		{"pid: 4194999.", true},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		(void)have("x");
		sh(arena_printf(&arena, "git -C r worktree lock --reason '%s' x", rows[i].text));
		if (!rows[i].dead && !stays("x", "is locked"))
			fail_msg("row %zu", i);
		if (!rows[i].dead)
			sh("git -C r worktree unlock x");
		goes("x", false);
	}
}

UNIT_GROUP(NULL, arena_end)
