#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <sys/stat.h>
#include "src/base/gh.h"
#include "src/base/git.h"
#include "src/base/path.h"
#include "src/base/process.h"
#include "src/base/said.h"

static char base[] = "/tmp/test_git.XXXXXX";
static struct arena arena;
static struct buf out;
static struct error err;
static bool made, skipped;

/* Runs a script in the test's folder; its output is in `out`. */
static int try_sh(const char *script)
{
	const char *argv[] = {"/bin/sh", "-ec", script, NULL};
	struct process p = {.argv = argv, .output = -1, .out = &out, .out_max = 1 << 20};
	struct process_end end;

	buf_clear(&out);
	p.cwd = base;
	return process_run(&p, &end, &err) < 0 ? -1 : end.status;
}

static void sh(const char *script)
{
	if (try_sh(script) != 0)
		fail_msg("%s\n%s", script, out.s ? out.s : "");
}

static void assert_sh(const char *script, const char *expected)
{
	sh(script);
	assert_string_equal(out.s ? out.s : "", expected);
}

static const char *at(const char *rel)
{
	return path_join(&arena, base, rel);
}

static bool contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		print_error("'%s' is not in '%s'\n", part, text);
	return strstr(text, part) != NULL;
}

/* One commit on main in `r`, cloned from the bare `org/o.git` whose HEAD is main. */
static int fresh(void **state)
{
	(void)state;
	err = (struct error){0};
	sh("rm -rf -- * && git init -q --bare org/o.git && git clone -q org/o.git r 2>/dev/null\n"
	   "cd r && echo one >a && git add a && git commit -qm first && git push -q origin main\n"
	   "git remote set-head origin main");
	return 0;
}

static int commit_rest(void)
{
	return git_commit_rest(at("r"), "ADR-1", "leftovers", &made, &err);
}

static void slug_of(const char *url, const char *expected)
{
	CLEANUP(buf_release) struct buf slug = BUF_INIT;
	bool got = git_slug_of_url(str_of(url), &slug);

	if (got != (expected != NULL) || (got && strcmp(slug.s, expected) != 0))
		fail_msg("%s gives %s", url, got ? slug.s : "nothing");
}

static void every_form_of_url_gives_its_slug(void **state)
{
	(void)state;
	slug_of("https://github.com/org/repo", "org/repo");
	slug_of("https://github.com/org/repo.git", "org/repo");
	slug_of("https://github.com/org/repo.git/", "org/repo");
	slug_of("https://github.com/org/repo/", "org/repo");
	slug_of("https://user:p@ss@host.example:8443/org/repo.git", "org/repo");
	slug_of("HTTP://HOST/Org/Repo", "Org/Repo");
	slug_of("git@host:org/repo.git", "org/repo");
	slug_of("git@host:org/repo", "org/repo");
	slug_of("host:org/repo.git/", "org/repo");
	slug_of("git@host:/srv/org/repo.git", "srv/org/repo");
	slug_of("[git@host:22]:org/repo.git", "org/repo");
	slug_of("git@[::1]:org/repo.git", "org/repo");
	slug_of("ssh://git@host:22/org/repo.git", "org/repo");
	slug_of("ssh://git@[::1]:22/org/repo.git", "org/repo");
	slug_of("git+ssh://host/org/repo", "org/repo");
	slug_of("git://host/a/b/c.git", "a/b/c");
	slug_of("git@host:repo.git", "repo");
	slug_of("  https://host/org/repo\n", "org/repo");
	slug_of("https://host/org/a.b_c-d.git", "org/a.b_c-d");
	slug_of("/srv/git/org/repo.git", "org/repo");
	slug_of("/srv/git/org/repo/.git", "org/repo");
	slug_of("file:///srv/git/org/repo.git/", "org/repo");
	slug_of("../org/repo", "org/repo");
	slug_of("/repo.git", "repo");
}

