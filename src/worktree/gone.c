#include "src/sys/path.h"
#include "src/worktree/work.h"

/*
 * A worktree whose directory does not exist: somebody removed or moved it, or its disk is not
 * mounted. Its git directory may hold the only copy of some work.
 */

static bool is_nothing(const char *commit)
{
	return !commit[strspn(commit, "0")];
}

/* Files of the index that HEAD does not have; files that the index lacks are no loss. */
static int look_at_staged(struct look *l, const struct tree *t)
{
	static const char *const args[] = {"diff-index", "--cached", "--name-only", "-z",
		"--ignore-submodules=none", "--diff-filter=ACMRTUX", "HEAD", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	int status;

	if (!path_exists(path_join(l->arena, l->admin, "index")))
		return 0;
	if (look_git(l, t, args, &out, &status) < 0)
		return -1;
	if (status != 0)
		return look_unsure(l, buf_str(&out));
	if (!out.len)
		return 0;
	buf_cut(&out, strlen(out.s));
	buf_utf8_repair(&out);
	return look_keep(l, KEEP_UNCOMMITTED,
		arena_printf(l->arena,
			"'%s' no longer exists, and has uncommitted changes: '%s' is staged",
			l->home, out.s));
}

static int look_at_head(struct look *l, const struct tree *t)
{
	static const char *const args[] = {"rev-list", "-n", "1", "HEAD", "--glob=refs/worktree",
		"--not", "--remotes", "--branches", "--tags", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str commit;
	int status;

	if (look_git(l, t, args, &out, &status) < 0)
		return -1;
	commit = str_trim(buf_str(&out));
	if (status != 0)
		return look_unsure(l, commit);
	if (!commit.n)
		return 0;
	commit = str_sub(commit, 0, 12);
	return look_keep(l, KEEP_UNPUSHED,
		arena_printf(l->arena,
			"'%s' no longer exists, and only it has commit %.*s: save it with 'git "
			"branch NAME %.*s'",
			l->home, (int)commit.n, commit.p, (int)commit.n, commit.p));
}

static int look_inside(struct look *l, const struct place *at)
{
	const struct tree t = {.files = at->admin, .git_dir = at->admin};
	const char *busy = place_busy(l->arena, at->admin);

	if (busy)
		return look_keep(l, KEEP_UNCOMMITTED,
			arena_printf(l->arena,
				"'%s' no longer exists, and a %s is in progress there", l->home,
				busy));
	/* git was killed before it got further. */
	if (at->branch || (*at->commit && !is_nothing(at->commit))) {
		if (look_at_staged(l, &t) < 0 || (!*l->why && look_at_head(l, &t) < 0))
			return -1;
	}
	return *l->why ? 0 : look_at_modules(l, at->admin);
}

int admin_keep(struct arena *a, struct pool *p, const struct place *at, bool confirmed,
	enum keep_reason *why, const char **text, struct error *err)
{
	struct look l = {.arena = a,
		.pool = p,
		.path = at->path ? at->path : at->admin,
		.home = at->path ? at->path : at->admin,
		.admin = at->admin,
		.why = why,
		.text = text,
		.err = err};

	*why = KEEP_NOTHING;
	*text = NULL;
	if (at->locked && !lock_is_dead(a, at))
		return look_keep(&l, KEEP_LOCKED,
			arena_printf(a, "'%s' no longer exists, but its registration is locked%s%s",
				l.home, *at->locked ? ": " : "", at->locked));
	return confirmed ? 0 : look_inside(&l, at);
}
