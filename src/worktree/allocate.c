/*
 * allocate.c: creates a worktree with its ports and its record, or adopts the one that exists.
 */
#include "src/base/clock.h"
#include "src/event/event.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

struct work {
	struct op o;
	const struct allocate_ask *ask;
	struct allocation of; /* the record to write */
	const char *commit;   /* where the branch is, or begins */
};

/* ---- the holder ---- */

static int set_holder(struct work *w)
{
	pid_t pid = w->ask->holder ? w->ask->holder : w->ask->run ? getpid() : 0;

	w->of.holder = (struct process_identity){0};
	if (w->ask->run)
		w->of.run = w->ask->run;
	return pid ? process_identify(w->o.a, pid, &w->of.holder, w->o.err) : 0;
}

static bool allocate_is_held(const struct work *w, const struct allocation *old)
{
	return old->holder.pid && process_life(&old->holder, &w->o.p->self) != PROCESS_DEAD;
}

/* The holder is running, and is neither the caller nor of the caller's run. */
static int check_holder(struct work *w, const struct allocation *old)
{
	pid_t own = w->ask->holder ? w->ask->holder : getpid();

	if ((!w->ask->run && !w->ask->holder) || !allocate_is_held(w, old) ||
		old->holder.pid == own ||
		(old->run && w->ask->run && strcmp(old->run, w->ask->run) == 0))
		return 0;
	return error_set(w->o.err, ERR_STATE,
		"'%s' is held by process %d%s%s%s, which is still running", old->path,
		(int)old->holder.pid, old->run ? " for '" : "", old->run ? old->run : "",
		old->run ? "'" : "");
}

/* ---- where a new branch begins ---- */

/* At the commit PREFIX NAME, if it exists. */
static int begin_at(struct work *w, const char *prefix, const char *name)
{
	const char *const args[] = {"rev-list", "-n", "1", "--end-of-options",
		arena_printf(w->o.a, "%s%s", prefix, name ? name : ""), "--", NULL};
	static const char *const full[] = {"refs/heads/", "refs/remotes/"};

	if (w->commit || !name || !*name)
		return 0;
	if (!git_plain_ids(w->o.a, w->o.p->repo, &args[4], 1, &w->commit)) {
		if (op_git(&w->o, NULL, args) < 0)
			return -1;
		w->commit = w->o.line;
	}
	w->of.base = args[4];
	for (size_t i = 0; i < COUNT(full); i++)
		if (str_starts(str_of(w->of.base), full[i]))
			w->of.base += strlen(full[i]);
	return 0;
}

/* In this order: the branch itself; what the caller names; the branch of the same name on the
 * remote; the target on the remote; the local target; without a target, the default branch. */
static int allocate_find_base(struct work *w)
{
	const struct allocate_ask *ask = w->ask;
	bool target = ask->target && *ask->target;
	struct git_default known;

	if (begin_at(w, "refs/heads/", ask->branch) < 0)
		return -1;
	w->of.made_branch = !w->commit;
	if (w->commit) {
		w->of.base = NULL;
		return 0;
	}
	if (begin_at(w, "", ask->base) < 0)
		return -1;
	if (!w->commit && ask->base && *ask->base)
		return error_set(w->o.err, ERR_STATE,
			"there is no commit '%.200s' in '%s' to begin a branch from", ask->base,
			w->o.p->repo);
	if (begin_at(w, "refs/remotes/origin/", ask->branch) < 0 ||
		begin_at(w, "refs/remotes/origin/", ask->target) < 0 ||
		begin_at(w, "refs/heads/", ask->target) < 0 ||
		(!w->commit && !target &&
			(git_read_default(w->o.a, w->o.p->repo, &known, w->o.err) < 0 ||
				begin_at(w, "", known.ref) < 0)))
		return -1;
	if (w->commit)
		return 0;
	return error_set(w->o.err, ERR_STATE,
		"there is no branch '%s%s' in '%s' to begin from: commit and push something, fetch "
		"it, or give --base",
		target ? "origin/" : "", target ? ask->target : "main", w->o.p->repo);
}

