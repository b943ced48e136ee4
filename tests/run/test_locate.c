/* locate.h: what is found from a command line, the environment and the working directory. */
#include "src/run/locate.h"
#include "tests/lib/git_rig.h"

static const char *path; /* what was found */

/* The repository `r`, an installation `root`, and the working directory r/sub. */
static int enter(void **state)
{
	if (rig_setup(state) < 0)
		return -1;
	scratch_write("root/workflows/implement-task.md", "");
	scratch_write("root/workflows/fix-issue.md", "");
	scratch_write("r/sub/own", "");
	path = NULL;
	setenv("DEV_TEAM_ROOT", at("root"), 1);
	unsetenv("ARTIFACTS_DIR");
	unsetenv("DEV_TEAM_STATE_DIR");
	return chdir(at("r/sub"));
}

#define LOCATE_TEST(name) UNIT_TEST(name, enter, scratch_leave)

/* What was found, relative to the scratch directory, or the error. */
static const char *found(int rc)
{
	size_t n = strlen(base);

	if (rc < 0)
		return err.text;
	if (!path)
		return "-";
	return strncmp(path, base, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}

LOCATE_TEST(a_workflow_is_a_path_a_shipped_name_or_a_file)
{
	static const char *const rows[][2] = {
		{"implement", "root/workflows/implement-task.md"},
		{"fix", "root/workflows/fix-issue.md"},
		{"own", "r/sub/own"},
		{"./implement", "r/sub/implement"},
		{"absent.md", "r/sub/absent.md"},
		{"/absent/x", "/absent/x"},
		{"absent", "no workflow 'absent': give one of 'dev-team workflow new --list', a "
			   "name in .dev-team/workflows, or the path of a workflow file"},
	};

	scratch_write("r/sub/fix", ""); /* a shipped name comes before a file */
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_string_equal(
			found(locate_workflow(&arena, rows[i][0], NULL, NULL, &path, &err)),
			rows[i][1]);
	assert_string_equal(found(locate_workflow_file(&arena, "fix", NULL, &path, &err)), "fix");
}

LOCATE_TEST(a_repository_is_found_from_within)
{
	sh("git -C r worktree add -q ../w 2>log; mkdir w/deep; git init -q --bare bare; mkdir no");
	assert_string_equal(found(locate_repository(&arena, NULL, &path, &err)), "r");
	assert_string_equal(found(locate_repository(&arena, at("w/deep"), &path, &err)), "w");
	assert_int_equal(locate_repository(&arena, at("bare"), &path, &err), -1);
	assert_non_null(strstr(err.text, "is a bare repository"));
	assert_fails(locate_repository(&arena, at("no"), &path, &err), err, ERR_STATE);
}

LOCATE_TEST(artifacts_are_given_or_in_the_state_directory)
{
	assert_string_equal(found(locate_artifacts(&arena, NULL, NULL, &path, &err)),
		".home/.dev-team/org/o/artifacts");
	setenv("ARTIFACTS_DIR", "a", 1);
	assert_string_equal(found(locate_artifacts(&arena, NULL, NULL, &path, &err)), "r/sub/a");
	assert_string_equal(
		found(locate_artifacts(&arena, "given", NULL, &path, &err)), "r/sub/given");
	assert_string_equal(found(locate_artifacts(&arena, "", NULL, &path, &err)),
		"--artifacts must be a directory, not ''");
	unsetenv("ARTIFACTS_DIR");
}

LOCATE_TEST(resources_are_given_or_in_the_repository)
{
	assert_string_equal(found(locate_resources(&arena, NULL, NULL, &path, &err)), "-");
	assert_string_equal(found(locate_resources_required(&arena, NULL, NULL, &path, &err)),
		"no directory of resources: give --resources, or create .dev-team/resources");
	tree_mkdirs(at("r/.ai-sdlc"));
	assert_string_equal(found(locate_resources(&arena, NULL, NULL, &path, &err)), "r/.ai-sdlc");
	tree_mkdirs(at("r/.dev-team/resources"));
	assert_string_equal(
		found(locate_resources(&arena, NULL, NULL, &path, &err)), "r/.dev-team/resources");
	assert_string_equal(found(locate_resources(&arena, "own", NULL, &path, &err)), "r/sub/own");
	assert_string_equal(found(locate_resources(&arena, "absent", NULL, &path, &err)),
		"no resources at 'absent'");
}
