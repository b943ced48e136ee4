#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "src/base/json.h"
#include "src/base/path.h"
#include "src/base/process.h"
#include "src/cli/cli.h"

static char base[] = "/tmp/test_doctor.XXXXXX";
static struct arena arena;
static struct buf out;
static struct error err;

static void sh(const char *script)
{
	const char *argv[] = {"/bin/sh", "-ec", script, NULL};
	struct process p = {.argv = argv, .cwd = base, .output = STDERR_FILENO};
	struct process_end end;

	assert_int_equal(process_run(&p, &end, &err), 0);
	assert_int_equal(end.status, 0);
}

/* All is well here: a repository with an origin, programs that answer, a home to write to. */
static int fresh(void **state)
{
	(void)state;
	sh("rm -rf -- * .home && mkdir .home bin root root/workflows && cd root/workflows\n"
	   "touch implement-task.md fix-issue.md && cd ../../bin && touch dev-team\n"
	   "printf '#!/bin/sh\\necho gh version 2\\n' >gh && printf '#!/bin/sh\\necho \"9 (Claude "
	   "Code)\"\\n' >claude && chmod +x * && cd ..\n"
	   "git config --global user.name T && git config --global user.email t@e\n"
	   "git init -q --bare -b main org/o.git && git clone -q org/o.git r 2>/dev/null && cd r\n"
	   "git checkout -q -b main && mkdir scripts && touch scripts/validate.sh && git add .\n"
	   "git commit -qm c && git push -q origin main && git remote set-head origin main");
	return 0;
}

static int doctor(const char *repo, bool permissions)
{
	struct args args = {.value = {permissions ? "" : NULL, repo}};
	struct invocation in = {.arena = &arena, .args = &args, .out = &out};

	buf_clear(&out);
	return verb_doctor.run(&in, &err);
}

static int look(void)
{
	return doctor(arena_printf(&arena, "%s/r", base), false);
}

static void assert_line(const char *health, const char *what, const char *detail)
{
	const char *line = arena_printf(&arena, "%-4s  %-12s  %s", health, what, detail);

	if (!strstr(out.s, line))
		fail_msg("no '%s' in\n%s", line, out.s);
}

static void where_all_is_there_all_is_ok(void **state)
{
	(void)state;
	assert_int_equal(look(), 0);
	assert_line("ok", "git", "git version ");
	assert_line("ok", "libgit2", "");
	assert_line("ok", "gh", "gh version 2\n");
	assert_line("ok", "gh login", "logged in\n");
	assert_line("ok", "claude", "9 (Claude Code)\n");
	assert_line("ok", "state folder", arena_printf(&arena, "%s/.home/.dev-team\n", base));
	assert_line("ok", "locks", "");
	assert_line("ok", "workflows", "");
	assert_line("ok", "command", "");
	assert_line("ok", "origin", "org/o\n");
	assert_line("ok", "author", "");
	assert_line("ok", "validation", "");
	assert_null(strstr(out.s, "warn  origin"));
	assert_null(strstr(out.s, "fail"));
}

static void looking_makes_nothing(void **state)
{
	(void)state;
	assert_int_equal(look(), 0);
	assert_false(path_exists(arena_printf(&arena, "%s/.home/.dev-team", base)));
}

static void what_a_run_may_do_without_is_a_warning(void **state)
{
	(void)state;
	sh("rm bin/gh bin/claude bin/dev-team r/scripts/validate.sh; git -C r remote set-head "
	   "origin -d");
	assert_int_equal(look(), 0);
	assert_line("warn", "gh", "not found: ");
	assert_line("warn", "claude", "not found: ");
	assert_line("warn", "command", "dev-team is not on PATH here");
	assert_line("warn", "validation", "no scripts/validate.sh: ");
	assert_line("warn", "origin/HEAD", "not set");
}

static void a_gh_without_a_login_is_a_warning(void **state)
{
	(void)state;
	sh("printf '#!/bin/sh\\n[ $1 = auth ] || exec echo gh version 2\\necho You are not logged "
	   "in >&2; exit 1\\n' >bin/gh");
	assert_int_equal(look(), 0);
	assert_line(
		"warn", "gh login", "You are not logged in: run 'gh auth login' or set GH_TOKEN");
}

static void what_a_run_needs_is_a_failure(void **state)
{
	(void)state;
	sh("git -C r remote remove origin; rm root/workflows/fix-issue.md; touch .home/.dev-team\n"
	   "git config --global --unset user.email; git -C r config user.useConfigOnly true");
	assert_int_equal(look(), ERR_CHECK);
	assert_line("fail", "origin", "no remote 'origin' in '");
	assert_line("fail", "author", "git does not know who commits");
	assert_line("fail", "workflows", "no workflow 'fix-issue' in '");
	assert_line("fail", "state folder", "");
}

static void a_given_folder_must_be_in_a_repository(void **state)
{
	(void)state;
	assert_int_equal(doctor(base, false), ERR_CHECK);
	assert_line("fail", "repository", "'");
}

/* The commands' `allowed-tools` say the same: tests/e2e runs on them. */
static void permissions_are_settings_of_the_client(void **state)
{
	CLEANUP(json_free) json *j = NULL;
	const json *allow;

	(void)state;
	assert_int_equal(doctor(NULL, true), 0);
	assert_int_equal(json_parse(&j, buf_str(&out), &err), 0);
	allow = json_get(json_get(j, "permissions"), "allow");
	assert_true(json_is_array(allow));
	assert_int_equal(json_len(allow), 6);
	assert_string_equal(json_text(json_at(allow, 0)), "Bash");
}

static int prepare(void **state)
{
	(void)state;
	if (!mkdtemp(base))
		return -1;
	setenv("HOME", path_join(&arena, base, ".home"), 1);
	setenv("PATH", arena_printf(&arena, "%s/bin:/usr/bin:/bin", base), 1);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	setenv("GIT_CEILING_DIRECTORIES", "/tmp", 1);
	setenv("DEV_TEAM_ROOT", path_join(&arena, base, "root"), 1);
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("DEV_TEAM_STATE_DIR");
	return 0;
}

static int tidy(void **state)
{
	(void)state;
	sh("rm -rf -- * .home");
	buf_release(&out);
	arena_release(&arena);
	return rmdir(base);
}

#define TEST(name) cmocka_unit_test_setup(name, fresh)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(where_all_is_there_all_is_ok),
		TEST(looking_makes_nothing),
		TEST(what_a_run_may_do_without_is_a_warning),
		TEST(a_gh_without_a_login_is_a_warning),
		TEST(what_a_run_needs_is_a_failure),
		TEST(a_given_folder_must_be_in_a_repository),
		TEST(permissions_are_settings_of_the_client),
	};

	return cmocka_run_group_tests(tests, prepare, tidy);
}
