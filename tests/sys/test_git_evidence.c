#include "src/sys/git.h"
#include "tests/lib/git_rig.h"

static struct git_status status(void)
{
	struct git_status s;

	assert_int_equal(git_read_status(&arena, at("r"), &s, &err), 0);
	return s;
}

GIT_TEST(a_clean_work_tree_has_a_branch_and_a_commit)
{
	struct git_status s = status();

	assert_string_equal(s.branch, "main");
	assert_sh("git -C r rev-parse HEAD", arena_printf(&arena, "%s\n", s.head));
	assert_int_equal(s.changes.n, 0);
}

GIT_TEST(every_kind_of_change_is_listed_with_its_path)
{
	static const struct git_change want[] = {{.path = "a new name", .staged = true},
		{.path = "changed \"x\""}, {.path = "gone"}, {.path = "old", .staged = true},
		{.path = "staged", .staged = true}, {.path = "d/new file", .untracked = true}};
	struct git_status s;

	sh("cd r; echo 1 >'changed \"x\"'; echo 2 >gone; echo 3 >old; echo ign >.gitignore; "
	   "git add .; git commit -qm 1; echo 4 >>'changed \"x\"'; rm gone; git mv old 'a new "
	   "name'; "
	   "echo 5 >staged; git add staged; mkdir d; echo 6 >'d/new file'; echo 7 >ign");
	s = status();
	assert_int_equal(s.changes.n, COUNT(want));
	for (size_t i = 0; i < COUNT(want); i++) {
		assert_string_equal(s.changes.items[i].path, want[i].path);
		assert_int_equal(s.changes.items[i].untracked, want[i].untracked);
		assert_false(s.changes.items[i].conflict);
		assert_int_equal(s.changes.items[i].staged, want[i].staged);
	}
}

GIT_TEST(what_git_writes_to_stderr_is_no_part_of_the_list)
{
	struct git_status s;

	sh("git -C r checkout -qb work; touch r/new");
	setenv("GIT_TRACE", "1", 1);
	s = status();
	unsetenv("GIT_TRACE");
	assert_string_equal(s.branch, "work");
	assert_int_equal(s.changes.n, 1);
	assert_string_equal(s.changes.items[0].path, "new");
}

GIT_TEST(a_conflict_is_a_change_of_its_own_kind)
{
	struct git_status s;

	sh("cd r; echo 1 >f; git add f; git commit -qm 1; git checkout -qb b; echo 2 >f; git "
	   "commit "
	   "-qam 2; git checkout -q main; echo 3 >f; git commit -qam 3; git merge b >/dev/null || "
	   ":");
	s = status();
	assert_int_equal(s.changes.n, 1);
	assert_string_equal(s.changes.items[0].path, "f");
	assert_true(s.changes.items[0].conflict);
}

GIT_TEST(settings_of_the_repository_hide_no_change)
{
	static const char *const ways[] = {
		"printf '#!/bin/sh\\nprintf \"1\\\\0\"' >../monitor; chmod +x ../monitor; git "
		"config core.fsmonitor \"$PWD/../monitor\"; git update-index --fsmonitor; git "
		"status -s",
		"git config core.trustctime false; git config core.checkStat minimal",
		"cp -R . ../copy; git config core.worktree \"$PWD/../copy\"",
		"git config status.showUntrackedFiles no",
	};

	for (size_t i = 0; i < COUNT(ways); i++) {
		sh("rm -rf r; git init -q r -b main; cd r; echo one >f; touch -d @1 f; git add f; "
		   "git "
		   "commit -qm 1");
		sh(arena_printf(&arena, "cd r; %s", ways[i]));
		sh("cd r; echo two >g; touch -d @1 g; mv g f"); /* another inode */
		assert_int_equal(status().changes.n, 1);
	}
}

static const char *head_commit(void)
{
	struct git_tip tip;

	assert_int_equal(git_read_tip(&arena, at("r"), &tip, &err), 0);
	return tip.commit;
}