static void what_gives_no_slug_is_refused(void **state)
{
	static const char *const urls[] = {"", " ", "/", ".", "..", "../repo", "https://",
		"https://host", "https://host/", "https://host/.git", "git@host:", "git@host:.git",
		"ssh://host:22", "https://host/org/../repo", "https://host/org//repo",
		"https://host/~user/repo", "https://host/org/re po", "https://host/org/repo?x=1",
		"https://host/org/repo#x", "https://host/org/%2e%2e", "file:///",
		"codecommit::eu://repo", "C:\\git\\repo", "https://host/org/re\npo",
		"/srv/.hidden/repo", "git@host:-o/repo", "[", "[]:", ":", ":x", "://x/y/z z"};

	(void)state;
	for (size_t i = 0; i < COUNT(urls); i++)
		slug_of(urls[i], NULL);
}

static void the_root_is_found_from_a_folder_inside(void **state)
{
	char *root;

	(void)state;
	sh("mkdir -p r/x/y");
	assert_int_equal(git_root(&arena, at("r/x/y"), &root, &err), 0);
	assert_string_equal(root, at("r"));
	assert_int_equal(git_root(&arena, at("r"), &root, &err), 0);
	assert_string_equal(root, at("r"));
}

static void a_linked_work_tree_is_a_root_of_its_own(void **state)
{
	char *root, *slug;

	(void)state;
	sh("git -C r worktree add -q ../w -b other; mkdir w/sub");
	assert_int_equal(git_root(&arena, at("w/sub"), &root, &err), 0);
	assert_string_equal(root, at("w"));
	assert_int_equal(git_slug(&arena, root, &slug, &err), 0);
	assert_string_equal(slug, "org/o");
}

static void outside_a_repository_there_is_no_root(void **state)
{
	char *root;

	(void)state;
	sh("mkdir plain");
	assert_int_equal(git_root(&arena, at("plain"), &root, &err), -1);
	assert_int_equal(err.code, ERR_STATE);
	assert_true(contains(err.text, "/plain' is not in a git repository"));
}

static void a_bare_repository_is_refused(void **state)
{
	char *root;

	(void)state;
	assert_int_equal(git_root(&arena, at("org/o.git"), &root, &err), -1);
	assert_int_equal(err.code, ERR_STATE);
	assert_true(contains(err.text, "is in a bare repository"));
}

static void extensions_that_change_nothing_for_us_are_accepted(void **state)
{
	char *root;

	(void)state;
	sh("cd r && git config core.repositoryformatversion 1 && git config "
	   "extensions.worktreeConfig true && git config extensions.partialClone origin");
	assert_int_equal(git_root(&arena, at("r"), &root, &err), 0);
}

static void the_slug_is_that_of_origin(void **state)
{
	char *slug;

	(void)state;
	sh("cd r && git remote set-url origin gl:tool && git remote add zother https://h/x/y\n"
	   "git config url.git@gitlab.example:team/.insteadOf gl:");
	assert_int_equal(git_slug(&arena, at("r"), &slug, &err), 0);
	assert_string_equal(slug, "team/tool");
}

static void without_origin_there_is_no_slug(void **state)
{
	char *slug;

	(void)state;
	sh("git -C r remote rename origin upstream");
	assert_int_equal(git_slug(&arena, at("r"), &slug, &err), -1);
	assert_int_equal(err.code, ERR_STATE);
	assert_true(contains(err.text, "no remote 'origin' in '"));
	sh("git -C r remote add origin https://secret@host/");
	assert_int_equal(git_slug(&arena, at("r"), &slug, &err), -1);
	assert_int_equal(err.code, ERR_STATE);
	assert_true(contains(err.text, "no repository name in the URL of remote 'origin'"));
	assert_null(strstr(err.text, "secret"));
}

static bool is_spec(struct str name)
{
	return str_starts(name, "_spec_") && str_ends(name, ".md");
}

static void found_are(const char *expected)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	char **paths;
	size_t n;

	assert_int_equal(git_find_files(&arena, at("r"), is_spec, &paths, &n, &err), 0);
	for (size_t i = 0; i < n; i++)
		buf_addf(&got, "%s\n", paths[i]);
	assert_string_equal(got.s ? got.s : "", expected);
}

