/* What is committed of the changes that an agent has left in its place. */
#include "src/local/local.h"
#include "tests/lib/git_rig.h"

static struct item_place where;
static json *marks;
static bool made;

static int setup(void **state)
{
	(void)rig_setup(state);
	sh("cd r && git switch -qc dev-team/A && echo '*.o' >.gitignore && git add .gitignore\n"
	   "git commit -qm ignore");
	where = (struct item_place){.directory = at("r"), .branch = "dev-team/A"};
	return 0;
}

static int teardown(void **state)
{
	json_free(&marks);
	where = (struct item_place){0};
	return scratch_remove(state);
}

static const char *commit_of(const char *name)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	sh_into(&out, arena_printf(&arena, "git -C r rev-parse %s", name));
	return arena_dup(&arena, str_trim(buf_str(&out)));
}

#define LEFTOVER_TEST(name) UNIT_TEST(name, setup, teardown)

static void an_agent_is_asked(void)
{
	assert_int_equal(place_marks(&arena, &where, &marks, &err), 0);
}

static int commit_rest(void)
{
	return place_commit_leftovers(&where, "A", marks, &made, &err);
}

static void committed(const char *names)
{
	assert_int_equal(commit_rest(), 0);
	assert_true(made);
	assert_sh("git -C r show --name-only --format=", names);
}

LEFTOVER_TEST(what_the_agent_changed_is_committed)
{
	an_agent_is_asked();
	sh("cd r && echo two >>a && mkdir d && echo new >d/n && touch x.o && git mv a b");
	committed("b\nd/n\n");
	assert_sh("cd r && git status --porcelain && git log -1 --format=%s",
		"A: commit what was left uncommitted\n");
}

LEFTOVER_TEST(a_clean_tree_makes_no_commit)
{
	an_agent_is_asked();
	assert_int_equal(commit_rest(), 0);
	assert_false(made);
}

/* A file that is added between the check of the approval and the commit too. */
LEFTOVER_TEST(with_an_approval_what_was_shown_is_committed_and_nothing_else)
{
	sh("cd r && echo mine >>a && echo before >new && echo log >log");
	an_agent_is_asked();
	sh("cd r && echo theirs >theirs && echo more >>log");
	where.shown = true;
	committed("a\n"); /* a script may have made the others */
	where.fresh = true;
	committed("new\n");
	assert_sh("cd r && git status --porcelain | cut -c4-", "log\ntheirs\n");
}

/* The size and the time of a file can be set, the time of that cannot. */
LEFTOVER_TEST(a_file_with_its_old_time_is_changed_all_the_same)
{
	sh("cd r && echo one >new");
	an_agent_is_asked();
	sh("cd r && touch -r new ../time && echo two >new && touch -r ../time new");
	committed("new\n");
}

LEFTOVER_TEST(what_was_changed_before_the_agent_was_asked_stays)
{
	sh("cd r && echo mine >>a && echo before >new && echo log >log");
	an_agent_is_asked();
	sh("cd r && echo theirs >theirs && echo more >>log");
	committed("log\ntheirs\n");
	assert_sh("cd r && git status --porcelain | cut -c4-", "a\nnew\n");
}

LEFTOVER_TEST(the_users_changes_in_the_checkout_are_never_committed)
{
	sh("cd r && echo mine >>a && echo staged >s && git add s");
	where.in_place = true;
	vec_push_in(&arena, &where.dirty, "a");
	vec_push_in(&arena, &where.dirty, "s");
	an_agent_is_asked();
	sh("cd r && echo theirs >>a && echo theirs >>s && echo theirs >t");
	committed("t\n");
	assert_sh("cd r && git status --porcelain", " M a\nAM s\n");
}

/* An agent's own `git add -A`. They are in the history also if a later commit takes them out. */
LEFTOVER_TEST(the_users_changes_in_commits_are_found)
{
	const char *fault;

	sh("cd r && echo mine >>a && echo new >'new file'");
	where.in_place = true;
	where.base = commit_of("HEAD~1");
	vec_push_in(&arena, &where.dirty, "a");
	vec_push_in(&arena, &where.dirty, "new file");
	assert_int_equal(place_check_commits(&arena, &where, &fault, &err), 0);
	assert_null(fault);
	sh("cd r && git add -A && git commit -qm all && git rm -q --cached 'new file' && git "
	   "checkout -q HEAD~ a && git commit -qm less");
	assert_int_equal(place_check_commits(&arena, &where, &fault, &err), 0);
	assert_true(contains(fault, "' was changed in the checkout before the item began"));
}