static const char *hidden(bool sparse)
{
	struct git_hidden h;

	assert_int_equal(git_find_hidden(&arena, at("r"), sparse, &h, &err), 0);
	return h.paths.n ? h.paths.items[0] : NULL;
}

static const char *attributes(void)
{
	struct git_hidden h;

	assert_int_equal(git_find_hidden(&arena, at("r"), false, &h, &err), 0);
	assert_int_equal(h.paths.n, 0);
	return h.attributes.n ? h.attributes.items[0] : "";
}

GIT_TEST(attributes_that_are_not_tracked_are_found)
{
	sh("cd r; mkdir -p p/q p-c e; echo 1 >p/q/f; echo 2 >p-c/f; echo 3 >z; echo x "
	   ">e/.gitattributes; "
	   "echo .gitattributes >.gitignore; git add .; git commit -qm 1");
	for (int version = 2; version <= 4; version++) {
		sh(arena_printf(&arena, "git -C r update-index --index-version %d", version));
		assert_string_equal(attributes(), ""); /* nothing that is tracked is below e */
		sh("touch r/p/.gitattributes");
		assert_string_equal(attributes(), "p/.gitattributes");
		sh("git -C r add -f p/.gitattributes; touch r/p-c/.gitattributes");
		assert_string_equal(attributes(), "p-c/.gitattributes");
		sh("rm r/p-c/.gitattributes; touch r/.gitattributes");
		assert_string_equal(attributes(), ".gitattributes");
		sh("cd r; rm .gitattributes; git rm -q -f p/.gitattributes");
	}
}

GIT_TEST(files_whose_changes_the_index_hides_are_found)
{
	sh("cd r; echo 1 >f; mkdir d; echo 2 >d/g; git add .; git commit -qm 1");
	for (int version = 2; version <= 4; version++) {
		sh(arena_printf(&arena, "git -C r update-index --index-version %d", version));
		assert_null(hidden(true));
		sh("git -C r update-index --assume-unchanged d/g");
		assert_string_equal(hidden(true), "d/g");
		sh("git -C r update-index --no-assume-unchanged d/g; git -C r update-index "
		   "--skip-worktree f");
		assert_string_equal(hidden(true), "f");
		sh("rm r/f");
		assert_string_equal(hidden(false), "f");
		assert_null(hidden(true));
		sh("cd r; git update-index --no-skip-worktree f; git checkout -q f");
	}
	sh("git -C r update-index --split-index");
	assert_null(hidden(true));
	sh("rm r/.git/index");
	assert_null(hidden(true));
}

GIT_TEST(files_of_a_submodule_without_a_repository_are_found)
{
	struct git_hidden h;

	sh("cd r; git init -q lib; echo 1 >lib/f; git -C lib add f; git -C lib commit -qm 1; git "
	   "add lib; "
	   "git commit -qm 1; cp -R lib/.git ../kept");
	for (int version = 2; version <= 4; version++) {
		sh(arena_printf(&arena, "git -C r update-index --index-version %d", version));
		assert_int_equal(git_find_hidden(&arena, at("r"), false, &h, &err), 0);
		assert_int_equal(h.submodules.n, 0);
		sh("rm -rf r/lib/.git");
		assert_int_equal(git_find_hidden(&arena, at("r"), false, &h, &err), 0);
		assert_int_equal(h.submodules.n, 1);
		assert_string_equal(h.submodules.items[0], "lib");
		sh("mv r/lib/f f");
		assert_int_equal(git_find_hidden(&arena, at("r"), false, &h, &err), 0);
		assert_int_equal(h.submodules.n, 0);
		sh("rmdir r/lib");
		assert_int_equal(git_find_hidden(&arena, at("r"), false, &h, &err), 0);
		assert_int_equal(h.submodules.n, 0);
		sh("mkdir r/lib; mv f r/lib; cp -R kept r/lib/.git");
	}
}

