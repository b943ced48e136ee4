/*
 * allocate.c: creates a worktree with its ports and its record, or adopts the one that exists.
 */
#include "src/base/clock.h"
#include "src/event/event.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

struct work {
	struct arena *arena;
	struct pool *pool;
	const struct allocate_ask *ask;
	bool adopt;           /* create nothing */
	struct allocation of; /* the record to write */
	struct records all;
	struct trees trees;
	const char *commit; /* where the branch is, or begins */
	struct error *err;
};

/* ---- the holder ---- */

static int set_holder(struct work *w)
{
	pid_t pid = w->ask->holder ? w->ask->holder : w->ask->run ? getpid() : 0;

	w->of.holder = (struct process_identity){0};
	if (w->ask->run)
		w->of.run = w->ask->run;
	return pid ? process_identify(w->arena, pid, &w->of.holder, w->err) : 0;
}

/* The holder is running, and is neither the caller nor of the caller's run. */
static int check_holder(struct work *w, const struct allocation *old)
{
	pid_t own = w->ask->holder ? w->ask->holder : getpid();

	if ((!w->ask->run && !w->ask->holder) || !old->holder.pid || old->holder.pid == own ||
		process_life(&old->holder, &w->pool->self) == PROCESS_DEAD ||
		(old->run && w->ask->run && strcmp(old->run, w->ask->run) == 0))
		return 0;
	return error_set(w->err, ERR_STATE,
		"'%s' is held by process %d%s%s%s, which is still running", old->path,
		(int)old->holder.pid, old->run ? " for '" : "", old->run ? old->run : "",
		old->run ? "'" : "");
}

/* ---- where a new branch begins ---- */

/* *commit NULL: there is no such commit. */
static int resolve(struct work *w, const char *name, const char **commit)
{
	const char *const args[] = {"rev-list", "-n", "1", "--end-of-options", name, "--", NULL};
	const char *said;

	return pool_git_line(w->arena, w->pool, NULL, args, commit, &said, w->err);
}

/* One of the references, or nothing. */
static int begin_at(struct work *w, const char *prefix, const char *name)
{
	if (w->commit || !name || !*name)
		return 0;
	if (resolve(w, arena_printf(w->arena, "%s%s", prefix, name), &w->commit) < 0)
		return -1;
	if (w->commit)
		w->of.base = str_starts(str_of(prefix), "refs/remotes/")
				     ? arena_printf(w->arena, "origin/%s", name)
				     : name;
	return 0;
}

static const char *short_name(const char *full)
{
	static const char *const prefixes[] = {"refs/heads/", "refs/remotes/"};

	for (size_t i = 0; i < COUNT(prefixes); i++)
		if (str_starts(str_of(full), prefixes[i]))
			return full + strlen(prefixes[i]);
	return full;
}

/* In this order: the branch itself; what the caller names; the branch of the same name on the
 * remote; the target on the remote; the local target; without a target, the default branch. */
static int find_base(struct work *w)
{
	const struct allocate_ask *ask = w->ask;
	bool target = ask->target && *ask->target;
	struct git_default known;

	if (begin_at(w, "refs/heads/", ask->branch) < 0)
		return -1;
	w->of.made_branch = !w->commit;
	w->of.base = NULL;
	if (w->commit)
		return 0;
	if (begin_at(w, "", ask->base) < 0)
		return -1;
	if (w->commit) {
		w->of.base = short_name(ask->base);
		return 0;
	}
	if (ask->base && *ask->base)
		return error_set(w->err, ERR_STATE,
			"there is no commit '%.200s' in '%s' to begin a branch from", ask->base,
			w->pool->repo);
	if (begin_at(w, "refs/remotes/origin/", ask->branch) < 0 ||
		begin_at(w, "refs/remotes/origin/", ask->target) < 0 ||
		begin_at(w, "refs/heads/", ask->target) < 0 ||
		(!w->commit && git_read_default(w->arena, w->pool->repo, &known, w->err) < 0))
		return -1;
	if (!w->commit && !target && known.ref) {
		w->commit = known.commit;
		w->of.base = short_name(known.ref);
	}
	if (w->commit)
		return 0;
	return error_set(w->err, ERR_STATE,
		"there is no branch '%s%s' in '%s' to begin from: commit and push something, fetch "
		"it, or give --base",
		target ? "origin/" : "", target ? ask->target : "main", w->pool->repo);
}

