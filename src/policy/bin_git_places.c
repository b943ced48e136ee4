/* Worktrees, repositories and submodules: what git makes or removes elsewhere in the tree. */
#include <fcntl.h>
#include <sys/stat.h>
#include "src/policy/bin_git.h"

/*
 * git takes `name` for any worktree whose path ends so, also one outside. Only where a worktree
 * stands under exactly this path is it the one that is meant.
 */
static int check_existing(struct git_use *u, const struct arg *arg)
{
	struct place place;
	struct stat st;
	char *link;

	if (check_path(u->c, &u->call, arg, ACCESS_WRITE, false) < 0)
		return -1;
	if (where(u->c->arena, u->c->root, u->c->policy, u->call.cwd, arg->text, ACCESS_READ, false,
		    arg->at, &place, u->c->v) < 0)
		return -1;
	link = arena_printf(u->c->arena, "%.*s/.git", (int)place.path.n, place.path.p);
	if (!place.path.n || fstatat(u->c->root->fd, link, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		!S_ISREG(st.st_mode))
		return git_no(u, RULE_OPERAND, arg, "no worktree below the root has this path");
	return 0;
}

static int check_worktree(struct git_use *u)
{
	if (u->p.n_operands && check_existing(u, &u->p.operands[0]) < 0)
		return -1;
	for (size_t i = 1; i < u->p.n_operands; i++)
		if (check_path(u->c, &u->call, &u->p.operands[i], ACCESS_WRITE, false) < 0)
			return -1;
	u->operands = "text text";
	return 0;
}

static int check_worktree_add(struct git_use *u)
{
	if (u->p.n_operands &&
		check_path(u->c, &u->call, &u->p.operands[0], ACCESS_WRITE, false) < 0)
		return -1;
	u->operands = "text rev";
	return 0;
}

const struct git_command git_rows_places[] = {
	{"worktree", "", "", GIT_GROUP, NULL, NULL},
	{"worktree list", "-v,--verbose --porcelain -z --expire:text", "", 0, NULL, NULL},
	{"worktree add",
		"-f,--force --detach -d --checkout --no-checkout --lock --reason:text -b:rev "
		"-B:rev "
		"--track --no-track --guess-remote --no-guess-remote --orphan -q,--quiet",
		"", GIT_WRITES | GIT_FILES, check_worktree_add, NULL},
	{"worktree remove", "-f,--force", "", GIT_WRITES, check_worktree, NULL},
	{"worktree move", "-f,--force", "", GIT_WRITES, check_worktree, NULL},
	{"worktree lock", "--reason:text", "", GIT_WRITES, check_worktree, NULL},
	{"worktree unlock", "", "", GIT_WRITES, check_worktree, NULL},
	{"worktree prune", "-n,--dry-run -v,--verbose --expire:text", "", GIT_WRITES, NULL, NULL},
	{"init", "-q,--quiet -b,--initial-branch:rev --object-format:word{sha1,sha256}", "edit",
		GIT_WRITES, NULL, NULL},
	{"submodule", "--quiet -q --cached", "", GIT_GROUP, NULL, "--quiet -q --cached"},
	{"submodule status", "--cached --recursive", "path*", 0, NULL, NULL},
	{"submodule summary", "--cached --files -n,--summary-limit:number", "mixed*", 0, NULL,
		NULL},
	{0},
};
