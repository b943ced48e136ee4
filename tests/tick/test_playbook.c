/*
 * The playbook: which mode a failure is of, and files with faults.
 */
#include "src/tick/recover.h"
#include "tests/lib/scratch.h"

static struct playbook playbook;
static struct error err;

UNIT_TEST(each_shipped_mode_has_its_failures, scratch_make, scratch_remove)
{
	static const struct {
		const char *text, *mode; /* NULL: none */
	} rows[] = {
		{"push declined due to repository rule violations: Secret Scanning",
			"SecretScanBlocked"},
		{"push declined due to repository rule violations", NULL},
		{"protected branch hook declined: queued for merging", "PushRaceWithMergeQueue"},
		{"protected branch hook declined", NULL},
		{"the base branch was deleted", "StackedPRBaseSquashed"},
		{"error: could not apply 1234567", "RebaseConflict"},
		{"CONFLICT (content): Merge conflict in a.c", "RebaseConflict"},
		{"npm run test: 3 failed", "VerificationFailure"},
		{"eslint: exit status 2", "VerificationFailure"},
		{"eslint: exit status 0", NULL},
		{"'fixing-pr' gave 'max_retries'", "ReviewerMajorOrCritical"},
		{"sh: pnpm: command not found", "EnvHookFailure"},
		{"attestation: the tree is another one: mismatch", "AttestationVerifyMismatch"},
		{"nobody can", NULL},
		{"", NULL},
	};

	assert_int_equal(playbook_load(&arena, base, &playbook, &err), 0);
	assert_int_equal(playbook.n, 9);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct playbook_mode *m = playbook_find(&playbook, str_of(rows[i].text));

		if (!m != !rows[i].mode || (m && strcmp(m->name, rows[i].mode) != 0))
			fail_msg("%s: %s", rows[i].text, m ? m->name : "none");
	}
	assert_null(playbook_find_idle(&playbook, 7199));
	assert_string_equal(playbook_find_idle(&playbook, 7200)->name, "LongRunningPRBlocksWorker");
}

#define MODE "- {mode: A, budget: 1, action: retry, feedback: x"

TEST(a_file_with_a_fault_is_refused_at_its_place)
{
	static const char *const rows[][2] = {
		{"{}", "f:1:1: a playbook is a list of at most 100 modes"},
		{"- 1", "f:1:3: a mode is a map"},
		{MODE "}", "f:1:3: mode 'A' must have either 'match' or 'idle'"},
		{MODE ", match: [a], idle: 5}",
			"f:1:3: mode 'A' must have either 'match' or 'idle'"},
		{MODE ", idle: 5, wait: 5}", "or 'idle', without 'wait'"},
		{MODE ", match: ['(']}", "f:1:3: '(' is no regular expression: "},
		{MODE ", match: a, more: 1}", "'match' must be a list"},
		{MODE ", match: [a], more: 1}", "unknown key 'more'"},
		{MODE ", match: [a], wait: -1}", "'wait' must be"},
		{MODE ", idle: 0}", "'idle' must be"},
		{"- {mode: A, budget: 1, action: sleep, feedback: x, match: [a]}",
			"'action' must be"},
		{"- {mode: A, budget: 101, action: park, feedback: x, match: [a]}",
			"'budget' must be"},
		{"- {mode: A, budget: 1, action: park, match: [a]}", "'feedback' is missing"},
		{"- {mode: A, match: [a], budget: 7, action: park, feedback: x}",
			"f:1:33: a mode with 'park' repeats nothing: 'budget' and 'wait' must be "
			"0"},
		{"- {mode: A, match: [a], budget: 0, wait: 60, action: park, feedback: x}",
			"f:1:42: a mode with 'park' repeats nothing"},
		{MODE ", match: [a]}\n" MODE ", match: [b]}", "f:2:3: mode 'A' is given twice"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char line[2048];

		assert_int_equal(
			playbook_parse(&arena, "f", str_of(rows[i][0]), &playbook, &err), -1);
		error_format(&err, line, sizeof(line));
		if (!strstr(line, rows[i][1]))
			fail_msg("%s: %s", rows[i][0], line);
	}
}
