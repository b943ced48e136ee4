/*
 * allocate.c: creates a worktree with its ports and its record, or adopts the one that exists.
 */
#include <fcntl.h>
#include "src/base/clock.h"
#include "src/event/artifact.h"
#include "src/event/event.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

/* Why git has it locked, until it is complete: see pool_settle(). */
#define MAKING "dev-team is making it"

enum { COPY_S = 3600 };

#define GIVEN(text) ((text) && *(text) ? (text) : NULL)

/* ---- the holder ---- */

/* Sets it as the caller requires. `old`: the record of a worktree that exists; else NULL. 1: it has
 * changed. -1: its holder is running, and is neither the caller nor of the caller's run. */
static int allocate_hold(struct op *o, struct allocation *of, const struct allocation *old)
{
	const struct allocate_ask *ask = o->ask;
	const char *name = ask->holder ? process_name(o->a, ask->holder) : o->p->self;
	bool held = old && record_is_held(o->a, old);

	if (!ask->holder && !ask->run)
		return 0;
	if (!name)
		return REFUSE("process %d is not running", (int)ask->holder);
	if (held && strcmp(old->holder, name) != 0 &&
		!(old->run && ask->run && strcmp(old->run, ask->run) == 0))
		return REFUSE("'%s' is held by process %d%s, which is still running", old->path,
			(int)process_name_pid(old->holder),
			old->run ? FORMAT(" for '%s'", old->run) : "");
	if (held && !ask->holder) /* the present one stays */
		return 0;
	of->run = ask->run ? ask->run : of->run;
	of->holder = name;
	return 1;
}

/* ---- where a new branch begins ---- */

/* Sets of->tip to that of `name`; NULL: there is none. */
static int read_commit(struct op *o, struct allocation *of, const char *name)
{
	const char *const args[] = {"rev-list", "-n", "1", "--end-of-options", name, "--", NULL};

	if (git_plain_ids(o->a, o->p->repo, &name, 1, &of->tip))
		return 0;
	if (op_git(o, NULL, args) < 0)
		return -1;
	of->tip = o->line;
	return 0;
}

/* In this order: the branch itself; what the caller names; the branch of the same name on the
 * remote; the target on the remote; the local target. Without a target it is the default branch. */
static int allocate_find_base(struct op *o, struct allocation *of)
{
	const char *base = GIVEN(o->ask->base), *target = GIVEN(o->ask->target);
	const char *names[4] = {FORMAT("refs/heads/%s", of->branch), base};
	struct git_default known;
	bool unknown;

	if (git_read_default(o->a, o->p->repo, &known, o->err) < 0)
		return -1;
	unknown = !base && !target && !known.branch;
	target = target ? target : known.branch ? known.branch : "main";
	if (!base) {
		names[1] = FORMAT("refs/remotes/origin/%s", of->branch);
		names[2] = FORMAT("refs/remotes/origin/%s", target);
		names[3] = FORMAT("refs/heads/%s", target);
	}
	for (size_t i = 0; i < COUNT(names) && names[i] && !of->tip; i++) {
		if (read_commit(o, of, names[i]) < 0)
			return -1;
		of->made_branch = i > 0;
		if (i > 0)
			of->base = base ? base : strchr(names[i] + strlen("refs/"), '/') + 1;
	}
	return of->tip ? 0
		       : REFUSE("there is no %s '%.200s' in '%s' to begin a branch from: commit "
				"and push something, fetch it%s, or give --base",
				 base ? "commit" : "branch", base ? base : target, o->p->repo,
				 unknown ? ", let 'git remote set-head origin --auto' find the "
					   "default branch"
					 : "");
}

/* ---- a new one ---- */