static int check_sparse(struct work *w)
{
	const char *dir = w->ask->sparse, *line, *said;
	const char *const args[] = {
		"cat-file", "-t", arena_printf(w->arena, "%s:%s", w->commit, dir ? dir : ""), NULL};

	if (!dir || !*dir)
		return 0;
	if (dir[0] == '/' || dir[0] == '-' || dir[0] == '!' || strpbrk(dir, "*?[\\\n\"") ||
		str_utf8_fault(str_of(dir)))
		return error_set(w->err, ERR_USAGE,
			"'%.200s' is not a directory of the repository, as --sparse requires", dir);
	if (pool_git_line(w->arena, w->pool, NULL, args, &line, &said, w->err) < 0)
		return -1;
	w->of.sparse = dir;
	if (line && strcmp(line, "tree") == 0)
		return 0;
	return error_set(w->err, ERR_INPUT, "there is no directory '%.200s' in commit %.12s", dir,
		w->commit);
}

/* ---- a new one ---- */

/* As `git worktree add` chooses it. */
static const char *choose_admin(struct work *w)
{
	const char *name = w->of.slug;

	for (unsigned i = 1;; i++) {
		if (!path_exists(arena_printf(w->arena, "%s/worktrees/%s", w->pool->common, name)))
			return name;
		name = arena_printf(w->arena, "%s%u", w->of.slug, i);
	}
}

/* The hook 'post-checkout' runs last: the files are complete then, and it does not undo them. */
static bool is_complete(struct work *w)
{
	const char *index =
		arena_printf(w->arena, "%s/worktrees/%s/index", w->pool->common, w->of.admin);

	return path_exists(index) && !path_exists(arena_printf(w->arena, "%s.lock", index));
}