GIT_TEST(files_that_a_sparse_work_tree_lacks_and_commits_change_are_found)
{
	const char *found = "", *from, *to;
	struct git_hidden h;

	sh("cd r; echo 1 >f; mkdir d; echo 2 >d/g; git add .; git commit -qm 1");
	from = head_commit();
	sh("cd r; echo 3 >f; git commit -qam 2; git update-index --skip-worktree d/g f; rm f d/g");
	to = head_commit();
	assert_int_equal(git_find_hidden(&arena, at("r"), true, &h, &err), 0);
	assert_int_equal(h.paths.n, 0);
	assert_int_equal(h.skipped.n, 2);
	assert_int_equal(git_find_differing(&arena, at("r"), from, to, h.skipped.items, h.skipped.n,
				 &found, &err),
		0);
	assert_string_equal(found, "f");
	assert_int_equal(
		git_find_differing(&arena, at("r"), from, to, h.skipped.items, 1, &found, &err), 0);
	assert_null(found);
}

GIT_TEST(commits_since_another_are_listed_with_their_trees)
{
	const char *const names[] = {"HEAD", "HEAD~2"};
	struct git_commit found[COUNT(names)];
	struct git_history since;

	sh("cd r; git switch -q -c side; echo 1 >f; git add f; git commit -qm 1; git switch -q "
	   "main; "
	   "git merge -q --no-ff -m 2 side; git commit -q --allow-empty -m 3");
	for (int shallow = 0; shallow < 2; shallow++) {
		assert_int_equal(
			git_read_commits(&arena, at("r"), names, shallow ? 1 : 2, found, &err), 0);
		assert_int_equal(git_list_history(&arena, at("r"), shallow ? NULL : found[1].id,
					 found[0].id, &since, &err),
			0);
		assert_int_equal(since.list.n, shallow ? 2 : 3);
		for (size_t i = 0; i < since.list.n; i++)
			assert_string_equal(since.list.items[i].tree, found[0].tree);
		assert_string_equal(since.list.items[0].id, found[0].id);
		sh("test -d full || { mv r full; git clone -q --depth 1 file://$PWD/full r; cd r; "
		   "git commit -q --allow-empty -m 4; }");
	}
}

/* Each command makes the commit `other` from the branch `side`, which has changed `f` since `main`.
 */
GIT_TEST(the_digest_of_a_patch_tells_other_changes_from_other_commits)
{
	static const struct {
		const char *command;
		bool same;
	} rows[] = {
		{"git commit -q --amend -m other", true},
		{"git switch -q main && echo more >g && git add g && git commit -qm g && "
		 "git switch -q other && git rebase -q main",
			true},
		{"echo 6 >>f && git commit -qam more", false},
		{"sed -i 's/five/ five/' f && git commit -qam blank", false},
		{"sed -i 's/five/five /' f && git commit -qam blank", false},
		{"chmod +x f && git commit -qam mode", false},
		{"git mv f h && git commit -qm name", false},
		{"printf 'a\\0c' >b && git commit -qam binary", false},
		{"printf 'a\\0b' >b && git commit -q --amend -am other", true},
	};

	sh("cd r && seq 4 >f && git add f && git commit -qm f && git switch -q -c side && echo "
	   "five >>f "
	   "&& printf 'a\\0b' >b && git add b && git commit -qam five && git branch first main");
	for (size_t i = 0; i < COUNT(rows); i++) {
		char one[GIT_PATCH_TEXT], other[GIT_PATCH_TEXT];

		sh(arena_printf(&arena,
			"cd r && git switch -q -C other side && { %s; } && git switch -q other",
			rows[i].command));
		git_patch_digest(at("r"), "first", "side", one);
		git_patch_digest(at("r"), "main", "other", other);
		assert_true(*one && *other);
		if ((strcmp(one, other) == 0) != rows[i].same)
			fail_msg("%s", rows[i].command);
		sh("git -C r branch -q -f main first");
	}
}

