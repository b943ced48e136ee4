/* What people see on a terminal while items are worked on: the contents of its screen. */
#include "src/run/status.h"
#include "src/sys/process.h"
#include "tests/lib/git_rig.h"
#include "tests/lib/run.h"
#include "tests/lib/terminal.h"

enum { ITEMS = 200, RUNNING = 10, BROKEN = 5 };

static int setup(void **state)
{
	(void)run_find_build();
	(void)scratch_make(state);
	(void)setenv("DEV_TEAM_STATE_DIR", at("state"), 1);
	return 0;
}

static int teardown(void **state)
{
	(void)unsetenv("DEV_TEAM_STATE_DIR");
	return scratch_remove(state);
}

#define TERMINAL_TEST(name) UNIT_TEST(name, setup, teardown)

static char *document(int n)
{
	return arena_printf(&arena, "state/o/r/A-%03d.md", n);
}

static void write_item(int n, const char *state, const char *more)
{
	scratch_write(
		document(n), arena_printf(&arena, "---\nwork_item_id: A-%03d\nstate: %s\n%s---\n",
				     n, state, more));
}

/* A good document becomes the first commit of its journal; what follows are edits by hand. */
static void begin_item(int n)
{
	struct context_file f;
	struct error e;

	write_item(n, n % 2 ? "done" : "fixing", "");
	assert_int_equal(context_open(&f, at(document(n)), CONTEXT_MUST_EXIST, &e), 0);
	context_close(&f);
}

static void write_items(void)
{
	for (int n = 1; n <= ITEMS; n++)
		begin_item(n);
	for (int n = ITEMS - BROKEN + 1; n <= ITEMS; n++)
		write_item(n, "fixing", "fix_iteration: many\n");
}

/* A `dev-team run` that works on the item, or has ended. */
static void set_runs(int n, bool runs)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct lease_holder h;
	struct error e;

	assert_int_equal(context_open(&f, at(document(n)), CONTEXT_MUST_EXIST, &e), 0);
	assert_int_equal(lease_read(&f, &h, &e), 0);
	if (runs)
		lease_take(&f, &h, "dev-team run",
			arena_printf(&arena, "%s" LEASE_RUN, process_own_name(&arena)), 3600);
	else
		lease_release(&f, &h);
	(void)context_op(&f, "test");
	assert_int_equal(context_log(&f, &e), 0);
}

TERMINAL_TEST(status_watch_shows_those_at_work_first_and_follows_changes)
{
	static const char *const argv[] = {"dev-team", "status", "--all", "--watch", NULL};
	struct terminal t;

	write_items();
	for (int n = 0; n < RUNNING; n++)
		set_runs(2 * n + 2, true);
	terminal_start(&t, argv);
	assert_true(terminal_await(&t, "... 178 more lines"));
	assert_true(t.second && t.hidden && terminal_is_quiet(&t));
	for (unsigned r = 0; r < RUNNING; r++)
		assert_true(contains(terminal_row(&t, r), "  works    o/r               fixing"));
	assert_true(contains(terminal_row(&t, RUNNING), "A-196         broken   "));
	assert_string_equal(terminal_row(&t, TERMINAL_ROWS - 1), "... 178 more lines");
	/* One asks something, and one goes on no longer. */
	write_item(2, "fixing", "question: Which language?\n");
	assert_true(
		terminal_await(&t, "waits    o/r               fixing          Which language?"));
	set_runs(4, false);
	assert_true(terminal_await(&t, "A-004         idle"));
	terminal_type(&t, "\003");
	assert_int_equal(terminal_end(&t), 0);
	assert_false(t.second || t.hidden);
}

TERMINAL_TEST(a_broken_document_is_one_line_with_its_remedy)
{
	static const char *const argv[] = {"dev-team", "status", "--all", "--json", NULL};
	struct run r = {.argv = argv};
	CLEANUP(json_free) json *items = NULL;
	struct error e;

	write_items();
	run(&r);
	assert_int_equal(r.status, 0);
	assert_int_equal(json_parse(&items, buf_str(&r.out), &e), 0);
	assert_int_equal(json_len(items), ITEMS);
	assert_string_equal(json_get_str(json_first(items), "status"), "broken");
	assert_string_equal(json_get_str(json_first(items), "continue"),
		arena_printf(&arena, "dev-team context restore '%s'", at(document(196))));
	run_release(&r);
}

