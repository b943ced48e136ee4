#include <sys/stat.h>
#include "src/sys/path.h"
#include "src/worktree/work.h"

enum {
	ARGS_MAX = 24,
	READS_MAX = 5, /* of the commits of all branches */
};

const char *keep_word(enum keep_reason r)
{
	static const char *const words[] = {
		[KEEP_NOTHING] = "nothing",
		[KEEP_UNCOMMITTED] = "uncommitted",
		[KEEP_UNPUSHED] = "unpushed",
		[KEEP_LIVE] = "live",
		[KEEP_CHILDREN] = "children",
		[KEEP_FOREIGN] = "foreign",
		[KEEP_BUSY] = "busy",
		[KEEP_LOCKED] = "locked",
		[KEEP_UNSURE] = "unsure",
	};

	return words[r];
}

int look_keep(struct look *l, enum keep_reason why, const char *text)
{
	*l->why = why;
	*l->text = text;
	return 0;
}

int look_unsure(struct look *l, struct str said)
{
	struct str rest = str_trim(said), line = {0};

	(void)str_line(&rest, &line);
	return look_keep(l, KEEP_UNSURE,
		arena_printf(l->arena, "git cannot read '%s': %.*s", l->path, (int)line.n,
			line.n ? line.p : ""));
}

int look_git(
	struct look *l, const struct tree *t, const char *const *args, struct buf *out, int *status)
{
	const char *argv[ARGS_MAX + 1];
	size_t n = 0;

	if (t->git_dir) {
		argv[n++] = arena_printf(l->arena, "--git-dir=%s", t->git_dir);
		argv[n++] = arena_printf(l->arena, "--work-tree=%s", t->files);
	}
	for (size_t i = 0; args[i] && n < ARGS_MAX; i++)
		argv[n++] = args[i];
	argv[n] = NULL;
	return pool_git(l->pool, t->files, argv, out, status, l->err);
}

/* ---- uncommitted work ---- */

/* Runs git with `args`: 1 and the first line of its output; 0 when it is empty, or when git fails,
 * which is noted. */
static int first_line(struct look *l, const struct tree *t, const char *const *args,
	struct buf *out, struct str *line, struct str *rest)
{
	int status;

	if (look_git(l, t, args, out, &status) < 0)
		return -1;
	*rest = buf_str(out);
	if (status != 0)
		return look_unsure(l, *rest);
	return str_line(rest, line) ? 1 : 0;
}

/* A submodule records the path of its files, so git cannot run in it under the trash name. Each is
 * then checked by itself. */
static int look_at_status(struct look *l, const struct tree *t)
{
	const char *const args[] = {"status", "--porcelain", "--untracked-files=normal",
		l->moved || t->git_dir ? "--ignore-submodules=all" : "--ignore-submodules=none",
		"--no-renames", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str rest, line;
	int found = first_line(l, t, args, &out, &line, &rest);

	if (found <= 0)
		return found;
	buf_utf8_repair(&out);
	return look_keep(l, KEEP_UNCOMMITTED,
		arena_printf(l->arena, "uncommitted changes in '%s': '%.*s'%s", t->files,
			(int)line.n, line.p, str_trim(rest).n ? " and more" : ""));
}

static int look_at_operation(struct look *l, const struct tree *t)
{
	const char *busy = place_busy(l->arena, t->git_dir ? t->git_dir : l->admin);

	if (!busy)
		return 0;
	return look_keep(l, KEEP_UNCOMMITTED,
		arena_printf(l->arena, "uncommitted changes in '%s': a %s is in progress", t->files,
			busy));
}

static int look_at_hidden(struct look *l, const struct tree *t)
{
	const char *changed;

	if (hidden_look(l->arena, l->pool, t->files, t->git_dir, &changed, l->err) < 0)
		return -1;
	if (!changed)
		return 0;
	return look_keep(l, KEEP_UNCOMMITTED,
		arena_printf(l->arena,
			"uncommitted changes in '%s': '%s', which git was told not to "
			"look at",
			t->files, changed));
}

static int look_at_index(struct look *l, const struct tree *t)
{
	static const char *const args[] = {"ls-files", "-s", "-v", "-z", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct links links;
	int status;

	if (look_git(l, t, args, &out, &status) < 0)
		return -1;
	if (status != 0)
		return look_unsure(l, buf_str(&out));
	links_look(l->arena, t->files, buf_str(&out), &links);
	if (links.file)
		return look_keep(l, KEEP_UNCOMMITTED,
			arena_printf(l->arena,
				"uncommitted changes in '%s': '%s', in the directory of a "
				"submodule that does not exist",
				t->files, links.file));
	return links.hidden ? look_at_hidden(l, t) : 0;
}

int look_at_tree(struct look *l, const struct tree *t)
{
	static int (*const looks[])(struct look *, const struct tree *) = {
		look_at_operation, look_at_status, look_at_index};

	for (size_t i = 0; i < COUNT(looks) && *l->why == KEEP_NOTHING; i++)
		if (looks[i](l, t) < 0)
			return -1;
	return 0;
}

/* ---- commits that exist nowhere else ---- */

int look_at_commits(
	struct look *l, const struct tree *t, const char *const *args, const char *where)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str rest, line;
	int found = -1;

	/* Git lists the branches, then reads each of them. It fails ("bad object BRANCH") if
	 * another process deletes one in between. */
	for (unsigned i = 0; i < READS_MAX; i++) {
		*l->why = KEEP_NOTHING;
		buf_clear(&out);
		found = first_line(l, t, args, &out, &line, &rest);
		if (*l->why != KEEP_UNSURE)
			break;
	}
	if (found <= 0)
		return found;
	return look_keep(l, KEEP_UNPUSHED,
		arena_printf(l->arena, "unpushed commits in '%s': %.*s is on no remote and %s",
			l->path, (int)(line.n > 12 ? 12 : line.n), line.p, where));
}

static int look_at_branch(struct look *l, const struct tree *t)
{
	struct place at;
	const char *args[] = {"rev-list", "-n", "1", "HEAD", "--glob=refs/worktree", "--not",
		"--remotes", "--branches", "--tags", NULL};

	place_look(l->arena, l->admin, &at);
	if (!at.branch)
		return look_at_commits(l, t, args, "in no branch");
	args[7] = arena_printf(l->arena, "--exclude=%s", at.branch);
	args[8] = "--branches";
	return look_at_commits(l, t, args, "in no other branch");
}

int work_keep(struct arena *a, struct pool *p, const char *path, enum keep_reason *why,
	const char **text, struct error *err)
{
	struct look l = {.arena = a, .pool = p, .path = path, .why = why, .text = text, .err = err};
	const struct tree t = {.files = path};
	const char *pointer;
	struct place at;
	char *admin;

	*why = KEEP_NOTHING;
	*text = NULL;
	if (!worktree_pointer(a, path, &admin, &pointer) || !admin || !path_exists(admin))
		return look_keep(&l, KEEP_UNSURE,
			arena_printf(
				a, "'%s' is no longer a worktree: it has no git directory", path));
	place_look(a, admin, &at);
	l.admin = path_settle(a, admin);
	l.home = at.path ? at.path : path;
	l.moved = strcmp(l.home, path) != 0;
	if (look_at_tree(&l, &t) < 0 || (!*why && look_at_branch(&l, &t) < 0) ||
		(!*why && look_at_modules(&l, l.admin) < 0))
		return -1;
	return *why ? 0 : look_at_nested(&l);
}
