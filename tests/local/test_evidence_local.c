/* What is found in a repository about the claims of an answer. */
#include "src/local/local.h"
#include "tests/lib/git_rig.h"

static struct item_place where;
static struct evidence_query query;
static struct evidence got;

static const char *commit_of(const char *name)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	sh_into(&out, arena_printf(&arena, "git -C r rev-parse %s", name));
	return arena_dup(&arena, str_trim(buf_str(&out)));
}

/* The item begins: its branch is at main. */
static void begin(void)
{
	where = (struct item_place){.directory = at("r"),
		.repo = at("r"),
		.branch = "dev-team/A",
		.base = commit_of("main"),
		.fresh = true};
	query = (struct evidence_query){.kinds = EVIDENCE_WORK, .place = &where};
	assert_int_equal(git_read_identity(&arena, at("r"), &where.identity, &err), 0);
}

static int setup(void **state)
{
	(void)rig_setup(state);
	sh("cd r && git switch -qc dev-team/A && echo .dev-team >>.git/info/exclude");
	begin();
	sh("cd r && echo two >b && git add b && git commit -qm second");
	return 0;
}

#define EVIDENCE_TEST(name) UNIT_TEST(name, setup, scratch_remove)

static int collect(unsigned kinds)
{
	query.kinds = kinds;
	return evidence_collect(&arena, &query, &got, &err);
}

/* Nothing contradicts the claims. */
static void confirmed(unsigned kinds)
{
	assert_int_equal(collect(kinds), 0);
	for (size_t i = 0; i < EVIDENCE_KINDS; i++)
		assert_null(got.faults[i]);
	assert_string_equal(got.head, commit_of("HEAD"));
}

static void refuted(unsigned kind, const char *fault)
{
	size_t i = 0;

	while (kind >> i != 1)
		i++;
	assert_int_equal(collect(kind), 0);
	assert_non_null(got.faults[i]);
	assert_true(contains(got.faults[i], fault));
}

EVIDENCE_TEST(committed_work_is_confirmed)
{
	confirmed(EVIDENCE_WORK | EVIDENCE_TREE);
	assert_string_equal(got.tree, commit_of("HEAD^{tree}"));
	confirmed(0);
	assert_null(got.tree);
}