static void end_quietly(struct terminal *t)
{
	terminal_type(t, "q");
	assert_int_equal(terminal_end(t), 0);
}

TERMINAL_TEST(one_item_is_watched_too_and_q_ends_it)
{
	const char *const argv[] = {
		"dev-team", "status", "--watch", "--context-file", at(document(2)), NULL};
	struct terminal t;

	begin_item(2);
	terminal_start(&t, argv);
	assert_true(terminal_await(&t, "A-002: idle (state 'fixing')"));
	write_item(2, "done", "pr_url: https://git.example/o/r/pull/1\n");
	assert_true(terminal_await(&t, "A-002: done (state 'done')"));
	assert_true(terminal_await(&t, "  pull request  https://git.example/o/r/pull/1"));
	end_quietly(&t);
}

/* The shell makes `timeout` a group of its own, which is not that of the terminal. */
TERMINAL_TEST(a_watch_in_the_background_is_ended_by_a_signal)
{
	const char *const argv[] = {"sh", "-c",
		"timeout 1 dev-team status --watch --context-file \"$1\"; exit $?", "sh",
		at(document(2)), NULL};
	struct terminal t;

	begin_item(2);
	terminal_start(&t, argv);
	assert_int_equal(terminal_end(&t), 124);
}

/* The agent waits until the file `go` is there. */
static const char agents[] = "answers:\n"
			     "  Researcher Brief:\n"
			     "    run: 'while ! test -e ../go; do sleep 0.01; done; echo Brief.'\n"
			     "    text_from: run\n"
			     "    result: briefed\n";

TERMINAL_TEST(a_run_has_a_line_with_what_works_and_for_how_long)
{
	const char *const argv[] = {"env", "-C", at("work"), "sh", "-c",
		"exec dev-team run A-1 --workflow implement-task --agents "
		"../agents.yaml "
		"--in-place --allow-dirty",
		NULL};
	struct terminal t;

	rig_environment();
	scratch_write("agents.yaml", agents);
	sh("git init -q -b topic work && cd work && echo 'For A-1.' >_spec_a.md && mkdir scripts "
	   "&& "
	   "touch scripts/validate.sh && git add . && git commit -q -m first && "
	   "git remote add origin https://git.example/o/r.git");
	(void)run_find_build();
	terminal_start(&t, argv);
	assert_true(terminal_await(&t, "researching     researcher         begins"));
	assert_true(terminal_await(&t, "A-1/researching/1, researcher, "));
	assert_true(terminal_await(&t, "A-1/researching/1, researcher, 1s"));
	scratch_write("go", "");
	assert_int_equal(terminal_end(&t), ERR_INPUT);
	assert_true(terminal_await_gone(&t, "researcher, "));
	assert_true(terminal_await(&t, "         total           1 action, "));
	assert_true(terminal_await(&t, "dev-team: to continue: dev-team run A-1 --agents"));
}

TERMINAL_TEST(several_items_have_one_line_with_what_works)
{
	const char *const argv[] = {"env", "-C", at("work"), "sh", "-c",
		"exec dev-team run A-1 A-2 --max-concurrent 2 --workflow implement-task --agents "
		"../agents.yaml",
		NULL};
	struct terminal t;

	rig_environment();
	scratch_write("agents.yaml",
		arena_printf(&arena,
			"answers:\n"
			"  Researcher Brief: {run: 'while ! test -e %s; do sleep 0.01; done; echo "
			"Brief.', text_from: run, result: briefed}\n",
			at("go-$DEV_TEAM_ID")));
	sh("git init -q --bare -b main o/r.git && git init -q -b main work && cd work && "
	   "echo 'For A-1 and A-2.' >_spec_a.md && mkdir scripts && touch scripts/validate.sh && "
	   "git add . && git commit -q -m first && git remote add origin $PWD/../o/r.git && "
	   "git push -q origin main");
	(void)run_find_build();
	terminal_start(&t, argv);
	assert_true(terminal_await(&t, "s; A-2/researching/1, researcher, 1s"));
	scratch_write("go-A-1", "");
	assert_true(terminal_await_gone(&t, "; A-2/"));
	assert_true(terminal_await(&t, "A-2/researching/1, "));
	scratch_write("go-A-2", "");
	assert_int_equal(terminal_end(&t), ERR_INPUT);
	assert_true(terminal_await_gone(&t, "A-2/researching/1, "));
}