static int add_worktree(struct op *o, struct allocation *of)
{
	const char *path = of->path, *branch = of->branch;
	bool fresh = of->made_branch, bad;
	const char *const add[] = {"worktree", "add", "--quiet", "--lock", "--reason", MAKING,
		of->sparse ? "--no-checkout" : "--checkout", fresh ? "--no-track" : "--",
		fresh ? "-b" : path, branch, fresh ? "--" : NULL, path, of->tip, NULL};
	const char *const only[] = {"sparse-checkout", "set", "--cone", of->sparse, NULL};
	static const char *const files[] = {"checkout", "--quiet", "--force", NULL};

	if (op_git(o, NULL, add) < 0)
		return -1;
	if (o->line && of->sparse) {
		if (op_git(o, path, only) < 0)
			return -1;
		bad = !o->line;
		if (op_git(o, path, files) < 0)
			return -1;
		if (bad || !path_is_directory(path_join(o->a, path, of->sparse)))
			return error_set(o->err, ERR_INPUT,
				"there is no directory '%.200s' in commit %.12s", of->sparse,
				of->tip);
	}
	if (o->line)
		return 0;
	/* The hook runs last: the files are complete then, and it does not undo them. */
	if (!path_exists(admin_file(o, of, "/index")) ||
		path_exists(admin_file(o, of, "/index.lock")))
		return op_check(o, "git worktree add");
	of->warning = FORMAT("the hook 'post-checkout' failed in '%s': status %d", path, o->status);
	return 0;
}

static int create_part(struct op *o, struct allocation *of)
{
	return pool_part ? pool_part->create(o->a, o->p, of, o->ask->issue, o->err) : 0;
}

/* ---- what a new one gets besides the files of its branch ---- */

/* `script` gets `from` and `to`, which may be NULL, as $1 and $2. */
static int setup_program(struct op *o, const struct allocation *of, const char *name,
	const char *script, const char *from, const char *to, unsigned limit_s)
{
	const char *const argv[] = {"sh", "-c", script, "sh", from, to, NULL};
	const char *const env[] = {
		FORMAT("PORT=%u", of->port), FORMAT("DEV_TEAM_BRANCH=%s", of->branch), NULL};
	const struct git_command c = {
		.dir = of->path, .name = name, .argv = argv, .env = env, .limit_s = limit_s};

	return git_command(&c, NULL, NULL, o->err);
}

/* From the main working tree, by `command`. An agent would commit what git does not ignore, and the
 * worktree would never be clean. */
static int set_up_paths(struct op *o, const struct allocation *of, const struct text_list *paths,
	const char *key, const char *command)
{
	const char *script = FORMAT("mkdir -p -- \"${2%%/*}\" && %s -- \"$1\" \"$2\"", command);

	for (size_t i = 0; i < paths->n; i++) {
		const char *path = paths->list[i], *name = FORMAT("setup.%s of '%s'", key, path);
		const char *from = path_join(o->a, o->p->repo, path);
		const char *to = path_join(o->a, of->path, path);
		const char *const ignored[] = {"check-ignore", "--quiet", "--", path, NULL};

		if (pool_is_bare(o->p) || !path_exists(from))
			return REFUSE(
				"'%s' of 'setup.%s' does not exist in '%s'", path, key, o->p->repo);
		if (path_exists(to))
			return REFUSE(
				"'%s' of 'setup.%s' is a file of the branch already", path, key);
		if (setup_program(o, of, name, script, from, to, COPY_S) < 0 ||
			op_git(o, of->path, ignored) < 0)
			return -1;
		if (!o->line)
			return REFUSE(
				"git does not ignore '%s' of 'setup.%s': add it to .gitignore, "
				"without '/' at the end, which does not match a link",
				path, key);
	}
	return 0;
}

/* Commands may take minutes, so others get the lock meanwhile. The record names this process: while
 * it lives nobody takes the allocation for an interrupted one. */
static int set_up(struct op *o, struct allocation *of)
{
	const struct worktree_setup *s = &o->p->spec.setup;
	struct error why;
	int rc;

	if (!s->copy.n && !s->link.n && !s->commands.n)
		return 0;
	of->holder = o->p->self;
	if (record_put(o, of) < 0)
		return -1;
	pool_unlock(o->p);
	rc = set_up_paths(o, of, &s->copy, "copy", "cp -R -P -p");
	if (rc == 0)
		rc = set_up_paths(o, of, &s->link, "link", "ln -s");
	for (size_t i = 0; i < s->commands.n && rc == 0; i++)
		rc = setup_program(o, of, FORMAT("setup: %.200s", s->commands.list[i]),
			s->commands.list[i], NULL, NULL, (unsigned)s->timeout_s);
	of->holder = NULL;
	if (pool_lock(o->a, o->p, rc < 0 ? &why : o->err) < 0)
		return -1;
	return rc;
}