EVIDENCE_TEST(faults_of_the_work_tree_are_named)
{
	static const struct {
		const char *make, *undo, *fault;
	} rows[] = {
		{"echo three >c", "rm c", "'c' is not committed: commit it, remove it"},
		{"echo three >>a", "git checkout -q a", "'a' has uncommitted changes"},
		{"git switch -q --detach", "git switch -q dev-team/A",
			"HEAD is detached: switch to the item's branch"},
		{"git switch -q main", "git switch -q dev-team/A",
			"HEAD is on the branch 'main', not on 'dev-team/A'"},
		{"git config core.autocrlf true", "git config --unset core.autocrlf",
			"undo the addition of '[core] autocrlf = true'"},
		{"git remote rename origin o", "git remote rename o origin",
			"undo the removal of '[remote"},
		{"git update-index --assume-unchanged a && echo three >>a",
			"git update-index --no-assume-unchanged a && git checkout -q a",
			"the index hides changes of 'a'"},
		{"mkdir -p .dev-team/worktrees && touch "
		 ".dev-team/worktrees/x",
			"rm -r .dev-team", "git does not see the files in '.dev-team/worktrees'"},
		{"git commit -qm third --allow-empty && git reset -q --hard HEAD~2",
			"git reset -q --hard ORIG_HEAD^", "has no commits beyond its base"},
		{"git revert --no-edit HEAD", "git reset -q --hard HEAD~", "beyond its base"},
		{"git symbolic-ref HEAD refs/heads/none", NULL, "the branch has no commit"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		sh(arena_printf(&arena, "cd r && { %s; } >/dev/null 2>&1", rows[i].make));
		refuted(EVIDENCE_WORK, rows[i].fault);
		if (!rows[i].undo)
			return;
		sh(arena_printf(&arena, "cd r && { %s; } >/dev/null 2>&1", rows[i].undo));
		confirmed(EVIDENCE_WORK);
	}
}

EVIDENCE_TEST(the_work_of_another_item_is_not_that_of_this_one)
{
	query.since = where.base;
	sh("cd r && git branch dev-team/A.part && git branch helper");
	confirmed(EVIDENCE_WORK); /* a child's work is merged */
	sh("cd r && git branch dev-team/AB");
	refuted(EVIDENCE_WORK, "not on another branch of its remote or of another item");
	sh("cd r && echo three >c && git add c && git commit -qm third");
	confirmed(EVIDENCE_WORK);
	sh("cd r && git branch -m dev-team/A other && git branch -qD dev-team/AB");
	where.branch = "dev-team/A.part";
	sh("cd r && git switch -q dev-team/A.part && git branch dev-team/A");
	confirmed(EVIDENCE_WORK); /* as does a child begin with its parent's */
	where.branch = "dev-team/A-x";
	sh("cd r && git switch -q dev-team/A && git branch -qm dev-team/A-x && git branch -m "
	   "dev-team/A.part dev-team/A.part-x && git push -q origin dev-team/A.part-x");
	confirmed(EVIDENCE_WORK); /* a pattern has text behind the id, and a child's is pushed */
	sh("cd r && git branch -m dev-team/A.part-x dev-team/A.part");
	refuted(EVIDENCE_WORK, "not on another branch of its remote or of another item");
}

static void name_commit(const char *commit, unsigned kinds)
{
	const struct evidence_named named = {commit, kinds};

	query.named.n = 0;
	vec_push_in(&arena, &query.named, named);
}

/* Work is made since it was requested; a review is of HEAD. */
EVIDENCE_TEST(the_commit_that_an_answer_names_is_looked_up)
{
	static const char none[] = "which is no commit of the branch 'dev-team/A' that was made";
	const char *first = commit_of("HEAD"), *theirs, *second;

	sh("cd r && git switch -qc theirs main && git commit -q --allow-empty -m theirs && git "
	   "update-ref refs/remotes/origin/theirs HEAD && git switch -q dev-team/A && git merge -q "
	   "--no-edit theirs && echo three >c && git add c && git commit -qm third");
	theirs = commit_of("theirs");
	second = commit_of("HEAD");
	query.since = first;
	for (size_t n = 4; n <= 40; n += 12) {
		name_commit(arena_printf(&arena, "%.*s", (int)n, second), EVIDENCE_WORK);
		confirmed(EVIDENCE_WORK);
	}
	name_commit(commit_of("HEAD~"), EVIDENCE_WORK);
	confirmed(EVIDENCE_WORK);
	for (size_t i = 0; i < 8; i++) {
		const char *const names[] = {first, theirs, where.base,
			"0123456789abcdef0123456789abcdef01234567", "HEAD", "",
			arena_printf(&arena, "%.3s", second), arena_printf(&arena, "%s0", second)};

		name_commit(names[i], EVIDENCE_WORK);
		refuted(EVIDENCE_WORK, none);
		name_commit(names[i], EVIDENCE_REVIEW);
		refuted(EVIDENCE_REVIEW, "which is not the commit that was to be reviewed");
	}
	sh("cd r && git push -q origin HEAD:dev-team/A");
	query.reviewed = first;
	name_commit(first, EVIDENCE_REVIEW);
	confirmed(EVIDENCE_REVIEW);
	query.since = NULL;
	name_commit(first, EVIDENCE_WORK);
	confirmed(EVIDENCE_WORK);
}

/* Scripts may leave files; a file of attributes decides what is committed. */
EVIDENCE_TEST(a_named_commit_is_not_believed_where_the_history_cannot_be_read)
{
	const char *lost = commit_of("HEAD");

	sh("cd r && echo three >c && git add c && git commit -qm third && git push -q origin "
	   "HEAD:dev-team/A");
	name_commit(commit_of("HEAD"), EVIDENCE_WORK);
	confirmed(EVIDENCE_REVIEW);
	sh(arena_printf(&arena, "rm -f r/.git/objects/%.2s/%s", lost, lost + 2));
	assert_true(refused(collect(EVIDENCE_REVIEW), ERR_SYSTEM, "git log"));
}

EVIDENCE_TEST(files_that_are_not_tracked_are_refuted_until_a_script_has_run)
{
	where.fresh = false;
	sh("echo three >r/c");
	confirmed(EVIDENCE_WORK | EVIDENCE_TREE);
	sh("echo '* -text' >r/.gitattributes");
	refuted(EVIDENCE_TREE, "'.gitattributes' is not committed, but changes how");
	where.fresh = true;
	sh("rm r/.gitattributes");
	refuted(EVIDENCE_WORK, "'c' is not committed");
	confirmed(EVIDENCE_TREE);
	where.in_place = true;
	confirmed(EVIDENCE_WORK);
}

EVIDENCE_TEST(what_was_changed_before_does_not_count)
{
	sh("echo three >>r/a");
	vec_push_in(&arena, &where.dirty, "a");
	confirmed(EVIDENCE_WORK);
	sh("cd r && git commit -qam third && echo four >>a");
	refuted(EVIDENCE_WORK, "'a' has uncommitted changes");
	sh("cd r && git update-index --assume-unchanged a");
	where.in_place = true;
	refuted(EVIDENCE_TREE, "the index hides changes of 'a'");
	vec_push_in(&arena, &where.hidden, "a");
	confirmed(EVIDENCE_TREE);
}

static json *shown;

static void an_approval_is_requested(void)
{
	json_free(&shown);
	assert_int_equal(place_marks(&arena, &where, &shown, &err), 0);
	where.marks = shown;
	confirmed(EVIDENCE_SHOWN);
}

static void void_because(const char *part)
{
	assert_int_equal(collect(EVIDENCE_SHOWN), 0);
	assert_true(got.faults[3] && contains(got.faults[3], part));
}

/* What was there when an approval was requested was shown. */
EVIDENCE_TEST(an_approval_is_refuted_by_a_file_that_was_not_shown)
{
	sh("echo three >r/c && echo three >>r/a");
	an_approval_is_requested();
	sh("echo four >>r/c");
	void_because("'c' has changed since the approval was requested");
	sh("rm r/c && rm r/a");
	void_because("'a' has changed since the approval was requested");
	vec_push_in(&arena, &where.dirty, "a");
	where.in_place = true; /* it is the user's */
	an_approval_is_requested();
	sh("cd r && git checkout -q .");
	confirmed(EVIDENCE_SHOWN);
	sh("cd r && git checkout -q --detach");
	void_because("");
	where.branch = NULL;
	confirmed(EVIDENCE_SHOWN);
	json_free(&shown);
}

EVIDENCE_TEST(an_approval_is_refuted_if_what_was_shown_is_gone)
{
	sh("echo three >r/c && echo three >>r/a");
	an_approval_is_requested();
	sh("cd r && git checkout -q a");
	void_because("a file that was not committed when the approval was requested has been");
	an_approval_is_requested();
	sh("rm r/c"); /* nothing is changed any more */
	void_because("a file that was not committed when the approval was requested has been");
	where.fresh = false; /* a script may have made it */
	confirmed(EVIDENCE_SHOWN);
	json_free(&shown);
}

EVIDENCE_TEST(an_approval_is_refuted_by_what_a_submodule_has_since)
{
	sh("cd r && git init -q sub && cd sub && echo 1 >s && git add s && git commit -qm 1\n"
	   "cd .. && git add sub 2>log && rm log && git commit -qm sub\n"
	   "cd sub && git commit -q --allow-empty -m shown");
	an_approval_is_requested();
	sh("cd r/sub && git commit -q --allow-empty -m later");
	void_because("'sub' has changed since the approval was requested");
	an_approval_is_requested();
	sh("echo 2 >>r/sub/s");
	void_because("'sub' has changed since the approval was requested");
	json_free(&shown);
}

/* At most 3,000 changes have marks of their own. */
EVIDENCE_TEST(an_approval_is_for_three_thousand_files)
{
	bool made;

	sh("cd r && seq 3000 | xargs touch");
	an_approval_is_requested();
	where.shown = true;
	assert_int_equal(place_commit_leftovers(&where, "A", shown, &made, &err), 0);
	assert_true(made);
	json_free(&shown);
}

EVIDENCE_TEST(commits_do_not_change_what_a_sparse_checkout_leaves_out)
{
	sh("cd r && mkdir d e && touch d/x e/y && git add . && git commit -qm directories\n"
	   "git branch -f main && git push -q origin main && git sparse-checkout set --cone d");
	begin();
	sh("cd r && echo two >d/x && git commit -qam x");
	confirmed(EVIDENCE_WORK | EVIDENCE_TREE);
	sh("cd r && git update-index --cacheinfo 100644,$(git rev-parse HEAD:d/x),e/y\n"
	   "git update-index --skip-worktree e/y && git commit -qm y");
	refuted(EVIDENCE_WORK, "the commits change 'e/y', which the sparse checkout leaves out");
	refuted(EVIDENCE_TREE, "the commits change 'e/y'");
	sh("cd r && git push -q origin HEAD:main"); /* the default branch has brought it */
	confirmed(EVIDENCE_TREE);
	sh("cd r && git remote set-head -d origin && git update-ref -d refs/remotes/origin/main");
	refuted(EVIDENCE_TREE, "the commits change 'e/y'");
	where.base = NULL;
	confirmed(EVIDENCE_TREE);
}

EVIDENCE_TEST(a_branch_that_is_reviewed_is_on_the_remote)
{
	refuted(EVIDENCE_REVIEW, "the branch 'dev-team/A' is not on the remote 'origin'");
	sh("cd r && git push -q origin dev-team/A");
	confirmed(EVIDENCE_REVIEW);
	sh("cd r && git commit -qm third --allow-empty");
	refuted(EVIDENCE_REVIEW, "the remote has the branch 'dev-team/A' at ");
	sh("cd r && git revert --no-edit HEAD^ >/dev/null && git push -q origin dev-team/A");
	refuted(EVIDENCE_REVIEW, "of the default branch of 'origin' change no file");
	refuted(EVIDENCE_PULL, "there is no pull request");
	sh("rm -r org");
	assert_true(refused(collect(EVIDENCE_REVIEW), ERR_SYSTEM, "o.git"));
}

EVIDENCE_TEST(a_branch_that_was_merged_may_be_gone)
{
	query.confirmed = "https://example.org/o/r/pull/1";
	query.reviewed = commit_of("HEAD");
	sh("cd r && git push -q origin HEAD:main");
	confirmed(EVIDENCE_REVIEW);
	assert_string_equal(got.landed, query.reviewed);
	query.reviewed = NULL; /* the default branch is at HEAD, which has no review */
	refuted(EVIDENCE_REVIEW, "the branch 'dev-team/A' is not on the remote");
	query.confirmed = NULL;
	refuted(EVIDENCE_REVIEW, "the branch 'dev-team/A' is not on the remote");
	assert_null(got.landed);
}

EVIDENCE_TEST(commands_of_the_user_agree_or_not)
{
	vec_push_in(&arena, &query.commands, "test -e a");
	confirmed(EVIDENCE_COMMAND);
	vec_push_in(&arena, &query.commands, "echo no; exit 3");
	refuted(EVIDENCE_COMMAND, "no");
	setenv("PATH", at("nothing"), 1);
	assert_true(refused(collect(EVIDENCE_COMMAND), ERR_SYSTEM, "sh"));
}

EVIDENCE_TEST(a_head_that_cannot_be_read_is_no_contradiction)
{
	sh("cd r && git symbolic-ref HEAD refs/heads/none");
	setenv("PATH", at("nothing"), 1);
	assert_true(refused(collect(0), ERR_SYSTEM, "git"));
}