/* Line ends, for one, that do not agree with what was committed. */
LEFTOVER_TEST(what_git_has_changed_itself_is_committed_if_an_agent_changes_it)
{
	vec_push_in(&arena, &where.dirty, "a");
	sh("cd r && echo mine >>a");
	an_agent_is_asked();
	sh("cd r && echo theirs >>a");
	committed("a\n");
}

static void is_refused(const char *text)
{
	assert_true(refused(commit_rest(), ERR_CHECK, text));
	assert_sh("git -C r log -1 --format=%s", "ignore\n");
}

LEFTOVER_TEST(what_may_hold_a_secret_is_refused_and_nothing_is_committed)
{
	an_agent_is_asked();
	sh("cd r && echo two >>a && mkdir -p d && echo KEY=1 >d/.env");
	is_refused("'d/.env' may hold a secret and is not committed");
	sh("cd r && rm d/.env && echo k >id_rsa");
	is_refused("'id_rsa' may hold a secret");
	sh("cd r && mkdir -p .git/info && echo id_rsa >>.git/info/exclude");
	committed("a\n");
}

/* Also in a commit of the agent, which a later one may take back. */
LEFTOVER_TEST(what_may_hold_a_secret_is_found_in_commits)
{
	static const char *const allowed[] = {"fixtures/*.pem"};
	const char *fault;

	sh("cd r && echo KEY=1 >.env && git add -f .env && git commit -qm env");
	where.base = commit_of("HEAD");
	sh("cd r && echo KEY=2 >.env && mkdir -p fixtures/a && echo x >fixtures/a/x.pem && "
	   "echo >.env.example && git add . && git commit -qm more");
	assert_int_equal(place_check_commits(&arena, &where, &fault, &err), 0);
	assert_true(contains(fault, "'fixtures/a/x.pem' may hold a secret"));
	where.allow_secrets = allowed;
	where.n_allow_secrets = 1;
	assert_int_equal(place_check_commits(&arena, &where, &fault, &err), 0);
	assert_null(fault);
	sh("cd r && echo k >id_rsa && git add id_rsa && git commit -qm key && git rm -q id_rsa && "
	   "git commit -qm less");
	assert_int_equal(place_check_commits(&arena, &where, &fault, &err), 0);
	assert_true(contains(fault, "'id_rsa' may hold a secret"));
}

LEFTOVER_TEST(a_base_that_cannot_be_read_has_no_secret_of_its_own)
{
	const char *fault, *tree;

	sh("cd r && git switch -q --orphan other && git commit -qm other --allow-empty && "
	   "echo 3 >a && git add a && git commit -qm base && git switch -q dev-team/A && "
	   "echo k >id_rsa && git add id_rsa && git commit -qm key");
	where.base = commit_of("other");
	tree = commit_of("other^{tree}");
	sh(arena_printf(&arena, "cd r/.git/objects/%.2s && mv %s ../kept", tree, tree + 2));
	assert_int_equal(place_check_commits(&arena, &where, &fault, &err), -1);
	sh(arena_printf(&arena, "cd r/.git/objects && mv kept %.2s/%s", tree, tree + 2));
	assert_int_equal(place_check_commits(&arena, &where, &fault, &err), 0);
	assert_true(contains(fault, "'id_rsa' may hold a secret"));
}

/* This clone's copy of the default branch is whatever the agent says. */
LEFTOVER_TEST(a_secret_that_only_this_clone_has_on_main_is_found)
{
	const char *fault;

	where.base = commit_of("HEAD");
	sh("cd r && git push -q origin HEAD:refs/heads/main && git remote set-head origin main && "
	   "echo k >id_rsa && git add id_rsa && git commit -qm key && "
	   "git update-ref refs/remotes/origin/main HEAD && echo 2 >a && git commit -qam more");
	assert_int_equal(place_check_commits(&arena, &where, &fault, &err), 0);
	assert_true(contains(fault, "'id_rsa' may hold a secret"));
	sh("cd r && git update-ref refs/remotes/origin/main HEAD~2 && git switch -q --orphan root "
	   "&& "
	   "git config log.showRoot false && echo k >id_rsa && git add id_rsa && git commit -qm "
	   "root && "
	   "git switch -q dev-team/A && git reset -q --hard HEAD~2 && "
	   "git merge -q --allow-unrelated-histories -m merge root");
	assert_int_equal(place_check_commits(&arena, &where, &fault, &err), 0);
	assert_true(contains(fault, "'id_rsa' may hold a secret"));
}

