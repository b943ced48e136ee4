/*
 * Commands that change files, the index or commits. What needs a terminal (-p, -i, -e) is not
 * there: an agent has none, and an editor is a program.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include "src/policy/bin_git.h"
#include "src/policy/trail.h"

/* What is in the file is not asked about: only for commands that leave files alone. */
#define FROM_FILE " --pathspec-from-file:read --pathspec-file-nul "
#define MESSAGE   " -m,--message:text -F,--file:read "
#define SIGN      " -S,--gpg-sign?text --no-gpg-sign -s,--signoff --no-signoff "
#define CLEANUP_  " --cleanup:word{strip,whitespace,verbatim,scissors,default} "

/* One of several at once: git compares by name what the sequencer keeps. */
#define SEQUENCER " --continue --abort --quit --skip "

/* Only git's index: the files stay. */
static int check_rm(struct git_use *u)
{
	bool files = !given_any(&u->p, "--cached") && !given_any(&u->p, "--dry-run");

	for (size_t i = 0; i < u->p.n_operands; i++)
		if (git_pathspec(u, &u->p.operands[i], files ? ACCESS_ENTRY : ACCESS_READ, files) <
			0)
			return -1;
	u->operands = "text*";
	return 0;
}

/* The same as mv, links that lead elsewhere from another place included. */
static int check_mv(struct git_use *u)
{
	size_t n = u->p.n_operands;
	struct arg *args = arena_alloc(u->c->arena, (n + 2) * sizeof(*args));
	struct call move = u->call;

	args[0] = (struct arg){.text = STR("mv"), .at = u->call.at};
	args[1] = (struct arg){.text = STR("--"), .at = u->call.at};
	memcpy(args + 2, u->p.operands, n * sizeof(*args));
	move.args = args;
	move.n = n + 2;
	u->operands = "text*";
	return n ? check_move(u->c, &move) : 0;
}

static bool is_top(struct git_use *u, const struct arg *arg)
{
	struct verdict unused = {0};
	struct place place;

	return arg->origin == ARG_KNOWN &&
	       where(u->c->arena, u->c->root, u->c->policy, u->call.cwd, arg->text, ACCESS_READ,
		       false, arg->at, &place, &unused) == 0 &&
	       !place.path.n;
}

static bool excluded(const struct git_use *u, const char *name)
{
	for (size_t i = 0; i < u->p.n; i++)
		if (str_is(u->p.options[i].name, "--exclude") &&
			str_is(u->p.options[i].value.text, name))
			return true;
	return false;
}

