/*
 * A script under a policy: how the guard starts it, and how it reads the report. The program that
 * applies the policy is a script of the test here; tests/spec/security.md uses the real one.
 */
#include "src/machine/place.h"
#include "tests/lib/script_rig.h"
#include "src/local/script.h"

/* `program` gets the arguments of the real one; the report goes to $report. */
static void program(const char *text)
{
	CLEANUP(buf_release) struct buf all = BUF_INIT;

	buf_addf(&all,
		"#!/bin/sh\nprintf '%%s\\n' \"$@\" >args\nwhile [ $# -gt 2 ]; do\n"
		"[ \"$1\" = --report ] && report=$2\nshift\ndone\n%s\n",
		text);
	tree_write("program", buf_str(&all));
	assert_int_equal(chmod("program", 0755), 0);
	script_program = at("program");
}

static int setup(void **state)
{
	int rc = exec_rig_setup(state);

	assert_int_equal(mkdir("logs", 0755), 0);
	return rc;
}

static int teardown(void **state)
{
	script_program = "/proc/self/exe";
	return scratch_leave(state);
}

#define POLICY_TEST(name) UNIT_TEST(name, setup, teardown)

static void work_in(const char *directory)
{
	CLEANUP(context_close) struct context_file f = {0};
	const struct item_place place = {.directory = at(directory)};

	(void)mkdir(directory, 0755);
	assert_int_equal(context_open(&f, "W-1.md", CONTEXT_MUST_EXIST, &exec_err), 0);
	place_store(&f, &place);
	assert_int_equal(context_log(&f, &exec_err), 0);
}

/* The action of script_rig.h, with a policy. */
static void bound(const char *violation)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char *all, *end;

	exec_document("make all", "logs/x.log", 600);
	all = arena_dup(&arena, str_of(scratch_read("W-1.md")));
	end = strstr(all, "\"timeout_s\":600}");
	assert_non_null(end);
	end += strlen("\"timeout_s\":600");
	buf_add(&text, (struct str){all, (size_t)(end - all)});
	buf_addf(&text, ",\"security\":{\"policy\":\"build\"%s}%s", violation, end);
	tree_write("W-1.md", buf_str(&text));
	work_in("r");
}

static char *recorded(const char *before)
{
	return arena_printf(&arena, "%s \xe2\x80\x94 log: %s", before, at("logs/x.log"));
}

static int run_bound(const char *policy)
{
	return script_run(
		&arena, "W-1.md", ID, policy, NULL, SCRIPT_WAIT_FOREVER, &exec_line, &exec_err);
}

POLICY_TEST(the_program_gets_policy_directory_limit_report_and_command)
{
	bound("");
	program("echo said; echo '{\"verdict\":\"run\",\"status\":0}' >\"$report\"");
	assert_int_equal(run_bound(NULL), 0);
	assert_string_equal(exec_line, recorded("passed"));
	assert_recorded("passed", recorded("passed"));
	assert_string_equal(scratch_read("logs/x.log"), "said\n");
	assert_string_equal(scratch_read("args"),
		arena_printf(&arena,
			"policy\nexec\n--policy\nbuild\n--cwd\n%s/r\n--timeout\n600\n--report\n"
			"%s/.W-1.validating-1.exec.report\n--\nmake all\n",
			base, base));
	assert_int_equal(access(".W-1.validating-1.exec.report", F_OK), -1);
}

POLICY_TEST(its_exit_status_counts_where_nothing_was_denied)
{
	bound("");
	program("echo '{\"verdict\":\"run\",\"status\":3}' >\"$report\"; exit 3");
	assert_int_equal(run_bound(NULL), 0);
	assert_recorded("failed", recorded("failed"));
}

POLICY_TEST(its_time_limit_is_told_by_the_report)
{
	bound("");
	program("echo '{\"verdict\":\"run\",\"timed_out\":true}' >\"$report\"");
	assert_int_equal(run_bound(NULL), 0);
	assert_recorded("failed", recorded("failed \xe2\x80\x94 timed out after 600 s"));
}

