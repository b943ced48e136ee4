#include "src/sys/process.h"
#include "src/event/artifact.h"
#include "tests/lib/pool_rig.h"

/* ---- a new one ---- */

POOL_TEST(a_fresh_one_has_branch_files_ports_and_record)
{
	struct allocation of;

	of = take("feat/issue-42", true);
	assert_string_equal(of.slug, "feat-issue-42");
	assert_string_equal(of.path, at("pool/feat-issue-42"));
	assert_string_equal(of.base, "origin/main");
	assert_true(of.port >= 3290 && of.port <= 4189 + PROBES);
	assert_int_equal(of.ports, 1);
	assert_true(of.made_branch);
	assert_int_equal(of.state, ALLOCATION_LIVE);
	sh("test \"$(cat pool/feat-issue-42/a)\" = one");
	sh("test \"$(git -C pool/feat-issue-42 branch --show-current)\" = feat/issue-42");
	sh("test -z \"$(git -C pool/feat-issue-42 status --porcelain)\"");
	sh("test -z \"$(git -C r config --get-regexp 'branch.feat.*')\""); /* no upstream */
}

POOL_TEST(the_second_time_it_is_adopted)
{
	struct allocation one = have("feat/x"), two;

	sh("echo mine >pool/feat-x/new && echo two >pool/feat-x/a");
	two = take("feat/x", false);
	assert_string_equal(two.path, one.path);
	assert_int_equal(two.port, one.port);
	sh("test -e pool/feat-x/new && test \"$(cat pool/feat-x/a)\" = two");
	pool_again();
	two = take("feat/x", false);
	assert_int_equal(two.port, one.port);
}

POOL_TEST(two_have_two_ports)
{
	struct allocation one = have("one"), two = have("two");

	assert_int_not_equal(one.port, two.port);
}

POOL_TEST(it_begins_where_it_is_told)
{
	static const struct {
		const char *base, *target, *name, *text; /* text: of file `a` */
	} rows[] = {
		{NULL, NULL, "origin/main", "one"},
		{"origin/dev", NULL, "origin/dev", "dev"},
		{NULL, "dev", "origin/dev", "dev"},
		{NULL, "local", "local", "local"},
		{"local", "dev", "local", "local"},
		{"v1", NULL, "v1", "local"},
		{"local~1", NULL, "local~1", "one"},
	};

	sh("cd r && git checkout -qb dev && echo dev >a && git commit -qam dev && git push -q "
	   "origin dev && git checkout -q main && git branch -qD dev\n"
	   "git checkout -qb local && echo local >a && git commit -qam local && git tag v1 && git "
	   "checkout -q main");
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct allocate_ask ask = {.branch = arena_printf(&arena, "row-%zu", i),
			.base = rows[i].base,
			.target = rows[i].target};
		struct allocation of;

		if (allocate(&ask, &of) < 0)
			fail_msg("row %zu: %s", i, err.text);
		assert_string_equal(of.base, rows[i].name);
		sh(arena_printf(&arena, "test \"$(cat pool/row-%zu/a)\" = %s", i, rows[i].text));
	}
}

POOL_TEST(a_base_that_is_not_there_is_refused)
{
	struct allocate_ask ask = {.branch = "x", .base = "nowhere"};
	struct allocation of;

	assert_true(refused(allocate(&ask, &of), ERR_STATE, "there is no commit 'nowhere'"));
	ask.base = "--help";
	assert_true(refused(allocate(&ask, &of), ERR_STATE, "there is no commit '--help'"));
	ask = (struct allocate_ask){.branch = "x", .target = "none"};
	assert_true(refused(allocate(&ask, &of), ERR_STATE, "there is no branch 'none'"));
	sh("test ! -e pool/x && ! git -C r rev-parse -q --verify refs/heads/x");
}