static int check_sparse(struct work *w)
{
	const char *dir = w->ask->sparse;
	const char *const args[] = {
		"cat-file", "-t", arena_printf(w->o.a, "%s:%s", w->commit, dir ? dir : ""), NULL};

	if (!dir || !*dir)
		return 0;
	if (strchr("/-!", dir[0]) || strpbrk(dir, "*?[\\\n\"") || str_utf8_fault(str_of(dir)))
		return error_set(w->o.err, ERR_USAGE,
			"'%.200s' is not a directory of the repository, as --sparse requires", dir);
	if (op_git(&w->o, NULL, args) < 0)
		return -1;
	w->of.sparse = dir;
	if (strcmp(w->o.said, "tree") == 0)
		return 0;
	return error_set(w->o.err, ERR_INPUT, "there is no directory '%.200s' in commit %.12s", dir,
		w->commit);
}

/* ---- a new one ---- */

static const char *in_admin(struct work *w, const char *name)
{
	return arena_printf(w->o.a, "%s/worktrees/%s%s", w->o.p->common, w->of.admin, name);
}

static int add_worktree(struct work *w)
{
	const char *path = w->of.path, *branch = w->of.branch;
	const char *checkout = w->of.sparse ? "--no-checkout" : "--checkout";
	const char *const old[] = {
		"worktree", "add", "--quiet", checkout, "--", path, branch, NULL};
	const char *const fresh[] = {"worktree", "add", "--quiet", checkout, "--no-track", "-b",
		branch, "--", path, w->commit, NULL};
	const char *const only[] = {"sparse-checkout", "set", "--cone", w->of.sparse, NULL};
	static const char *const files[] = {"checkout", "--quiet", "--force", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct pool *p = w->o.p;
	int status;

	if (pool_git(p, NULL, true, w->of.made_branch ? fresh : old, &out, &status, w->o.err) < 0)
		return -1;
	if (status == 0 && w->of.sparse &&
		(pool_git(p, path, false, only, &out, NULL, w->o.err) < 0 ||
			pool_git(p, path, true, files, &out, &status, w->o.err) < 0))
		return -1;
	if (status == 0)
		return 0;
	/* The hook runs last: the files are complete then, and it does not undo them. */
	if (!path_exists(in_admin(w, "/index")) || path_exists(in_admin(w, "/index.lock")))
		return git_check_status("git worktree add", status, &out, false, w->o.err);
	w->of.warning = arena_printf(
		w->o.a, "the hook 'post-checkout' failed in '%s': status %d", path, status);
	return 0;
}

static int create_parts(struct work *w)
{
	for (const struct pool_part *const *part = pool_parts(); *part; part++)
		if ((*part)->create(w->o.a, w->o.p, &w->of, w->ask->issue, w->o.err) < 0)
			return -1;
	return 0;
}

/* Commands may take minutes, so others get the lock meanwhile. The record names this process: while
 * it lives nobody takes the allocation for an interrupted one. */
static int set_up(struct work *w)
{
	const struct worktree_setup *s = &w->o.p->setup;
	struct error why;
	int rc;

	if (!s->copy.n && !s->link.n && !s->commands.n)
		return 0;
	w->of.holder = w->o.p->self;
	if (record_put(&w->o, &w->of) < 0)
		return -1;
	pool_unlock(w->o.p);
	rc = setup_run(&w->o, &w->of);
	w->of.holder = (struct process_identity){0};
	if (pool_lock(w->o.a, w->o.p, rc < 0 ? &why : w->o.err) < 0)
		return -1;
	return rc;
}

static int make(struct work *w)
{
	struct error why, *err = w->o.err;

	if (allocate_find_base(w) < 0 || check_sparse(w) < 0 ||
		ports_choose(&w->o, w->ask, &w->of) < 0)
		return -1;
	w->of.tip = w->commit;
	w->of.state = ALLOCATION_MAKING;
	w->of.admin = w->of.slug; /* as `git worktree add` chooses it */
	for (unsigned i = 1; path_exists(in_admin(w, "")); i++)
		w->of.admin = arena_printf(w->o.a, "%s%u", w->of.slug, i);
	if (record_put(&w->o, &w->of) < 0)
		return -1;
	if (add_worktree(w) == 0 && create_parts(w) == 0 && set_up(w) == 0 && set_holder(w) == 0) {
		w->of.state = ALLOCATION_LIVE;
		if (record_put(&w->o, &w->of) == 0)
			return 0;
	}
	w->of.state = ALLOCATION_MAKING;
	w->o.err = &why;
	if (w->o.p->lock)
		(void)pool_settle(&w->o, &w->of); /* else the next command does it */
	w->o.err = err;
	return -1;
}

/* ---- one that exists ---- */

static int check_owner(struct work *w, struct ownership *own)
{
	CLEANUP(json_free) json *fields = NULL;
	struct pool *p = w->o.p;
	const char *text;

	if (pool_ownership(w->o.a, w->of.path, p->common, own, w->o.err) < 0)
		return -1;
	if (own->reason == OWNED_OK)
		return 0;
	fields = JSON_OBJECT(JSON_TEXT("worktreePath", w->of.path),
		JSON_TEXT("reason", owned_word(own->reason)),
		JSON_TEXT("expectedClone", own->expected),
		JSON_IF(own->actual, JSON_TEXT("actualClone", own->actual)),
		JSON_TEXT("guard", p->strict ? "strict" : "advisory"));
	if (event_emit(p->artifacts,
		    &(struct event){.id = EVENT_WORKTREE_OWNERSHIP_MISMATCH,
			    .issue = w->ask->issue,
			    .fields = fields},
		    w->o.err) < 0)
		return -1;
	text = arena_printf(w->o.a, "(%s): '%s' does not belong to '%s': %s, '%s'",
		owned_word(own->reason), w->of.path, p->repo,
		own->reason == OWNED_CROSS_CLONE ? "it belongs to another clone"
						 : "its '.git' does not point to a repository",
		own->actual ? own->actual : "");
	if (p->strict)
		return error_set(w->o.err, ERR_STATE, "WorktreeOwnershipMismatch %s", text);
	w->of.warning = arena_printf(w->o.a, "advisory ownership mismatch %s", text);
	return 0;
}

/* The user may have switched branches in it. An agent that was killed while it rebased the branch
 * has left it detached: the next one finishes or aborts that. */
static int allocate_check_branch(struct work *w)
{
	const struct tree *t = trees_at(&w->o, w->of.path);
	const char *busy = NULL;

	if (t && !t->branch && git_read_operation(w->of.path, &busy, w->o.err) < 0)
		return -1;
	if (!t || (t->branch ? strcmp(t->branch, w->of.branch) == 0
			     : busy && strcmp(busy, "rebase") == 0))
		return 0;
	return t->branch ? error_set(w->o.err, ERR_STATE,
				   "'%s' has branch '%s' checked out, not branch '%s'", w->of.path,
				   t->branch, w->of.branch)
			 : error_set(w->o.err, ERR_STATE,
				   "'%s' has commit %.12s checked out, not branch '%s'", w->of.path,
				   t->head, w->of.branch);
}

static int adopt_recorded(struct work *w, const struct allocation *old)
{
	const char *warning = w->of.warning;

	if (w->ask->ports > old->ports)
		return error_set(w->o.err, ERR_STATE,
			"'%s' has %u ports, not %u: reclaim it to get more", old->path, old->ports,
			w->ask->ports);
	if (check_holder(w, old) < 0)
		return -1;
	w->of = *old;
	w->of.warning = warning;
	/* Taking over a run whose owner is alive requires `--holder`. */
	if (!w->ask->holder && (!w->ask->run || allocate_is_held(w, old)))
		return 0;
	return set_holder(w) < 0 ? -1 : record_put(&w->o, &w->of);
}

static int adopt(struct work *w, const struct allocation *old)
{
	struct ownership own;

	if (check_owner(w, &own) < 0 || allocate_check_branch(w) < 0)
		return -1;
	if (old)
		return adopt_recorded(w, old);
	if (ports_choose(&w->o, w->ask, &w->of) < 0 || begin_at(w, "refs/heads/", w->of.branch) < 0)
		return -1;
	w->of.base = NULL;
	w->of.tip = w->commit;
	w->of.admin = own.reason == OWNED_OK ? path_base(own.actual).p : NULL;
	return set_holder(w) < 0 ? -1 : record_put(&w->o, &w->of);
}

/* ---- all ---- */

/* The worktree of the record is gone: unless git still has something of it, the place is free. */
static int allocate_forget(struct work *w, const struct allocation *old)
{
	struct allocation gone = *old;
	enum keep_reason why;
	const char *text;

	if (pool_keep(&w->o, &gone, false, &why, &text) < 0)
		return -1;
	if (why)
		return error_set(w->o.err, ERR_STATE, "'%s' no longer exists, and is kept: %s",
			gone.path, text);
	w->o.keep_parts = true;
	if (pool_remove(&w->o, &gone) < 0)
		return -1;
	w->o.keep_parts = false;
	return records_read(&w->o);
}

static int check_elsewhere(struct work *w)
{
	const struct tree *t = trees_on(&w->o, w->of.branch);

	if (trees_at(&w->o, w->of.path))
		return error_set(w->o.err, ERR_STATE,
			"git knows a worktree '%s' that does not exist: run 'git worktree repair' "
			"with its path if it was moved, else 'git worktree prune'",
			w->of.path);
	if (t && t == w->o.trees.items)
		return error_set(w->o.err, ERR_STATE,
			"branch '%s' is checked out in '%s', the main work tree: switch to another "
			"branch there",
			w->of.branch, w->o.p->repo);
	return !t ? 0
		  : error_set(w->o.err, ERR_STATE,
			    "branch '%s' is checked out in another worktree: '%s'", w->of.branch,
			    t->path);
}

static int allocate_locked(struct work *w, bool may_create, bool *created)
{
	const struct allocation *old = records_find(&w->o, w->of.slug);

	if (old && strcmp(old->branch, w->of.branch) != 0)
		return error_set(w->o.err, ERR_STATE,
			"branches '%s' and '%s' map to the same directory '%s', which belongs to "
			"'%s'",
			old->branch, w->of.branch, old->path, old->branch);
	if (old && old->fault)
		return error_set(w->o.err, ERR_STATE, "'%s' is half made or half removed: %s",
			old->path, old->fault);
	if (pool_make_directory(w->o.a, w->o.p, w->o.err) < 0 || trees_read(&w->o) < 0)
		return -1;
	if (old)
		w->of.path = old->path;
	if (path_exists(path_join(w->o.a, w->of.path, ".git")))
		return adopt(w, old) < 0 || (!w->of.warning && create_parts(w) < 0) ? -1 : 0;
	if (!may_create)
		return error_set(w->o.err, ERR_STATE,
			"there is no worktree of branch '%s' at '%s' to adopt", w->of.branch,
			w->of.path);
	if (path_exists(w->of.path) && !directory_is_empty(w->of.path))
		return error_set(w->o.err, ERR_STATE,
			"'%s' is in the way: it is not a worktree, and is not empty", w->of.path);
	if (old ? allocate_forget(w, old) < 0 : check_elsewhere(w) < 0)
		return -1;
	w->of.path = path_join(w->o.a, w->o.p->dir, w->of.slug);
	*created = true;
	return make(w);
}

static int allocate(struct work *w, bool may_create, struct allocation *out, bool *created)
{
	char *slug;
	int rc;

	*created = false;
	if (branch_check(w->ask->branch, w->o.err) < 0 ||
		pool_slug(w->o.a, w->ask->branch, &slug, w->o.err) < 0 || op_begin(&w->o) < 0)
		return -1;
	w->of = (struct allocation){.branch = w->ask->branch,
		.slug = slug,
		.path = path_join(w->o.a, w->o.p->dir, slug),
		.repo = w->o.p->repo,
		.pool = w->o.p->name,
		.state = ALLOCATION_LIVE,
		.created = clock_now()};
	rc = allocate_locked(w, may_create, created);
	pool_unlock(w->o.p);
	*out = w->of;
	return rc < 0 ? -1 : ports_report(w->o.p, w->ask, &w->of, w->o.err);
}

int pool_allocate(struct arena *a, struct pool *p, const struct allocate_ask *ask,
	struct allocation *out, bool *created, struct error *err)
{
	struct work w = {.o = {.a = a, .p = p, .err = err}, .ask = ask};

	return allocate(&w, true, out, created);
}

int pool_adopt(struct arena *a, struct pool *p, const struct allocate_ask *ask,
	struct allocation *out, struct error *err)
{
	struct work w = {.o = {.a = a, .p = p, .err = err}, .ask = ask};
	bool created;

	return allocate(&w, false, out, &created);
}
