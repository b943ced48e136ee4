/*
 * remove.c: what keeps a worktree, its removal, and the sweep. What is being made has not been
 * given to anyone, and what has no `.git` any more was found to be clean: after a kill, both are
 * deleted.
 */
#include <sys/stat.h>
#include "context/lease.h"
#include "src/base/clock.h"
#include "src/event/artifact.h"
#include "src/machine/failure.h"
#include "src/machine/place.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

/* ---- who uses it ---- */

/* Opens the document of the item whose place the worktree is; false: there is none. */
static bool pool_item_open(
	struct arena *a, const struct pool *p, const struct allocation *of, struct context_file *f)
{
	const char *id = of->run ? of->run : of->branch; /* run ID, dev-team/ID */
	struct item_place place;
	struct error ignored;
	char *slug;

	for (const char *end; (end = strpbrk(id, " /"));)
		id = end + 1;
	return path_is_id(str_of(id)) && git_slug(a, p->repo, &slug, &ignored) == 0 &&
	       context_open(f, arena_printf(a, "%s/%s/%s.md", p->state, slug, id),
		       CONTEXT_READ_ONLY, &ignored) == 0 &&
	       place_load(a, f, &place, &ignored) == 0 && place.directory &&
	       (strcmp(place.directory, of->path) == 0 || /* before it was moved */
		       strcmp(place.directory, path_join(a, p->dir, of->slug)) == 0);
}

const char *pool_live(struct arena *a, const struct pool *p, const struct allocation *of)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(buf_release) struct buf how = BUF_INIT;
	struct lease_holder h;
	struct error ignored;
	pid_t pid;

	if (record_is_held(a, of) && strcmp(of->holder, p->self) != 0)
		return arena_printf(a, "process %d holds it", (int)process_name_pid(of->holder));
	if (pool_item_open(a, p, of, &f) && lease_read(&f, &h, &ignored) == 0 && h.live &&
		!lease_is_dead(a, &h)) {
		lease_describe(&how, &h);
		return arena_printf(a, "'%s' is %s", context_get(&f.doc, "work_item_id").p, how.s);
	}
	if (process_within(of->path, &pid) < 0)
		return "the processes of this machine cannot be listed";
	return pid ? arena_printf(a, "process %d uses it", (int)pid) : NULL;
}

/* ---- what keeps it ---- */

/* Each look returns this, 0 if it finds nothing, or -1. */
#define KEPT(word, ...) (of->keep = (word), of->why = FORMAT(__VA_ARGS__), 1)

static int look_at_use(struct op *o, struct allocation *of)
{
	const char *who = pool_live(o->a, o->p, of);

	return who ? KEPT("live", "'%s' is in use: %s", of->path, who) : 0;
}

static int look_at_children(struct op *o, struct allocation *of)
{
	for (size_t i = 0; i < o->all.n; i++) {
		const struct allocation *other = &o->all.items[i];

		if (!other->removed && other->parent && strcmp(other->parent, of->slug) == 0)
			return KEPT("children", "'%s' has a child: '%s'", of->path, other->path);
	}
	for (size_t i = 1; i < o->trees.n; i++) {
		const char *other = o->trees.items[i].path;

		if (path_is_below(of->path, other) && path_exists(other))
			return KEPT("children", "'%s' contains another worktree: '%s'", of->path,
				other);
	}
	return 0;
}

static int look_at_place(struct op *o, struct allocation *of)
{
	const char *path = of->path;
	const struct tree *t = trees_find(o, path, NULL);
	struct ownership own = pool_ownership(o->a, path, o->p->common);
	struct stat st;

	if (geteuid() != 0 && lstat(path, &st) == 0 && st.st_uid != geteuid())
		return KEPT("foreign",
			"'%s' belongs to the user %ld, who must remove it: processes of "
			"other users in it cannot be seen",
			path, (long)st.st_uid);
	if (!own.ok && worktree_there(path))
		return KEPT("foreign", "'%s' is not a worktree of '%s' (%s)%s", path, o->p->repo,
			own.reason, own.remedy);
	if (own.ok)
		of->admin = path_base(own.actual).p;
	if (t && t->locked)
		return KEPT(
			"locked", "'%s' is locked%s%s", path, *t->locked ? ": " : "", t->locked);
	return 0;
}

