/* Commands that show history: they take revisions, then files, and the options of log and diff. */
#include "src/policy/bin_git.h"

/*
 * Not there: --output and -O (files), --ext-diff, --textconv (programs), --no-index,
 * --alternate-refs (a program).
 */
#define BLAME                                                                                      \
	" --incremental -b --root --show-stats --progress --no-progress --score-debug "            \
	"-f,--show-name -n,--show-number -p,--porcelain --line-porcelain -c -t -l -s "             \
	"-e,--show-email -w --ignore-rev:rev --ignore-revs-file:read --no-ignore-revs-file "       \
	"--color-lines --color-by-age --minimal --contents:read -C?text -M?text -L:text "          \
	"--abbrev?number --since:text --until:text --after:text --before:text --first-parent "     \
	"--reverse --date:text --relative-date --encoding:text --no-textconv "

/*
 * `git diff A B` compares two files as they are when one of them is outside of the worktree, so
 * nothing that is only known at run time stands here but names of commits.
 */
static int check_diff_operands(struct git_use *u)
{
	for (size_t i = 0; i < u->p.n_operands; i++)
		if (u->p.operands[i].origin == ARG_DYNAMIC && !u->p.operands[i].commits)
			return git_no(u, RULE_PATH_DYNAMIC, &u->p.operands[i],
				"git diff may take this for a file outside");
	return 0;
}

static int check_format_patch(struct git_use *u)
{
	const struct arg folder = {.text = STR("."), .at = u->call.at};

	if (given_any(&u->p, "--stdout"))
		return 0;
	if (git_writes(u) < 0)
		return -1;
	if (given_any(&u->p, "--output-directory"))
		return 0;
	return check_path(u->c, &u->call, &folder, ACCESS_WRITE, false);
}

/* `git reflog expire` and what later versions bring would look like a branch. */
static int check_reflog(struct git_use *u)
{
	for (size_t i = 0; i < u->p.n_operands; i++) {
		struct str text = u->p.operands[i].text;

		if (!str_starts(text, "HEAD") && str_find(text, STR("@")) == text.n &&
			str_find(text, STR("/")) == text.n)
			return git_no(u, RULE_GIT_COMMAND, &u->p.operands[i],
				"could be a subcommand that is not known: say 'git reflog show'");
	}
	return 0;
}

const struct git_command git_rows_history[] = {
	{"log", GIT_LOG_OPTIONS, "mixed*", 0, NULL, NULL},
	{"show", GIT_LOG_OPTIONS, "mixed*", 0, NULL, NULL},
	{"whatchanged", GIT_LOG_OPTIONS, "mixed*", 0, NULL, NULL},
	{"diff",
		GIT_DIFF_OPTIONS " --cached --staged --merge-base --base --ours --theirs -0 -1 -2 "
				 "-3 -m -c --cc --dd -t -r --combined-all-paths -q",
		"mixed*", 0, check_diff_operands, NULL},
	{"diff-tree",
		GIT_DIFF_OPTIONS
		" --cached --stdin -m -v --no-commit-id --pretty?text --format?text "
		"-t -r -c --cc --combined-all-paths --root --merge-base --always -q",
		"mixed*", 0, NULL, NULL},
	{"diff-index",
		GIT_DIFF_OPTIONS " --cached -m -c --cc -r -t -q --merge-base --combined-all-paths",
		"mixed*", 0, NULL, NULL},
	{"diff-files",
		GIT_DIFF_OPTIONS " -q -0 -1 -2 -3 -c --cc --base --ours --theirs -r -t -m "
				 "--combined-all-paths",
		"mixed*", 0, NULL, NULL},
	{"range-diff",
		GIT_DIFF_OPTIONS " --creation-factor:number --no-dual-color --dual-color "
				 "--notes?text --no-notes --left-only --right-only",
		"mixed*", 0, NULL, NULL},
	{"rev-list",
		GIT_RANGE_OPTIONS GIT_SHOW_OPTIONS
		" -n:number --committer:text --header --timestamp --objects-edge "
		"--objects-edge-aggressive "
		"--object-names "
		"--no-object-names --unpacked --disk-usage?text --bisect-vars --bisect-all --quiet "
		"--abbrev?number --no-abbrev --no-commit-header --commit-header --indexed-objects",
		"mixed*", 0, NULL, NULL},
	{"shortlog",
		GIT_RANGE_OPTIONS
		" -c,--committer -n,--numbered -s,--summary -e,--email -w?text --group:text "
		"--format?text --pretty?text --date:text --encoding:text "
		"--use-mailmap --mailmap",
		"mixed*", 0, NULL, NULL},
	{"cherry", "-v,--verbose --abbrev?number", "rev rev rev", 0, NULL, NULL},
	{"blame", BLAME " -S:read", "mixed*", 0, NULL, NULL},
	{"annotate", BLAME " -S:read", "mixed*", 0, NULL, NULL},
	{"reflog", GIT_LOG_OPTIONS, "rev*", GIT_GROUP, check_reflog, NULL},
	{"reflog show", GIT_LOG_OPTIONS, "mixed*", 0, NULL, NULL},
	{"reflog exists", "", "rev", 0, NULL, NULL},
	{"stash list", GIT_LOG_OPTIONS, "mixed*", 0, NULL, NULL},
	{"stash show", GIT_DIFF_OPTIONS " --include-untracked --only-untracked", "rev", 0, NULL,
		NULL},
	{"format-patch",
		GIT_DIFF_OPTIONS
		" -n,--numbered -N,--no-numbered --signoff --stdout --cover-letter "
		"--no-cover-letter --numbered-files --suffix:name --start-number:number "
		"-v,--reroll-count:text --filename-max-length:number --rfc "
		"--cover-from-description:text --subject-prefix:text --output-directory,-o:folder "
		"-k,--keep-subject --no-binary --zero-commit --ignore-if-in-upstream "
		"--add-header:text --to:text --no-to --cc:text --no-cc --from?text --no-from "
		"--in-reply-to:text --attach?text --no-attach --inline?text --thread?text "
		"--no-thread --signature:text --no-signature --base:rev --no-base "
		"--signature-file:read --progress --interdiff:rev --range-diff:rev "
		"--creation-factor:number --force-in-body-from --no-force-in-body-from --root "
		"--always --encode-email-headers --no-encode-email-headers --notes?text "
		"--no-notes --no-merges --first-parent --reverse --max-count:number -# "
		"--skip:number --author:text --since:text --until:text --grep:text "
		"--cherry-pick --right-only --topo-order --do-walk --no-walk",
		"mixed*", 0, check_format_patch, NULL},
	{0},
};
