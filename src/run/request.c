#include "src/base/error.h"
#include "src/run/run_internal.h"
#include "src/store/lock.h"
#include "src/sys/git.h"
#include "src/sys/path.h"

/* One owner for all runs: a lock of its own keeps a second run of a work item out, and the next
 * run may continue one that was killed. */
#define RUN_OWNER "dev-team run"

/* Where a run works. */
struct run_place {
	struct run_worktree_request request;
	struct run_worktree own;               /* path NULL: in the checkout */
	const struct worktree_pool_spec *spec; /* as written; may be NULL */
};

static bool has_real_agents(const struct run_request *q)
{
	return q->harness || q->pipeline;
}

/* ---- where it works ---- */

static int load_pipeline(struct arena *a, const struct run_request *q, struct resources *all,
	const struct pipeline **p, struct error *err)
{
	*all = (struct resources){0};
	*p = NULL;
	if (!q->pipeline)
		return 0;
	return run_load_pipeline(a,
		&(struct run_pipeline_request){
			q->pipeline, q->resources, q->artifacts, q->call.repo},
		all, p, err);
}

/* A pipeline whose stages are isolated never works in the user's checkout. */
static bool wants_worktree(const struct run_request *q, const struct pipeline *p)
{
	if (q->worktree || q->slots || q->parent)
		return true;
	if (!p || !p->parallel ||
		parallelism_mode(getenv("AI_SDLC_PARALLELISM")) == PARALLELISM_OFF)
		return false;
	for (size_t i = 0; i < p->n_stages; i++)
		if (p->stages[i].isolation == ISOLATION_WORKTREE)
			return true;
	return !p->n_stages;
}

/* From here on the run's repository is its worktree. */
static int enter_worktree(struct arena *a, const struct run_request *q, struct run_loop *l,
	struct run_place *at, struct error *err)
{
	at->request.port = getenv("PORT");
	at->request.parent = q->parent;
	at->request.slots = q->slots;
	if (run_worktree_open(a, &at->request, &at->own, err) < 0)
		return -1;
	l->call.repo = at->own.path;
	/* Scripts and scripted agents inherit it. */
	if (setenv("PORT", arena_printf(a, "%u", at->own.port), 1) < 0)
		return error_errno(err, "cannot set PORT");
	error_log("dev-team: %s works in '%s', port %u", l->call.id, at->own.path, at->own.port);
	return 0;
}