/* The first line that a program printed is a reason. `rc`: of the function that ran it. */
static int look_answer(struct op *o, struct allocation *of, int rc, const char *why,
	const char *what, const char *where)
{
	if (rc < 0)
		return -1;
	if (!o->line)
		return KEPT("unsure", "git cannot read '%s': %s", of->path, o->said);
	return *o->line ? KEPT(why, "%s in '%s': '%s'%s", what, of->path, o->line, where) : 0;
}

/* What git has of a directory that does not exist: its index, commits of a detached HEAD, and the
 * repositories of its submodules. */
static int look_at_gone(struct op *o, struct allocation *of)
{
	const struct tree *t = trees_find(o, of->path, NULL);
	const char *admin = admin_file(o, of, "");
	const char *const index[] = {FORMAT("--git-dir=%s", admin), "diff-index", "--cached",
		"--name-only", "HEAD", "--", NULL};

	if (!path_exists(arena_dup(o->a, path_dir(of->path))))
		return KEPT("unsure", "the directory around it does not exist either");
	if ((t && !t->branch) || path_exists(admin_file(o, of, "/modules")))
		return KEPT("unsure", "'%s' does not exist, and '%s' can have commits of it",
			of->path, admin);
	if (!path_exists(admin_file(o, of, "/index")))
		return 0;
	return look_answer(o, of, op_git(o, admin, index), "uncommitted", "staged changes",
		", and it no longer exists: run 'git worktree repair' with its path if it was "
		"moved");
}

/* Submodules, also those that are not checked out any more, and repositories in ignored
 * directories, which git does not report. Their configuration must start no program: commits are
 * only counted, and nothing is fetched. */
static int look_at_nested(struct op *o, struct allocation *of)
{
	static const char one[] =
		"export GIT_ALLOW_PROTOCOL=none GIT_NO_LAZY_FETCH=1; d=${0%/objects}; "
		"case $0 in */.git) ;; \"$1\"/*) test -f \"$d/HEAD\" || exit 0 ;; *) exit 0; esac; "
		"g() { git --git-dir=\"$d\" \"$@\"; }; test -d \"$d\" || g rev-parse || exit 0; "
		"commit=$(g rev-list --abbrev-commit -n 1 "
		"$(g rev-parse --quiet --verify HEAD^{commit}) --all --not --remotes) || "
		"commit='a commit'; "
		"test -z \"$commit\" || echo \"$commit of ${d%/.git}\"";
	const char *modules = admin_file(o, of, "/modules");
	const char *const argv[] = {"find", path_exists(modules) ? modules : "-P", ".", "-mindepth",
		"2", "(", "-name", ".git", "-prune", "-o", "-type", "d", "-name", "objects", ")",
		"-exec", "sh", "-c", one, "{}", modules, ";", NULL};

	return look_answer(o, of, op_run(o, of->path, argv, "find"), "unpushed", "unpushed commits",
		" is on no remote of that repository");
}

static int look_at_work(struct op *o, struct allocation *of)
{
	static const char *const status[] = {"status", "--porcelain", "--untracked-files=normal",
		"--ignore-submodules=none", "--no-renames", NULL};
	const struct tree *t = trees_find(o, of->path, NULL);
	const char *const commits[] = {"rev-list", "--abbrev-commit", "-n", "1", "HEAD",
		"--glob=refs/worktree", "--not", "--remotes", "--tags",
		t && t->branch ? FORMAT("--exclude=%s", t->branch) : "--branches", "--branches",
		NULL};
	const char *busy = NULL;
	struct error ignored;
	bool there;
	int rc;

	/* A look that failed is no sign that it does not exist. */
	if (path_check_exists(of->path, &there, o->err) < 0)
		return -1;
	if (!there)
		return look_at_gone(o, of);
	if (!t || !worktree_there(of->path))
		return KEPT("unsure", "'%s' is no longer a worktree", of->path);
	if (git_read_operation(of->path, &busy, &ignored) == 0 && busy)
		return KEPT("uncommitted", "uncommitted changes in '%s': a %s is in progress",
			of->path, busy);
	rc = look_answer(
		o, of, op_git(o, of->path, status), "uncommitted", "uncommitted changes", "");
	if (rc == 0)
		rc = look_answer(o, of, op_git(o, of->path, commits), "unpushed",
			"unpushed commits", " is on no remote and in no other branch");
	return rc ? rc : look_at_nested(o, of);
}

