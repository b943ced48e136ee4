/* What can go wrong in a rebase: repeated conflicts, hooks, a late push, an interrupt. */
#include "tests/lib/rebase_rig.h"

REBASE_TEST(a_conflict_that_was_solved_is_forgotten)
{
	main_gets("x", "theirs");
	assert_string_equal(rebase(), "conflict");
	sh("cd wt && git reset -q --hard HEAD~2 && echo z >z && git add z && git commit -qm z");
	assert_string_equal(rebase(), "pushed");
}

REBASE_TEST(a_file_removed_there_and_changed_here_is_a_conflict)
{
	const char *before;

	sh("cd wt && echo changed >>a && git commit -qam a");
	sh("cd r && git checkout -q --detach origin/main && git rm -q a && git commit -qm rm && "
	   "git push -q origin HEAD:main 2>/dev/null");
	before = look();
	assert_string_equal(rebase(), "conflict");
	assert_string_equal(done.paths[0], "a");
	assert_string_equal(look(), before);
}

/* The remote moves after we have read it and before our push arrives. */
REBASE_TEST(a_push_that_comes_too_late_changes_nothing)
{
	const char *before;

	main_gets("m", "main");
	before = look();
	sh("git clone -q org/o.git other 2>/dev/null && cd other && git checkout -q feat/x && "
	   "echo theirs >t && git add t && git commit -qm t && cd ..\n"
	   "printf '#!/bin/sh\\nunset $(git rev-parse --local-env-vars)\\ncd ../other && git push "
	   "-q origin feat/x\\n' >r/.git/hooks/pre-push && "
	   "chmod +x r/.git/hooks/pre-push");
	assert_string_equal(rebase(), "moved");
	assert_null(done.commit);
	assert_sh("git --git-dir=org/o.git log -1 --format=%s feat/x", "t\n");
	sh("cd other && git push -q -f origin HEAD~1:feat/x");
	assert_string_equal(look(), before);
}

REBASE_TEST(a_hook_that_says_no_is_heard)
{
	const char *before;

	main_gets("m", "main");
	before = look();
	sh("printf '#!/bin/sh\\necho not today >&2; exit 1\\n' >r/.git/hooks/pre-push && "
	   "chmod +x r/.git/hooks/pre-push");
	assert_string_equal(rebase(), "needs_person");
	assert_non_null(strstr(done.reason, "not today"));
	assert_string_equal(look(), before);
	sh("mv r/.git/hooks/pre-push r/.git/hooks/pre-rebase"); /* the branch is not rebased in
								   place */
	assert_string_equal(rebase(), "pushed");
}

REBASE_TEST(no_editor_and_no_question_stops_it)
{
	main_gets("m", "main");
	sh("git config --global core.editor 'sh -c \"echo asked >>$HOME/asked; exit 1\"' && git "
	   "config --global sequence.editor 'sh -c \"echo asked >>$HOME/asked; exit 1\"' && git "
	   "config --global core.askPass 'false' && git config --global rebase.updateRefs true && "
	   "git config --global rebase.autoStash true && git config --global push.followTags true "
	   "&& cd wt && git tag -a -m t mine && git branch beside HEAD~1 && git rev-parse beside "
	   ">../beside.sha");
	assert_string_equal(rebase(), "pushed");
	assert_false(path_exists(at(".home/asked")));
	sh("cd wt && test $(git rev-parse beside) = $(cat ../beside.sha)");
	assert_sh("git --git-dir=org/o.git tag", "");
}

REBASE_TEST(an_interrupt_puts_the_worktree_back)
{
	struct land_ask ask = {.branch = wt.branch, .follow = wt.path, .target = "main"};
	const char *before;
	struct gate *g;
	int ends[2];

	main_gets("m", "main");
	before = look();
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	sh(arena_printf(&arena,
		"printf '#!/bin/sh\\necho >%s; sleep 1000\\n' >r/.git/hooks/pre-push && "
		"chmod +x r/.git/hooks/pre-push && mkfifo fifo",
		at("fifo")));
	close(ends[0]);
	ends[0] = open(at("fifo"), O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* the hook writes to it */
	g = gate_now(0);
	g->cancel = ends[0];
	assert_int_equal(land_branch(&arena, &pool, &ask, g, &done, &err), -1);
	assert_error(&err, "dev-team: interrupted");
	gate_drop(&g);
	assert_string_equal(look(), before);
	close(ends[0]);
	close(ends[1]);
}
