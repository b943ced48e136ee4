#include "src/sys/git.h"
#include "src/worktree/list.h"

/*
 * The remote's branch as fetched last shows what is merged; state.json and runtime.json show how a
 * run ended. Both only name candidates: pool_keep() decides.
 */

/* ---- merged ---- */

static const char *after(const char *name, const char *prefix)
{
	return str_starts(str_of(name), prefix) ? name + strlen(prefix) : name;
}

/* NULL: the remote has no such branch. */
static int find_target(struct due *d, struct error *err)
{
	struct pool *p = d->listing->pool;
	struct git_default known;
	struct refs refs;

	if (p->target) {
		const char *const names[] = {
			arena_printf(d->listing->arena, "refs/remotes/origin/%s", p->target), NULL};

		if (refs_look(d->listing->arena, p, names, &refs, err) < 0)
			return -1;
		d->target = refs.n ? p->target : NULL;
		return 0;
	}
	if (git_read_default(d->listing->arena, p->repo, &known, err) < 0)
		return -1;
	d->target = known.remote ? known.branch : NULL;
	return 0;
}

static void add_branch(struct due *d, struct str line)
{
	static const char heads[] = "refs/heads/";
	size_t blank = str_find(line, STR(" "));
	const char *name = arena_dup(d->listing->arena, str_sub(line, 0, blank));

	if (!str_starts(line, heads) || blank == line.n)
		return; /* a warning of git */
	d->branches[d->n_branches] = name + strlen(heads);
	d->commits[d->n_branches++] =
		arena_dup(d->listing->arena, str_sub(line, blank + 1, line.n));
}

static int read_merged(struct due *d, struct error *err)
{
	struct arena *a = d->listing->arena;
	const char *args[] = {
		"for-each-ref", "--format=%(refname) %(objectname)", NULL, "refs/heads", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str rest, line;
	size_t lines = 1;

	if (find_target(d, err) < 0)
		return -1;
	if (!d->target)
		return 0;
	args[2] = arena_printf(a, "--merged=refs/remotes/origin/%s", d->target);
	if (pool_git(d->listing->pool, NULL, args, &out, NULL, err) < 0)
		return -1;
	for (size_t i = 0; i < out.len; i++)
		lines += out.s[i] == '\n';
	d->branches = arena_alloc(a, lines * sizeof(*d->branches));
	d->commits = arena_alloc(a, lines * sizeof(*d->commits));
	rest = buf_str(&out);
	while (str_line(&rest, &line))
		add_branch(d, line);
	return 0;
}

/* Its own branch is checked out: another branch there is other work. */
static bool is_on_its_branch(const struct due *d, const struct allocation *of)
{
	const char *text;
	struct place at;
	char *admin;

	if (!worktree_pointer(d->listing->arena, of->path, &admin, &text) || !admin)
		return false;
	place_look(d->listing->arena, admin, &at);
	return at.branch && strcmp(at.branch, of->branch) == 0;
}

/* A branch that is where it began has nothing to merge. */
static bool is_merged(const struct due *d, const struct allocation *of)
{
	if (!of->tip || (d->target && strcmp(of->branch, d->target) == 0))
		return false;
	for (size_t i = 0; i < d->n_branches; i++)
		if (strcmp(d->branches[i], of->branch) == 0)
			return strcmp(d->commits[i], of->tip) != 0 && is_on_its_branch(d, of);
	return false;
}

/* ---- how its run ended ---- */

static bool is_of(const struct run_state *s, const struct allocation *of)
{
	if (s->heartbeat < of->created)
		return false; /* of an earlier worktree of this name */
	if (s->worktree)
		return strcmp(s->worktree, of->path) == 0;
	return of->run && strcmp(after(of->run, "run "), s->issue) == 0;
}

/* The run with the latest heartbeat. */
static const struct run_state *run_of(const struct due *d, const struct allocation *of)
{
	const struct run_state *last = NULL;

	for (size_t i = 0; i < d->n_runs; i++)
		if (is_of(&d->runs[i], of) && (!last || d->runs[i].heartbeat > last->heartbeat))
			last = &d->runs[i];
	return last;
}

/* A call of an agent timed out, and no later call replaced it. */
static int timed_out(const struct due *d, const struct run_state *s, bool *is, struct error *err)
{
	CLEANUP(json_free) json *runtime = NULL;
	const json *stages;

	*is = false;
	if (artifact_read_runtime(d->listing->pool->artifacts, s->issue, &runtime, err) < 0)
		return -1;
	stages = runtime ? json_get(runtime, "stages") : NULL;
	for (const json *row = json_first(stages); row && !*is; row = json_next(row)) {
		const char *status = json_get_str(row, "status");

		*is = status && strcmp(status, "timeout") == 0;
	}
	return 0;
}

/* ---- all candidates ---- */

int due_read(struct listing *l, struct due *out, struct error *err)
{
	const struct pool *p = l->pool;

	*out = (struct due){.listing = l};
	if (!l->n)
		return 0;
	if (p->on_merge && read_merged(out, err) < 0)
		return -1;
	if (!p->artifacts || (!p->on_abort && !p->on_timeout))
		return 0;
	return run_state_list(l->arena, p->artifacts, &out->runs, &out->n_runs, err);
}

int due_look(
	const struct due *d, const struct pool_entry *e, const char **reason, struct error *err)
{
	const struct pool *p = d->listing->pool;
	const struct run_state *run;
	bool late;

	*reason = NULL;
	if (!e->recorded || !e->there || e->of.state != ALLOCATION_LIVE)
		return 0;
	if (p->on_merge && is_merged(d, &e->of)) {
		*reason = "merged";
		return 0;
	}
	run = run_of(d, &e->of);
	if (!run || run->status != RUN_FAILURE)
		return 0;
	if (timed_out(d, run, &late, err) < 0)
		return -1;
	if (late ? p->on_timeout : p->on_abort)
		*reason = late ? "timeout" : "aborted";
	return 0;
}
