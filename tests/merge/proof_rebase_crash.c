/*
 * Kills or stops a holder between any two steps of a rebase, with and without the git that it has
 * just started: at every fourth step, with SWEEP=full (`make crash`) at each. A fake `git` counts
 * the calls and does it at one of them; a hook does the same at each change of a reference, during
 * git's own work.
 */
#include "tests/lib/rebase_rig.h"

static const char wrapper[] =
	"test -n \"$HOLDER\" && test \"$WHEN\" != hook || exec %s \"$@\"\n"
	"read n <$COUNT; n=$((n + 1)); echo $n >$COUNT; echo \"$*\" >>$COUNT.all\n"
	"test $n = $AT || exec %s \"$@\"\n"
	"case $WHEN in\n"
	"before) kill -9 $HOLDER; exit 1;;\n"
	"orphan) trap '' TERM; kill -9 $HOLDER; %s \"$@\" & wait;;\n"
	"stopped) kill -STOP $HOLDER; kill -STOP $$; exec %s \"$@\";;\n"
	"after) %s \"$@\"; kill -9 $HOLDER;;\n"
	"esac\n";

static const char hook[] = "test \"$WHEN\" = hook || exit 0\n"
			   "read n <$COUNT; n=$((n + 1)); echo $n >$COUNT\n"
			   "test $n = $AT || exit 0\n"
			   "kill -9 $HOLDER; kill -9 $PPID; exit 1\n";

static int crash_setup(void **state)
{
	CLEANUP(buf_release) struct buf git = BUF_INIT;
	const char *g;

	unsetenv("WHEN");
	(void)rebase_setup(state);
	sh_into(&git, "command -v git");
	g = arena_dup(&arena, str_trim(buf_str(&git)));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	scratch_program("bin/git", arena_printf(&arena, wrapper, g, g, g, g, g));
#pragma GCC diagnostic pop
	scratch_program("r/.git/hooks/reference-transaction", hook);
	path_begins_with("bin");
	setenv("COUNT", at("count"), 1);
	return 0;
}

#define CRASH_TEST(name) UNIT_TEST(name, crash_setup, gate_teardown)

static unsigned stride(void)
{
	const char *sweep = getenv("SWEEP");

	return sweep && strcmp(sweep, "full") == 0 ? 1 : 4;
}

/* The saved scene, at the same paths: worktrees record theirs. */
static void save_scene(void)
{
	sh("mkdir saved && cp -a org r wt saved");
}

static void restore_scene(void)
{
	store_close(&pool.store);
	sh("rm -rf org r wt state pool artifacts && mkdir pool && cp -a saved/org saved/r saved/wt "
	   ". && "
	   "echo 0 >count && rm -f count.all");
	pool_use("state", "pool");
	pool.repo = at("r");
	pool.common = at("r/.git");
}

static void rebase_there(int ready, void *data)
{
	struct land_ask ask = {
		.branch = wt.branch, .follow = wt.path, .target = "main", .issue = "ISSUE-1"};
	const struct gate_ask take = {.who = "other"};
	struct gate *g;
	int rc;

	(void)data;
	pool.repo = at("r");
	pool.common = at("r/.git");
	setenv("HOLDER", arena_printf(&arena, "%ld", (long)getpid()), 1);
	if (gate_take(&arena, &pool, &take, &g, &err) < 0)
		_exit(99);
	rc = land_branch(&arena, &pool, &ask, g, &done, &err);
	gate_drop(&g);
	if (rc == 0)
		send_ready(ready);
	_exit(rc == 0 ? 0 : 97);
}

/* False: it finished, so there is no such step. */
static bool play_until(const char *when, unsigned n)
{
	struct other o;

	setenv("WHEN", when, 1);
	setenv("AT", arena_printf(&arena, "%u", n), 1);
	o = other(rebase_there, NULL);
	switch (exit_status(&o)) {
	case 128 + SIGKILL:
		return true;
	case 0:
		return false;
	default:
		fail_msg("%s %u: it has ended by itself", when, n);
		return false;
	}
}

