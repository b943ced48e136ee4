/* Work of every kind in a worktree, which is removed only when this is confirmed. */
#include "tests/lib/pool_rig.h"

POOL_TEST(uncommitted_work_of_each_kind_stays)
{
	static const struct {
		const char *act, *why;
	} rows[] = {
		{"mkdir d && echo 2 >d/new", "'?? d/'"},
		{"rm a", "' D a'"},
		{"echo 2 >b && git add b && rm b", "'AD b'"},
		{"git rm -q a", "'D  a'"},
		{"chmod +x a", "' M a'"},
		{"ln -sf /etc a", "' T a'"},
		{"git init -q inner", "'?? inner/'"},
		{"git config status.showUntrackedFiles no && echo 2 >new", "'?? new'"},
		{"git config diff.ignoreSubmodules all && echo 2 >a", "' M a'"},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		change_stays(rows[i].act, rows[i].why);
}

POOL_TEST(an_operation_in_progress_is_work)
{
	static const struct {
		const char *act, *why;
	} rows[] = {
		{"git merge -q side || :", "a merge is in progress"},
		{"git merge -q --no-commit --no-ff clean || :", "a merge is in progress"},
		{"git rebase -q side || :", "a rebase is in progress"},
		{"git rebase -q -i --exec false HEAD~1 || :", "a rebase is in progress"},
		{"git cherry-pick side || :", "a cherry-pick is in progress"},
		{"git revert --no-edit HEAD~1 || :", "a revert is in progress"},
		{"git bisect start -q && git bisect bad", "a bisect is in progress"},
		{"git format-patch -q -1 side -o .. && git am -q ../0001* || :",
			"a rebase is in progress"},
	};

	sh("cd r && git checkout -qb side && echo side >a && git commit -qam side && git checkout "
	   "-q main && git checkout -qb clean && echo c >c && git add c && git commit -qm c && git "
	   "checkout -q main && echo m2 >a && git commit -qam m2 && echo m3 >a && git commit -qam "
	   "m3 && git push -q origin main");
	setenv("GIT_EDITOR", "true", 1);
	setenv("GIT_SEQUENCE_EDITOR", "true", 1);
	for (size_t i = 0; i < COUNT(rows); i++) {
		(void)have("x");
		sh(arena_printf(&arena, "cd pool/x\n{ %s\n} >/dev/null 2>&1", rows[i].act));
		if (!stays("x", "uncommitted changes in") || !contains(err.text, rows[i].why))
			fail_msg("row %zu", i);
		goes("x", true);
		sh("git -C r branch -qD x 2>/dev/null || :");
	}
	unsetenv("GIT_EDITOR");
	unsetenv("GIT_SEQUENCE_EDITOR");
}

POOL_TEST(unpushed_commits_of_each_kind_stay)
{
	static const struct {
		const char *act;
		bool kept;
	} rows[] = {
		{"git commit -q --allow-empty -m 2", true},
		{"git commit -q --allow-empty -m 2 && git tag t", false},
		{"git commit -q --allow-empty -m 2 && git push -q origin HEAD:refs/heads/y", false},
		{"git commit -q --allow-empty -m 2 && git push -q origin x && git commit -q "
		 "--allow-empty -m 3",
			true},
		{"git checkout -q --detach && git commit -q --allow-empty -m 2 && git branch -q "
		 "copy",
			false},
		{"git checkout -q --detach && git commit -q --allow-empty -m 2 && git tag t",
			false},
		{"git checkout -q --detach", false},
		{"git commit -q --allow-empty -m 2 && git update-ref refs/worktree/own HEAD && git "
		 "reset -q --hard HEAD~1",
			true},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		commit_stays(rows[i].act, rows[i].kept);
}

POOL_TEST(submodules_count_too)
{
	sh("git init -q lib && git -C lib commit -q --allow-empty -m l && cd r && git -c "
	   "protocol.file.allow=always submodule add -q \"$PWD/../lib\" sub 2>/dev/null && git "
	   "commit -qam sub && git push -q origin main");
	(void)have("x");
	sh("cd pool/x && git -c protocol.file.allow=always submodule update -q --init 2>/dev/null "
	   "&& cd sub && echo 1 >new");
	assert_true(stays("x", "uncommitted changes in"));
	sh("cd pool/x/sub && git add new && git -c user.name=T -c user.email=t commit -qm new");
	assert_true(stays("x", "uncommitted changes in"));
	sh("cd pool/x && git add sub && git commit -qm bump && git push -q origin x");
	assert_true(stays("x", "is on no remote of that repository"));
	sh("cd pool/x/sub && git push -q origin HEAD:refs/heads/new");
	goes("x", false);
}

UNIT_GROUP(NULL, arena_end)