GIT_TEST(a_commit_with_the_changes_of_a_whole_branch_is_found)
{
	const char *fork = head_commit(), *half, *side, *squash, *tip, *found;

	sh("cd r && git switch -q -c side && echo 1 >>f && git add f && git commit -qm 1");
	half = head_commit();
	sh("cd r && echo 2 >>f && git commit -qam 2");
	side = head_commit();
	sh("cd r && git switch -q main; echo g >g; git add g; git commit -qm g; git merge -q "
	   "--squash side >/dev/null; git commit -qm both");
	squash = head_commit();
	sh("cd r && echo 3 >>f && git commit -qam 3");
	tip = head_commit();
	assert_int_equal(git_find_landed(&arena, at("r"), side, tip, NULL, &found, &err), 0);
	assert_string_equal(found, squash);
	assert_int_equal(git_find_landed(&arena, at("r"), side, fork, NULL, &found, &err), 0);
	assert_null(found);
	assert_int_equal(git_find_landed(&arena, at("r"), half, tip, NULL, &found, &err), 0);
	assert_null(found);
	assert_int_equal(git_find_landed(&arena, at("r"), squash, tip, NULL, &found, &err), 0);
	assert_string_equal(found, squash);
}

GIT_TEST(without_a_branch_or_a_commit_there_is_none)
{
	struct git_status s;

	sh("git -C r checkout -q --detach");
	s = status();
	assert_null(s.branch);
	assert_non_null(s.head);
	sh("rm -rf r; git init -q r -b trunk");
	s = status();
	assert_string_equal(s.branch, "trunk");
	assert_null(s.head);
}

GIT_TEST(commits_have_an_id_and_a_tree)
{
	static const char *const names[] = {
		"HEAD", "refs/heads/main", "refs/heads/none", "refs/heads/.."};
	struct git_commit got[COUNT(names)];

	assert_int_equal(git_read_commits(&arena, at("r"), names, COUNT(names), got, &err), 0);
	assert_sh("git -C r rev-parse HEAD HEAD^{tree}",
		arena_printf(&arena, "%s\n%s\n", got[0].id, got[0].tree));
	assert_string_equal(got[1].id, got[0].id);
	assert_null(got[2].id);
	assert_null(got[3].id);
}

/* It must not look like a branch without commits, or a commit without files. */
GIT_TEST(a_commit_that_cannot_be_read_is_a_fault)
{
	static const char *const names[] = {
		"HEAD", "refs/heads/main", "main", "0123456789012345678901234567890123456789"};
	static const char *const lost[] = {"HEAD^{tree}", "HEAD"};
	struct git_commit got;

	for (size_t i = 0; i < COUNT(lost); i++) {
		sh(arena_printf(&arena,
			"cd r; rm -f .git/objects/$(git rev-parse '%s' | sed 's,..,&/,')",
			lost[i]));
		for (size_t k = 0; k < COUNT(names); k++)
			assert_int_equal(
				git_read_commits(&arena, at("r"), &names[k], 1, &got, &err), -1);
	}
}

static void assert_descends(
	const struct git_commit *from, const struct git_commit *base_commit, size_t want)
{
	size_t n;

	assert_int_equal(git_count_commits(at("r"), base_commit->id, from->id, &n, &err), 0);
	assert_int_equal(n, want);
	assert_int_equal(git_count_commits(at("r"), from->id, base_commit->id, &n, &err), 0);
	assert_int_equal(n, 0);
}

GIT_TEST(a_commit_and_its_revert_have_the_tree_of_the_base)
{
	static const char *const names[] = {"HEAD", "HEAD~2"};
	struct git_commit got[COUNT(names)];

	sh("cd r; echo 1 >f; git add f; git commit -qm 1; git revert --no-edit HEAD >/dev/null");
	assert_int_equal(git_read_commits(&arena, at("r"), names, COUNT(names), got, &err), 0);
	assert_string_equal(got[0].tree, got[1].tree);
	assert_descends(&got[0], &got[1], 2);
}

