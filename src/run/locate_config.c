/*
 * What the configuration of a repository names: the models, the resources, a pool of worktrees.
 */
#include "context/file.h"
#include "src/base/error.h"
#include "src/run/locate.h"

int models_locate(struct arena *a, const char *given, struct model_registry *out, struct error *err)
{
	const char *file = given;
	struct error ignored;
	char *repo;

	if (!given && repo_root(a, NULL, &repo, &ignored) == 0 &&
		model_registry_file(a, repo, &file, err) < 0)
		return -1;
	return model_registry_load(a, file, out, err);
}

int resources_locate(struct arena *a, const char *given, char **dir, struct error *err)
{
	if (resources_folder(a, given, NULL, dir, err) < 0)
		return -1;
	return *dir ? 0
		    : error_set(err, ERR_USAGE,
			      "no folder of resources: give --resources, or make "
			      ".dev-team/resources");
}

int pipeline_locate(struct arena *a, const char *resources, const char *name,
	const struct pipeline **out, struct error *err)
{
	struct resources *r = arena_alloc(a, sizeof(*r));
	char *dir;

	if (resources_locate(a, resources, &dir, err) < 0 || resources_need(a, dir, r, err) < 0)
		return -1;
	*out = resources_pipeline(r, name);
	return *out ? 0
		    : error_set(err, ERR_INPUT, "there is no pipeline '%.100s' in '%.400s'", name,
			      dir);
}

int pool_spec_locate(struct arena *a, const struct pool_choice *c, struct worktree_pool_spec *out,
	struct error *err)
{
	const struct worktree_pool_spec *found = NULL;
	struct resources r = {0};
	char *dir;

	if (resources_folder(a, c->resources, c->repo, &dir, err) < 0 ||
		(dir && resources_need(a, dir, &r, err) < 0))
		return -1;
	if (c->name)
		found = resources_pool(&r, c->name);
	else if (r.n_pools == 1)
		found = &r.pools[0];
	if (c->name && !found)
		return error_set(err, ERR_USAGE, "no WorktreePool '%.100s' in '%s'", c->name,
			dir ? dir : "the repository");
	if (!c->name && r.n_pools > 1)
		return error_set(err, ERR_USAGE,
			"there are %zu WorktreePools in '%s': give --pool NAME", r.n_pools, dir);
	*out = found ? *found : worktree_pool_default(a);
	return 0;
}

/* All worktrees of a repository share the directory of the main one. A bare one has none. */
static int find_artifacts(
	struct arena *a, const struct pool_choice *c, struct pool *p, struct error *err)
{
	bool bare = strcmp(p->repo, p->common) == 0;
	char *dir;

	if (bare && !c->artifacts && !getenv("ARTIFACTS_DIR"))
		return 0;
	if (artifacts_folder(a, c->artifacts, p->repo, &dir, err) < 0)
		return -1;
	p->artifacts = dir;
	return 0;
}

int pool_locate(struct arena *a, const struct pool_choice *c, struct pool *p, struct error *err)
{
	struct worktree_pool_spec spec;
	char *state;

	*p = (struct pool){0};
	if (pool_spec_locate(a, c, &spec, err) < 0 || context_folder(a, &state, err) < 0 ||
		pool_open(a, &spec, c->repo, state, NULL, p, err) < 0)
		return -1;
	if (p->said)
		log_line("%s", p->said);
	return find_artifacts(a, c, p, err);
}
