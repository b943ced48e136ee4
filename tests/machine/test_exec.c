#include <poll.h>
#include <sys/syscall.h>
#include "src/machine/place.h"
#include "src/store/disk.h"
#include "src/sys/digest.h"
#include "tests/lib/run.h"
#include "tests/lib/script_rig.h"

/* Where the recorded answer says that the log is kept; NULL: nowhere. */
static const char *blob_path(void)
{
	static const char mark[] = "\"log\":\"";
	const char *at = strstr(scratch_read("W-1.events.jsonl"), mark);

	at = at ? at + sizeof(mark) - 1 : NULL;
	return at ? arena_dup(&arena, (struct str){at, strcspn(at, "\"")}) : NULL;
}

static void assert_log_kept(const char *expected)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	assert_non_null(blob_path());
	assert_int_equal(store_read_blob(store_backend(), blob_path(), &text, &exec_err), 0);
	assert_string_equal(text.s, expected);
}

EXEC_TEST(a_good_script_has_passed)
{
	const char *expected = arena_printf(&arena, "passed — log: %s/logs/a.log", base);

	exec_finish("echo out; echo err >&2; wc -c");
	assert_string_equal(exec_line, expected);
	assert_recorded("passed", expected);
	assert_string_equal(scratch_read("logs/a.log"), "out\nerr\n0\n");
	assert_log_kept("out\nerr\n0\n");
	sh("echo more >>logs/a.log");
	assert_log_kept("out\nerr\n0\n");
	assert_non_null(strstr(scratch_read("W-1.events.jsonl"),
		"\"type\":\"answer\",\"action\":\"" ID "\",\"result\":\"passed\""));
	assert_no_lock_file();
}

EXEC_TEST(a_script_that_ends_badly_has_failed)
{
	const char *expected = arena_printf(&arena, "failed — log: %s", at("logs/a.log"));

	exec_finish("echo 'it'\"'\"'s wrong'; exit 3");
	assert_string_equal(exec_line, expected);
	assert_recorded("failed", expected);
	assert_string_equal(scratch_read("logs/a.log"), "it's wrong\n");
}

EXEC_TEST(a_script_that_a_signal_ends_has_failed)
{
	exec_finish("kill -9 $$");
	assert_string_equal(exec_line, arena_printf(&arena, "failed — log: %s", at("logs/a.log")));
}

EXEC_TEST(at_the_time_limit_all_of_it_is_ended)
{
	exec_document(
		"sleep 1000 & echo $! >child; setsid sleep 1000 & echo $! >daemon; echo said; wait",
		"logs/a.log", 5);
	assert_int_equal(exec_run(SCRIPT_WAIT_FOREVER), 0);
	assert_string_equal(exec_line,
		arena_printf(&arena, "failed — timed out after 5 s — log: %s", at("logs/a.log")));
	assert_recorded("failed", exec_line);
	assert_string_equal(scratch_read("logs/a.log"), "said\n\ndev-team: timed out after 5 s\n");
	assert_log_kept(scratch_read("logs/a.log"));
	assert_true(is_gone(number_in("child")));
	assert_true(is_gone(number_in("daemon")));
	assert_no_lock_file();
}

EXEC_TEST(what_a_script_leaves_in_the_background_is_ended)
{
	exec_finish("setsid sh -c 'while echo x; do :; done' & echo $! >daemon");
	assert_true(is_gone(number_in("daemon")));
	assert_log_kept(scratch_read("logs/a.log"));
}

EXEC_TEST(a_second_call_prints_the_answer_again)
{
	const char *first;

	exec_finish("echo x >>count");
	first = exec_line;
	tree_write(".W-1.validating-1.exec", STR("1234567 1\n")); /* as a killed guard leaves it */
	assert_int_equal(exec_run(0), 0);
	assert_string_equal(exec_line, first);
	assert_string_equal(scratch_read("count"), "x\n");
	assert_no_lock_file();
}

EXEC_TEST(other_actions_are_refused)
{
	exec_document("true", "logs/a.log", 600);
	assert_fails(script_run(&arena, "W-1.md", "W-1/validating/2", NULL, NULL, 0, &exec_line,
			     &exec_err),
		exec_err, ERR_STATE);
	assert_string_equal(exec_err.text,
		"action 'W-1/validating/2' is stale or unknown: it is not outstanding");
	assert_fails(script_run(&arena, "W-1.md", "W-1/reviewing/1", NULL, NULL, 0, &exec_line,
			     &exec_err),
		exec_err, ERR_INPUT);
	assert_string_equal(exec_err.text, "action 'W-1/reviewing/1' is not a " WIRE_SCRIPT_ACTION
					   " but a " WIRE_AGENT_ACTION);
	assert_fails(script_run(&arena, "none.md", ID, NULL, NULL, 0, &exec_line, &exec_err),
		exec_err, ERR_INPUT);
	assert_no_lock_file();
}

