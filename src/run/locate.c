#include <limits.h>
#include "context/file.h"
#include "src/base/error.h"
#include "src/event/event.h"
#include "src/graph/manifest.h"
#include "src/machine/engine.h"
#include "src/run/locate.h"
#include "src/setup/setup.h"
#include "src/sys/digest.h"
#include "src/sys/git.h"
#include "src/sys/path.h"

static char *installation_of_program(struct arena *a)
{
	const char *exe = path_own_program(a);
	static const char *const places[] = {"..", "../..", "../share/dev-team"};

	for (size_t i = 0; exe && i < COUNT(places); i++) {
		char *dir = arena_dup(a, path_dir(exe)), *root = path_join(a, dir, places[i]),
		     real[PATH_MAX];

		if (path_exists(path_join(a, root, "workflows")) && realpath(root, real))
			return arena_dup(a, str_of(real));
	}
	return NULL;
}

int locate_plugin(struct arena *a, const char *given, const char **root, struct error *err)
{
	const char *env = getenv("DEV_TEAM_ROOT");
	bool there;

	if (!given && env && *env)
		given = env;
	*root = given ? path_absolute(a, given) : installation_of_program(a);
	if (!*root)
		return error_set(err, ERR_STATE,
			"cannot find the workflows that came with dev-team: give --plugin-root");
	if (given && path_check_exists(path_join(a, *root, "workflows"), &there, err) < 0)
		return -1;
	if (given && !there)
		return error_set(err, ERR_STATE, "no directory 'workflows' in '%s'", *root);
	return 0;
}

const char *locate_agent_type(struct arena *a, const char *root, const char *role)
{
	bool typed = path_exists(arena_printf(a, "%s/agents/%s.md", root, role));

	return arena_printf(a, "dev-team:%s", typed ? role : "task-runner");
}

/* `../a.md` as people would write it: the directory without `..`. */
static char *named_path(struct arena *a, const char *name)
{
	char *path = path_absolute(a, name), real[PATH_MAX];

	return strstr(path, "/.") && realpath(arena_dup(a, path_dir(path)), real)
		       ? path_join(a, real, path_base(path).p)
		       : path;
}

/* NAME.md, or a manifest. */
static int locate_find_file(struct arena *a, const char *dir, const char *name, const char **path,
	bool *there, struct error *err)
{
	static const char *const ends[] = {".md", ".yaml", ".yml", ".json"};

	for (size_t i = 0; i < COUNT(ends) && !*there; i++) {
		*path = arena_printf(a, "%s/%s%s", dir, name, ends[i]);
		if (path_check_exists(*path, there, err) < 0)
			return -1;
	}
	return 0;
}

int locate_workflow(struct arena *a, const char *name, const char *root, const char *repo,
	const char **path, struct error *err)
{
	struct error ignored;
	const char *dir;
	bool there = false;

	if (strchr(name, '/') || str_ends(str_of(name), ".md") || manifest_is_path(str_of(name))) {
		*path = named_path(a, name);
		return 0;
	}
	if (strcmp(name, "implement") == 0)
		name = "implement-task";
	else if (strcmp(name, "fix") == 0)
		name = "fix-issue";
	if (locate_plugin(a, root, &dir, err) < 0)
		return -1;
	if (path_is_id(str_of(name)) &&
		locate_find_file(a, path_join(a, dir, "workflows"), name, path, &there, err) < 0)
		return -1;
	if (there)
		return 0;
	if (path_is_id(str_of(name)) && locate_repository(a, repo, &dir, &ignored) == 0 &&
		(locate_find_file(a, path_join(a, dir, LOCATE_WORKFLOWS), name, path, &there, err) <
				0 ||
			there))
		return there ? 0 : -1;
	if (path_check_exists(name, &there, err) < 0)
		return -1;
	if (there) {
		*path = path_absolute(a, name);
		return 0;
	}
	return error_set(err, ERR_INPUT,
		"no workflow '%.100s': give one of 'dev-team workflow new --list', a name "
		"in " LOCATE_WORKFLOWS ", or the path of a workflow file",
		name);
}

int locate_workflow_file(
	struct arena *a, const char *name, const char *root, const char **path, struct error *err)
{
	*path = arena_dup(a, str_of(name));
	if (strchr(name, '/') || str_ends(str_of(name), ".md") || manifest_is_path(str_of(name)) ||
		path_exists(name))
		return 0;
	return locate_workflow(a, name, root, NULL, path, err);
}