/* Another clone has pushed it, and it is merged: it is not the agent's. */
LEFTOVER_TEST(a_secret_of_the_default_branch_is_not_the_agents)
{
	const char *fault;

	where.base = commit_of("HEAD");
	sh("cd r && git push -q origin HEAD:refs/heads/main && git remote set-head origin main && "
	   "git clone -q ../org/o.git ../theirs && cd ../theirs && git switch -q main && echo k "
	   ">id_rsa && "
	   "git add id_rsa && git commit -qm key && git push -q origin main && cd ../r && "
	   "git fetch -q origin && git merge -q origin/main && echo 2 >a && git commit -qam more");
	assert_int_equal(place_check_commits(&arena, &where, &fault, &err), 0);
	assert_null(fault);
	/* origin is further than this clone knows */
	sh("cd theirs && echo 3 >b && git add b && git commit -qm b && git push -q origin main");
	assert_int_equal(place_check_commits(&arena, &where, &fault, &err), 0);
	assert_null(fault);
	assert_sh("git -C r log -1 --format=%s refs/remotes/origin/main", "key\n");
}

LEFTOVER_TEST(a_secret_that_the_base_has_or_the_workflow_allows_is_committed)
{
	static const char *const allowed[] = {"*.key"};

	sh("cd r && echo KEY=1 >.env && git add -f .env && git commit -qm env");
	where.base = "HEAD";
	where.allow_secrets = allowed;
	where.n_allow_secrets = 1;
	an_agent_is_asked();
	sh("cd r && echo KEY=2 >.env && mkdir t && echo k >t/test.key");
	committed(".env\nt/test.key\n");
}

LEFTOVER_TEST(another_branch_is_refused)
{
	an_agent_is_asked();
	sh("cd r && echo two >>a && git switch -qc elsewhere");
	is_refused("HEAD is not on the branch 'dev-team/A'");
	sh("cd r && git checkout -q --detach");
	is_refused("HEAD is not on the branch 'dev-team/A'");
}

LEFTOVER_TEST(a_merge_and_conflicts_are_refused)
{
	an_agent_is_asked();
	sh("cd r && git switch -q main && echo r >a && git commit -qam r && git switch -q "
	   "dev-team/A\n"
	   "echo l >a && git commit -qam ignore && ! git merge -q main");
	is_refused("'a' has unresolved conflicts");
	sh("cd r && echo m >a && git add a && echo new >n");
	is_refused("a merge is in progress");
}

LEFTOVER_TEST(a_repository_within_is_refused_unless_the_user_had_it_in_the_checkout)
{
	an_agent_is_asked();
	sh("cd r && git init -q inner && echo x >inner/x && git -C inner add x && git -C inner "
	   "commit "
	   "-qm x");
	is_refused("'inner/' is a repository of its own");
	where.in_place = true;
	is_refused("'inner/' is a repository of its own");
	vec_push_in(&arena, &where.dirty, "inner/");
	assert_int_equal(commit_rest(), 0);
	assert_false(made);
}

/* Whether the branch has a script of its own cannot be told where its commits cannot be read:
 * nothing is copied over it. */
LEFTOVER_TEST(no_script_is_copied_where_the_branch_cannot_be_read)
{
	CLEANUP(json_free) json *copied = NULL;

	sh("git -C r worktree add -q -b other ../w && mkdir -p r/scripts && echo true "
	   ">r/scripts/v.sh\n"
	   "mv w/.git off");
	where = (struct item_place){.directory = at("w"), .branch = "other"};
	assert_fails(place_copy_script(&arena, at("r"), &where, "bash scripts/v.sh", &copied, &err),
		err, ERR_STATE);
	assert_sh("ls w/scripts 2>/dev/null || echo none", "none\n");
	sh("mv off w/.git");
	assert_int_equal(
		place_copy_script(&arena, at("r"), &where, "bash scripts/v.sh", &copied, &err), 0);
	assert_non_null(copied);
	assert_sh("cat w/scripts/v.sh", "true\n");
}