int pool_keep(struct op *o, struct allocation *of, bool confirmed)
{
	static int (*const looks[])(struct op * o, struct allocation * of) = {
		look_at_use, look_at_children, look_at_place, look_at_work};
	int rc = trees_read(o);

	of->keep = NULL;
	for (size_t i = 0; rc == 0 && i < COUNT(looks) - confirmed; i++)
		rc = looks[i](o, of);
	return rc < 0 ? -1 : 0;
}

/* ---- removal ---- */

static int tree_delete(struct op *o, const char *path)
{
	return process_remove_tree(path, disk_lock_descriptor(o->p->lock), o->err);
}

/* Only one that was made here, and has never moved. git compares with the commit once more. */
static int remove_drop_branch(struct op *o, const struct allocation *of)
{
	const char *ref = FORMAT("refs/heads/%s", of->branch);
	const char *const moves[] = {"rev-list", "--walk-reflogs", "-n", "2", "--count", ref, NULL};
	const char *const drop[] = {"update-ref", "-d", ref, of->tip, NULL};
	/* A git that was killed has left them, and every later one would stop at them. */
	const char *const locks[] = {FORMAT("%s.lock", ref), "packed-refs.lock", "config.lock"};

	for (size_t i = 0; i < COUNT(locks); i++)
		process_clear_abandoned(path_join(o->a, o->p->common, locks[i]));
	if (!of->made_branch || !of->tip)
		return 0;
	if (trees_read(o) < 0 || op_git(o, NULL, moves) < 0)
		return -1;
	if (trees_find(o, NULL, of->branch) || (o->line && strcmp(o->line, "2") == 0))
		return 0;
	return op_git(o, NULL, drop);
}

int drop_admin(struct op *o, const struct allocation *of)
{
	const char *to = admin_leads(o, of);

	if (!path_exists(admin_file(o, of, "")) || (to && strcmp(to, of->path) != 0))
		return 0;
	return tree_delete(o, admin_file(o, of, ""));
}

static int remove_all(struct op *o, struct allocation *of)
{
	if (tree_delete(o, of->path) < 0 || drop_admin(o, of) < 0 || remove_drop_branch(o, of) < 0)
		return -1;
	if (pool_part)
		pool_part->release(o->a, o->p, of);
	return record_drop(o, of);
}

static int pool_remove(struct op *o, struct allocation *of)
{
	of->state = ALLOCATION_REMOVING;
	if (record_put(o, of) < 0)
		return -1;
	if (unlink(path_join(o->a, of->path, ".git")) < 0 && worktree_there(of->path))
		return error_errno(o->err, "cannot remove '%s'", of->path);
	return remove_all(o, of);
}

/* A worktree that is complete, or of another clone: somebody has put it there since. */
static bool settle_is_complete(struct op *o, const struct allocation *of)
{
	struct ownership own = pool_ownership(o->a, of->path, o->p->common);

	if (!own.ok)
		return strcmp(own.reason, "cross-clone") == 0;
	return path_exists(own.actual) && !path_exists(path_join(o->a, own.actual, "locked"));
}

int pool_settle(struct op *o, struct allocation *of)
{
	bool there = worktree_there(of->path);
	pid_t pid;

	if (there &&
		(of->state == ALLOCATION_REMOVING /* not begun */ || settle_is_complete(o, of))) {
		of->state = ALLOCATION_LIVE;
		return record_put(o, of);
	}
	if (!there && path_exists(path_join(o->a, of->path, ".git")))
		return REFUSE("another repository is in its place");
	if (of->state == ALLOCATION_MAKING && record_is_held(o->a, of))
		return REFUSE("process %d is setting it up", (int)process_name_pid(of->holder));
	/* The lock is ours: no git of the interrupted command is running. */
	if (process_within(of->path, &pid) == 0 && pid)
		return REFUSE("process %d works in '%s'", (int)pid, of->path);
	return remove_all(o, of);
}

static int reclaim_locked(struct op *o, struct allocation *of, bool confirmed)
{
	if (record_check(o, of) < 0 || pool_keep(o, of, confirmed) < 0)
		return -1;
	if (!of->keep)
		return pool_remove(o, of);
	return REFUSE(of->keep[0] == 'u' /* uncommitted, unpushed, unsure */
			      ? "%s; 'dev-team pool reclaim %s --confirm' removes it anyway"
			      : "%s",
		of->why, of->branch);
}

