/*
 * bin_git.h: git's commands as data, and the few rules that data cannot say.
 *
 * A row is a command (`log`) or a subcommand (`stash list`); what has no row is denied. OPTIONS are
 * in the notation of binary.h, one row for each form of git 2.39 that can neither run a program nor
 * reach a file outside the root, so that a missing option is a decision, not an oversight. Where
 * git takes a value only behind `=` the row says `?`: then the next word is looked at by itself.
 *
 * OPERANDS are kinds between blanks, in order, the last may carry `*`:
 *   rev      a revision or range          name    of a new branch, tag or remote
 *   mixed    revision or pathspec; behind a `--` pathspecs
 *   change   the same, but the files are written
 *   path     pathspec                     edit    pathspec whose files are written
 *   file     a file that is read          text    anything
 *   remote   a name or an address         ref, refspec
 */
#ifndef DT_POLICY_BIN_GIT_H
#define DT_POLICY_BIN_GIT_H

#include "src/policy/bin.h"

enum {
	GIT_WRITES = 1,  /* changes files, the index, refs or settings: needs `write` */
	GIT_NETWORK = 2, /* may talk to another machine, whatever the operands are */
	GIT_GROUP = 4,   /* the next word may name a subcommand with a row of its own */
	GIT_FILES = 8,   /* brings files into the tree that nobody has looked at */
};

struct git_use;

struct git_command {
	const char *name;
	const char *options, *operands;
	unsigned flags;
	int (*check)(struct git_use *u); /* asked before the operands; may be NULL */
	const char *lead;                /* GIT_GROUP: options before the subcommand */
};

/* One call of git while it is checked. */
struct git_use {
	struct check *c;
	struct call call; /* as git sees it behind its -C */
	const struct git_command *command;
	size_t at; /* index of the command in call.args */
	struct parsed p;
	const char *operands; /* the row's; its check may put others here */
};

/* Each ended by a NULL name. */
extern const struct git_command git_rows_history[], git_rows_look[], git_rows_change[],
	git_rows_refs[], git_rows_remotes[], git_rows_places[];

/* Denials; always -1. */
int git_no(struct git_use *u, enum rule rule, const struct arg *arg, const char *why);
/* For what writes only in some forms. */
int git_writes(struct git_use *u);
int git_networks(struct git_use *u);
bool git_any(const struct git_use *u, const char *const *names); /* NULL-ended */

/* Operands from `from` on, by the row's or another list. */
int git_operands(struct git_use *u, const char *kinds);
int git_revision(struct git_use *u, const struct arg *arg);
int git_pathspec(struct git_use *u, const struct arg *arg, enum access access, bool whole);
/* `hooks`: what is there may run programs of its own (push). *here: it is a directory below the
 * root.
 */
int git_remote(struct git_use *u, const struct arg *arg, bool hooks, bool *here);

/* The repository that git would work in can be trusted: the root's, or one as git makes it. */
int git_repository(struct git_use *u);

/* KEY or KEY=VALUE of `-c`. */
int git_setting(struct check *c, const struct arg *arg);

/* Rows' own rules. */
int git_check_config(struct git_use *u);
int git_check_fetch(struct git_use *u);
int git_check_push(struct git_use *u);
int git_check_clone(struct git_use *u);
int git_check_apply(struct git_use *u);
int git_check_am(struct git_use *u);
/* Of one who may not write: no program that checks signatures, no settings of the user. */
int git_check_shown(struct git_use *u);

