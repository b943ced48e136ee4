/* session_databases.c: the databases of an action that a session carries out, and of a command in
 * the sandbox. */
#include "src/machine/place.h"
#include "src/policy/where.h"
#include "src/run/databases.h"
#include "src/run/locate.h"
#include "src/run/run_internal.h"
#include "src/setup/setup.h"
#include "src/sys/path.h"

/* ---- an action ---- */

/* The resources of the repository, and (NULL: none) the pipeline of its settings. */
static int load_resources(struct arena *a, const char *repo, struct resources *r,
	const struct pipeline **pipeline, struct error *err)
{
	struct pipeline_choice choice = {.repo = repo, .missing = ERR_INPUT};
	struct settings settings;
	const char *dir;

	*pipeline = NULL;
	if (locate_resources(a, NULL, repo, &dir, err) < 0)
		return -1;
	if (!dir)
		return 0;
	if (settings_load(a, repo, &settings, err) < 0)
		return -1;
	if (!settings.pipeline)
		return resources_need(a, dir, r, err);
	choice.name = settings.pipeline;
	return locate_pipeline(a, &choice, r, pipeline, err) < 0
		       ? error_prefix(err, "the 'pipeline' of " SETTINGS_FILE)
		       : 0;
}

int session_databases_find(struct arena *a, const char *repo, const char *action, const char *agent,
	struct session_databases *out, struct error *err)
{
	const struct worktree_pool_spec *pool;
	const struct pipeline *pipeline;
	const struct stage_spec *stage;
	struct resources r = {0};

	*out = (struct session_databases){0};
	if (load_resources(a, repo, &r, &pipeline, err) < 0)
		return -1;
	pool = locate_item_pool(&r);
	if (!pool || !pool->n_databases)
		return 0;
	out->pool = pool->name;
	stage = run_agent_stage(a, pipeline, action, agent ? agent : "");
	out->access = stage ? stage->database : DATABASE_NONE;
	out->holds_gate = stage && stage->holds_gate;
	return 0;
}

/* Of the item's own worktree, or of the checkout. */
static int find_place(struct arena *a, const char *document, struct item_place *place,
	const char **repo, struct error *err)
{
	CLEANUP(root_close) struct root root = {.fd = -1};
	CLEANUP(context_close) struct context_file f = {0};

	*repo = NULL;
	if (context_open(&f, document, CONTEXT_READ_ONLY, err) < 0 ||
		place_load(a, &f, place, err) < 0)
		return -1;
	if (!place->directory || !path_exists(place->directory))
		return 0;
	if (root_open(a, place->directory, &root, err) < 0)
		return -1;
	*repo = root.common_dir ? pool_main_tree(a, root.common_dir) : place->directory;
	return 0;
}

int session_databases_environment(struct arena *a, const char *document, const char *action,
	const char *const **out, struct error *err)
{
	CLEANUP(pool_databases_close) struct pool_databases d = {0};
	CLEANUP(pool_close) struct pool pool = {0};
	struct branchdb_environment env = {0};
	struct session_databases found;
	struct item_place place = {0};
	struct pool_choice choice = {0};
	struct allocation of = {0};

	*out = NULL;
	if (find_place(a, document, &place, &choice.repo, err) < 0)
		return -1;
	if (!choice.repo)
		return 0;
	if (session_databases_find(a, choice.repo, action, NULL, &found, err) < 0)
		return -1;
	if (!found.pool)
		return 0;
	choice.name = found.pool;
	if (found.access != DATABASE_NONE && place.in_place)
		return error_set(err, ERR_STATE,
			"the stage of '%s' has 'databaseAccess', and works in the checkout: a "
			"database branch belongs to a worktree",
			action);
	if (locate_pool(a, &choice, &pool, err) < 0 ||
		(found.access != DATABASE_NONE &&
			pool_find_live(a, &pool, place.directory, &of, err) < 0) ||
		pool_databases_open(a, &pool, &d, err) < 0 ||
		pool_databases_environment(&d, &of, found.access, NULL, &env, err) < 0)
		return -1;
	if (found.holds_gate)
		pool_databases_keep_upstreams(pool.databases, pool.n_databases, &env);
	*out = env.items;
	return 0;
}

/* ---- a contained command ---- */

void pool_databases_pass(struct arena *a, struct sandbox_command *x)
{
	const char *text = getenv(POOL_DATABASES_VARIABLE);
	VEC(struct sandbox_database) databases = {0};
	VEC(const char *) names = {0};
	struct str rest = str_of(text ? text : "");
	bool target = true;

	while (rest.n) {
		size_t n = strcspn(rest.p, ", ");
		const char *name = arena_dup(a, str_sub(rest, 0, n)), *value = getenv(name);
		struct branchdb_endpoint at;

		vec_push_in(a, &names, name);
		if (target && value && branchdb_find_endpoint(a, value, &at)) {
			const struct sandbox_database of = {.directory = at.directory,
				.write = !at.read_only,
				.host = at.host,
				.port = at.port};

			vec_push_in(a, &databases, of);
		}
		target = n < rest.n && rest.p[n] == ' ';
		rest = str_sub(rest, n < rest.n ? n + 1 : n, rest.n);
	}
	vec_push_in(a, &names, NULL);
	x->variables = names.items;
	x->databases = databases.items;
	x->n_databases = databases.n;
}
