#include "src/base/json.h"
#include "src/cli/cli.h"
#include "tests/lib/git_rig.h"

static struct buf out;

/* All is well here: a repository with an origin, programs that answer, a home to write to. */
static int fresh(void **state)
{
	if (rig_setup(state) < 0)
		return -1;
	setenv("PATH", arena_printf(&arena, "%s/bin:/usr/bin:/bin", base), 1);
	setenv("DEV_TEAM_ROOT", at("root"), 1);
	unsetenv("DEV_TEAM_STATE_DIR");
	sh("mkdir -p bin root/workflows r/scripts && touch r/scripts/validate.sh\n"
	   "touch root/workflows/implement-task.md root/workflows/fix-issue.md bin/dev-team\n"
	   "printf '#!/bin/sh\\necho gh version 2\\n' >bin/gh\n"
	   "printf '#!/bin/sh\\necho \"9 (Claude Code)\"\\n' >bin/claude && chmod +x bin/*");
	return 0;
}

static int done(void **state)
{
	buf_release(&out);
	return scratch_remove(state);
}

static int doctor(const char *repo, bool permissions)
{
	char *argv[] = {
		(char *)"doctor", (char *)(permissions ? "--permissions" : "--repo"), (char *)repo};

	buf_clear(&out);
	return option_dispatch(&arena, &cli_program, repo ? 3 : 2, argv, &out, &err);
}

static int look(void)
{
	return doctor(at("r"), false);
}

static void assert_line(const char *health, const char *what, const char *detail)
{
	const char *line = arena_printf(&arena, "%-4s  %-12s  %s", health, what, detail);

	if (!strstr(out.s, line))
		fail_msg("no '%s' in\n%s", line, out.s);
}

#define DOCTOR_TEST(name) UNIT_TEST(name, fresh, done)

DOCTOR_TEST(where_all_is_there_all_is_ok)
{
	assert_int_equal(look(), 0);
	assert_line("ok", "git", "git version ");
	assert_line("ok", "libgit2", "");
	assert_line("ok", "gh", "gh version 2\n");
	assert_line("ok", "gh login", "logged in\n");
	assert_line("ok", "claude", "9 (Claude Code)\n");
	assert_line("ok", "state dir", arena_printf(&arena, "%s/.home/.dev-team\n", base));
	assert_line("ok", "locks", "");
	assert_line("ok", "workflows", "");
	assert_line("ok", "command", "");
	assert_line("ok", "origin", "org/o\n");
	assert_line("ok", "author", "");
	assert_line("ok", "validation", "");
	assert_null(strstr(out.s, "warn  origin"));
	assert_null(strstr(out.s, "fail"));
}

DOCTOR_TEST(looking_makes_nothing)
{
	assert_int_equal(look(), 0);
	assert_false(path_exists(at(".home/.dev-team")));
}

DOCTOR_TEST(what_a_run_may_do_without_is_a_warning)
{
	sh("rm bin/gh bin/claude bin/dev-team r/scripts/validate.sh; git -C r remote set-head "
	   "origin -d");
	assert_int_equal(look(), 0);
	assert_line("warn", "claude", "not found: ");
	assert_line("warn", "command", "dev-team is not on PATH here");
	assert_line("warn", "validation", "no 'scripts/validate.sh' in '");
	assert_line("ok", "branch",
		"main is the default branch of 'origin' (origin/HEAD is not set here: ");
}

DOCTOR_TEST(a_gh_without_a_login_is_a_warning)
{
	sh("printf '#!/bin/sh\\n[ $1 = auth ] || exec echo gh version 2\\necho You are not logged "
	   "in >&2; exit 1\\n' >bin/gh");
	assert_int_equal(look(), 0);
	assert_line(
		"warn", "gh login", "You are not logged in: run 'gh auth login' or set GH_TOKEN");
}

DOCTOR_TEST(the_remote_decides_which_program_of_a_forge_is_needed)
{
	/* nothing is asked over a network */
	sh("rm bin/gh; git -C r config url.\"$PWD/none/\".insteadOf https://\n"
	   "git -C r remote set-url origin https://github.com/acme/shop.git");
	(void)look();
	assert_line("warn", "gh", "not found: ");
	buf_clear(&out);
	sh("git -C r remote set-url origin https://gitlab.com/acme/shop.git");
	(void)look();
	assert_line("warn", "glab", "not found: ");
	assert_null(strstr(out.s, "  gh "));
	buf_clear(&out);
	sh("git -C r remote set-url origin https://codeberg.org/acme/shop.git");
	(void)look();
	assert_null(strstr(out.s, "  gh "));
	assert_null(strstr(out.s, "  glab "));
}

DOCTOR_TEST(what_a_run_needs_is_a_failure)
{
	sh("git -C r remote remove origin; rm root/workflows/fix-issue.md; touch .home/.dev-team\n"
	   "git config --global --unset user.email; git -C r config user.useConfigOnly true");
	assert_int_equal(look(), ERR_CHECK);
	assert_line("fail", "origin", "no remote 'origin' in '");
	assert_line("fail", "author", "git does not know who commits");
	assert_line("fail", "workflows", "no workflow 'fix-issue'");
	assert_line("fail", "state dir", "");
}

DOCTOR_TEST(a_given_directory_must_be_in_a_repository)
{
	assert_int_equal(doctor(base, false), ERR_CHECK);
	assert_line("fail", "repository", "'");
}

DOCTOR_TEST(a_long_path_is_reported_whole)
{
	CLEANUP(buf_release) struct buf root = BUF_INIT;

	buf_addf(&root, "%s/root", base);
	while (root.len < 3000)
		buf_adds(&root, "/.");
	setenv("DEV_TEAM_ROOT", root.s, 1);
	assert_int_equal(look(), 0);
	assert_line("ok", "workflows", arena_printf(&arena, "%s/workflows\n", root.s));
}

/* The commands' `allowed-tools` say the same: tests/e2e runs on them. */
DOCTOR_TEST(permissions_are_settings_of_the_client)
{
	CLEANUP(json_free) json *j = NULL;
	const json *allow;

	assert_int_equal(doctor(NULL, true), 0);
	assert_int_equal(json_parse(&j, buf_str(&out), &err), 0);
	allow = json_get(json_get(j, "permissions"), "allow");
	assert_true(json_is_array(allow));
	assert_int_equal(json_len(allow), 9);
	assert_string_equal(json_text(json_at(allow, 0)), "Bash");
}