static void files_are_found_sorted_and_ignored_ones_are_not(void **state)
{
	(void)state;
	found_are("");
	sh("cd r && mkdir -p b/c out/deep sub && printf 'out/\\n*_x.md\\n' >.gitignore\n"
	   "touch _spec_z.md b/c/_spec_a.md b/_spec_x.md out/_spec_o.md out/deep/_spec_o.md\n"
	   "touch .git/_spec_g.md b/other.md sub/_spec_hidden.md && echo _spec_h* >sub/.gitignore\n"
	   "touch 'b/_spec_with space.md'");
	found_are("_spec_z.md\nb/_spec_with space.md\nb/c/_spec_a.md\n");
}

static void what_is_tracked_is_found_whatever_the_patterns_say(void **state)
{
	(void)state;
	sh("cd r && mkdir out && echo out/ >.gitignore && touch out/_spec_in.md out/_spec_un.md\n"
	   "touch out/_spec_gone.md && git add -f out/_spec_in.md out/_spec_gone.md\n"
	   "rm out/_spec_gone.md");
	found_are("out/_spec_in.md\n");
}

static void links_other_repositories_and_odd_names_are_not_looked_into(void **state)
{
	(void)state;
	sh("cd r && mkdir real && touch real/_spec_r.md && ln -s real link && ln -s .. loop\n"
	   "ln -s real/_spec_r.md _spec_link.md && mkdir _spec_dir.md && mkfifo _spec_fifo.md\n"
	   "git init -q nested && touch nested/_spec_n.md\n"
	   "git worktree add -q tree -b t && touch tree/_spec_t.md\n"
	   "touch \"$(printf '_spec_\\377.md')\"");
	found_are("real/_spec_r.md\n");
}

static void files_are_found_in_a_linked_work_tree(void **state)
{
	char **paths;
	size_t n;

	(void)state;
	sh("git -C r worktree add -q ../w -b other; mkdir w/d; touch w/d/_spec_w.md");
	assert_int_equal(git_find_files(&arena, at("w"), is_spec, &paths, &n, &err), 0);
	assert_int_equal(n, 1);
	assert_string_equal(paths[0], "d/_spec_w.md");
}

static void very_deep_folders_are_walked(void **state)
{
	char **paths;
	size_t n;

	(void)state;
	sh("cd r && d=$(printf 'd/%.0s' $(seq 1 150)) && mkdir -p $d && touch ${d}_spec_.md");
	assert_int_equal(git_find_files(&arena, at("r"), is_spec, &paths, &n, &err), 0);
	assert_int_equal(n, 1);
}

static void all_that_is_left_is_committed(void **state)
{
	(void)state;
	sh("cd r && git checkout -qb work && echo gone >g && git add g && git commit -qm g\n"
	   "echo '*.o' >.gitignore && echo two >>a && rm g && mkdir d && echo new >d/n && touch "
	   "x.o");
	assert_int_equal(commit_rest(), 0);
	assert_true(made);
	assert_sh("cd r && git log -1 --format='%s %D' && git status --porcelain && git show "
		  "--name-status --format=",
		"leftovers HEAD -> work\nA\t.gitignore\nM\ta\nA\td/n\nD\tg\n");
}

static void a_clean_tree_makes_no_commit(void **state)
{
	(void)state;
	assert_int_equal(commit_rest(), 0);
	assert_false(made);
	assert_sh("cd r && git rev-list --count HEAD && git branch --show-current", "1\nmain\n");
}

static void a_message_is_taken_as_it_is(void **state)
{
	(void)state;
	sh("cd r && git checkout -qb work && echo two >a");
	assert_int_equal(
		git_commit_rest(at("r"), "b", "-m $(id) `x` 'q' \"d\"\n\nbody", &made, &err), 0);
	assert_sh("git -C r log -1 --format=%B", "-m $(id) `x` 'q' \"d\"\n\nbody\n\n");
}

static void the_first_commit_of_all_can_be_ours(void **state)
{
	(void)state;
	sh("rm -rf r && git init -q r && echo x >r/a");
	assert_int_equal(commit_rest(), 0);
	assert_true(made);
	assert_sh("git -C r log --format='%s %D'", "leftovers HEAD -> main\n");
}