POOL_TEST(a_branch_that_is_there_is_checked_out)
{
	struct allocation of;

	sh("cd r && git checkout -qb old && echo old >a && git commit -qam old && git checkout -q "
	   "main");
	of = take("old", true);
	assert_false(of.made_branch);
	assert_null(of.base);
	sh("test \"$(cat pool/old/a)\" = old");
}

POOL_TEST(a_branch_that_only_the_remote_has_begins_there)
{
	struct allocation of;

	sh("cd r && git checkout -qb theirs && echo theirs >a && git commit -qam t && git push -q "
	   "origin theirs && git checkout -q main && git branch -qD theirs");
	of = have("theirs");
	assert_string_equal(of.base, "origin/theirs");
	sh("test \"$(cat pool/theirs/a)\" = theirs");
}

POOL_TEST(without_a_remote_the_target_itself_counts)
{
	struct allocation of;

	sh("git -C r remote remove origin");
	of = have("x");
	assert_string_equal(of.base, "main");
}

POOL_TEST(the_hook_runs_and_may_fail)
{
	struct allocation of;

	scratch_program("r/.git/hooks/post-checkout", "pwd >hooked; echo \"$@\" >>hooked; exit 3");
	of = have("x");
	assert_true(contains(of.warning, "the hook 'post-checkout' failed in"));
	sh("test \"$(sed -n 1p pool/x/hooked)\" = \"$PWD/pool/x\"");
	sh("test \"$(sed -n 2p pool/x/hooked)\" = \"0000000000000000000000000000000000000000 "
	   "$(git -C r rev-parse main) 1\"");
}

POOL_TEST(a_callers_own_git_variables_do_not_lead_astray)
{
	struct allocation of;

	sh("git init -q hooked");
	setenv("GIT_DIR", at("hooked/.git"), 1);
	setenv("GIT_WORK_TREE", at("hooked"), 1);
	setenv("GIT_INDEX_FILE", at("hooked/.git/index.other"), 1);
	of = have("x");
	unsetenv("GIT_DIR");
	unsetenv("GIT_WORK_TREE");
	unsetenv("GIT_INDEX_FILE");
	assert_string_equal(of.path, at("pool/x"));
	sh("test ! -e hooked/a && test -z \"$(git -C pool/x status --porcelain)\"");
}

/* ---- names ---- */

POOL_TEST(two_branches_never_share_a_directory)
{
	(void)have("feat/x");
	assert_true(take_refused(
		"feat-x", ERR_STATE, "branches 'feat/x' and 'feat-x' map to the same directory"));
	assert_true(take_refused("feat--x", ERR_STATE, "map to the same directory"));
	sh("! git -C r rev-parse -q --verify refs/heads/feat-x");
}

POOL_TEST(what_git_takes_for_no_branch_is_refused)
{
	static const char *const bad[] = {"", "..", "feat//x", "-x", "a b", "@!?", "x.lock"};

	for (size_t i = 0; i < COUNT(bad); i++)
		if (!take_refused(bad[i], ERR_USAGE, ""))
			fail_msg("'%s' was taken", bad[i]);
	sh("test ! -e pool || test -z \"$(ls pool)\"");
}

POOL_TEST(a_branch_below_another_is_refused)
{
	(void)have("feat");
	assert_true(take_refused("feat/x", ERR_SYSTEM, "cannot lock ref 'refs/heads/feat/x'"));
	sh("git -C r branch -q deep/er/x");
	assert_true(take_refused("deep/er", ERR_SYSTEM, "cannot lock ref 'refs/heads/deep/er'"));
	sh("test ! -e pool/feat-x && test \"$(ls r/.git/worktrees)\" = feat");
}

/* ---- the branch is checked out elsewhere ---- */

POOL_TEST(a_branch_in_the_main_tree_is_not_isolated)
{
	assert_true(take_refused("main", ERR_STATE, "branch 'main' is checked out in"));
	assert_true(contains(err.text, "/r', the main work tree"));
	sh("test ! -e pool/main");
}