int pool_reclaim(struct arena *a, struct pool *p, const char *what, bool confirmed, bool *removed,
	struct error *err)
{
	struct op o = {.a = a, .p = p, .err = err};
	struct allocation *of;
	int rc;

	*removed = false;
	if (op_begin(&o) < 0)
		return -1;
	of = records_find(&o, what, true);
	rc = of ? reclaim_locked(&o, of, confirmed) : 0;
	*removed = of && of->removed;
	pool_unlock(p);
	return rc;
}

/* ---- sweep: the reasons only name candidates, pool_keep() decides ---- */

/* 1: its branch is checked out there, has moved from where it began, and is part of the target, a
 * branch of origin, as fetched last. */
static int sweep_is_merged(struct op *o, const struct allocation *of, const char *target)
{
	const struct tree *t = trees_find(o, of->path, NULL);
	const char *const args[] = {"merge-base", "--is-ancestor", t ? t->head : NULL,
		FORMAT("refs/remotes/origin/%s", target ? target : ""), NULL};

	if (!o->p->spec.on_merge || !target || !of->tip || !t || !t->branch ||
		strcmp(t->branch, of->branch) != 0 || strcmp(t->branch, target) == 0 ||
		strcmp(t->head, of->tip) == 0)
		return 0;
	return op_git(o, NULL, args) < 0 ? -1 : o->line != NULL;
}

/* The item has failed in it; "timeout" if a call of an agent timed out, and no later call replaced
 * it. NULL: it has not, as far as can be read, or the pool does not want to know. */
static const char *sweep_failure(struct op *o, const struct allocation *of)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(json_free) json *runtime = NULL;
	const struct pool *p = o->p;
	struct error ignored;
	int64_t changed;
	bool late = false;

	if (!pool_item_open(o->a, p, of, &f) || !failure_is(&f.doc) ||
		clock_parse(context_get(&f.doc, "last_updated").p, &changed) < 0 ||
		changed < of->created || /* in an earlier worktree of this name */
		(p->artifacts &&
			artifact_read_runtime(p->artifacts, context_get(&f.doc, "work_item_id").p,
				&runtime, &ignored) < 0))
		return NULL;
	for (const json *row = json_first(runtime ? json_get(runtime, "stages") : NULL);
		row && !late; row = json_next(row))
		late = json_str_is(row, "status", "timeout");
	if (late)
		return p->spec.on_timeout ? "timeout" : NULL;
	return p->spec.on_abort ? "aborted" : NULL;
}

/* One that cannot be removed must not block the others. */
static int sweep_one(
	struct op *o, struct allocation *of, const char *target, bool apply, bool confirmed)
{
	int merged = of->there ? sweep_is_merged(o, of, target) : 0;

	if (of->there)
		of->reason = merged > 0 ? "merged" : sweep_failure(o, of);
	else if (!path_exists(of->path))
		of->reason = "gone";
	if (!of->reason && of->stale)
		of->reason = "stale";
	if (merged < 0 || (of->reason && pool_keep(o, of, confirmed) < 0))
		return -1;
	if (!of->reason || of->keep || !apply)
		return 0;
	of->why = op_try(o, pool_remove, of);
	of->keep = of->why ? "unsure" : NULL;
	return 0;
}

int pool_sweep(struct arena *a, struct pool *p, bool apply, bool confirmed, struct allocation **out,
	size_t *n, struct error *err)
{
	struct op o = {.a = a, .p = p, .err = err};
	VEC(struct allocation) due = {0};
	struct git_default known;
	const char *target;
	int rc;

	if (git_read_default(a, p->repo, &known, err) < 0 || op_begin(&o) < 0)
		return -1;
	target = p->target ? p->target : known.remote ? known.branch : NULL;
	rc = trees_read(&o);
	for (size_t i = 0; rc == 0 && i < o.all.n; i++) {
		struct allocation *of = &o.all.items[i];

		if (of->state == ALLOCATION_LIVE)
			rc = sweep_one(&o, of, target, apply, confirmed);
		if (of->reason)
			vec_push_in(a, &due, *of);
	}
	pool_unlock(p);
	*out = due.items;
	*n = due.n;
	return rc;
}