static int make(struct op *o, struct allocation *of)
{
	if (allocate_find_base(o, of) < 0 || ports_choose(o, of) < 0)
		return -1;
	of->state = ALLOCATION_MAKING;
	of->admin = of->slug; /* as `git worktree add` chooses it */
	for (unsigned i = 1; path_exists(admin_file(o, of, "")); i++)
		of->admin = FORMAT("%s%u", of->slug, i);
	if (record_put(o, of) < 0)
		return -1;
	if (add_worktree(o, of) == 0 && create_part(o, of) == 0 && set_up(o, of) == 0 &&
		allocate_hold(o, of, NULL) >= 0) {
		of->state = ALLOCATION_LIVE;
		if (rename(admin_file(o, of, "/locked"), admin_file(o, of, ADMIN_MARK)) == 0 &&
			record_put(o, of) == 0)
			return 0;
	}
	of->state = ALLOCATION_MAKING;
	if (o->p->lock)
		(void)op_try(o, pool_settle, of); /* else the next command does it */
	return -1;
}

/* The worktree of the record is gone: unless git still has something of it, its place and ports are
 * free. */
static int allocate_forget(struct op *o, struct allocation *gone)
{
	if (pool_keep(o, gone, false) < 0)
		return -1;
	if (gone->keep)
		return REFUSE("'%s' no longer exists, and is kept: %s", gone->path, gone->why);
	gone->port = gone->ports = 0;
	return drop_admin(o, gone);
}

static int check_elsewhere(struct op *o, struct allocation *of)
{
	const struct tree *t = trees_find(o, NULL, of->branch);

	if (trees_find(o, of->path, NULL))
		return REFUSE("git knows a worktree '%s' that does not exist: run 'git worktree "
			      "repair' with its path if it was moved, else 'git worktree prune'",
			of->path);
	return !t ? 0
		  : REFUSE("branch '%s' is checked out in '%s', %s", of->branch, t->path,
			    t == o->trees.items ? "the main work tree: switch to another branch "
						  "there"
						: "another worktree");
}

/* ---- one that exists ---- */

static const char *owner_remedy(struct op *o, const char *path, const struct ownership *own)
{
	const char *to = own->actual ? git_worktree_directory(o->a, own->actual) : NULL;

	return *own->remedy || strcmp(own->reason, "cross-clone") != 0 ? ""
	       : to && strcmp(to, path) == 0
		       ? ": work in that clone, or give the pool of this one another directory"
		       : FORMAT(": if it is a copy, move it and '%s/%s' away, and run the same "
				"command again, which makes a worktree of the branch",
				 own->expected, path_base(own->actual).p);
}

static int check_owner(struct op *o, struct allocation *of, const struct ownership *own)
{
	struct pool *p = o->p;

	if (own->ok)
		return 0;
	of->warning = FORMAT("%s (%s): '%s' does not belong to '%s', but to '%s'%s",
		p->spec.strict ? "WorktreeOwnershipMismatch" : "advisory ownership mismatch",
		own->reason, of->path, p->repo, own->actual ? own->actual : "", own->remedy);
	if (event_report(p->artifacts, EVENT_WORKTREE_OWNERSHIP_MISMATCH, o->ask->issue, NULL,
		    JSON_OBJECT(JSON_TEXT("worktreePath", of->path),
			    JSON_TEXT("reason", own->reason),
			    JSON_TEXT("expectedClone", own->expected),
			    JSON_IF(own->actual, JSON_TEXT("actualClone", own->actual)),
			    JSON_TEXT("guard", p->spec.strict ? "strict" : "advisory")),
		    o->err) < 0)
		return -1;
	return p->spec.strict ? REFUSE("%s%s", of->warning, owner_remedy(o, of->path, own)) : 0;
}

/* The user may have switched branches in it. An agent that was killed while it rebased the branch
 * has left it detached: the next one finishes or aborts that. */
