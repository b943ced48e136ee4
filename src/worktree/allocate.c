/*
 * allocate.c: creates a worktree with its ports and its record, or adopts the one that exists.
 */
#include "src/base/clock.h"
#include "src/event/event.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

/* Why git has it locked, until it is complete: see pool_settle(). */
#define MAKING "dev-team is making it"

struct work {
	struct op o;
	const struct allocate_ask *ask;
	struct allocation of; /* the record to write */
	const char *commit;   /* where the branch is, or begins */
};

/* ---- the holder ---- */

/* Sets it as the caller requires. `old`: the record of a worktree that exists; else NULL. 1: it has
 * changed. -1: its holder is running, and is neither the caller nor of the caller's run. */
static int allocate_hold(struct work *w, const struct allocation *old)
{
	const struct allocate_ask *ask = w->ask;
	pid_t pid = ask->holder ? ask->holder : getpid();
	bool held =
		old && old->holder.pid && process_life(&old->holder, &w->o.p->self) != PROCESS_DEAD;

	if (!ask->holder && !ask->run)
		return 0;
	if (held && old->holder.pid != pid &&
		!(old->run && ask->run && strcmp(old->run, ask->run) == 0))
		return error_set(w->o.err, ERR_STATE,
			"'%s' is held by process %d%s%s%s, which is still running", old->path,
			(int)old->holder.pid, old->run ? " for '" : "", old->run ? old->run : "",
			old->run ? "'" : "");
	if (held && !ask->holder) /* the present one stays */
		return 0;
	w->of.run = ask->run ? ask->run : w->of.run;
	return process_identify(w->o.a, pid, &w->of.holder, w->o.err) < 0 ? -1 : 1;
}

/* ---- where a new branch begins ---- */

/* At the commit PREFIX NAME, if it exists. */
static int begin_at(struct work *w, const char *prefix, const char *name)
{
	const char *full = arena_printf(w->o.a, "%s%s", prefix, name ? name : "");
	const char *const args[] = {"rev-list", "-n", "1", "--end-of-options", full, "--", NULL};
	static const char *const before[] = {"refs/heads/", "refs/remotes/"};

	if (w->commit || !name || !*name)
		return 0;
	if (!git_plain_ids(w->o.a, w->o.p->repo, &full, 1, &w->commit)) {
		if (op_git(&w->o, NULL, args) < 0)
			return -1;
		w->commit = w->o.line;
	}
	w->of.base = full;
	for (size_t i = 0; i < COUNT(before); i++)
		if (str_starts(str_of(full), before[i]))
			w->of.base = full + strlen(before[i]);
	return 0;
}

/* In this order: the branch itself; what the caller names; the branch of the same name on the
 * remote; the target on the remote; the local target; without a target, the default branch. */