/* A file of the index is older than it, so that nothing but a change makes it unsure. */
static bool unchanged(const char *way, bool alone)
{
	const char *tree;
	static const char *const names[] = {"HEAD"};
	struct git_commit head;

	sh("rm -rf r; git init -q r -b main; cd r; mkdir d; echo one >f; echo two >d/g; ln -s f l; "
	   "touch -hd @1000000000 f d/g l; git add .; git commit -qm 1");
	sh(arena_printf(&arena, "cd r; %s", way));
	assert_int_equal(git_read_commits(&arena, at("r"), names, 1, &head, &err), 0);
	tree = git_unchanged_tree(&arena, at("r"), alone);
	return tree && head.tree && strcmp(tree, head.tree) == 0;
}

GIT_TEST(files_of_the_tree_of_head_are_surely_unchanged)
{
	static const char *const ways[] = {":", "echo new >untracked", "git pack-refs --all",
		"git commit -q --allow-empty -m 2", "git checkout -q --detach"};

	for (size_t i = 0; i < COUNT(ways); i++)
		assert_true(unchanged(ways[i], false));
	assert_true(
		unchanged("mkdir d.d d/e d0; for i in d.d/f d/e/h d0/f d-; do echo $i >$i; touch "
			  "-d @1000000000 $i; done; git add .; git commit -qm 2",
			true));
}

GIT_TEST(another_file_or_directory_is_not_alone)
{
	static const char *const ways[] = {"echo new >untracked", "mkdir e", "mkdir d/g.d",
		"echo f >.gitignore; touch -d @1 .gitignore", "echo new >d/f", "echo new >d/gg",
		"ln -s f k", "mkfifo p", "mv d .git/e; ln -s .git/e d", "mkdir -p e/.git",
		"git init -q e", "echo /n >.git/info/exclude; echo new >n"};

	assert_true(unchanged(":", true));
	for (size_t i = 0; i < COUNT(ways); i++)
		if (unchanged(ways[i], true))
			fail_msg("alone after: %s", ways[i]);
}

GIT_TEST(a_change_or_an_index_in_another_form_is_never_surely_unchanged)
{
	static const char *const ways[] = {
		"echo six >g; touch -d @1000000000 g; mv g f",
		"printf 'six\\n' >f; touch -d @1000000000 f",
		"chmod +x f",
		"rm d/g",
		"rm f; ln -s l f",
		"rm f; mkdir f",
		"echo 2 >n; git add n",
		"echo 2 >n; git add -N n",
		"git rm -q --cached f",
		"echo 2 >f; git add f; git commit -qm 2; git reset -q --soft HEAD~1",
		"echo 2 >f; git add f; printf 'one\\n' >f",
		"echo 2 >f; git commit -qam 2; git update-ref HEAD HEAD~1",
		"git update-index --assume-unchanged f",
		"git update-index --skip-worktree f",
		"git update-index --index-version 4",
		"git update-index --split-index",
		"touch -d @4000000000 f; git update-index --refresh",
		"git rm -qr .; git commit -qm 2",
		"rm .git/index",
		"echo x >.git/index",
		"head -c 90 .git/index >i; mv i .git/index",
	};

	for (size_t i = 0; i < COUNT(ways); i++)
		if (unchanged(ways[i], false))
			fail_msg("unchanged after: %s", ways[i]);
}

/* The entries of `dir` are certain; they are then those that git prints. */
static bool directory_unchanged(const char *dir)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	bool certain = git_unchanged_directory(&arena, at("r"), dir, &out);

	if (!certain)
		assert_int_equal(out.len, 0);
	for (size_t i = 0; i < out.len; i++)
		out.s[i] = out.s[i] ? out.s[i] : '\n';
	if (certain)
		assert_sh(arena_printf(&arena,
				  "cd r; git ls-files -t --stage --modified --others "
				  "--exclude-standard -z -- %s | tr '\\0' '\\n'",
				  *dir ? dir : "."),
			out.s);
	return certain;
}

