/* Branches, tags, and what is checked out of them. */
#include "src/policy/bin_git.h"

#define LISTING                                                                                    \
	" --contains?rev --no-contains?rev --merged?rev --no-merged?rev --sort:text "              \
	"--points-at:rev "                                                                         \
	"-i,--ignore-case --format:text --column?text --no-column --color?text --no-color "

/* These, and no operand, make a list of it: operands are patterns then, or commits. */
static const char *const lists[] = {"--list", "--contains", "--no-contains", "--merged",
	"--no-merged", "--points-at", "--all", "--remotes", "--show-current", "-n", NULL};

static int check_branch(struct git_use *u)
{
	static const char *const changes[] = {"--delete", "-D", "--move", "-M", "--copy", "-C",
		"--force", "--set-upstream-to", "--unset-upstream", "--track", NULL};

	if (git_any(u, changes)) {
		u->operands = "name*";
		return git_writes(u);
	}
	if (git_any(u, lists)) {
		u->operands = "text*";
		return 0;
	}
	return u->p.n_operands ? git_writes(u) : 0;
}

static int check_tag(struct git_use *u)
{
	if (given_any(&u->p, "--delete")) {
		u->operands = "name*";
		return git_writes(u);
	}
	if (given_any(&u->p, "--verify") || git_any(u, lists)) {
		u->operands = "text*";
		return 0;
	}
	return u->p.n_operands ? git_writes(u) : 0;
}

#define MOVING                                                                                     \
	" -q,--quiet --no-recurse-submodules --progress --no-progress -m,--merge "                 \
	"--conflict:word{merge,diff3,zdiff3} "
#define BRANCHING                                                                                  \
	" --guess --no-guess -d,--detach --no-track -t,--track?text -f,--force --orphan:rev "      \
	"--overwrite-ignore --no-overwrite-ignore --ignore-other-worktrees "
#define PICKING " --overlay --no-overlay -2,--ours -3,--theirs --ignore-skip-worktree-bits "

const struct git_command git_rows_refs[] = {
	{"branch",
		"-v,--verbose -q,--quiet --track,-t?text --no-track --set-upstream-to,-u:rev "
		"--unset-upstream --remotes,-r --abbrev?number --no-abbrev --all,-a --delete,-d -D "
		"--move,-m -M --copy,-c -C --list,-l --show-current --create-reflog "
		"--force,-f" LISTING,
		"name rev", 0, check_branch, NULL},
	{"tag",
		"--list,-l -n?number --delete,-d --verify,-v -a,--annotate -m,--message:text "
		"-F,--file:read -s,--sign --no-sign "
		"--cleanup:word{strip,whitespace,verbatim,scissors,default} -u,--local-user:text "
		"-f,--force --create-reflog" LISTING,
		"name rev", 0, check_tag, NULL},
	{"checkout", "-b:rev -B:rev -l" MOVING BRANCHING PICKING, "change*", GIT_WRITES | GIT_FILES,
		NULL, NULL},
	{"switch", "-c,--create:rev -C,--force-create:rev --discard-changes" MOVING BRANCHING,
		"rev rev", GIT_WRITES | GIT_FILES, NULL, NULL},
	{"restore",
		"-s,--source:rev -S,--staged --no-staged -W,--worktree --no-worktree "
		"--ignore-unmerged" MOVING PICKING,
		"edit*", GIT_WRITES | GIT_FILES, NULL, NULL},
	{"bisect", "", "", GIT_GROUP, NULL, NULL},
	{"bisect start",
		"--term-new:name --term-bad:name --term-old:name --term-good:name --no-checkout "
		"--first-parent",
		"mixed*", GIT_WRITES | GIT_FILES, NULL, NULL},
	{"bisect bad", "", "rev", GIT_WRITES | GIT_FILES, NULL, NULL},
	{"bisect new", "", "rev", GIT_WRITES | GIT_FILES, NULL, NULL},
	{"bisect good", "", "rev*", GIT_WRITES | GIT_FILES, NULL, NULL},
	{"bisect old", "", "rev*", GIT_WRITES | GIT_FILES, NULL, NULL},
	{"bisect skip", "", "rev*", GIT_WRITES | GIT_FILES, NULL, NULL},
	{"bisect next", "", "", GIT_WRITES | GIT_FILES, NULL, NULL},
	{"bisect reset", "", "rev", GIT_WRITES | GIT_FILES, NULL, NULL},
	{"bisect log", "", "", 0, NULL, NULL},
	{"bisect terms", "--term-good --term-bad --term-old --term-new", "", 0, NULL, NULL},
	{0},
};