static int allocate_check_branch(struct op *o, struct allocation *of, const struct ownership *own)
{
	const struct tree *t = trees_find(o, of->path, NULL);
	const char *busy = NULL;

	if (!t && own->ok) /* two directories would share one HEAD and index */
		return REFUSE("'%s' is a copy of a worktree, or was moved: remove it, or run 'git "
			      "worktree repair' with its path if it was moved",
			of->path);
	if (!t || (t->branch && strcmp(t->branch, of->branch) == 0))
		return 0;
	if (!t->branch && git_read_operation(of->path, &busy, o->err) < 0)
		return -1;
	return busy && strcmp(busy, "rebase") == 0
		       ? 0
		       : REFUSE("'%s' has %s '%s' checked out, not branch '%s'", of->path,
				 t->branch ? "branch" : "commit", t->branch ? t->branch : t->head,
				 of->branch);
}

static int adopt(struct op *o, struct allocation *of, const struct allocation *old)
{
	struct ownership own = pool_ownership(o->a, of->path, o->p->common);
	int rc;

	if (old)
		*of = *old;
	if (check_owner(o, of, &own) < 0 || allocate_check_branch(o, of, &own) < 0)
		return -1;
	if (old && o->ask->ports > old->ports)
		return REFUSE("'%s' has %u ports, not %u: reclaim it to get more", old->path,
			old->ports, o->ask->ports);
	if (!old) {
		if (ports_choose(o, of) < 0 ||
			read_commit(o, of, FORMAT("refs/heads/%s", of->branch)) < 0)
			return -1;
		of->sparse = NULL;
		of->admin = own.ok ? path_base(own.actual).p : NULL;
		if (own.ok)
			base_close(&(int){
				open(admin_file(o, of, ADMIN_MARK), O_CREAT | O_CLOEXEC, 0666)});
	}
	rc = allocate_hold(o, of, old);
	if (rc < 0 || ((!old || rc) && record_put(o, of) < 0))
		return -1;
	return of->warning ? 0 : create_part(o, of);
}

/* ---- all ---- */

static int allocate_locked(struct op *o, struct allocation *of, bool *created)
{
	struct allocation *old = records_find(o, of->slug, false);

	if (old && strcmp(old->branch, of->branch) != 0)
		return REFUSE(
			"branches '%s' and '%s' map to the same directory '%s', which belongs "
			"to '%s'",
			old->branch, of->branch, old->path, old->branch);
	if ((old && record_check(o, old) < 0) || pool_make_directory(o->a, o->p, o->err) < 0 ||
		trees_read(o) < 0)
		return -1;
	if (old)
		of->path = old->path;
	if (path_exists(path_join(o->a, of->path, ".git")))
		return adopt(o, of, old);
	if (o->ask->adopt)
		return REFUSE("there is no worktree of branch '%s' at '%s' to adopt", of->branch,
			of->path);
	if (path_exists(of->path) && rmdir(of->path) < 0)
		return REFUSE(
			"'%s' is in the way: it is not a worktree, and is not empty", of->path);
	if (old ? allocate_forget(o, old) < 0 : check_elsewhere(o, of) < 0)
		return -1;
	of->path = path_join(o->a, o->p->dir, of->slug);
	*created = true;
	return make(o, of);
}

int pool_allocate(struct arena *a, struct pool *p, const struct allocate_ask *ask,
	struct allocation *out, bool *created, struct error *err)
{
	struct op o = {.a = a, .p = p, .err = err, .ask = ask};
	CLEANUP(json_free) json *runtime = NULL;
	char *slug;
	int rc;

	*created = false;
	if (!git_is_branch_name(ask->branch))
		return error_set(
			err, ERR_USAGE, "'%.200s' is not a valid branch name", ask->branch);
	if (pool_slug(a, ask->branch, &slug, err) < 0 || op_begin(&o) < 0)
		return -1;
	*out = (struct allocation){.branch = ask->branch,
		.sparse = GIVEN(ask->sparse),
		.slug = slug,
		.path = path_join(a, p->dir, slug),
		.pool = p->spec.name,
		.state = ALLOCATION_LIVE,
		.created = clock_now()};
	rc = allocate_locked(&o, out, created);
	pool_unlock(p);
	if (rc < 0 || !ask->issue || !p->artifacts)
		return rc;
	runtime = JSON_OBJECT(JSON_TEXT("worktreePath", out->path),
		JSON_TEXT("branch", out->branch), JSON_INT("port", out->port),
		JSON_VALUE("ports", port_list_json(out->port, out->ports)));
	return artifact_merge_runtime(p->artifacts, ask->issue, runtime, err);
}
