#include "context/file.h"
#include "src/run/run_internal.h"

/* Placeholders for the work item's id. */
static const char *const placeholders[] = {"{issueId}", "{issueNumber}", "{id}"};

static size_t placeholder_at(struct str text)
{
	for (size_t i = 0; i < COUNT(placeholders); i++)
		if (str_starts(text, placeholders[i]))
			return strlen(placeholders[i]);
	return 0;
}

static char *branch_of(struct arena *a, const char *id, const struct pipeline *p)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str rest = str_of(p && p->branch_pattern ? p->branch_pattern : "dev-team/{id}");

	while (rest.n) {
		size_t n = placeholder_at(rest);

		if (n)
			buf_adds(&out, id);
		else
			buf_addc(&out, rest.p[0]);
		rest = str_sub(rest, n ? n : 1, rest.n);
	}
	return arena_dup(a, buf_str(&out));
}

static int find_pool(struct arena *a, const char *repo, const char *resources,
	const struct pipeline *pipeline, struct worktree_pool_spec *out, struct error *err)
{
	const struct worktree_pool_spec *found;
	struct resources all;
	char *dir;

	*out = worktree_pool_default(a);
	if (locate_resources(a, resources, repo, &dir, err) < 0)
		return -1;
	if (!dir)
		return 0;
	if (resources_need(a, dir, &all, err) < 0)
		return -1;
	found = resources_pool(&all, pipeline ? pipeline->worktree_pool : "default");
	if (found)
		*out = *found;
	return 0;
}

int run_pool_open(struct arena *a, const char *repo, const char *resources, const char *artifacts,
	const struct pipeline *pipeline, struct pool *out, struct error *err)
{
	struct worktree_pool_spec spec;
	char *state;

	if (find_pool(a, repo, resources, pipeline, &spec, err) < 0 ||
		context_state_directory(a, &state, err) < 0)
		return -1;
	return pool_open(a, &spec, repo, state, artifacts, out, err);
}

int run_worktree_open(struct arena *a, const struct run_worktree_request *q,
	struct run_worktree *out, struct error *err)
{
	const struct pipeline *p = q->pipeline;
	struct allocate_ask wish = {.branch = branch_of(a, q->id, p),
		.target = p ? p->target_branch : NULL,
		.run = arena_printf(a, "run %s", q->id),
		.issue = q->id,
		.port = q->port,
		.parent = q->parent,
		.slots = q->slots,
		.slot_ports = q->slots ? 1 : 0};
	struct allocation got;
	struct pool pool;
	int rc;

	if (strcmp(branch_of(a, "1", p), branch_of(a, "2", p)) == 0)
		return error_set(err, ERR_INPUT,
			"branching.pattern '%s' gives all work items one branch: it needs "
			"{issueId}",
			p->branch_pattern);
	if (run_pool_open(a, q->repo, q->resources, q->artifacts, p, &pool, err) < 0)
		return -1;
	rc = pool_allocate(a, &pool, &wish, &got, &out->created, err);
	pool_close(&pool);
	if (rc < 0)
		return -1;
	out->path = got.path;
	out->branch = got.branch;
	out->port = got.port;
	return 0;
}

void run_worktree_undo(
	struct arena *a, const struct run_worktree_request *q, const struct run_worktree *own)
{
	struct error ignored;
	struct pool pool;
	bool removed;

	if (!own->created || run_pool_open(a, q->repo, q->resources, q->artifacts, q->pipeline,
				     &pool, &ignored) < 0)
		return;
	(void)pool_reclaim(a, &pool, own->path, false, &removed, &ignored);
	pool_close(&pool);
}