static int add_worktree(struct work *w)
{
	const char *path = w->of.path, *branch = w->of.branch;
	const char *const old[] = {"worktree", "add", w->of.sparse ? "--no-checkout" : "--checkout",
		"--", path, branch, NULL};
	const char *const fresh[] = {
		"worktree", "add", old[2], "--no-track", "-b", branch, "--", path, w->commit, NULL};
	const char *const only[] = {"sparse-checkout", "set", "--cone", w->of.sparse, NULL};
	static const char *const files[] = {"checkout", "--quiet", "--force", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	int status;

	if (pool_git(w->pool, NULL, true, w->of.made_branch ? fresh : old, &out, &status, w->err) <
		0)
		return -1;
	if (status == 0 && w->of.sparse) {
		if (pool_git(w->pool, path, false, only, NULL, NULL, w->err) < 0)
			return -1;
		buf_clear(&out);
		if (pool_git(w->pool, path, true, files, &out, &status, w->err) < 0)
			return -1;
	}
	if (status == 0)
		return 0;
	if (!is_complete(w))
		return error_set(w->err, ERR_SYSTEM, "'git worktree add' failed: %.*s",
			(int)str_trim(buf_str(&out)).n, str_trim(buf_str(&out)).p);
	w->of.warning = arena_printf(
		w->arena, "the hook 'post-checkout' failed in '%s': status %d", path, status);
	return 0;
}

static int make(struct work *w)
{
	struct error why;

	if (find_base(w) < 0 || check_sparse(w) < 0 ||
		ports_choose(w->pool, &w->all, w->ask, &w->of, w->err) < 0)
		return -1;
	w->of.tip = w->commit;
	w->of.admin = choose_admin(w);
	w->of.state = ALLOCATION_MAKING;
	if (record_put(w->arena, w->pool, &w->of, w->err) < 0)
		return -1;
	if (add_worktree(w) == 0) {
		w->of.state = ALLOCATION_LIVE;
		if (set_holder(w) == 0 && record_put(w->arena, w->pool, &w->of, w->err) == 0)
			return 0;
		w->of.state = ALLOCATION_MAKING;
	}
	(void)pool_settle(w->arena, w->pool, &w->of, &why); /* else the next command does it */
	return -1;
}

/* ---- one that exists ---- */

static int check_owner(struct work *w, struct ownership *own)
{
	CLEANUP(json_free) json *fields = NULL;
	const char *text;

	if (pool_ownership(w->arena, w->of.path, w->pool->common, own, w->err) < 0)
		return -1;
	if (own->reason == OWNED_OK)
		return 0;
	fields = JSON_OBJECT(JSON_TEXT("worktreePath", w->of.path),
		JSON_TEXT("reason", owned_word(own->reason)),
		JSON_TEXT("expectedClone", own->expected),
		JSON_IF(own->actual, JSON_TEXT("actualClone", own->actual)),
		JSON_TEXT("guard", w->pool->strict ? "strict" : "advisory"));
	if (event_emit(w->pool->artifacts,
		    &(struct event){.id = EVENT_WORKTREE_OWNERSHIP_MISMATCH,
			    .issue = w->ask->issue,
			    .fields = fields},
		    w->err) < 0)
		return -1;
	text = arena_printf(w->arena, "(%s): '%s' does not belong to '%s': %s, '%s'",
		owned_word(own->reason), w->of.path, w->pool->repo,
		own->reason == OWNED_CROSS_CLONE ? "it belongs to another clone"
						 : "its '.git' does not point to a repository",
		own->actual ? own->actual : "");
	if (w->pool->strict)
		return error_set(w->err, ERR_STATE, "WorktreeOwnershipMismatch %s", text);
	w->of.warning = arena_printf(w->arena, "advisory ownership mismatch %s", text);
	return 0;
}

/* The user may have switched branches in it. */
static int check_branch(struct work *w, const struct tree *t)
{
	if (!t || (t->branch && strcmp(t->branch, w->of.branch) == 0))
		return 0;
	return error_set(w->err, ERR_STATE,
		t->branch ? "'%s' has branch '%s' checked out, not branch '%s'"
			  : "'%s' has commit %.12s checked out, not branch '%s'",
		w->of.path, t->branch ? t->branch : t->head, w->of.branch);
}

static int adopt(struct work *w, const struct allocation *old)
{
	const char *warning;
	struct ownership own;

	if (check_owner(w, &own) < 0 || check_branch(w, trees_at(&w->trees, w->of.path)) < 0)
		return -1;
	warning = w->of.warning;
	if (old) {
		if (w->ask->ports > old->ports)
			return error_set(w->err, ERR_STATE,
				"'%s' has %u ports, not %u: reclaim it to get more", old->path,
				old->ports, w->ask->ports);
		if (check_holder(w, old) < 0)
			return -1;
		w->of = *old;
		w->of.warning = warning;
		/* Taking over a run whose owner is alive requires `--holder`. */
		if (!w->ask->holder &&
			(!w->ask->run ||
				(old->holder.pid && process_life(&old->holder, &w->pool->self) !=
							    PROCESS_DEAD)))
			return 0;
	} else {
		if (ports_choose(w->pool, &w->all, w->ask, &w->of, w->err) < 0 ||
			begin_at(w, "refs/heads/", w->of.branch) < 0)
			return -1;
		w->of.base = NULL;
		w->of.tip = w->commit;
		if (own.reason == OWNED_OK)
			w->of.admin = path_base(own.actual).p;
	}
	return set_holder(w) < 0 ? -1 : record_put(w->arena, w->pool, &w->of, w->err);
}

/* ---- all ---- */

/* The worktree of the record is gone: unless git still has something of it, the place is free. */
static int forget(struct work *w, const struct allocation *old)
{
	struct allocation gone = *old;
	enum keep_reason why;
	const char *text;

	if (pool_keep(w->arena, w->pool, &w->all, &gone, false, &why, &text, w->err) < 0)
		return -1;
	if (why)
		return error_set(w->err, ERR_STATE, "'%s' no longer exists, and is kept: %s",
			gone.path, text);
	if (pool_remove(w->arena, w->pool, &gone, false, w->err) < 0)
		return -1;
	return records_read(w->arena, w->pool, &w->all, w->err);
}

static int check_elsewhere(struct work *w)
{
	const struct tree *t = trees_on(&w->trees, w->of.branch);

	if (trees_at(&w->trees, w->of.path))
		return error_set(w->err, ERR_STATE,
			"git knows a worktree '%s' that does not exist: run 'git worktree repair' "
			"with its path if it was moved, else 'git worktree prune'",
			w->of.path);
	if (!t)
		return 0;
	if (t == w->trees.items)
		return error_set(w->err, ERR_STATE,
			"branch '%s' is checked out in '%s', the main work tree: switch to another "
			"branch there",
			w->of.branch, w->pool->repo);
	return error_set(w->err, ERR_STATE, "branch '%s' is checked out in another worktree: '%s'",
		w->of.branch, t->path);
}

static int allocate_locked(struct work *w, bool *created)
{
	const struct allocation *old = records_find(&w->all, w->of.slug);

	if (old && strcmp(old->branch, w->of.branch) != 0)
		return error_set(w->err, ERR_STATE,
			"branches '%s' and '%s' map to the same directory '%s', which belongs to "
			"'%s'",
			old->branch, w->of.branch, old->path, old->branch);
	if (old && old->fault)
		return error_set(w->err, ERR_STATE, "'%s' is half made or half removed: %s",
			old->path, old->fault);
	if (pool_make_directory(w->arena, w->pool, w->err) < 0 ||
		trees_read(w->arena, w->pool, &w->trees, w->err) < 0)
		return -1;
	if (old)
		w->of.path = old->path;
	if (path_exists(path_join(w->arena, w->of.path, ".git")))
		return adopt(w, old);
	if (w->adopt)
		return error_set(w->err, ERR_STATE,
			"there is no worktree of branch '%s' at '%s' to adopt", w->of.branch,
			w->of.path);
	if (path_exists(w->of.path) && !directory_is_empty(w->of.path))
		return error_set(w->err, ERR_STATE,
			"'%s' is in the way: it is not a worktree, and is not empty", w->of.path);
	if (old ? forget(w, old) < 0 : check_elsewhere(w) < 0)
		return -1;
	w->of.path = path_join(w->arena, w->pool->dir, w->of.slug);
	*created = true;
	return make(w);
}

static int allocate(struct work *w, struct allocation *out, bool *created)
{
	const struct allocate_ask *ask = w->ask;
	char *slug;
	int rc;

	*created = false;
	if (branch_check(ask->branch, w->err) < 0 ||
		pool_slug(w->arena, ask->branch, &slug, w->err) < 0 ||
		pool_begin(w->arena, w->pool, &w->all, w->err) < 0)
		return -1;
	w->of = (struct allocation){.branch = ask->branch,
		.slug = slug,
		.path = path_join(w->arena, w->pool->dir, slug),
		.repo = w->pool->repo,
		.pool = w->pool->name,
		.state = ALLOCATION_LIVE,
		.created = clock_now()};
	rc = allocate_locked(w, created);
	pool_end(w->pool);
	*out = w->of;
	return rc < 0 ? -1 : ports_report(w->pool, ask, &w->of, w->err);
}

int pool_allocate(struct arena *a, struct pool *p, const struct allocate_ask *ask,
	struct allocation *out, bool *created, struct error *err)
{
	struct work w = {.arena = a, .pool = p, .ask = ask, .err = err};

	return allocate(&w, out, created);
}

int pool_adopt(struct arena *a, struct pool *p, const struct allocate_ask *ask,
	struct allocation *out, struct error *err)
{
	struct work w = {.arena = a, .pool = p, .ask = ask, .adopt = true, .err = err};
	bool created;

	return allocate(&w, out, &created);
}