/* Searches upwards for `.git` (a directory, or a file in a linked worktree) without libgit2. */
int locate_repository(struct arena *a, const char *given, const char **root, struct error *err)
{
	char real[PATH_MAX];
	bool there;

	if (!realpath(given ? given : ".", real))
		return error_errno(err, "cannot find the repository '%s'", given ? given : ".");
	for (*root = arena_dup(a, str_of(real));; *root = arena_dup(a, path_dir(*root))) {
		if (path_check_exists(path_join(a, *root, ".git"), &there, err) < 0)
			return -1; /* one further up belongs to another repository */
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

int locate_document(struct arena *a, const char *given, const char *repo, const char *id,
	const char **path, struct error *err)
{
	char *slug, *file;

	if (!given &&
		(git_slug(a, repo, &slug, err) != 0 || context_path(a, slug, id, &file, err) < 0))
		return -1;
	*path = given ? path_absolute(a, given) : file;
	return 0;
}

enum { SHORT_DIGEST = 8 };

/* A repository without an origin is named by its path. */
static char *local_slug(struct arena *a, const char *root)
{
	struct str base = path_base(root);
	char sum[DIGEST_TEXT];

	digest_text(str_of(root), sum);
	return arena_printf(a, "local/%s-%.*s",
		path_is_id(base) ? arena_dup(a, base) : "repository", SHORT_DIGEST, sum);
}

int locate_artifacts(
	struct arena *a, const char *given, const char *repo, const char **dir, struct error *err)
{
	const char *variable = getenv("ARTIFACTS_DIR"), *root;
	char *base, *slug;
	int named;

	if (!given && variable && *variable)
		given = variable;
	if (given && *given) {
		*dir = path_absolute(a, given);
		return 0;
	}
	if (given)
		return error_set(err, ERR_USAGE, "--artifacts must be a directory, not ''");
	if (locate_repository(a, repo, &root, err) < 0 ||
		context_state_directory(a, &base, err) < 0)
		return -1;
	named = git_slug(a, root, &slug, err);
	if (named < 0)
		return -1; /* another name would be another directory */
	if (named > 0)
		slug = local_slug(a, root);
	*dir = arena_printf(a, "%s/%s/artifacts", base, slug);
	return 0;
}

int locate_resources(
	struct arena *a, const char *given, const char *repo, const char **dir, struct error *err)
{
	static const char *const defaults[] = {".dev-team/resources", ".ai-sdlc"};
	const char *root, *path;
	bool there = false;

	*dir = NULL;
	if (given) {
		*dir = path_absolute(a, given);
		return path_exists(*dir) ? 0
					 : error_set(err, ERR_USAGE, "no resources at '%s'", given);
	}
	if (locate_repository(a, repo, &root, err) < 0)
		return err->code == ERR_SYSTEM ? -1 : 0;
	for (size_t i = 0; i < COUNT(defaults) && !there; i++) {
		path = path_join(a, root, defaults[i]);
		if (path_check_exists(path, &there, err) < 0)
			return -1;
		*dir = there ? path : NULL;
	}
	return 0;
}

/* ---- the configuration of a repository ---- */

int locate_models(struct arena *a, const char *given, const char *repo, struct model_registry *out,
	struct error *err)
{
	const char *file = given, *root;
	struct error ignored;

	if (!given && locate_repository(a, repo, &root, &ignored) == 0 &&
		model_registry_file(a, root, &file, err) < 0)
		return -1;
	return model_registry_load(a, file, out, err);
}

int locate_resources_required(
	struct arena *a, const char *given, const char *repo, const char **dir, struct error *err)
{
	if (locate_resources(a, given, repo, dir, err) < 0)
		return -1;
	return *dir ? 0
		    : error_set(err, ERR_USAGE,
			      "no directory of resources: give --resources, or create "
			      ".dev-team/resources");
}

int locate_pipeline(struct arena *a, const struct pipeline_choice *c, struct resources *r,
	const struct pipeline **out, struct error *err)
{
	struct str name = str_of(c->name);
	bool file = c->file &&
		    (strchr(c->name, '/') || str_ends(name, ".yaml") || str_ends(name, ".yml"));
	const char *dir = c->name;

	if ((!file && locate_resources_required(a, c->resources, c->repo, &dir, err) < 0) ||
		resources_load(a, dir, r, err) < 0 ||
		event_report_faults(a, c->artifacts, r, err) < 0 || resources_fault(r, err) < 0)
		return -1;
	*out = resources_pipeline(r, file && r->n_pipelines == 1 ? NULL : c->name);
	if (*out)
		return 0;
	if (file)
		return error_set(
			err, ERR_INPUT, "'%.400s' has %zu pipelines, not one", dir, r->n_pipelines);
	return error_set(
		err, c->missing, "there is no pipeline '%.100s' in '%.400s'", c->name, dir);
}

int locate_session_pipeline(struct arena *a, const char *repo, struct resources *r,
	const struct pipeline **out, struct error *err)
{
	struct pipeline_choice choice = {.repo = repo, .missing = ERR_INPUT};
	struct settings settings;

	*out = NULL;
	if (settings_load(a, repo, &settings, err) < 0)
		return -1;
	choice.name = settings.pipeline;
	return choice.name && locate_pipeline(a, &choice, r, out, err) < 0
		       ? error_prefix(err, "the 'pipeline' of " SETTINGS_FILE)
		       : 0;
}

const struct worktree_pool_spec *locate_item_pool(const struct resources *r)
{
	const struct worktree_pool_spec *named = resources_pool(r, "default");

	return named || r->n_pools != 1 ? named : resources_pool(r, NULL);
}

int locate_pool_spec(struct arena *a, const struct pool_choice *c, struct worktree_pool_spec *out,
	struct error *err)
{
	const struct worktree_pool_spec *found;
	struct resources r = {0};
	const char *dir;

	if (locate_resources(a, c->resources, c->repo, &dir, err) < 0 ||
		(dir && resources_need(a, dir, &r, err) < 0))
		return -1;
	found = c->name ? resources_pool(&r, c->name) : locate_item_pool(&r);
	if (c->name && !found)
		return error_set(err, ERR_USAGE, "no WorktreePool '%.100s' in '%s'", c->name,
			dir ? dir : "the repository");
	*out = found ? *found : resource_default_pool(a);
	return 0;
}

int locate_pool(struct arena *a, const struct pool_choice *c, struct pool *p, struct error *err)
{
	struct worktree_pool_spec spec;
	char *state;

	*p = (struct pool){0};
	if (locate_pool_spec(a, c, &spec, err) < 0 || context_state_directory(a, &state, err) < 0 ||
		pool_open(a, &spec, c->repo, state, NULL, p, err) < 0)
		return -1;
	/* All worktrees of a repository share the directory of the main one. A bare one has none.
	 */
	if (strcmp(p->repo, p->common) == 0 && !c->artifacts && !getenv("ARTIFACTS_DIR"))
		return 0;
	return locate_artifacts(a, c->artifacts, p->repo, &p->artifacts, err);
}