/* What many commands take, in the notation of binary.h. */
#define GIT_DIFF_OPTIONS                                                                           \
	" -p,-u,--patch -s,--no-patch -U,--unified?number -W,--function-context "                  \
	"--no-function-context --raw --patch-with-raw --patch-with-stat --numstat --shortstat "    \
	"-X,--dirstat?text --cumulative --dirstat-by-file?text --check --summary --name-only "     \
	"--name-status --stat?text --no-stat --stat-width:number --stat-name-width:number "        \
	"--stat-graph-width:number --stat-count:number --compact-summary --no-compact-summary "    \
	"--binary --full-index --no-full-index --color?text --no-color "                           \
	"--ws-error-highlight:text -z --abbrev?number --no-abbrev --src-prefix:text "              \
	"--dst-prefix:text --line-prefix:text --no-prefix --inter-hunk-context:number "            \
	"--output-indicator-new:text --output-indicator-old:text "                                 \
	"--output-indicator-context:text -B,--break-rewrites?text -M,--find-renames?text "         \
	"-D,--irreversible-delete -C,--find-copies?text --find-copies-harder --no-renames "        \
	"--rename-empty --no-rename-empty --follow --no-follow -l:number --minimal --no-minimal "  \
	"-w,--ignore-all-space -b,--ignore-space-change --ignore-space-at-eol --ignore-cr-at-eol " \
	"--ignore-blank-lines -I,--ignore-matching-lines:text --indent-heuristic "                 \
	"--no-indent-heuristic --patience --histogram --diff-algorithm:text --anchored:text "      \
	"--word-diff?text --word-diff-regex:text --color-words?text --color-moved?text "           \
	"--no-color-moved --color-moved-ws:text --no-color-moved-ws --relative?text "              \
	"--no-relative -a,--text -R --exit-code --quiet --no-ext-diff --no-textconv "              \
	"--ignore-submodules?text --submodule?text --ita-invisible-in-index "                      \
	"--ita-visible-in-index -S:text -G:text --pickaxe-all --pickaxe-regex --rotate-to:text "   \
	"--skip-to:text --find-object:rev --diff-filter:text "

#define GIT_RANGE_OPTIONS                                                                          \
	" --max-count:number -# --skip:number --since:text --after:text --until:text "             \
	"--before:text --since-as-filter:text --max-age:text --min-age:text --author:text "        \
	"--grep:text --grep-reflog:text --all-match --invert-grep "                                \
	"-i,--regexp-ignore-case --basic-regexp -E,--extended-regexp -F,--fixed-strings "          \
	"-P,--perl-regexp --remove-empty --merges --no-merges --min-parents?number "               \
	"--max-parents?number --no-min-parents --no-max-parents --first-parent "                   \
	"--exclude-first-parent-only --not --all --branches?text --tags?text --remotes?text "      \
	"--glob:text --exclude:text --exclude-hidden:text --reflog --single-worktree "             \
	"--ignore-missing --bisect --stdin --cherry-mark --cherry-pick --left-only --right-only "  \
	"--cherry -g,--walk-reflogs --merge --boundary --simplify-by-decoration --show-pulls "     \
	"--full-history --dense --sparse --simplify-merges --ancestry-path?rev --date-order "      \
	"--author-date-order --topo-order --reverse --no-walk?text --do-walk --parents "           \
	"--children --left-right --abbrev-commit --no-abbrev-commit --objects "                    \
	"--filter?text --no-filter --missing?text --in-commit-order --count --use-bitmap-index "

#define GIT_SHOW_OPTIONS                                                                           \
	" --pretty?text --format?text --oneline --encoding:text --expand-tabs?number "             \
	"--no-expand-tabs --notes?text --no-notes --show-notes?text --standard-notes "             \
	"--no-standard-notes --show-signature --no-show-signature --relative-date --date:text "    \
	"--graph --no-graph --show-linear-break?text --source --use-mailmap --no-use-mailmap "     \
	"--mailmap --no-mailmap --clear-decorations --decorate-refs:text "                         \
	"--decorate-refs-exclude:text --decorate?text --no-decorate --full-diff --log-size "       \
	"-L:text -m -c --cc -t -r --dd --remerge-diff --diff-merges:text --no-diff-merges "        \
	"--combined-all-paths --root -q "

#define GIT_LOG_OPTIONS                                                                            \
	GIT_DIFF_OPTIONS GIT_RANGE_OPTIONS GIT_SHOW_OPTIONS " -n:number --committer:text "

/* Strategies by another name would be programs of that name. */
#define GIT_STRATEGY "word{ort,recursive,resolve,octopus,ours,subtree}"

#endif
