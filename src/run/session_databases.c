/* session_databases.c: the databases of an action that a session carries out, and of a command in
 * the sandbox. */
#include "src/base/number.h"
#include "src/machine/place.h"
#include "src/policy/where.h"
#include "src/run/databases.h"
#include "src/run/locate.h"
#include "src/run/run_internal.h"
#include "src/sys/path.h"

/* ---- an action ---- */

int session_databases_find(struct arena *a, const char *repo, const char *action, const char *agent,
	struct session_databases *out, struct error *err)
{
	const struct worktree_pool_spec *pool;
	const struct pipeline *pipeline;
	const struct stage_spec *stage;
	struct resources r = {0};
	const char *dir;

	*out = (struct session_databases){0};
	if (locate_resources(a, NULL, repo, &dir, err) < 0)
		return -1;
	if (!dir)
		return 0;
	if (locate_session_pipeline(a, repo, &r, &pipeline, err) < 0 ||
		(!pipeline && resources_need(a, dir, &r, err) < 0))
		return -1;
	pool = locate_item_pool(&r);
	out->pool = pool ? pool->name : NULL;
	out->databases = pool && pool->n_databases;
	stage = run_agent_stage(a, pipeline, action, agent ? agent : "");
	out->access = stage ? stage->database : DATABASE_NONE;
	out->holds_gate = stage && stage->holds_gate;
	out->under_gate = stage && gate_stage_holds(stage);
	return 0;
}

/* Of the item's own worktree, or of the checkout. */
static int find_place(struct arena *a, const char *document, struct item_place *place,
	const char **repo, struct error *err)
{
	struct root root;

	*repo = NULL;
	if (place_read(a, document, place, err) < 0)
		return -1;
	if (!place->directory || !path_exists(place->directory))
		return 0;
	if (root_open(a, place->directory, &root, err) < 0)
		return -1;
	*repo = root.common_dir ? git_main_tree(a, root.common_dir) : place->directory;
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
	if (!found.databases)
		return 0;
	choice.name = found.pool;
	if (found.access != DATABASE_NONE && place.in_place)
		return error_set(err, ERR_STATE,
			"the stage of '%s' has 'databaseAccess', and works in the checkout: a "
			"database branch belongs to a worktree",
			action);
	if (locate_pool(a, &choice, &pool, err) < 0 ||
		(found.access != DATABASE_NONE &&
			pool_find(a, &pool, place.directory, true, &of, err) < 0) ||
		pool_databases_open(a, &pool, &d, err) < 0 ||
		pool_databases_environment(&d, &of, found.access, NULL, &env, err) < 0)
		return -1;
	if (found.holds_gate)
		pool_databases_keep_upstreams(pool.spec.databases, pool.spec.n_databases, &env);
	*out = env.items;
	return 0;
}

/* ---- a contained command ---- */

struct passed {
	VEC(const char *) variables; /* `NAME=value` */
	VEC(const char *) read, write;
	VEC(struct sandbox_service) services;
};

/* SQLite makes its log beside the file, so that a writer needs the directory. That of a branch has
 * nothing else in it; a directory elsewhere could have. */
static void pass_directory(struct arena *a, const struct branchdb_endpoint *at, struct passed *out)
{
	if (!strstr(at->directory, "/.databases/"))
		return;
	if (at->read_only)
		vec_push_in(a, &out->read, at->directory);
	else
		vec_push_in(a, &out->write, at->directory);
}

static void pass_address(struct arena *a, const char *address, struct passed *out)
{
	struct branchdb_endpoint at;
	uint64_t port;

	if (!branchdb_find_endpoint(a, address, &at))
		return;
	if (at.directory)
		pass_directory(a, &at, out);
	else if (at.host[0] == '/')
		vec_push_in(a, &out->read, at.host);
	else if (number_parse(str_of(at.port), 1, 65535, &port))
		vec_push_in(a, &out->services,
			((struct sandbox_service){.host = at.host, .port = (unsigned)port}));
}

void pool_databases_pass(struct arena *a, struct sandbox_command *x)
{
	const char *text = getenv(POOL_DATABASES_VARIABLE);
	struct str rest = str_of(text ? text : "");
	struct passed all = {0};
	bool target = true;

	while (rest.n) {
		size_t n = strcspn(rest.p, ", ");
		const char *name = arena_dup(a, str_sub(rest, 0, n)), *value = getenv(name);

		if (value)
			vec_push_in(a, &all.variables, arena_printf(a, "%s=%s", name, value));
		if (target && value)
			pass_address(a, value, &all);
		target = n < rest.n && rest.p[n] == ' ';
		rest = str_sub(rest, n < rest.n ? n + 1 : n, rest.n);
	}
	vec_push_in(a, &all.variables, NULL);
	vec_push_in(a, &all.read, NULL);
	vec_push_in(a, &all.write, NULL);
	x->variables = all.variables.items;
	x->read = all.read.items;
	x->write = all.write.items;
	x->services = all.services.items;
	x->n_services = all.services.n;
}