static void on_the_default_branch_a_branch_is_made_first(void **state)
{
	(void)state;
	sh("echo two >r/a");
	assert_int_equal(commit_rest(), 0);
	assert_true(made);
	assert_sh(
		"cd r && git branch --show-current && git log main --format=%s", "ADR-1\nfirst\n");
}

static void main_is_the_default_branch_where_the_remote_does_not_say(void **state)
{
	(void)state;
	sh("cd r && git remote set-head origin -d && echo two >a");
	assert_int_equal(commit_rest(), 0);
	assert_sh("git -C r branch --show-current", "ADR-1\n");
}

static void another_default_branch_is_protected_as_well(void **state)
{
	(void)state;
	sh("cd r && git checkout -qb trunk && git push -q origin trunk && git remote set-head "
	   "origin "
	   "trunk && echo two >a");
	assert_int_equal(commit_rest(), 0);
	assert_sh("git -C r branch --show-current", "ADR-1\n");
}

static void a_branch_from_an_earlier_run_is_adopted(void **state)
{
	(void)state;
	sh("cd r && git branch ADR-1 && echo mine >b && git add b && git commit -qm onmain\n"
	   "echo two >a");
	assert_int_equal(commit_rest(), 0);
	assert_sh("cd r && git branch --show-current && git log --format=%s",
		"ADR-1\nleftovers\nonmain\nfirst\n");
}

static void commits_on_the_default_branch_move_to_the_branch(void **state)
{
	(void)state;
	sh("cd r && echo two >a && git commit -qam two");
	assert_int_equal(commit_rest(), 0);
	assert_false(made);
	assert_sh("cd r && git branch --show-current && git log -1 --format=%s", "ADR-1\ntwo\n");
}

static void off_any_branch_a_branch_is_made(void **state)
{
	(void)state;
	sh("cd r && git checkout -q --detach && echo two >a");
	assert_int_equal(commit_rest(), 0);
	assert_true(made);
	assert_sh("git -C r branch --show-current", "ADR-1\n");
}

static void a_hook_can_refuse_a_commit(void **state)
{
	(void)state;
	sh("cd r && git checkout -qb work && echo two >a && mkdir -p .git/hooks\n"
	   "printf '#!/bin/sh\\necho \"hint: no\"; echo \"lint: a:1: bad\\ttab\" >&2; exit 1\\n' "
	   ">.git/hooks/pre-commit && chmod +x .git/hooks/pre-commit");
	assert_int_equal(commit_rest(), -1);
	assert_false(made);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_string_equal(err.text, "'git commit' failed: lint: a:1: bad tab");
}

static void hooks_see_the_commit(void **state)
{
	(void)state;
	sh("cd r && git checkout -qb work && echo two >a && mkdir -p .git/hooks\n"
	   "printf '#!/bin/sh\\necho \"Signed: hook\" >>\"$1\"\\n' >.git/hooks/commit-msg\n"
	   "chmod +x .git/hooks/commit-msg");
	assert_int_equal(commit_rest(), 0);
	assert_sh("git -C r log -1 --format=%B", "leftovers\nSigned: hook\n\n");
}