GIT_TEST(a_directory_is_unchanged_whatever_the_others_are)
{
	static const char *const good[] = {":", "echo new >untracked", "rm f", "echo 2 >d0/f"};
	static const char *const bad[] = {"echo six >d/g", "touch d/new", "mkdir d/e2", "rm d/g",
		"chmod +x d/e/h", "git init -q d", "echo h >.gitignore; echo h >d/h",
		"git update-index --skip-worktree d/g", "rm -r d; ln -s d0 d", "rm -r d"};
	static const char make[] = "mkdir d0 d/e; echo 1 >d0/f; echo 2 >d/e/h; ln -s g d/k; "
				   "touch -hd @1000000000 d0/f d/e/h d/k; git add .";

	for (size_t i = 0; i < COUNT(good) + COUNT(bad); i++) {
		bool is_good = i < COUNT(good);

		(void)unchanged(make, false);
		sh(arena_printf(&arena, "cd r; %s", is_good ? good[i] : bad[i - COUNT(good)]));
		if (directory_unchanged("d") != is_good)
			fail_msg("after: %s", is_good ? good[i] : bad[i - COUNT(good)]);
	}
	(void)unchanged(make, false);
	assert_true(directory_unchanged(""));
	assert_true(directory_unchanged("d/e"));
	assert_false(directory_unchanged("none"));
	assert_false(directory_unchanged("./d"));
}

GIT_TEST(the_tip_is_what_git_says)
{
	static const char *const ways[] = {":", "git pack-refs --all",
		"git pack-refs --all; git commit -q --allow-empty -m 2", "git checkout -q --detach",
		"git switch -q -c a/b; git pack-refs --all", "git tag main HEAD~0",
		"git symbolic-ref refs/heads/a refs/heads/main; git symbolic-ref HEAD refs/heads/a",
		"git switch -q --orphan new"};

	for (size_t i = 0; i < COUNT(ways); i++) {
		struct git_tip tip;

		sh("rm -rf r; git init -q r -b main; git -C r commit -q --allow-empty -m 1");
		sh(arena_printf(&arena, "cd r; %s", ways[i]));
		assert_int_equal(git_read_tip(&arena, at("r"), &tip, &err), 0);
		assert_sh("cd r; git branch --show-current; git rev-parse -q --verify HEAD || :",
			arena_printf(&arena, "%s%s%s%s", tip.branch ? tip.branch : "",
				tip.branch ? "\n" : "", tip.commit ? tip.commit : "",
				tip.commit ? "\n" : ""));
	}
}

GIT_TEST(a_worktree_has_a_tip_of_its_own)
{
	struct git_tip tip;

	sh("git -C r worktree add -q ../w -b other; git -C w commit -q --allow-empty -m 2");
	assert_int_equal(git_read_tip(&arena, at("w"), &tip, &err), 0);
	assert_string_equal(tip.branch, "other");
	assert_sh("git -C w rev-parse HEAD", arena_printf(&arena, "%s\n", tip.commit));
}

GIT_TEST(commits_of_a_shallow_clone_are_counted)
{
	static const char *const names[] = {"HEAD", "HEAD~1"};
	struct git_commit got[COUNT(names)];

	sh("cd r; git commit -q --allow-empty -m 1; cd ..; mv r full; git clone -q --depth 1 "
	   "file://$PWD/full r; git -C r commit -q --allow-empty -m 2");
	assert_int_equal(git_read_commits(&arena, at("r"), names, COUNT(names), got, &err), 0);
	assert_descends(&got[0], &got[1], 1);
}