/* Uncommitted changes in the checkout are committed with the work. */
static void warn_of_checkout(const char *repo)
{
	static const char *const argv[] = {"git", "status", "--porcelain", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct git_command look = {.dir = repo, .name = "git status", .argv = argv, .limit_s = 60};
	struct error ignored;

	if (git_command(&look, &out, NULL, &ignored) == 0 && out.len)
		error_log(
			"dev-team: there are changes in '%s' that are not committed: they will go "
			"with the work; --worktree keeps them apart",
			repo);
}

static int find_place(struct arena *a, const struct run_request *q, struct run_loop *l,
	struct run_place *at, struct error *err)
{
	struct resources all;
	unsigned ignored;
	char *artifacts;

	at->request = (struct run_worktree_request){
		.id = l->call.id, .repo = l->call.repo, .resources = q->resources};
	/* The parallelism is settled when the pipeline is loaded. */
	if (load_pipeline(a, q, &all, &at->request.pipeline, err) < 0 ||
		locate_artifacts(a, q->artifacts, l->call.repo, &artifacts, err) < 0 ||
		run_max_concurrent(
			a, q->at_once, &all, at->request.pipeline, artifacts, &ignored, err) < 0)
		return -1;
	at->request.artifacts = artifacts;
	if (at->request.pipeline)
		at->spec = resources_pool(&all, at->request.pipeline->worktree_pool);
	if (wants_worktree(q, at->request.pipeline))
		return enter_worktree(a, q, l, at, err);
	if (has_real_agents(q))
		warn_of_checkout(l->call.repo);
	return 0;
}

/* ---- who acts ---- */

static int load_harnesses(struct arena *a, const struct run_request *q, struct run_loop *l,
	const struct run_place *at, struct error *err)
{
	struct run_config_request request = {.workflow = l->call.workflow,
		.harness = q->harness,
		.model = q->model,
		.pipeline = at->request.pipeline,
		.pool = at->spec,
		.resources = q->resources,
		.artifacts = q->artifacts,
		.root = q->call.root,
		.timeout_s = q->timeout_s,
		.id = l->call.id,
		.repo = l->call.repo,
		.context_file = l->call.context_file,
		.pass = q->pass_env,
		.n_pass = q->n_pass_env};

	l->call.agents_are_paid = true;
	l->agents.others = true;
	l->context.config = &l->config;
	return run_configure(a, &request, &l->config, err);
}

static int load_agents(struct arena *a, const struct run_request *q, struct run_loop *l,
	const struct run_place *at, struct error *err)
{
	l->context = (struct action_context){.id = l->call.id,
		.repo = l->call.repo,
		.context_file = l->call.context_file,
		.script = q->agents};
	if ((q->agents && agents_load(a, q->agents, &l->agents, err) < 0) ||
		(has_real_agents(q) && load_harnesses(a, q, l, at, err) < 0))
		return -1;
	l->config.branch = at->own.branch;
	l->config.main_repo = at->request.repo;
	l->config.port = at->own.port;
	return 0;
}

/* ---- one work item, several ---- */

/* Two runs of one work item would carry out every action twice. */
static int lock_run(struct arena *a, const char *document, struct lock **lock, struct error *err)
{
	char *dir = arena_dup(a, path_dir(document));
	struct str base = path_base(document);

	if (path_mkdirs(dir, err) < 0)
		return -1;
	return lock_take(
		lock, arena_printf(a, "%s/.%.*s.run.lock", dir, (int)base.n, base.p), 0, err);
}

static int run_one(struct arena *a, const struct run_request *q, const char *id, struct buf *out,
	struct error *err)
{
	CLEANUP(lock_drop) struct lock *lock = NULL;
	struct run_loop l = {.call = q->call, .max = q->max_actions, .progress = q->progress};
	struct run_place at = {0};
	int rc;

	l.call.id = id;
	if (!l.call.owner)
		l.call.owner = RUN_OWNER;
	if (step_resolve(a, &l.call, err) < 0 || lock_run(a, l.call.context_file, &lock, err) < 0)
		return -1;
	rc = find_place(a, q, &l, &at, err);
	if (rc == 0)
		rc = load_agents(a, q, &l, &at, err);
	if (rc == 0)
		rc = run_loop_finish(&l, out, err);
	if (rc < 0 && !l.started)
		run_worktree_undo(a, &at.request, &at.own);
	return rc;
}

/* Each of several runs gets all options that were given, and a worktree of its own. */
static void pass_options(struct arena *a, const struct run_request *q, struct run_parallel *m)
{
	const char **list = arena_alloc(a, (q->n_options + 2) * sizeof(*list));

	for (size_t i = 0; i < q->n_options; i++)
		if (strcmp(q->options[i], "--worktree") != 0 &&
			!str_starts(str_of(q->options[i]), "--max-concurrent="))
			list[m->n_options++] = q->options[i];
	list[m->n_options++] = "--worktree";
	list[m->n_options++] = arena_printf(a, "--max-concurrent=%u", m->at_once);
	m->options = list;
}

static int check_ids(const char *const *ids, size_t n, struct error *err)
{
	for (size_t i = 0; i < n; i++) {
		if (path_check_id(ids[i], err) < 0)
			return -1;
		for (size_t k = 0; k < i; k++)
			if (strcmp(ids[i], ids[k]) == 0)
				return error_set(err, ERR_USAGE, "'%s' is given twice", ids[i]);
	}
	return 0;
}

static int run_several(struct arena *a, const struct run_request *q, const char *const *ids,
	size_t n, struct buf *out, struct error *err)
{
	struct run_parallel m = {.ids = ids, .n = n};
	const struct pipeline *p;
	struct resources all;
	char *repo, *artifacts;

	if (check_ids(ids, n, err) < 0 || load_pipeline(a, q, &all, &p, err) < 0 ||
		locate_repository(a, q->call.repo, &repo, err) < 0 ||
		locate_artifacts(a, q->artifacts, repo, &artifacts, err) < 0 ||
		run_max_concurrent(a, q->at_once, &all, p, artifacts, &m.at_once, err) < 0)
		return -1;
	m.artifacts = artifacts;
	pass_options(a, q, &m);
	return run_parallel(a, &m, out, err);
}

int run_items(struct arena *a, const struct run_request *q, const char *const *ids, size_t n,
	struct buf *out, struct error *err)
{
	return n > 1 ? run_several(a, q, ids, n, out, err) : run_one(a, q, ids[0], out, err);
}