EXEC_TEST(another_run_starts_with_an_empty_log)
{
	assert_int_equal(mkdir("logs", 0700), 0);
	tree_write("logs/a.log", STR("old text\n"));
	exec_finish("echo new");
	assert_string_equal(scratch_read("logs/a.log"), "new\n");
}

EXEC_TEST(a_log_has_a_bound_and_the_script_goes_on)
{
	exec_finish("head -c 70000000 /dev/zero; echo end; echo x >>count");
	assert_recorded("passed", exec_line);
	assert_string_equal(scratch_read("count"), "x\n");
	assert_sh("wc -c <logs/a.log; tail -n 1 logs/a.log; head -c 67108864 logs/a.log | tr -d "
		  "'\\0' | wc -c",
		"67108908\n(dev-team: output over 64 MiB is left out)\n0\n");
	assert_sh(arena_printf(&arena, "cmp logs/a.log %s", blob_path()), "");
}

EXEC_TEST(a_log_that_just_fits_is_whole)
{
	exec_finish("head -c 67108864 /dev/zero");
	assert_sh("wc -c <logs/a.log", "67108864\n");
}

EXEC_TEST(a_log_that_cannot_be_written_is_told)
{
	tree_write("logs", STR(""));
	exec_document("echo x >>count", "logs/a.log", 600);
	assert_fails(exec_run(SCRIPT_WAIT_FOREVER), exec_err, ERR_SYSTEM);
	assert_non_null(strstr(exec_err.text, "cannot make directory '"));
	assert_int_equal(access("count", F_OK), -1);
	assert_no_lock_file();
}

/* The script runs to its end while another process holds the document's lock. */
static void run_unrecorded(void)
{
	struct disk_lock *held = NULL;

	exec_document(GATED, "logs/a.log", 600);
	setenv("DEV_TEAM_LOCK_WAIT_MS", "10", 1);
	assert_int_equal(exec_run(0), 0);
	(void)number_in("pid");
	assert_int_equal(disk_lock_take(&held, ".W-1.lock", 0, &exec_err), 0);
	open_gate();
	assert_int_equal(exec_run(SCRIPT_WAIT_FOREVER), -1);
	unsetenv("DEV_TEAM_LOCK_WAIT_MS");
	disk_lock_drop(&held);
}

EXEC_TEST(a_result_that_cannot_be_recorded_is_kept_for_the_next_call)
{
	run_unrecorded();
	assert_int_equal(exec_err.code, ERR_STATE);
	assert_non_null(strstr(exec_err.text,
		"the result of '" ID "' is kept, and the same command records it: '"));
	assert_non_null(strstr(exec_err.text, "is locked by another process"));
	assert_not_recorded();
	assert_int_equal(exec_run(0), 0);
	assert_recorded("passed", exec_line);
	assert_string_equal(scratch_read("count"), "x\n");
	assert_no_lock_file();
}

/* A step requests an action again under a new id only if no result of it can come. */
EXEC_TEST(a_script_whose_result_is_kept_counts_as_running)
{
	CLEANUP(context_close) struct context_file f = {0};

	run_unrecorded();
	assert_int_equal(context_open(&f, "W-1.md", CONTEXT_READ_ONLY, &exec_err), 0);
	assert_true(script_running(&f, ID));
	assert_false(script_running(&f, "W-1/validating/2"));
	assert_int_equal(exec_run(0), 0);
	assert_false(script_running(&f, ID));
}

EXEC_TEST(a_script_that_removes_its_lock_file_does_not_run_twice_at_once)
{
	struct pollfd guard = {.events = POLLIN};

	exec_document("mv .W-1.validating-1.exec guard; " GATED, "logs/a.log", 600);
	assert_int_equal(exec_run(0), 0);
	(void)number_in("pid");
	guard.fd = (int)syscall(SYS_pidfd_open, number_in("guard"), 0);
	assert_int_equal(exec_run(0), -1);
	assert_int_equal(exec_err.code, ERR_STATE);
	assert_no_lock_file();
	open_gate();
	assert_int_equal(poll(&guard, 1, WAIT_LIMIT_S * 1000), 1);
	close(guard.fd);
	assert_int_equal(exec_run(0), 0);
	assert_recorded("passed", exec_line);
	assert_string_equal(scratch_read("count"), "x\n");
}