static int allocate_find_base(struct work *w)
{
	const struct allocate_ask *ask = w->ask;
	bool base = ask->base && *ask->base, target = ask->target && *ask->target;
	struct git_default known;

	if (begin_at(w, "refs/heads/", ask->branch) < 0)
		return -1;
	w->of.made_branch = !w->commit;
	if (w->commit) {
		w->of.base = NULL;
		return 0;
	}
	if (git_read_default(w->o.a, w->o.p->repo, &known, w->o.err) < 0 ||
		begin_at(w, "", ask->base) < 0 ||
		(!base && (begin_at(w, "refs/remotes/origin/", ask->branch) < 0 ||
				  begin_at(w, "refs/remotes/origin/", ask->target) < 0 ||
				  begin_at(w, "refs/heads/", ask->target) < 0 ||
				  begin_at(w, "", target ? NULL : known.ref) < 0)))
		return -1;
	return w->commit ? 0
			 : error_set(w->o.err, ERR_STATE,
				   "there is no %s '%.200s' in '%s' to begin a branch from: commit "
				   "and push something, fetch it, or give --base",
				   base ? "commit" : "branch",
				   base     ? ask->base
				   : target ? ask->target
					    : "main",
				   w->o.p->repo);
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
	const char *const old[] = {"worktree", "add", "--quiet", "--lock", "--reason", MAKING,
		checkout, "--", path, branch, NULL};
	const char *const fresh[] = {"worktree", "add", "--quiet", "--lock", "--reason", MAKING,
		checkout, "--no-track", "-b", branch, "--", path, w->commit, NULL};
	const char *const only[] = {"sparse-checkout", "set", "--cone", w->of.sparse, NULL};
	static const char *const files[] = {"checkout", "--quiet", "--force", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct pool *p = w->o.p;
	int status, ended;

	if (pool_git(p, NULL, true, w->of.made_branch ? fresh : old, &out, &status, w->o.err) < 0)
		return -1;
	if (status == 0 && w->of.sparse) {
		if (pool_git(p, path, false, only, &out, &status, w->o.err) < 0 ||
			pool_git(p, path, true, files, &out, &ended, w->o.err) < 0)
			return -1;
		if (status || !path_is_directory(path_join(w->o.a, path, w->of.sparse)))
			return error_set(w->o.err, ERR_INPUT,
				"there is no directory '%.200s' in commit %.12s", w->of.sparse,
				w->commit);
		status = ended;
	}
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
	for (const struct pool_part *const *part = pool_parts; *part; part++)
		if ((*part)->create(w->o.a, w->o.p, &w->of, w->ask->issue, w->o.err) < 0)
			return -1;
	return 0;
}

/* Commands may take minutes, so others get the lock meanwhile. The record names this process: while
 * it lives nobody takes the allocation for an interrupted one. */
static int set_up(struct work *w)
{
	const struct worktree_setup *s = &w->o.p->spec.setup;
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

	if (allocate_find_base(w) < 0 || ports_choose(&w->o, w->ask, &w->of) < 0)
		return -1;
	w->of.tip = w->commit;
	w->of.state = ALLOCATION_MAKING;
	w->of.admin = w->of.slug; /* as `git worktree add` chooses it */
	for (unsigned i = 1; path_exists(in_admin(w, "")); i++)
		w->of.admin = arena_printf(w->o.a, "%s%u", w->of.slug, i);
	if (record_put(&w->o, &w->of) < 0)
		return -1;
	if (add_worktree(w) == 0 && create_parts(w) == 0 && set_up(w) == 0 &&
		allocate_hold(w, NULL) >= 0) {
		w->of.state = ALLOCATION_LIVE;
		if (unlink(in_admin(w, "/locked")) == 0 && record_put(&w->o, &w->of) == 0)
			return 0;
	}
	w->of.state = ALLOCATION_MAKING;
	w->o.err = &why;
	if (w->o.p->lock)
		(void)pool_settle(&w->o, &w->of); /* else the next command does it */
	w->o.err = err;
	return -1;
}

/* The worktree of the record is gone: unless git still has something of it, the place is free. */
static int allocate_forget(struct work *w, struct allocation gone)
{
	if (pool_keep(&w->o, &gone, false) < 0)
		return -1;
	if (gone.keep)
		return error_set(w->o.err, ERR_STATE, "'%s' no longer exists, and is kept: %s",
			gone.path, gone.why);
	records_forget(&w->o, gone.slug);
	return drop_admin(&w->o, &gone);
}

static int check_elsewhere(struct work *w)
{
	const struct tree *t = trees_find(&w->o, NULL, w->of.branch);

	if (trees_find(&w->o, w->of.path, NULL))
		return error_set(w->o.err, ERR_STATE,
			"git knows a worktree '%s' that does not exist: run 'git worktree repair' "
			"with its path if it was moved, else 'git worktree prune'",
			w->of.path);
	return !t ? 0
		  : error_set(w->o.err, ERR_STATE, "branch '%s' is checked out in '%s'%s",
			    w->of.branch, t->path,
			    t == w->o.trees.items ? ", the main work tree: switch to another "
						    "branch there"
						  : ", another worktree");
}

/* ---- one that exists ---- */

static int check_owner(struct work *w, const struct ownership *own)
{
	CLEANUP(json_free) json *fields = NULL;
	struct pool *p = w->o.p;
	struct event e = {.id = EVENT_WORKTREE_OWNERSHIP_MISMATCH, .issue = w->ask->issue};

	if (own->ok)
		return 0;
	e.fields = fields = JSON_OBJECT(JSON_TEXT("worktreePath", w->of.path),
		JSON_TEXT("reason", own->reason), JSON_TEXT("expectedClone", own->expected),
		JSON_IF(own->actual, JSON_TEXT("actualClone", own->actual)),
		JSON_TEXT("guard", p->spec.strict ? "strict" : "advisory"));
	if (event_emit(p->artifacts, &e, w->o.err) < 0)
		return -1;
	w->of.warning = arena_printf(w->o.a, "%s (%s): '%s' does not belong to '%s', but to '%s'",
		p->spec.strict ? "WorktreeOwnershipMismatch" : "advisory ownership mismatch",
		own->reason, w->of.path, p->repo, own->actual ? own->actual : "");
	return p->spec.strict ? error_set(w->o.err, ERR_STATE, "%s", w->of.warning) : 0;
}

/* The user may have switched branches in it. An agent that was killed while it rebased the branch
 * has left it detached: the next one finishes or aborts that. */
static int allocate_check_branch(struct work *w, const struct ownership *own)
{
	const struct tree *t = trees_find(&w->o, w->of.path, NULL);
	const char *busy = NULL;

	if (!t && own->ok) /* two directories would share one HEAD and index */
		return error_set(w->o.err, ERR_STATE,
			"'%s' is a copy of a worktree, or was moved: remove it, or run 'git "
			"worktree repair' with its path if it was moved",
			w->of.path);
	if (!t || (t->branch && strcmp(t->branch, w->of.branch) == 0))
		return 0;
	if (!t->branch && git_read_operation(w->of.path, &busy, w->o.err) < 0)
		return -1;
	return busy && strcmp(busy, "rebase") == 0
		       ? 0
		       : error_set(w->o.err, ERR_STATE,
				 "'%s' has %s '%s' checked out, not branch '%s'", w->of.path,
				 t->branch ? "branch" : "commit", t->branch ? t->branch : t->head,
				 w->of.branch);
}

static int adopt(struct work *w, const struct allocation *old)
{
	struct ownership own = pool_ownership(w->o.a, w->of.path, w->o.p->common);
	int rc;

	if (check_owner(w, &own) < 0 || allocate_check_branch(w, &own) < 0)
		return -1;
	if (old && w->ask->ports > old->ports)
		return error_set(w->o.err, ERR_STATE,
			"'%s' has %u ports, not %u: reclaim it to get more", old->path, old->ports,
			w->ask->ports);
	if (old) {
		const char *warning = w->of.warning;

		w->of = *old;
		w->of.warning = warning;
	} else {
		if (ports_choose(&w->o, w->ask, &w->of) < 0 ||
			begin_at(w, "refs/heads/", w->of.branch) < 0)
			return -1;
		w->of.base = w->of.sparse = NULL;
		w->of.tip = w->commit;
		w->of.admin = own.ok ? path_base(own.actual).p : NULL;
	}
	rc = allocate_hold(w, old);
	if (rc < 0 || ((!old || rc) && record_put(&w->o, &w->of) < 0))
		return -1;
	return w->of.warning ? 0 : create_parts(w);
}

/* ---- all ---- */

static int allocate_locked(struct work *w, bool *created)
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
		return adopt(w, old);
	if (w->ask->adopt)
		return error_set(w->o.err, ERR_STATE,
			"there is no worktree of branch '%s' at '%s' to adopt", w->of.branch,
			w->of.path);
	if (path_exists(w->of.path) && rmdir(w->of.path) < 0)
		return error_set(w->o.err, ERR_STATE,
			"'%s' is in the way: it is not a worktree, and is not empty", w->of.path);
	if (old ? allocate_forget(w, *old) < 0 : check_elsewhere(w) < 0)
		return -1;
	w->of.path = path_join(w->o.a, w->o.p->dir, w->of.slug);
	*created = true;
	return make(w);
}

int pool_allocate(struct arena *a, struct pool *p, const struct allocate_ask *ask,
	struct allocation *out, bool *created, struct error *err)
{
	struct work w = {.o = {.a = a, .p = p, .err = err}, .ask = ask};
	char *slug;
	int rc;

	*created = false;
	if (branch_check(ask->branch, err) < 0 || pool_slug(a, ask->branch, &slug, err) < 0 ||
		op_begin(&w.o) < 0)
		return -1;
	w.of = (struct allocation){.branch = ask->branch,
		.sparse = ask->sparse && *ask->sparse ? ask->sparse : NULL,
		.slug = slug,
		.path = path_join(a, p->dir, slug),
		.pool = p->spec.name,
		.state = ALLOCATION_LIVE,
		.created = clock_now()};
	rc = allocate_locked(&w, created);
	pool_unlock(p);
	*out = w.of;
	return rc < 0 ? -1 : ports_report(p, ask->issue, &w.of, err);
}
