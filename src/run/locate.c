#include <limits.h>
#include "context/file.h"
#include "src/run/locate.h"
#include "src/sys/digest.h"
#include "src/sys/git.h"
#include "src/sys/path.h"

static bool has_workflows(struct arena *a, const char *root)
{
	return path_exists(path_join(a, root, "workflows"));
}

static char *by_program(struct arena *a)
{
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	static const char *const places[] = {"..", "../..", "../share/dev-team"};

	if (n <= 0)
		return NULL;
	exe[n] = '\0';
	for (size_t i = 0; i < COUNT(places); i++) {
		char *dir = arena_dup(a, path_dir(exe)), *root = path_join(a, dir, places[i]),
		     real[PATH_MAX];

		if (has_workflows(a, root) && realpath(root, real))
			return arena_dup(a, str_of(real));
	}
	return NULL;
}

int plugin_root(struct arena *a, const char *given, char **root, struct error *err)
{
	const char *env = getenv("DEV_TEAM_ROOT");
	bool there;

	if (!given && env && *env)
		given = env;
	*root = given ? path_absolute(a, given) : by_program(a);
	if (!*root)
		return error_set(err, ERR_STATE,
			"cannot find the workflows that came with dev-team: give --plugin-root");
	if (given && path_check_exists(path_join(a, *root, "workflows"), &there, err) < 0)
		return -1;
	if (given && !there)
		return error_set(err, ERR_STATE, "no folder 'workflows' in '%s'", *root);
	return 0;
}

int workflow_path(
	struct arena *a, const char *name, const char *root, char **path, struct error *err)
{
	char *dir;
	bool there = false;

	if (strchr(name, '/') || str_ends(str_of(name), ".md")) {
		*path = path_absolute(a, name);
		return 0;
	}
	if (strcmp(name, "implement") == 0)
		name = "implement-task";
	else if (strcmp(name, "fix") == 0)
		name = "fix-issue";
	if (plugin_root(a, root, &dir, err) < 0)
		return -1;
	*path = arena_printf(a, "%s/workflows/%s.md", dir, name);
	if (id_valid(str_of(name)) && path_check_exists(*path, &there, err) < 0)
		return -1;
	if (there)
		return 0;
	if (path_check_exists(name, &there, err) < 0)
		return -1;
	if (there) {
		*path = path_absolute(a, name);
		return 0;
	}
	return error_set(err, ERR_INPUT,
		"no workflow '%.100s': shipped are implement-task and fix-issue; another is named "
		"by its file",
		name);
}

/* Looks for `.git` (a folder, or a file in a linked worktree) upwards: no library is needed for
 * that. */
int repo_root(struct arena *a, const char *given, char **root, struct error *err)
{
	char real[PATH_MAX];
	bool there;

	if (!realpath(given ? given : ".", real))
		return error_errno(err, "cannot find the repository '%s'", given ? given : ".");
	for (*root = arena_dup(a, str_of(real));; *root = arena_dup(a, path_dir(*root))) {
		if (path_check_exists(path_join(a, *root, ".git"), &there, err) < 0)
			return -1; /* the next one up is another repository's */
		if (there)
			return 0;
		if (strcmp(*root, "/") == 0)
			break;
	}
	if (path_exists(path_join(a, real, "HEAD")) && path_exists(path_join(a, real, "objects")))
		return error_set(
			err, ERR_STATE, "'%s' is a bare repository: a work tree is needed", real);
	return error_set(err, ERR_STATE,
		"'%s' is not in a git repository: go into one, or give --repo", real);
}

int context_file_path(struct arena *a, const char *given, const char *repo, const char *id,
	char **path, struct error *err)
{
	char *slug;

	if (given) {
		*path = path_absolute(a, given);
		return 0;
	}
	if (git_slug(a, repo, &slug, err) < 0)
		return -1;
	return context_path(a, slug, id, path, err);
}

enum { SHORT_DIGEST = 8 };

/* A repository that has no remote is known by its place. */
static char *local_slug(struct arena *a, const char *root)
{
	struct str base = path_base(root);
	char sum[DIGEST_TEXT];

	digest_text(str_of(root), sum);
	return arena_printf(a, "local/%s-%.*s", id_valid(base) ? arena_dup(a, base) : "repository",
		SHORT_DIGEST, sum);
}

int artifacts_folder(
	struct arena *a, const char *given, const char *repo, char **dir, struct error *err)
{
	const char *variable = getenv("ARTIFACTS_DIR");
	char *root, *base, *slug;
	struct error none;

	if (!given && variable && *variable)
		given = variable;
	if (given && *given) {
		*dir = path_absolute(a, given);
		return 0;
	}
	if (given)
		return error_set(err, ERR_USAGE, "--artifacts must be a folder, not ''");
	if (repo_root(a, repo, &root, err) < 0 || context_folder(a, &base, err) < 0)
		return -1;
	if (git_slug(a, root, &slug, &none) < 0)
		slug = local_slug(a, root);
	*dir = arena_printf(a, "%s/%s/artifacts", base, slug);
	return 0;
}

int resources_folder(
	struct arena *a, const char *given, const char *repo, char **dir, struct error *err)
{
	static const char *const usual[] = {".dev-team/resources", ".ai-sdlc"};
	struct error none;
	char *root;

	*dir = NULL;
	if (given) {
		*dir = path_absolute(a, given);
		return path_exists(*dir) ? 0
					 : error_set(err, ERR_USAGE, "no resources at '%s'", given);
	}
	if (repo_root(a, repo, &root, &none) < 0)
		return 0;
	for (size_t i = 0; i < COUNT(usual) && !*dir; i++)
		if (path_exists(path_join(a, root, usual[i])))
			*dir = path_join(a, root, usual[i]);
	return 0;
}