static bool on_other_branch(const char *commit)
{
	bool yes;

	assert_int_equal(git_is_on_other_branch(at("r"), commit, "own", &yes, &err), 0);
	return yes;
}

GIT_TEST(commits_of_other_branches_of_a_remote_are_known)
{
	struct git_tip tip;

	sh("cd r; git switch -q -c own; git commit -q --allow-empty -m 2");
	assert_int_equal(git_read_tip(&arena, at("r"), &tip, &err), 0);
	assert_false(on_other_branch(tip.commit)); /* there is no remote */
	sh("cd r; git update-ref refs/remotes/origin/main HEAD~1; git update-ref "
	   "refs/remotes/origin/own HEAD; git update-ref refs/remotes/fork/own HEAD");
	assert_false(on_other_branch(tip.commit));
	sh("cd r; git update-ref refs/remotes/origin/theirs $(git commit-tree -p HEAD -m 3 "
	   "HEAD^{tree})");
	assert_true(on_other_branch(tip.commit));
}

GIT_TEST(commits_of_other_branches_are_known_in_a_shallow_clone)
{
	struct git_tip tip;

	sh("cd r; git commit -q --allow-empty -m 1; cd ..; mv r full; git clone -q --depth 1 "
	   "file://$PWD/full r; cd r; git switch -q -c own");
	assert_int_equal(git_read_tip(&arena, at("r"), &tip, &err), 0);
	assert_true(on_other_branch(tip.commit));
	sh("git -C r commit -q --allow-empty -m 2");
	assert_int_equal(git_read_tip(&arena, at("r"), &tip, &err), 0);
	assert_false(on_other_branch(tip.commit));
}

GIT_TEST(two_branches_have_left_each_other_at_a_commit)
{
	struct git_commit got[3];
	static const char *const names[] = {"a", "b", "main"};

	sh("cd r; git switch -q -c a; git commit -q --allow-empty -m a; git switch -q -c b main; "
	   "git commit -q --allow-empty -m b");
	assert_int_equal(git_read_commits(&arena, at("r"), names, COUNT(names), got, &err), 0);
	assert_string_equal(git_fork_point(&arena, at("r"), got[0].id, got[1].id), got[2].id);
}

GIT_TEST(damage_is_told_from_a_fault_of_the_system)
{
	static const char *const names[] = {"refs/heads/main"};
	struct git_commit got;
	struct git_status s;

	sh("echo garbage >r/.git/refs/heads/main");
	assert_int_equal(git_read_commits(&arena, at("r"), names, 1, &got, &err), -1);
	assert_int_equal(err.code, ERR_CHECK);
	sh("echo garbage >r/.git/index");
	assert_int_equal(git_read_status(&arena, at("r"), &s, &err), -1);
	assert_int_equal(err.code, ERR_CHECK);
	sh("rm r/.git/index; mkdir r/.git/index");
	assert_int_equal(git_read_status(&arena, at("r"), &s, &err), -1);
}

static const char *touched(const char *since, const char *path)
{
	const char *found;

	assert_int_equal(git_find_touched(&arena, at("r"), since, &path, 1, &found, &err), 0);
	return found ? found : "";
}

GIT_TEST(a_commit_that_touches_a_path_is_found)
{
	sh("cd r && git switch -qc work && echo two >>a && git commit -qam two && git switch -q "
	   "main && echo b >b && mkdir d && echo x >d/x && git add b d && git commit -qm three\n"
	   "git switch -q work && git merge -q -m merge main && git rm -qr d && git commit -qm "
	   "less");
	assert_string_equal(touched("main", "a"), "a");
	assert_string_equal(touched("main", "b"), "");
	assert_string_equal(touched("main~1", "b"), "b");
	assert_string_equal(touched("main~1", "d/"), "d/x");
	assert_string_equal(touched("main", "*"), "");
	assert_string_equal(touched(NULL, "a"), "a");
	assert_string_equal(touched("HEAD", "a"), "");
}
