/*
 * headless.c: the hook that `dev-team run` gives a client without a terminal. The client has no
 * plugin and no person to answer a prompt; the hook allows or denies each tool call.
 */
#include <limits.h>
#include "src/harness/harness.h"
#include "src/hook/hook_internal.h"
#include "src/policy/check.h"
#include "src/policy/clearance.h"
#include "src/sys/path.h"

bool hook_headless(struct persona *out)
{
	const char *policy = getenv(HARNESS_POLICY), *role = getenv(HARNESS_ROLE);

	*out = (struct persona){.name = role && *role ? role : "agent", .policy = policy};
	return policy && *policy;
}

/* `file`, or what it becomes, is below `directory`. */
static bool headless_is_below(struct arena *a, const char *file, const char *directory)
{
	char real[PATH_MAX], of[PATH_MAX];

	if (!directory || !*directory || !realpath(directory, of))
		return false;
	while (!realpath(file, real) && !path_exists(file) && file[0] == '/' && file[1])
		file = arena_dup(a, path_dir(file));
	return realpath(file, real) && (strcmp(real, of) == 0 || path_is_below(of, real));
}

static bool is_own_log(struct arena *a, const char *file)
{
	const char *document = getenv("DEV_TEAM_CONTEXT_FILE"), *id = getenv("DEV_TEAM_ID");

	return document && id &&
	       headless_is_below(a, file, path_join(a, arena_dup(a, path_dir(document)), "logs")) &&
	       str_starts(path_base(file), arena_printf(a, "%s-", id));
}

bool hook_headless_may(struct arena *a, const char *project, const char *file, bool write)
{
	const char *artifacts = policy_artifacts(a);
	struct str root = str_of(project);

	/* The checkout around the worktree is no temporary directory either. */
	project = arena_dup(a, str_sub(root, 0, str_find(root, STR("/.dev-team/worktrees/"))));
	if (file[0] != '/' || strstr(file, "/.."))
		return false;
	if (hook_is_temporary(a, project, file) ||
		(artifacts && headless_is_below(a, file, artifacts)))
		return true;
	return !write && (is_own_log(a, file) || headless_is_below(a, file, getenv(HARNESS_SKILL)));
}