static void without_a_name_git_says_so_itself(void **state)
{
	(void)state;
	sh("cd r && git checkout -qb work && echo two >a && git config user.useConfigOnly true\n"
	   "git config user.name '' && git config user.email ''");
	assert_int_equal(commit_rest(), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_true(contains(err.text, "'git commit' failed: "));
	assert_true(contains(err.text, "fatal: "));
	assert_null(strchr(err.text, '\n'));
}

static void in_the_middle_of_a_merge_nothing_is_committed(void **state)
{
	(void)state;
	sh("cd r && git checkout -qb work && echo l >a && git commit -qam l && git checkout -q "
	   "main "
	   "&& echo r >a && git commit -qam r && git checkout -q work && ! git merge -q main");
	assert_int_equal(commit_rest(), -1);
	assert_int_equal(err.code, ERR_STATE);
	assert_true(contains(err.text, "a merge is in progress in '"));
	sh("cd r && git merge --abort && ! git rebase -q main 2>/dev/null");
	assert_int_equal(commit_rest(), -1);
	assert_int_equal(err.code, ERR_STATE);
	assert_true(contains(err.text, "a rebase is in progress in '"));
}

static void with_conflicts_nothing_is_committed(void **state)
{
	(void)state;
	sh("cd r && git checkout -qb work && echo s >a && git stash -q && echo w >a\n"
	   "git commit -qam w && ! git stash pop -q");
	assert_int_equal(commit_rest(), -1);
	assert_int_equal(err.code, ERR_STATE);
	assert_true(contains(err.text, "unresolved conflicts in '"));
}

static void the_callers_git_variables_do_not_lead_astray(void **state)
{
	(void)state;
	sh("git init -q other && cd r && git checkout -qb work && echo two >a");
	setenv("GIT_DIR", at("other/.git"), 1);
	setenv("GIT_INDEX_FILE", at("other/.git/index"), 1);
	assert_int_equal(commit_rest(), 0);
	unsetenv("GIT_DIR");
	unsetenv("GIT_INDEX_FILE");
	assert_true(made);
	assert_sh("git -C r log -1 --format=%s", "leftovers\n");
}

static void in_a_linked_work_tree_its_own_files_are_committed(void **state)
{
	(void)state;
	sh("git -C r worktree add -q ../w -b other && echo two >w/a && echo not >r/a");
	assert_int_equal(git_commit_rest(at("w"), "b", "in w", &made, &err), 0);
	assert_true(made);
	assert_sh("git -C w log -1 --format=%s && git -C r status --porcelain", "in w\n M a\n");
}

static void an_index_lock_that_goes_away_is_waited_for(void **state)
{
	pid_t pid;

	(void)state;
	sh("cd r && git checkout -qb work && echo two >a && touch .git/index.lock");
	pid = fork();
	if (pid == 0) {
		usleep(200000);
		_exit(unlink(at("r/.git/index.lock")));
	}
	assert_int_equal(commit_rest(), 0);
	assert_true(made);
}

static int push(void)
{
	return git_push(at("r"), &skipped, &err);
}

static void a_branch_is_pushed_with_its_upstream(void **state)
{
	(void)state;
	sh("cd r && git checkout -qb work && echo two >a && git commit -qam two");
	assert_int_equal(push(), 0);
	assert_false(skipped);
	assert_sh(
		"git -C org/o.git log -1 --format=%s work && git -C r rev-parse --abbrev-ref @{u}",
		"two\norigin/work\n");
	assert_int_equal(push(), 0);
}

static void the_first_branch_of_an_empty_remote_may_be_main(void **state)
{
	(void)state;
	sh("rm -rf org r && git init -q --bare org/o.git && git clone -q org/o.git r 2>/dev/null\n"
	   "cd r && echo x >a && git add a && git commit -qm x");
	assert_int_equal(push(), 0);
	assert_false(skipped);
	assert_sh("git -C org/o.git log --format=%s main", "x\n");
}

static void without_origin_nothing_is_pushed(void **state)
{
	(void)state;
	sh("git -C r remote remove origin");
	assert_int_equal(push(), 0);
	assert_true(skipped);
}

static void the_default_branch_is_never_pushed(void **state)
{
	(void)state;
	assert_int_equal(push(), 0);
	assert_true(skipped);
	sh("cd r && echo two >a && git commit -qam two");
	assert_int_equal(push(), -1);
	assert_int_equal(err.code, ERR_STATE);
	assert_string_equal(
		err.text, "'main' is the default branch of 'origin': nothing is pushed to it");
	assert_sh("git -C org/o.git log --format=%s main", "first\n");
}

static void off_any_branch_nothing_is_pushed(void **state)
{
	(void)state;
	sh("git -C r checkout -q --detach");
	assert_int_equal(push(), -1);
	assert_int_equal(err.code, ERR_STATE);
	assert_true(contains(err.text, "no branch is checked out in '"));
	sh("cd r && git checkout -q --orphan empty");
	assert_int_equal(push(), -1);
	assert_string_equal(err.text, "no commit on branch 'empty' yet");
}

static void a_refused_push_is_told_in_one_line(void **state)
{
	(void)state;
	sh("cd r && git checkout -qb work && git push -q origin work && cd .. && git clone -q -b "
	   "work "
	   "org/o.git s && cd s && echo s >a && git commit -qam s && git push -q\n"
	   "cd ../r && echo r >a && git commit -qam r");
	assert_int_equal(push(), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_true(contains(err.text, "'git push' failed: "));
	assert_true(contains(err.text, "[rejected] HEAD -> work (fetch first)"));
	assert_null(strstr(err.text, "hint:"));
	assert_null(strchr(err.text, '\n'));
}

static void a_pre_push_hook_can_refuse(void **state)
{
	(void)state;
	sh("cd r && git checkout -qb work && mkdir -p .git/hooks && printf '#!/bin/sh\\necho tests "
	   "fail >&2; exit 1\\n' >.git/hooks/pre-push && chmod +x .git/hooks/pre-push");
	assert_int_equal(push(), -1);
	assert_true(contains(err.text, "'git push' failed: tests fail; error: "));
}

static void secrets_in_a_url_are_not_told(void **state)
{
	(void)state;
	sh("cd r && git checkout -qb work && git remote set-url origin "
	   "http://user:s3cret@127.0.0.1:1/org/o.git");
	assert_int_equal(push(), -1);
	assert_true(contains(err.text, "127.0.0.1:1/org/o.git"));
	assert_null(strstr(err.text, "s3cret"));
}

static void words_are(const char *said, const char *expected)
{
	CLEANUP(buf_release) struct buf words = BUF_INIT;

	said_last(str_of(said), &words);
	assert_string_equal(words.s ? words.s : "", expected);
}

static void the_last_said_last_a_program_make_one_clean_line(void **state)
{
	CLEANUP(buf_release) struct buf longer = BUF_INIT, words = BUF_INIT;

	(void)state;
	words_are("", "");
	words_are("\n \r\n", "");
	words_are("1\n2\n3\n4\n\n5\r\n6\nhint: x\n", "2; 3; 4; 5; 6");
	words_are("a\033[1m  b\tc\001", "a [1m b c");
	words_are("to 'https://u:p@ss@h/x@y' and ssh://git@h and a@b://c",
		"to 'https://***@h/x@y' and ssh://***@h and a@b://c");
	words_are("caf\303\251 \377!", "caf\303\251 ?!");
	for (int i = 0; i < 400; i++)
		buf_adds(&longer, "x\303\251");
	said_last(buf_str(&longer), &words);
	assert_int_equal(words.len, 600);
	assert_int_equal(utf8_fault(buf_str(&words)), 0);
}

/* The false ssh says what it was called with. */
static void ssh_never_asks_unless_the_user_has_a_command_of_their_own(void **state)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	CLEANUP(free_ptr) char *before = strdup(getenv("PATH"));

	(void)state;
	sh("mkdir bin && printf '#!/bin/sh\\necho \"ssh $1\" >&2; exit 255\\n' >bin/ssh\n"
	   "printf '#!/bin/sh\\necho \"my $1\" >&2; exit 255\\n' >bin/my && chmod +x bin/*\n"
	   "cd r && git checkout -qb work && git remote set-url origin "
	   "ssh://git@nowhere/org/o.git");
	buf_addf(&path, "%s:%s", at("bin"), before);
	setenv("PATH", path.s, 1);
	assert_int_equal(push(), -1);
	assert_true(contains(err.text, "'git push' failed: ssh -oBatchMode=yes; "));
	setenv("GIT_SSH_COMMAND", "my", 1);
	assert_int_equal(push(), -1);
	assert_null(strstr(err.text, "BatchMode"));
	assert_true(contains(err.text, "my "));
	unsetenv("GIT_SSH_COMMAND");
	sh("git -C r config core.sshCommand my");
	assert_int_equal(push(), -1);
	assert_null(strstr(err.text, "BatchMode"));
	setenv("PATH", before, 1);
}

/* A `gh` that prints `said` and ends with `status`; with said NULL, none. */
static int checks(const char *said, int status, char **text)
{
	CLEANUP(free_ptr) char *before = strdup(getenv("PATH"));
	CLEANUP(buf_release) struct buf script = BUF_INIT;
	int rc;

	buf_addf(&script, "rm -rf bin; mkdir bin; ");
	if (said)
		buf_addf(&script,
			"{ echo '#!/bin/sh'; echo \"/usr/bin/printf '%s'\"; echo 'echo "
			"\"$*|$GH_TOKEN\" "
			">%s'; echo exit %d; } >bin/gh; chmod +x bin/gh",
			said, at("gh.args"), status);
	sh(script.s);
	setenv("PATH", at("bin"), 1);
	rc = gh_failing_checks(&arena, at("r"), "https://github.com/o/r/pull/7", text, &err);
	setenv("PATH", before, 1);
	return rc;
}

static void failing_checks_are_the_lines_that_say_so(void **state)
{
	char *text;

	(void)state;
	setenv("GH_TOKEN", "t0ken", 1);
	assert_int_equal(
		checks("build\tfail\t1m\thttps://x/1\\nlint\tpass\t2s\thttps://x/2\\nfail\t"
		       "pass\t1s\tu\\ne2e\tcancel\t0\tu\\n",
			1, &text),
		0);
	assert_string_equal(text, "build\tfail\t1m\thttps://x/1\ne2e\tcancel\t0\tu");
	assert_sh("cat gh.args", "pr checks https://github.com/o/r/pull/7|t0ken\n");
	unsetenv("GH_TOKEN");
}

static void passing_pending_and_missing_checks_are_no_failures(void **state)
{
	char *text;

	(void)state;
	assert_int_equal(checks("build\tpass\t1m\tu\\n", 0, &text), 0);
	assert_string_equal(text, "");
	assert_int_equal(checks("build\tpending\t0\tu\\n", 8, &text), 0);
	assert_string_equal(text, "");
	assert_int_equal(checks("no checks reported on the branch\\n", 1, &text), 0);
	assert_string_equal(text, "");
}

static void without_gh_there_are_no_failing_checks(void **state)
{
	char *text;

	(void)state;
	assert_int_equal(checks(NULL, 0, &text), 0);
	assert_string_equal(text, "");
	assert_int_equal(gh_failing_checks(&arena, at("r"),
				 "https://gitlab.example/o/r/-/merge_requests/1", &text, &err),
		0);
	assert_string_equal(text, "");
}

static void a_gh_that_fails_is_told(void **state)
{
	char *text;

	(void)state;
	assert_int_equal(checks("To get started, please run: gh auth login\\n", 4, &text), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_string_equal(
		err.text, "'gh pr checks' failed: To get started, please run: gh auth login");
	assert_string_equal(text, "");
}

/* This program again, where the library in the first place is an empty file. */
static void without_the_library_the_error_names_it(void **state)
{
	const char *argv[] = {"/proc/self/exe", "probe", NULL};
	const char *env[] = {arena_printf(&arena, "LD_LIBRARY_PATH=%s", at("lib")), NULL};
	struct process p = {
		.argv = argv, .env = env, .output = -1, .out = &out, .out_max = 1 << 20};
	struct process_end end;

	(void)state;
	sh("mkdir lib && cd lib && for i in 0 1 2 3 4 5 6 7 8 9; do for j in 0 1 2 3 4 5 6 7 8 9; "
	   "do "
	   ": >libgit2.so.$i.$j; done; done");
	buf_clear(&out);
	assert_int_equal(process_run(&p, &end, &err), 0);
	assert_int_equal(end.status, ERR_SYSTEM);
	assert_true(contains(out.s, "cannot open the git library: "));
	assert_true(contains(out.s, "libgit2.so."));
}

static int probe(void)
{
	char *version;

	if (git_library(&arena, &version, &err) == 0)
		return 0;
	fputs(err.text, stderr);
	return err.code;
}

static void the_library_tells_its_version(void **state)
{
	char *version;

	(void)state;
	assert_int_equal(git_library(&arena, &version, &err), 0);
	assert_true(version[0] >= '0' && version[0] <= '9');
}

static int prepare(void **state)
{
	(void)state;
	if (!mkdtemp(base))
		return -1;
	setenv("HOME", at(".home"), 1);
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("GIT_SSH_COMMAND");
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	setenv("GIT_CEILING_DIRECTORIES", "/tmp", 1);
	setenv("LC_ALL", "C", 1);
	unsetenv("http_proxy");
	unsetenv("all_proxy");
	sh("mkdir .home && git config --global user.name T && git config --global user.email t@e\n"
	   "git config --global init.defaultBranch main");
	return 0;
}

static int tidy(void **state)
{
	(void)state;
	sh("rm -rf -- * .home");
	buf_release(&out);
	rmdir(base);
	arena_release(&arena);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup(name, fresh)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_of_url_gives_its_slug),
		cmocka_unit_test(what_gives_no_slug_is_refused),
		TEST(the_root_is_found_from_a_folder_inside),
		TEST(a_linked_work_tree_is_a_root_of_its_own),
		TEST(outside_a_repository_there_is_no_root),
		TEST(a_bare_repository_is_refused),
		TEST(extensions_that_change_nothing_for_us_are_accepted),
		TEST(the_slug_is_that_of_origin),
		TEST(without_origin_there_is_no_slug),
		TEST(files_are_found_sorted_and_ignored_ones_are_not),
		TEST(what_is_tracked_is_found_whatever_the_patterns_say),
		TEST(links_other_repositories_and_odd_names_are_not_looked_into),
		TEST(files_are_found_in_a_linked_work_tree),
		TEST(very_deep_folders_are_walked),
		TEST(all_that_is_left_is_committed),
		TEST(a_clean_tree_makes_no_commit),
		TEST(a_message_is_taken_as_it_is),
		TEST(the_first_commit_of_all_can_be_ours),
		TEST(on_the_default_branch_a_branch_is_made_first),
		TEST(main_is_the_default_branch_where_the_remote_does_not_say),
		TEST(another_default_branch_is_protected_as_well),
		TEST(a_branch_from_an_earlier_run_is_adopted),
		TEST(commits_on_the_default_branch_move_to_the_branch),
		TEST(off_any_branch_a_branch_is_made),
		TEST(a_hook_can_refuse_a_commit),
		TEST(hooks_see_the_commit),
		TEST(without_a_name_git_says_so_itself),
		TEST(in_the_middle_of_a_merge_nothing_is_committed),
		TEST(with_conflicts_nothing_is_committed),
		TEST(the_callers_git_variables_do_not_lead_astray),
		TEST(in_a_linked_work_tree_its_own_files_are_committed),
		TEST(an_index_lock_that_goes_away_is_waited_for),
		TEST(a_branch_is_pushed_with_its_upstream),
		TEST(the_first_branch_of_an_empty_remote_may_be_main),
		TEST(without_origin_nothing_is_pushed),
		TEST(the_default_branch_is_never_pushed),
		TEST(off_any_branch_nothing_is_pushed),
		TEST(a_refused_push_is_told_in_one_line),
		TEST(a_pre_push_hook_can_refuse),
		TEST(secrets_in_a_url_are_not_told),
		cmocka_unit_test(the_last_said_last_a_program_make_one_clean_line),
		TEST(ssh_never_asks_unless_the_user_has_a_command_of_their_own),
		TEST(failing_checks_are_the_lines_that_say_so),
		TEST(passing_pending_and_missing_checks_are_no_failures),
		TEST(without_gh_there_are_no_failing_checks),
		TEST(a_gh_that_fails_is_told),
		TEST(without_the_library_the_error_names_it),
		TEST(the_library_tells_its_version),
	};

	if (argc > 1 && strcmp(argv[1], "probe") == 0)
		return probe();
	return cmocka_run_group_tests(tests, prepare, tidy);
}
