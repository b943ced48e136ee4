/*
 * remove.c: what keeps a worktree, and its removal.
 *
 * The directory is renamed first, to a hidden name beside it. A removal that was interrupted before
 * that has not happened; one that was interrupted afterwards is finished: what is under the hidden
 * name was found to be clean.
 */
#include "src/base/clock.h"
#include "src/event/artifact.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

const char *keep_word(enum keep_reason r)
{
	static const char *const words[] = {
		[KEEP_NOTHING] = "nothing",
		[KEEP_UNCOMMITTED] = "uncommitted",
		[KEEP_UNPUSHED] = "unpushed",
		[KEEP_LIVE] = "live",
		[KEEP_CHILDREN] = "children",
		[KEEP_FOREIGN] = "foreign",
		[KEEP_LOCKED] = "locked",
		[KEEP_UNSURE] = "unsure",
	};

	return words[r];
}

/* ---- live ---- */

/* state.json of a run names its worktree and, each minute, has a new heartbeat. */
static bool is_running(const struct run_state *s, const struct allocation *of, int64_t now)
{
	if (s->status != RUN_RUNNING || run_state_stale(s, now))
		return false;
	if (s->worktree)
		return strcmp(s->worktree, of->path) == 0;
	return of->run && strcmp(s->issue, of->run) == 0;
}

int pool_live(struct arena *a, struct pool *p, const struct allocation *of, const char **who,
	struct error *err)
{
	struct run_state *list;
	size_t n = 0;
	pid_t pid;

	*who = NULL;
	if (of->holder.pid && of->holder.pid != getpid() &&
		process_life(&of->holder, &p->self) != PROCESS_DEAD)
		*who = arena_printf(a, "process %d holds it", (int)of->holder.pid);
	if (!*who && p->artifacts && run_state_list(a, p->artifacts, &list, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n && !*who; i++)
		if (is_running(&list[i], of, clock_now()))
			*who = arena_printf(a, "the run of '%s' is at stage '%s'", list[i].issue,
				list[i].stage ? list[i].stage : "");
	if (*who)
		return 0;
	if (process_within(of->path, &pid) < 0)
		return error_errno(err, "cannot find out which processes use '%s'", of->path);
	if (pid)
		*who = arena_printf(a, "process %d uses it", (int)pid);
	return 0;
}

/* ---- what keeps it ---- */

struct look {
	struct arena *arena;
	struct pool *pool;
	const struct records *all;
	const struct allocation *of;
	struct trees trees;
	enum keep_reason *why;
	const char **text;
	struct error *err;
};

static int kept(struct look *l, enum keep_reason why, const char *text)
{
	*l->why = why;
	*l->text = text;
	return 0;
}

static int unreadable(struct look *l, const char *said)
{
	return kept(l, KEEP_UNSURE,
		arena_printf(l->arena, "git cannot read '%s': %s", l->of->path, said));
}

static int look_at_users(struct look *l)
{
	const char *who, *child;
	size_t n = records_children(l->all, l->of, &child);

	if (pool_live(l->arena, l->pool, l->of, &who, l->err) < 0)
		return -1;
	if (who)
		return kept(l, KEEP_LIVE,
			arena_printf(l->arena, "'%s' is in use: %s", l->of->path, who));
	if (n)
		return kept(l, KEEP_CHILDREN,
			arena_printf(l->arena, "'%s' has %zu child%s, such as '%s'", l->of->path, n,
				n == 1 ? "" : "ren", child));
	for (size_t i = 1; i < l->trees.n; i++)
		if (path_beneath(l->of->path, l->trees.items[i].path) &&
			path_exists(l->trees.items[i].path))
			return kept(l, KEEP_CHILDREN,
				arena_printf(l->arena, "'%s' contains another worktree: '%s'",
					l->of->path, l->trees.items[i].path));
	return 0;
}

/* A commit that git lists with `args` exists nowhere else. */
static int look_at_commits(
	struct look *l, const char *at, const char *const *args, const char *where)
{
	const char *line, *said;