EXEC_TEST(a_result_that_a_killed_guard_has_left_is_recorded)
{
	exec_document("echo x >>count", "logs/a.log", 600);
	tree_write(".W-1.validating-1.exec",
		STR("1234567 1\n{\"result\":\"failed\",\"text\":\"failed — log: a\"}\n"));
	assert_int_equal(exec_run(0), 0);
	assert_recorded("failed", "failed — log: a");
	assert_false(path_exists("count"));
	assert_no_lock_file();
}

EXEC_TEST(the_log_of_a_killed_guard_is_kept_with_its_result)
{
	exec_document("true", "logs/a.log", 600);
	tree_write(".W-1.validating-1.exec",
		STR("1234567 1\n{\"result\":\"failed\",\"text\":\"failed — log: a\"}\n"));
	sh("mkdir logs && echo out >logs/a.log");
	assert_int_equal(exec_run(0), 0);
	assert_log_kept("out\n");
}

EXEC_TEST(a_result_whose_log_cannot_be_kept_is_recorded_later)
{
	char sum[DIGEST_TEXT];
	const char *in_the_way;

	digest_text(STR("out\n"), sum);
	in_the_way = arena_printf(&arena, "blobs/a.log-%s.txt", sum);
	tree_mkdirs(in_the_way);
	exec_document("echo x >>count; echo out", "logs/a.log", 600);
	assert_int_equal(exec_run(SCRIPT_WAIT_FOREVER), -1);
	assert_non_null(strstr(exec_err.text, "is kept, and the same command records it: "));
	assert_not_recorded();
	assert_int_equal(rmdir(in_the_way), 0);
	assert_int_equal(exec_run(0), 0);
	assert_recorded("passed", exec_line);
	assert_log_kept("out\n");
	assert_string_equal(scratch_read("count"), "x\n");
}

EXEC_TEST(a_script_that_replaces_its_log_keeps_nothing_else)
{
	sh("echo mine >keys");
	exec_finish("ln -sf ../keys logs/a.log");
	assert_recorded("passed", exec_line);
	assert_null(blob_path());
}

EXEC_TEST(a_script_that_replaces_its_log_by_a_pipe_keeps_nothing)
{
	exec_finish("rm logs/a.log; mkfifo logs/a.log");
	assert_recorded("passed", exec_line);
	assert_null(blob_path());
}

EXEC_TEST(a_kept_result_that_is_refused_is_kept_no_longer)
{
	run_unrecorded();
	sh("sed -i 's/passed | failed/good | bad/' W-1.md");
	assert_fails(exec_run(0), exec_err, ERR_INPUT);
	assert_non_null(strstr(scratch_read("W-1.events.jsonl"), "\"type\":\"refusal\""));
	assert_no_lock_file();
}

EXEC_TEST(a_document_with_a_fault_does_not_cost_the_result)
{
	exec_document("cp W-1.md saved; echo broken >W-1.md", "logs/a.log", 600);
	assert_fails(exec_run(SCRIPT_WAIT_FOREVER), exec_err, ERR_INPUT);
	sh("cp saved W-1.md");
	assert_int_equal(exec_run(0), 0);
	assert_recorded("passed", exec_line);
	assert_no_lock_file();
}

EXEC_TEST(a_script_that_was_answered_does_not_run_again_for_an_older_document)
{
	exec_document("echo x >>count", "logs/a.log", 600);
	sh("cp W-1.md older");
	assert_int_equal(exec_run(SCRIPT_WAIT_FOREVER), 0);
	sh("cp older W-1.md");
	assert_fails(exec_run(SCRIPT_WAIT_FOREVER), exec_err, ERR_STATE);
	assert_string_equal(scratch_read("count"), "x\n");
	assert_no_lock_file();
}

EXEC_TEST(nothing_is_started_where_the_place_cannot_be_read)
{
	CLEANUP(context_close) struct context_file f = {0};

	exec_document("echo x >>count", "logs/a.log", 600);
	assert_int_equal(context_open(&f, "W-1.md", CONTEXT_MUST_EXIST, &exec_err), 0);
	context_put_key(&f, PLACE_KEY, STR("{"));
	assert_int_equal(context_log(&f, &exec_err), 0);
	context_close(&f);
	f = (struct context_file){0};
	assert_fails(exec_run(SCRIPT_WAIT_FOREVER), exec_err, ERR_INPUT);
	assert_non_null(strstr(exec_err.text, "key 'place' of"));
	assert_int_equal(access("count", F_OK), -1);
	assert_no_lock_file();
}

