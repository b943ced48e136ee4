#include "src/sys/git.h"
#include "tests/lib/git_rig.h"

/* A `gh` that prints `said` and exits with `status`; said NULL: no `gh`. */
static int checks(const char *said, int status, char **text)
{
	CLEANUP(base_free) char *before = strdup(getenv("PATH"));
	CLEANUP(buf_release) struct buf script = BUF_INIT;
	int rc;

	buf_addf(&script, "rm -rf bin; mkdir bin; ");
	if (said)
		buf_addf(&script,
			"{ echo '#!/bin/sh'; echo \"/usr/bin/printf '%s'\"; echo 'echo "
			"\"$*|$GH_TOKEN\" >%s'; echo exit %d; } >bin/gh; chmod +x bin/gh",
			said, at("gh.args"), status);
	sh(script.s);
	setenv("PATH", at("bin"), 1);
	rc = git_failing_checks(&arena, at("r"), "https://github.com/o/r/pull/7", text, &err);
	setenv("PATH", before, 1);
	return rc;
}

GIT_TEST(failing_checks_are_the_lines_that_say_so)
{
	char *text;

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

GIT_TEST(passing_pending_and_missing_checks_are_no_failures)
{
	char *text;

	assert_int_equal(checks("build\tpass\t1m\tu\\n", 0, &text), 0);
	assert_string_equal(text, "");
	assert_int_equal(checks("build\tpending\t0\tu\\n", 8, &text), 0);
	assert_string_equal(text, "");
	assert_int_equal(checks("no checks reported on the branch\\n", 1, &text), 0);
	assert_string_equal(text, "");
}

GIT_TEST(without_gh_there_are_no_failing_checks)
{
	char *text;

	assert_int_equal(checks(NULL, 0, &text), 0);
	assert_string_equal(text, "");
	assert_int_equal(git_failing_checks(&arena, at("r"),
				 "https://gitlab.example/o/r/-/merge_requests/1", &text, &err),
		0);
	assert_string_equal(text, "");
}

GIT_TEST(a_gh_that_fails_is_told)
{
	char *text;

	assert_fails(
		checks("To get started, please run: gh auth login\\n", 4, &text), err, ERR_SYSTEM);
	assert_string_equal(
		err.text, "'gh pr checks' failed: To get started, please run: gh auth login");
	assert_string_equal(text, "");
}