POOL_TEST(a_branch_in_another_worktree_is_told_with_its_place)
{
	sh("git -C r worktree add -q -b x ../elsewhere");
	assert_true(take_refused("x", ERR_STATE,
		arena_printf(&arena, "branch 'x' is checked out in '%s', another worktree",
			at("elsewhere"))));
	sh("test ! -e pool/x");
}

POOL_TEST(one_made_by_git_at_our_place_is_adopted)
{
	struct allocation of;

	sh("git -C r worktree add -q -b feat/x ../pool/feat-x && echo new >pool/feat-x/new");
	of = take("feat/x", false);
	assert_false(of.made_branch);
	assert_true(of.port > 0);
	sh("test -e pool/feat-x/new");
}

POOL_TEST(adoption_looks_at_the_branch_that_is_checked_out)
{
	sh("git -C r worktree add -q -b other ../pool/feat-x");
	assert_true(take_refused("feat/x", ERR_STATE,
		"/pool/feat-x' has branch 'other' checked out, not branch 'feat/x'"));
	sh("git -C pool/feat-x checkout -q --detach");
	assert_true(take_refused("feat/x", ERR_STATE, "has commit "));
	(void)have("y");
	sh("git -C pool/y checkout -q -b z");
	assert_true(take_refused("y", ERR_STATE, "has branch 'z' checked out"));
}

/* ---- adopt ---- */

static int adopt(const char *branch, struct allocation *of)
{
	const struct allocate_ask ask = {.branch = branch, .adopt = true};

	return allocate(&ask, of);
}

POOL_TEST(adopting_makes_nothing)
{
	struct allocation of;

	assert_true(refused(adopt("x", &of), ERR_STATE, "there is no worktree of branch 'x' at"));
	sh("mkdir -p pool/x && echo mine >pool/x/file");
	assert_true(refused(adopt("x", &of), ERR_STATE, "there is no worktree of branch 'x' at"));
	sh("test -e pool/x/file && rm -r pool/x && git -C r worktree add -q -b x ../pool/x");
	assert_int_equal(adopt("x", &of), 0);
	assert_true(of.port > 0);
}

/* ---- ownership ---- */

static void make_foreign(void)
{
	sh("git clone -q org/o.git clone2 && git -C clone2 worktree add -q -b x ../pool/x");
}

POOL_TEST(another_clones_worktree_is_refused)
{
	const char *events;
	struct allocation of;

	make_foreign();
	assert_true(take_refused("x", ERR_STATE, "WorktreeOwnershipMismatch (cross-clone)"));
	assert_true(contains(err.text, at("clone2/.git/worktrees/x")));
	assert_true(refused(adopt("x", &of), ERR_STATE, "WorktreeOwnershipMismatch"));
	events = scratch_read("artifacts/_events.jsonl");
	assert_true(contains(events, "\"type\":\"WorktreeOwnershipMismatch\""));
	assert_true(contains(events, "\"reason\":\"cross-clone\""));
	assert_true(contains(events, "\"guard\":\"strict\""));
}

POOL_TEST(an_advisory_guard_warns_and_goes_on)
{
	const char *events;
	struct allocation of;

	pool.spec.strict = false;
	make_foreign();
	of = take("x", false);
	assert_true(contains(of.warning, "advisory ownership mismatch (cross-clone)"));
	events = scratch_read("artifacts/_events.jsonl");
	assert_true(contains(events, "\"guard\":\"advisory\""));
	assert_int_equal(adopt("x", &of), 0);
	assert_true(contains(of.warning, "advisory ownership mismatch"));
}