/* Settings of agents and of this program, which are often not in the repository. */
static const char *would_go(const struct git_use *u)
{
	struct stat st;

	for (size_t i = 0; guarded_names[i]; i++)
		if (strcmp(guarded_names[i], ".git") != 0 &&
			fstatat(u->c->root->fd, guarded_names[i], &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			!excluded(u, guarded_names[i]))
			return guarded_names[i];
	return NULL;
}

static int refuse_clean(struct git_use *u, const struct arg *arg, const char *name)
{
	(void)deny_word(u->c->v, RULE_PATH_PROTECTED, arg->at, arg->text, STR(""),
		"would remove the protected '%s' where it is not tracked: add '-e %s'", name, name);
	return asked(u->c, RULE_PATH_PROTECTED, arg->at, arg->text, STR(""), -1);
}

/* At the top it goes through all there is, so what is protected must be left out by name. */
static int check_clean(struct git_use *u)
{
	const struct arg here = {.text = STR("."), .at = u->call.at};
	size_t n = u->p.n_operands;

	if (given_any(&u->p, "--dry-run"))
		return 0;
	if (git_writes(u) < 0)
		return -1;
	for (size_t i = 0; i < (n ? n : 1); i++) {
		const struct arg *arg = n ? &u->p.operands[i] : &here;

		if (is_top(u, arg)) {
			if (would_go(u))
				return refuse_clean(u, arg, would_go(u));
		} else if (git_pathspec(u, arg, ACCESS_WRITE, true) < 0) {
			return -1;
		}
	}
	return 0;
}

/* What is not tracked goes out of the way as well: not a protected file. */
static int check_stash(struct git_use *u)
{
	const struct arg here = {.text = STR("."), .at = u->call.at};
	const char *name = given_any(&u->p, "-u") && !u->c->live ? would_go(u) : NULL;

	if (!name)
		return 0;
	(void)deny_word(u->c->v, RULE_PATH_PROTECTED, here.at, str_of(name), STR(""),
		"would take the protected '%.60s' away where it is not tracked", name);
	return asked(u->c, RULE_PATH_PROTECTED, here.at, str_of(name), STR(""), -1);
}

const struct git_command git_rows_change[] = {
	{"add",
		"-n,--dry-run -v,--verbose -f,--force -u,--update --no-update --renormalize "
		"-N,--intent-to-add -A,--all --no-all --no-ignore-removal --ignore-removal "
		"--refresh --ignore-errors --ignore-missing --sparse --chmod:word{+x,-x}" FROM_FILE,
		"path*", GIT_WRITES, NULL, NULL},
	{"stage", "-n,--dry-run -v,--verbose -f,--force -u,--update -N,--intent-to-add -A,--all",
		"path*", GIT_WRITES, NULL, NULL},
	{"commit",
		"-q,--quiet -v,--verbose --author:text --date:text -C,--reuse-message:rev "
		"--fixup:rev --squash:rev --reset-author --trailer:text --no-edit --status "
		"--no-status -a,--all -i,--include -o,--only -n,--no-verify --verify --dry-run "
		"--short --branch --ahead-behind --no-ahead-behind --porcelain --long -z,--null "
		"--amend --no-post-rewrite --allow-empty --allow-empty-message "
		"-u,--untracked-files?text" MESSAGE SIGN CLEANUP_ FROM_FILE,
		"path*", GIT_WRITES, NULL, NULL},
	{"rm",
		"--dry-run,-n -q,--quiet --cached -f,--force -r --ignore-unmatch "
		"--sparse",
		"", GIT_WRITES, check_rm, NULL},
	{"mv", "-v,--verbose -n,--dry-run -f,--force -k --sparse", "", GIT_WRITES, check_mv, NULL},
	{"clean", "-q,--quiet --dry-run,-n -f,--force -d --exclude,-e:text -x -X", "path*", 0,
		check_clean, NULL},
	{"reset",
		"-q,--quiet --no-quiet --refresh --no-refresh --mixed --soft --hard --merge --keep "
		"-N,--intent-to-add --no-recurse-submodules" FROM_FILE,
		"mixed*", GIT_WRITES | GIT_FILES, NULL, NULL},
	{"merge",
		"-n --stat --no-stat --summary --no-summary --log?number --no-log --squash "
		"--no-squash --commit --no-commit --no-edit --ff --no-ff --ff-only "
		"--rerere-autoupdate --no-rerere-autoupdate --verify-signatures "
		"--no-verify-signatures -s,--strategy:" GIT_STRATEGY
		" -X,--strategy-option:text --into-name:text -v,--verbose -q,--quiet --abort "
		"--quit --continue --allow-unrelated-histories --progress --no-progress "
		"-S,--gpg-sign?text --no-gpg-sign --autostash --no-autostash --overwrite-ignore "
		"--no-overwrite-ignore --signoff --no-signoff --no-verify --verify" MESSAGE
			CLEANUP_,
		"rev*", GIT_WRITES | GIT_FILES, NULL, NULL},
	{"rebase",
		"--onto:rev --keep-base --no-verify --verify -q,--quiet -v,--verbose "
		"-n,--no-stat --stat --signoff --no-signoff --committer-date-is-author-date "
		"--reset-author-date --ignore-date -C:number --ignore-whitespace "
		"--whitespace:word{nowarn,warn,fix,error,error-all} -f,--force-rebase --no-ff "
		"--show-current-patch --apply -m,--merge --rerere-autoupdate "
		"--no-rerere-autoupdate --empty:word{drop,keep,ask,stop} --autosquash "
		"--no-autosquash --update-refs --no-update-refs -S,--gpg-sign?text --no-gpg-sign "
		"--autostash --no-autostash -r,--rebase-merges?text --no-rebase-merges "
		"--fork-point --no-fork-point -s,--strategy:" GIT_STRATEGY
		" -X,--strategy-option:text --root --reapply-cherry-picks "
		"--no-reapply-cherry-picks --keep-empty --no-keep-empty" SEQUENCER,
		"rev rev", GIT_WRITES | GIT_FILES, NULL, NULL},
	{"cherry-pick",
		"-n,--no-commit -m,--mainline:number --rerere-autoupdate --no-rerere-autoupdate "
		"--strategy:" GIT_STRATEGY " -X,--strategy-option:text -x --ff --allow-empty "
		"--allow-empty-message --keep-redundant-commits --no-edit" SIGN CLEANUP_ SEQUENCER,
		"rev*", GIT_WRITES | GIT_FILES, NULL, NULL},
	{"revert",
		"-n,--no-commit -m,--mainline:number --rerere-autoupdate --no-rerere-autoupdate "
		"--strategy:" GIT_STRATEGY
		" -X,--strategy-option:text --no-edit --reference" SIGN CLEANUP_ SEQUENCER,
		"rev*", GIT_WRITES | GIT_FILES, NULL, NULL},
	{"apply",
		"--exclude:text --include:text -p:number --no-add --stat --numstat --summary "
		"--check --index -N,--intent-to-add --cached --apply -3,--3way -z -C:number "
		"--whitespace:word{nowarn,warn,fix,error,error-all} --ignore-space-change "
		"--ignore-whitespace -R,--reverse --unidiff-zero --reject --allow-overlap "
		"-v,--verbose -q,--quiet --inaccurate-eof --recount --directory:write "
		"--allow-empty",
		"file*", GIT_FILES, git_check_apply, NULL},
	{"am",
		"-3,--3way --no-3way -q,--quiet -s,--signoff -u,--utf8 --no-utf8 -k,--keep "
		"--keep-non-patch -m,--message-id --no-message-id --keep-cr --no-keep-cr "
		"-c,--scissors --no-scissors --quoted-cr:word{nowarn,warn,strip} "
		"--whitespace:word{nowarn,warn,fix,error,error-all} --ignore-space-change "
		"--ignore-whitespace --directory:write --exclude:text --include:text -C:number "
		"-p:number --patch-format:name --reject --continue -r,--resolved --skip --abort "
		"--quit --show-current-patch?text --allow-empty --committer-date-is-author-date "
		"--ignore-date --rerere-autoupdate -S,--gpg-sign?text --no-gpg-sign "
		"--empty:word{stop,drop,keep} --no-verify",
		"file*", GIT_WRITES | GIT_FILES, git_check_am, NULL},
	{"update-index",
		"-q --refresh --really-refresh --assume-unchanged --no-assume-unchanged "
		"--skip-worktree --no-skip-worktree --chmod:word{+x,-x} --add --remove "
		"--ignore-missing --verbose -g,--again",
		"path*", GIT_WRITES, NULL, NULL},
	{"gc",
		"-q,--quiet --prune?text --no-prune --cruft --no-cruft --aggressive --auto "
		"--no-detach --detach --keep-largest-pack",
		"", GIT_WRITES, NULL, NULL},
	{"write-tree", "--missing-ok", "", GIT_WRITES, NULL, NULL},
	{"stash",
		"-S,--staged -k,--keep-index --no-keep-index -q,--quiet -u,--include-untracked "
		"--no-include-untracked -m,--message:text",
		"path*", GIT_WRITES | GIT_GROUP, check_stash, NULL},
	{"stash push",
		"-S,--staged -k,--keep-index --no-keep-index -q,--quiet -u,--include-untracked "
		"--no-include-untracked -m,--message:text",
		"path*", GIT_WRITES, check_stash, NULL},
	{"stash save",
		"-S,--staged -k,--keep-index --no-keep-index -q,--quiet -u,--include-untracked "
		"-m,--message:text",
		"text*", GIT_WRITES, check_stash, NULL},
	{"stash pop", "--index -q,--quiet", "rev", GIT_WRITES | GIT_FILES, NULL, NULL},
	{"stash apply", "--index -q,--quiet", "rev", GIT_WRITES | GIT_FILES, NULL, NULL},
	{"stash drop", "-q,--quiet", "rev", GIT_WRITES, NULL, NULL},
	{"stash branch", "", "name rev", GIT_WRITES | GIT_FILES, NULL, NULL},
	{"stash clear", "", "", GIT_WRITES, NULL, NULL},
	{"stash create", "", "text*", GIT_WRITES, NULL, NULL},
	{"stash store", "-q,--quiet -m,--message:text", "rev", GIT_WRITES, NULL, NULL},
	{"notes", "--ref:text", "", GIT_GROUP, NULL, "--ref?text"},
	{"notes list", "", "rev", 0, NULL, NULL},
	{"notes show", "", "rev", 0, NULL, NULL},
	{"notes get-ref", "", "", 0, NULL, NULL},
	{"notes add", "-f,--force --allow-empty -C,--reuse-message:rev" MESSAGE, "rev", GIT_WRITES,
		NULL, NULL},
	{"notes append", "--allow-empty -C,--reuse-message:rev" MESSAGE, "rev", GIT_WRITES, NULL,
		NULL},
	{"notes copy", "-f,--force", "rev rev", GIT_WRITES, NULL, NULL},
	{"notes remove", "--ignore-missing", "rev*", GIT_WRITES, NULL, NULL},
	{"notes prune", "-n,--dry-run -v,--verbose", "", GIT_WRITES, NULL, NULL},
	{0},
};