/* An editor that writes in place has written the document up to the middle of an action. */
EXEC_TEST(half_an_action_does_not_refuse_the_result)
{
	exec_document(
		"cp W-1.md saved; sed -i 's/\\(.*spawn_a\\).*/\\1/' W-1.md", "logs/a.log", 600);
	assert_fails(exec_run(SCRIPT_WAIT_FOREVER), exec_err, ERR_INPUT);
	assert_non_null(strstr(exec_err.text, "this is not JSON"));
	assert_null(strstr(scratch_read("W-1.events.jsonl"), "refusal"));
	sh("cp saved W-1.md");
	assert_int_equal(exec_run(0), 0);
	assert_recorded("passed", exec_line);
}

/* A take-over may be fencing it at this moment. */
EXEC_TEST(nothing_is_started_while_another_is_at_work_on_the_document)
{
	struct disk_lock *held = NULL;

	exec_document("echo x >>count", "logs/a.log", 600);
	assert_int_equal(disk_lock_take(&held, ".W-1.lock", 0, &exec_err), 0);
	setenv("DEV_TEAM_LOCK_WAIT_MS", "10", 1);
	assert_int_equal(exec_run(SCRIPT_WAIT_FOREVER), -1);
	unsetenv("DEV_TEAM_LOCK_WAIT_MS");
	assert_int_equal(exec_err.code, ERR_STATE);
	assert_int_equal(access("count", F_OK), -1);
	assert_int_equal(access(".W-1.validating-1.exec", F_OK), -1);
	disk_lock_drop(&held);
	assert_int_equal(exec_run(SCRIPT_WAIT_FOREVER), 0);
}

EXEC_TEST(a_result_by_another_hand_does_not_count)
{
	exec_document(GATED, "logs/a.log", 600);
	assert_int_equal(exec_run(0), 0);
	number_in("pid");
	sh("printf '\\n<!-- section:" WIRE_VALIDATION " -->\\n\\nfailed by hand\\n\\nmore\\n' "
	   ">>W-1.md");
	open_gate();
	assert_int_equal(exec_run(SCRIPT_WAIT_FOREVER), 0);
	assert_string_equal(exec_line, arena_printf(&arena, "passed — log: %s", at("logs/a.log")));
	assert_int_equal(exec_run(0), 0);
	assert_recorded("passed", exec_line);
}

EXEC_TEST(an_id_cannot_climb_out_of_the_directory)
{
	exec_document("true", "logs/a.log", 600);
	sh("mkdir -p in/deep && sed 's|W-1/validating/1|W-1/../../x/1|; "
	   "s|/logs/|/in/deep/logs/|' W-1.md >in/deep/W-1.md");
	assert_int_equal(script_run(&arena, "in/deep/W-1.md", "W-1/../../x/1", NULL, NULL,
				 SCRIPT_WAIT_FOREVER, &exec_line, &exec_err),
		0);
	assert_sh("find . -name 'x*'; ls -A in", "deep\n");
}

static void assert_log_refused(const char *log)
{
	exec_document("echo x >>count", log, 60);
	assert_fails(exec_run(SCRIPT_WAIT_FOREVER), exec_err, ERR_INPUT);
	assert_string_equal(exec_err.text,
		arena_printf(&arena, "'log_file' of '" ID "' is not in '%s/logs/': '%s'", base,
			at(log)));
	assert_false(path_exists("count"));
}

EXEC_TEST(a_log_lies_in_the_directory_of_the_logs)
{
	tree_write("keys", STR("mine\n"));
	assert_log_refused("keys");
	assert_log_refused("logs/../keys");
	assert_log_refused("logs/");
	assert_log_refused("logs");
	assert_string_equal(scratch_read("keys"), "mine\n");
}

EXEC_TEST(a_log_is_no_link_to_elsewhere)
{
	sh("echo mine >keys && mkdir logs && ln -s ../keys logs/a.log");
	exec_document("echo x >>count", "logs/a.log", 600);
	assert_int_equal(exec_run(SCRIPT_WAIT_FOREVER), -1);
	assert_non_null(strstr(exec_err.text, "cannot open log '"));
	assert_false(path_exists("count"));
	assert_string_equal(scratch_read("keys"), "mine\n");
}

EXEC_TEST(a_script_runs_as_long_as_its_file_is_locked)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd;

	exec_document("true", "logs/a.log", 600);
	assert_int_equal(context_open(&f, "W-1.md", CONTEXT_READ_ONLY, &exec_err), 0);
	assert_false(script_running(&f, ID));
	tree_write(".W-1.validating-1.exec", STR("1234567 1\n")); /* as a killed guard leaves it */
	assert_false(script_running(&f, ID));
	fd = open(".W-1.validating-1.exec", O_RDWR);
	assert_int_equal(fcntl(fd, F_OFD_SETLK, &whole), 0);
	assert_true(script_running(&f, ID));
	assert_false(script_running(&f, "W-1/validating/2"));
	close(fd);
	assert_false(script_running(&f, ID));
}