	if (pool_git_line(l->arena, l->pool, at, args, &line, &said, l->err) < 0)
		return -1;
	if (!line)
		return unreadable(l, said);
	if (!*line)
		return 0;
	return kept(l, KEEP_UNPUSHED,
		arena_printf(l->arena, "unpushed commits in '%s': %.12s is on no remote and %s",
			l->of->path, line, where));
}

static const char *admin_path(struct arena *a, const struct pool *p, const struct allocation *of)
{
	return of->admin ? arena_printf(a, "%s/worktrees/%s", p->common, of->admin) : NULL;
}

/* The directory does not exist: what is left is what git has of it. */
static int look_at_gone(struct look *l, const struct tree *t)
{
	const struct tree *moved = trees_on(&l->trees, l->of->branch);
	const char *args[] = {"rev-list", "-n", "1", t ? t->head : NULL, "--not", "--branches",
		"--remotes", "--tags", NULL};
	const char *admin = admin_path(l->arena, l->pool, l->of);

	if (!path_exists(arena_dup(l->arena, path_dir(l->of->path))))
		return kept(l, KEEP_UNSURE, "the directory around it does not exist either");
	if (!t && moved && l->of->admin)
		return kept(l, KEEP_UNSURE,
			arena_printf(l->arena, "'%s' has been moved to '%s': remove it there",
				l->of->path, moved->path));
	if (admin && path_exists(path_join(l->arena, admin, "modules")))
		return kept(l, KEEP_UNSURE,
			arena_printf(l->arena, "'%s' is gone, and its submodules are still in '%s'",
				l->of->path, admin));
	return t && t->head && !t->branch ? look_at_commits(l, NULL, args, "in no branch") : 0;
}

static int look_at_place(struct look *l)
{
	const struct tree *t = trees_at(&l->trees, l->of->path);
	struct ownership own;

	if (pool_ownership(l->arena, l->of->path, l->pool->common, &own, l->err) < 0)
		return -1;
	if (own.reason == OWNED_CROSS_CLONE || own.reason == OWNED_POINTER_MALFORMED)
		return kept(l, KEEP_FOREIGN,
			arena_printf(l->arena, "'%s' is not a worktree of '%s' (%s)", l->of->path,
				l->pool->repo, owned_word(own.reason)));
	if (own.reason == OWNED_OK && !t && path_exists(own.actual))
		return kept(l, KEEP_FOREIGN,
			arena_printf(l->arena,
				"git has the worktree '%s' at another place: run 'git worktree "
				"repair' if it was moved, and delete it by hand if it is a copy",
				l->of->path));
	if (t && t->locked)
		return kept(l, KEEP_LOCKED,
			arena_printf(l->arena, "'%s' is locked%s%s", l->of->path,
				*t->locked ? ": " : "", t->locked));
	return 0;
}

static int look_at_changes(struct look *l)
{
	static const char *const args[] = {"status", "--porcelain", "--untracked-files=normal",
		"--ignore-submodules=none", "--no-renames", NULL};
	const char *path = l->of->path, *busy, *line, *said;

	if (git_read_operation(path, &busy, l->err) < 0)
		return unreadable(l, l->err->text);
	if (busy)
		return kept(l, KEEP_UNCOMMITTED,
			arena_printf(l->arena, "uncommitted changes in '%s': a %s is in progress",
				path, busy));
	if (pool_git_line(l->arena, l->pool, path, args, &line, &said, l->err) < 0)
		return -1;
	if (!line)
		return unreadable(l, said);
	return *line ? kept(l, KEEP_UNCOMMITTED,
			       arena_printf(
				       l->arena, "uncommitted changes in '%s': '%s'", path, line))
		     : 0;
}

static int look_at_branch(struct look *l)
{
	static const char *const modules[] = {"submodule", "--quiet", "foreach", "--recursive",
		"git rev-list -n 1 HEAD --all --not --remotes", NULL};
	const struct tree *t = trees_at(&l->trees, l->of->path);
	const char *args[] = {"rev-list", "-n", "1", "HEAD", "--glob=refs/worktree", "--not",
		"--remotes", "--tags",
		t->branch ? arena_printf(l->arena, "--exclude=%s", t->branch) : "--branches",
		"--branches", NULL};
	const char *admin = admin_path(l->arena, l->pool, l->of);

	if (look_at_commits(
		    l, l->of->path, args, t->branch ? "in no other branch" : "in no branch") < 0)
		return -1;
	if (*l->why || !admin || !path_exists(path_join(l->arena, admin, "modules")))
		return 0;
	return look_at_commits(l, l->of->path, modules, "it is one of a submodule");
}

static int look_at_work(struct look *l)
{
	const struct tree *t = trees_at(&l->trees, l->of->path);

	if (!path_exists(l->of->path))
		return look_at_gone(l, t);
	if (!t || !worktree_there(l->of->path))
		return directory_is_empty(l->of->path)
			       ? 0
			       : kept(l, KEEP_UNSURE,
					 arena_printf(l->arena,
						 "'%s' is no longer a worktree, and is not empty",
						 l->of->path));
	return look_at_changes(l) < 0 || (!*l->why && look_at_branch(l) < 0) ? -1 : 0;
}

int pool_keep(struct arena *a, struct pool *p, const struct records *all,
	const struct allocation *of, bool confirmed, enum keep_reason *why, const char **text,
	struct error *err)
{
	struct look l = {
		.arena = a, .pool = p, .all = all, .of = of, .why = why, .text = text, .err = err};