POLICY_TEST(a_denial_is_recorded_with_its_rule)
{
	char *first = recorded("failed \xe2\x80\x94 security violation: write 'x': no");

	bound(",\"violation\":\"validation_fail\"");
	program("echo '{\"verdict\":\"deny\",\"rule\":\"write\",\"word\":\"x\",\"reason\":\"no\"}' "
		">\"$report\"; exit 1");
	assert_int_equal(run_bound(NULL), 0);
	assert_string_equal(exec_line, first);
	assert_recorded("failed",
		arena_printf(&arena,
			"%s\n\n{\"status\":\"failed\",\"violation\":\"validation_fail\",\"rule\":"
			"\"write\",\"word\":\"x\",\"reason\":\"no\"}",
			first));
	assert_non_null(
		strstr(scratch_read("W-1.md"), "\"violation\":\"validation_fail\",\"answered\""));
}

POLICY_TEST(a_denial_does_not_pass_whatever_the_exit_status)
{
	bound("");
	program("echo '{\"verdict\":\"deny\",\"rule\":\"write\",\"reason\":\"no\"}' >\"$report\"");
	assert_int_equal(run_bound(NULL), 0);
	assert_non_null(strstr(exec_line, "security violation"));
	assert_non_null(
		strstr(scratch_read("W-1.md"), "\"violation\":\"hard_abort\",\"answered\""));
}

POLICY_TEST(without_a_report_nothing_is_recorded)
{
	static const char *const programs[] = {"exit 0", "exit 3", ": >\"$report\"",
		"echo '{\"status\":0}' >\"$report\"", "kill -KILL $$"};

	for (size_t i = 0; i < COUNT(programs); i++) {
		bound("");
		program(programs[i]);
		assert_fails(run_bound(NULL), exec_err, ERR_SYSTEM);
		assert_non_null(strstr(exec_err.text, "nothing ran under the policy 'build'"));
		assert_not_recorded();
	}
}

POLICY_TEST(why_nothing_ran_is_told)
{
	bound("");
	program("echo '{\"verdict\":\"none\",\"started\":false,\"error\":\"no such layer\"}' "
		">\"$report\"; exit 4");
	assert_int_equal(run_bound(NULL), -1);
	assert_non_null(
		strstr(exec_err.text, ": nothing ran under the policy 'build': no such layer"));
	assert_not_recorded();
}

POLICY_TEST(an_old_report_counts_for_nothing)
{
	bound("");
	tree_write(".W-1.validating-1.exec.report", STR("{\"verdict\":\"run\",\"status\":0}"));
	program("exit 0");
	assert_int_equal(run_bound(NULL), -1);
	assert_not_recorded();
}

POLICY_TEST(a_program_that_is_not_there_runs_nothing)
{
	bound("");
	script_program = at("none");
	assert_int_equal(run_bound(NULL), -1);
	assert_not_recorded();
}

POLICY_TEST(an_action_without_a_policy_takes_one_that_is_wished)
{
	exec_document("make; make 'x'", "logs/x.log", 600);
	work_in("a b'c");
	program("echo '{\"verdict\":\"run\",\"status\":0}' >\"$report\"");
	assert_int_equal(run_bound("readonly"), 0);
	assert_recorded("passed", recorded("passed"));
	assert_non_null(strstr(scratch_read("args"),
		arena_printf(&arena, "--policy\nreadonly\n--cwd\n%s/a b'c\n", base)));
	assert_non_null(strstr(scratch_read("args"), "\n--\nmake; make 'x'\n"));
}

POLICY_TEST(another_form_of_command_is_taken_as_it_is)
{
	exec_document("cd /r && make", "logs/x.log", 600);
	program("echo '{\"verdict\":\"run\",\"status\":0}' >\"$report\"");
	assert_int_equal(run_bound("readonly"), 0);
	assert_non_null(strstr(scratch_read("args"), "--cwd\n.\n"));
	assert_non_null(strstr(scratch_read("args"), "\n--\ncd /r && make\n"));
}

POLICY_TEST(a_bound_action_takes_no_other_policy)
{
	bound("");
	program("echo '{\"verdict\":\"run\",\"status\":0}' >\"$report\"");
	assert_fails(run_bound("developer"), exec_err, ERR_STATE);
	assert_error(&exec_err, "dev-team: '" ID "' runs under the policy 'build'");
	assert_not_recorded();
	assert_int_equal(run_bound("build"), 0);
}

POLICY_TEST(a_broken_security_is_refused)
{
	bound(",\"violation\":\"perhaps\"");
	assert_fails(run_bound(NULL), exec_err, ERR_INPUT);
	assert_non_null(
		strstr(exec_err.text, "'violation' must be 'hard_abort' or 'validation_fail'"));
}