static void nothing_is_left_over(const char *when, unsigned n)
{
	CLEANUP(buf_release) struct buf said = BUF_INIT;

	sh_into(&said, "cd wt && git status --porcelain && D=$(git rev-parse --git-dir) && "
		       "ls -d $D/rebase-* $D/*.lock 2>/dev/null || git symbolic-ref HEAD");
	if (strcmp(said.s, "refs/heads/feat/x\n") != 0)
		fail_msg("%s %u: %s", when, n, said.s);
}

static const char *const whens[] = {"before", "after", "orphan", "hook"};

/* The first step at which whens[i] is tried: with a stride, each begins at another step. */
static unsigned first_step(size_t i)
{
	return 1 + (unsigned)i * 3 % stride();
}

/* Kills a rebase at its steps. After each kill a rebase is run to its end, and then `judge`. */
static void kill_at_each_step(void (*judge)(const char *when, unsigned n))
{
	unsigned killed = 0;

	save_scene();
	for (size_t i = 0; i < COUNT(whens); i++) {
		bool more = true;

		for (unsigned n = first_step(i); more; n += stride()) {
			restore_scene();
			more = play_until(whens[i], n);
			killed += more;
			unsetenv("WHEN");
			if (try_rebase() < 0)
				fail_msg("%s %u: %s", whens[i], n, err.text);
			judge(whens[i], n);
		}
	}
	assert_true(killed > 12 / stride());
}

static void is_right(const char *when, unsigned n)
{
	if (done.fate != LAND_LANDED)
		fail_msg("%s %u: %s", when, n, land_word(&done));
	nothing_is_left_over(when, n);
	assert_sh("cd wt && cat m x d/y && git log --format=%s origin/main..",
		"main\nx\nx2\ny\nx2\nx\n");
	sh("cd wt && test $(git rev-parse HEAD) = "
	   "$(git --git-dir=../org/o.git rev-parse feat/x)");
}

CRASH_TEST(killed_anywhere_the_next_one_does_it_right)
{
	main_gets("m", "main");
	kill_at_each_step(is_right);
}

static const char *before; /* what look() gave */

static void is_as_before(const char *when, unsigned n)
{
	if (done.fate != LAND_CONFLICT)
		fail_msg("%s %u: %s", when, n, land_word(&done));
	if (strcmp(look(), before) != 0)
		fail_msg("%s %u: %s", when, n, look());
}

CRASH_TEST(killed_in_a_conflict_the_worktree_comes_back)
{
	main_gets("new", "file");
	main_gets("x", "theirs");
	before = look();
	kill_at_each_step(is_as_before);
}

/* The holder and the git that it has just started are stopped at step n, and the gate is released
 * by force: nothing of them is left that could push. */
static bool stop_at(int n)
{
	struct gate_holder was;
	struct other o;
	int status;

	setenv("WHEN", "stopped", 1);
	setenv("AT", arena_printf(&arena, "%d", n), 1);
	o = other(rebase_there, NULL);
	assert_int_equal(waitpid(o.pid, &status, WUNTRACED), o.pid);
	unsetenv("WHEN");
	if (!WIFSTOPPED(status)) {
		close(o.ready);
		return false;
	}
	assert_true(gate_is_held());
	assert_int_equal(gate_force(&arena, &pool, 0, &was, &err), 0);
	assert_true(was.held);
	assert_int_equal(exit_status(&o), 128 + SIGKILL);
	return true;
}

CRASH_TEST(of_a_stopped_holder_nothing_lands)
{
	int n = 1 - (int)stride();
	bool stopped;

	main_gets("m", "main");
	save_scene();
	do {
		restore_scene();
		sh("git --git-dir=org/o.git rev-parse feat/x >before.sha");
		n += (int)stride();
		stopped = stop_at(n);
		if (stopped)
			sh("test $(git --git-dir=org/o.git rev-parse feat/x) = $(cat before.sha) "
			   "|| grep -q '^push' count.all");
		(void)rebase();
		assert_int_equal(done.fate, LAND_LANDED);
		nothing_is_left_over("stopped", (unsigned)n);
	} while (stopped);
	assert_true(n > 5);
}