POOL_TEST(two_clones_with_one_directory_find_each_other)
{
	CLEANUP(pool_close) struct pool second = {0};
	const struct allocate_ask ask = {.branch = "x"};
	struct allocation one = have("x"), of;
	bool created;

	sh("git clone -q org/o.git clone2");
	assert_int_equal(
		pool_open(&arena, &spec, at("clone2"), at("state"), NULL, &second, &err), 0);
	assert_true(refused(pool_allocate(&arena, &second, &ask, &of, &created, &err), ERR_STATE,
		"WorktreeOwnershipMismatch (cross-clone)"));
	assert_true(contains(err.text, "/.git/worktrees/x': work in that clone"));
	second.spec.strict = false;
	assert_int_equal(pool_allocate(&arena, &second, &ask, &of, &created, &err), 0);
	assert_int_equal(of.port, one.port); /* by the path */
	assert_true(of.warning != NULL);
}

POOL_TEST(a_broken_pointer_is_a_mismatch_too)
{
	sh("mkdir -p pool/x && echo rubbish >pool/x/.git");
	assert_true(take_refused("x", ERR_STATE, "WorktreeOwnershipMismatch (pointer-malformed)"));
	sh("test -e pool/x/.git");
}

/* ---- sparse ---- */

POOL_TEST(a_directory_alone_can_be_checked_out)
{
	struct allocate_ask ask = {.branch = "x", .sparse = "lib/one"};
	struct allocation of;

	sh("cd r && mkdir -p lib/one lib/two app && echo 1 >lib/one/f && echo 2 >lib/two/f && echo "
	   "3 >app/f && git add . && git commit -qm more && git push -q origin main");
	assert_int_equal(allocate(&ask, &of), 0);
	sh("cd pool/x && test -e a && test -e lib/one/f && test ! -e lib/two && test ! -e app");
	sh("test -z \"$(git -C pool/x status --porcelain)\"");
	/* the others are complete */
	(void)have("y");
	sh("test -e pool/y/app/f && test -e r/app/f && test -z \"$(git -C r status --porcelain)\"");
}

POOL_TEST(a_directory_that_is_none_is_refused)
{
	static const struct {
		const char *dir;
		enum err code;
	} rows[] = {{"none", ERR_INPUT}, {"a", ERR_INPUT}, {"../x", ERR_INPUT}, {"/x", ERR_INPUT},
		{"-x", ERR_INPUT}, {"l*", ERR_INPUT}};
	struct allocation of;

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct allocate_ask ask = {.branch = "x", .sparse = rows[i].dir};

		assert_true(refused(allocate(&ask, &of), rows[i].code, rows[i].dir));
	}
	sh("test -z \"$(ls pool)\" && ! git -C r rev-parse -q --verify refs/heads/x");
}

/* ---- reports ---- */

POOL_TEST(the_issue_learns_its_ports)
{
	CLEANUP(json_free) json *j = NULL;
	const struct allocate_ask ask = {.branch = "x", .issue = "ADR-1", .ports = 3};
	struct allocation of;

	assert_int_equal(allocate(&ask, &of), 0);
	assert_int_equal(of.ports, 3);
	assert_int_equal(artifact_read_runtime(at("artifacts"), "ADR-1", &j, &err), 0);
	assert_non_null(j);
	assert_string_equal(json_get_str(j, "worktreePath"), of.path);
}

POOL_TEST(a_run_holds_it_while_its_process_lives)
{
	const struct allocate_ask ask = {.branch = "x", .run = "ADR-1"};
	struct allocation of;

	assert_int_equal(allocate(&ask, &of), 0);
	assert_string_equal(of.holder, process_own_name(&arena));
	assert_string_equal(of.run, "ADR-1");
}

POOL_TEST(a_bare_repository_has_worktrees)
{
	pool_close(&pool);
	sh("git clone -q --bare org/o.git bare");
	assert_int_equal(pool_open(&arena, &spec, at("bare"), at("state"), NULL, &pool, &err), 0);
	assert_string_equal(take("x", true).base, "main");
	assert_string_equal(take("x", false).path, at("pool/x"));
	goes("x", false);
}

UNIT_GROUP(NULL, arena_end)