	*why = KEEP_NOTHING;
	*text = NULL;
	if (trees_read(a, p, &l.trees, err) < 0 || look_at_users(&l) < 0 ||
		(!*why && look_at_place(&l) < 0))
		return -1;
	return *why || confirmed ? 0 : look_at_work(&l);
}

/* ---- removal ---- */

/* A git that was killed has left them, and every later one would stop at them. */
static void clear_locks(struct arena *a, const struct pool *p, const struct allocation *of)
{
	const char *const locks[] = {arena_printf(a, "refs/heads/%s.lock", of->branch),
		"packed-refs.lock", "config.lock"};

	for (size_t i = 0; i < COUNT(locks); i++) {
		const char *path = path_join(a, p->common, locks[i]);

		if (path_exists(path) && process_abandoned(path))
			(void)unlink(path);
	}
}

/* Only one that was made here, and has never moved. git compares with the commit once more. */
static int drop_branch(
	struct arena *a, struct pool *p, const struct allocation *of, struct error *err)
{
	const char *ref = arena_printf(a, "refs/heads/%s", of->branch), *line, *said;
	const char *const moves[] = {"rev-list", "--walk-reflogs", "-n", "2", "--count", ref, NULL};
	const char *const drop[] = {"update-ref", "-d", ref, of->tip, NULL};
	struct trees t;

	if (!of->made_branch || !of->tip)
		return 0;
	clear_locks(a, p, of);
	if (trees_read(a, p, &t, err) < 0 ||
		pool_git_line(a, p, NULL, moves, &line, &said, err) < 0)
		return -1;
	if (trees_on(&t, of->branch) || (line && strcmp(line, "2") == 0))
		return 0;
	return pool_git_line(a, p, NULL, drop, &line, &said, err);
}

/* Its git directory; one of the same name that belongs to another worktree stays. */
static int drop_admin(
	struct arena *a, struct pool *p, const struct allocation *of, struct error *err)
{
	const char *const args[] = {"worktree", "remove", "--force", "--force", of->path, NULL};
	const char *admin = admin_path(a, p, of), *line, *said;
	CLEANUP(buf_release) struct buf to = BUF_INIT;
	bool missing = false;

	if (pool_git_line(a, p, NULL, args, &line, &said, err) < 0)
		return -1;
	if (!admin || !path_exists(admin))
		return 0;
	if (sys_read_file(&to, path_join(a, admin, "gitdir"), 8192, &missing, err) < 0 && !missing)
		return -1;
	if (!missing && !str_is(str_trim(buf_str(&to)), path_join(a, of->path, ".git")))
		return 0;
	return tree_delete(p, admin, err);
}

static const char *hidden_name(struct arena *a, const struct allocation *of)
{
	return arena_printf(a, "%s/.removing-%s", arena_dup(a, path_dir(of->path)), of->slug);
}

static int finish(struct arena *a, struct pool *p, const struct allocation *of, struct error *err)
{
	return tree_delete(p, hidden_name(a, of), err) < 0 || drop_admin(a, p, of, err) < 0 ||
			       drop_branch(a, p, of, err) < 0 ||
			       record_drop(a, p, of->slug, err) < 0
		       ? -1
		       : 0;
}

int pool_remove(
	struct arena *a, struct pool *p, struct allocation *of, bool confirmed, struct error *err)
{
	const char *hidden = hidden_name(a, of);

	of->state = ALLOCATION_REMOVING;
	of->confirmed = confirmed;
	if (record_put(a, p, of, err) < 0)
		return -1;
	if (path_exists(of->path) && rename(of->path, hidden) < 0)
		return error_errno(err, "cannot move '%s' to '%s'", of->path, hidden);
	return finish(a, p, of, err);
}

int pool_settle(struct arena *a, struct pool *p, struct allocation *of, struct error *err)
{
	bool making = of->state == ALLOCATION_MAKING;
	pid_t pid;

	/* The lock is ours: no git of the interrupted command is running. */
	if (making && process_within(of->path, &pid) == 0 && pid)
		return error_set(err, ERR_STATE, "process %d works in '%s'", (int)pid, of->path);
	if (making)
		return tree_delete(p, of->path, err) < 0 ? -1 : finish(a, p, of, err);
	if (!path_exists(of->path) || path_exists(hidden_name(a, of)))
		return finish(a, p, of, err);
	of->state = ALLOCATION_LIVE;
	return record_put(a, p, of, err);
}

/* ---- by name ---- */

int pool_reclaim(struct arena *a, struct pool *p, const char *what, bool confirmed, bool *removed,
	struct error *err)
{
	enum keep_reason why;
	struct pool_entry entry;
	struct records all;
	const char *text;
	bool found;
	int rc;

	*removed = false;
	if (pool_begin(a, p, &all, err) < 0)
		return -1;
	rc = entry_find(a, p, &all, what, &entry, &found, err);
	if (rc == 0 && found && entry.of.fault)
		rc = error_set(err, ERR_STATE, "'%s' is half made or half removed: %s",
			entry.of.path, entry.of.fault);
	if (rc == 0 && found)
		rc = pool_keep(a, p, &all, &entry.of, confirmed, &why, &text, err);
	if (rc == 0 && found && why)
		rc = error_set(err, ERR_STATE, "%s%s", text,
			why == KEEP_UNCOMMITTED || why == KEEP_UNPUSHED || why == KEEP_UNSURE
				? ": it is kept, unless --confirm is given"
				: "");
	if (rc == 0 && found) {
		rc = pool_remove(a, p, &entry.of, confirmed, err);
		*removed = rc == 0;
	}
	pool_end(p);
	return rc;
}
