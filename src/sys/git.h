/*
 * git.h: local git work. The only user of libgit2, which is opened at the first call, not at
 * start-up. What it lacks, and everything that uses a network, goes through the user's `git`, so
 * that credential helpers and hooks apply: with a time limit and never a prompt.
 */
#ifndef DT_GIT_H
#define DT_GIT_H

#include "src/base/vec.h"

/* Opens libgit2. *version: of the library that was found, in the arena. */
int git_library_version(struct arena *a, char **version, struct error *err);

/* The work tree that contains directory `from`, absolute, in the arena. -1: ERR_STATE, there is
 * none. */
int git_root(struct arena *a, const char *from, char **root, struct error *err);

/* The repository's directory of this work tree, and the one that all its work trees share: `.git`
 * is a directory, or a file `gitdir: PATH`, and the directory of a linked work tree names the
 * common one. A bare repository is both itself. False when they cannot be read. */
bool git_directories(struct arena *a, const char *root, char **own, char **common);

/*
 * `org/repo` from a remote's URL: without scheme, user, host, port and `.git`. False when nothing
 * valid (path_is_slug()) is left. Known forms: https://host/org/repo(.git),
 * git@host:org/repo(.git), ssh://git@host:22/org/repo(.git), [git@host:22]:org/repo(.git); of a
 * local path (file:///...,
 * /..., ./..., ../...) the last two parts. Encoded as by git_slug_encode(); in a local path that is
 * no URL, `%` is an ordinary character.
 */
bool git_slug_of_url(struct str url, struct buf *slug);
/* Adds the path of a URL with each byte but letters, digits, `.`, `_`, `-` and `/` as `%XX`, so
 * that `My%20App` and `My App` become equal. False: it has a byte that no repository's name has. */
bool git_slug_encode(struct str path, struct buf *out);
/* The slug of remote `origin`. 1: there is no such remote, or its URL gives no slug; *err says
 * which. -1: the repository cannot be read. */
int git_slug(struct arena *a, const char *root, char **slug, struct error *err);

/*
 * Read without libgit2, whose loading alone takes several times as long as a step.
 *
 * The URL of remote `origin` as the repository's own configuration has it. False when it is not
 * there in plain form (includes, `insteadOf`, quotes, several values, per-worktree configuration):
 * then libgit2 must be asked.
 */
bool git_config_origin(const char *root, struct buf *url);
/* `user.name` and `user.email` of the user's own configuration in plain form. False when one of
 * them is not there, or the repository at `root` has a `[user]` section of its own. */
bool git_config_identity(const char *root, struct buf *name, struct buf *email);

struct git_tracked {
	const char *entry; /* its bytes in the index */
	struct str path;   /* ends with a NUL */
	bool link, submodule, assume_unchanged, skip_worktree;
};
/*
 * Calls each() for every entry of a git index, the bytes of the file, in its order. 0; 1 when
 * each() returned false; -1 for an index that is damaged, split, of another version than 2 and 3,
 * or with objects that are not of 20 bytes.
 */
int git_index_each(
	struct str index, bool (*each)(void *data, const struct git_tracked *e), void *data);

struct git_remote {
	const char *name, *url;
};
struct git_remotes {
	VEC(struct git_remote) list; /* in the arena */
};

/* Where worktrees of work items are, below the main working tree. */
#define GIT_WORKTREES ".dev-team/worktrees"

struct git_core {
	bool bare;
	const char *worktree; /* as it is written, relative to the git directory; NULL: none */
};
/* `[core]` of the repository whose git directory is `common`; what cannot be read is not set. */
void git_config_core(struct arena *a, const char *common, struct git_core *out);
/* The main work tree of the repository with this common directory; the latter if it has none, or
 * git does not know where it is. */
const char *git_main_tree(struct arena *a, const char *common);
/* The repository around `from`, as git finds it: its main work tree (the same as *common if it has
 * none) and its common directory, resolved. One process. -1: ERR_STATE, it cannot be used. */
int git_find_repository(struct arena *a, const char *from, const char **tree, const char **common,
	struct error *err);
/* Where the repository has the linked work tree with the git directory `own`: the directory of the
 * `.git` that its `gitdir` names, resolved; NULL: it does not say. */
const char *git_worktree_directory(struct arena *a, const char *own);
/* `dir` is a copy of the linked work tree of another repository with the git directory `original`,
 * and `own`, which need not exist, of the latter: `.git` still names `original`, or the logs of
 * both begin with the same line. */
bool git_is_copied_worktree(
	struct arena *a, const char *own, const char *dir, const char *original);
enum git_link {
	GIT_LINK_OWN,     /* they name each other, or there is no `.git` to compare */
	GIT_LINK_MADE,    /* they do from now on; of what was copied from nothing has changed */
	GIT_LINK_OTHER,   /* `.git` names another git directory, which is there */
	GIT_LINK_CLAIMED, /* the same; each names `dir`, which was not copied with its repository */
	GIT_LINK_LOST, /* `.git` names a missing directory, and `own` belongs to another work tree
			*/
};
/* Lets the linked work tree `dir` and `own`, the directory for it in the repository, name each
 * other, where either was moved or copied, or `.git` was removed. */
int git_link_worktree(
	struct arena *a, const char *own, const char *dir, enum git_link *is, struct error *err);
/* Hides a directory from `git status` by a line of `info/exclude`. `dir`: relative to the work
 * tree, with the `/` before it. What others write to the file at the same time stays. */
int git_add_exclude(struct arena *a, const char *common, const char *dir, struct error *err);

/* What makes a work tree one of its repository, and says what its remote `origin` is. Whoever works
 * in it can write these files. Read without libgit2; in the arena. */
struct git_identity {
	char *directory; /* of the work tree in the repository: where HEAD and index are; NULL: none
			  */
	struct git_remotes remotes; /* of the repository's configuration, as it is written there */
	VEC(const char *) settings; /* `[SECTION] KEY = VALUE` of the same, */
};
/* printable, keys in lower case: URLs of `origin`, what rewrites, replaces or transports them,
 * where the work tree is, filters of files and how files are compared; and the repository's
 * directory. */
int git_read_identity(
	struct arena *a, const char *root, struct git_identity *out, struct error *err);

/*
 * Paths (relative to root, sorted) of the regular files that are tracked or not ignored and whose
 * name want() accepts. Not searched: .git, symbolic links, other work trees and submodules, names
 * that are not UTF-8, and untracked files more than 128 directories deep.
 */
int git_find_files(struct arena *a, const char *root, bool (*want)(struct str name), char ***paths,
	size_t *n, struct error *err);

/* The state of a work tree. Texts are in the arena. */
struct git_head {
	const char *git_dir;
	const char *branch; /* NULL: HEAD is detached */
	bool unborn;        /* no commit yet */
	bool origin;        /* there is a remote `origin` */
	bool on_default;    /* branch is the remote's default branch, and that is not empty */
	bool ahead;         /* on_default, with commits that the remote's branch does not have */
	bool unsure;        /* not on_default as far as is known here: only the remote can tell */
	bool guessed;       /* unsure, but another branch was the default at the last fetch */
	bool own_ssh;       /* the configuration names an ssh command */
	const char *busy;   /* "merge", "rebase" ... in progress; else NULL */
};
/* As git-check-ref-format(1) has it. */
bool git_is_branch_name(const char *name);
/* The branch that is checked out, in the arena; NULL: HEAD is detached. Reads one or two files. */
int git_read_branch(struct arena *a, const char *root, const char **branch, struct error *err);
int git_read_head(struct arena *a, const char *root, struct git_head *head, struct error *err);
/* *name: "merge", "rebase" ... in progress; else NULL. No process. */
int git_read_operation(const char *root, const char **name, struct error *err);
/* HEAD: the branch, NULL when it is detached, and its commit, NULL when there is none yet; in the
 * arena. Reads a few files; one process for references in an unusual form. */
struct git_tip {
	const char *branch, *commit;
};
int git_read_tip(struct arena *a, const char *root, struct git_tip *out, struct error *err);

/* The branch of the repository with this common directory has been at this commit, by its reflog.
 */
bool git_branch_was_at(const char *common, const char *branch, const char *commit);

/* The default branch as this clone knows it, in the arena. */
struct git_default {
	const char *branch; /* "main"; NULL: there is none */
	const char *ref;    /* "refs/remotes/origin/main", or "refs/heads/main" */
	const char *commit;
	bool remote;      /* `ref` is that of origin */
	const char *head; /* the branch that origin/HEAD names, fetched or not; NULL: none */
};
/* That which origin/HEAD names; else `main` or `master` of origin; else the local `main` or
 * `master`. `root`: of a work tree, or a git directory. Reads a few files; one process for
 * references in an unusual form. -1: ERR_CHECK, a reference is damaged; ERR_SYSTEM, it cannot be
 * read. */
int git_read_default(struct arena *a, const char *root, struct git_default *out, struct error *err);

/* What `git status` shows: paths relative to root, in the arena. */
struct git_change {
	const char *path;
	bool untracked, conflict; /* else: a tracked file was changed, staged or not */
	bool staged;              /* in part or as a whole */
	bool inside;              /* a submodule; its own files have changed, or are untracked */
};
struct git_status {
	const char *branch; /* NULL: HEAD is detached */
	const char *head;   /* id of the commit; NULL: no commit yet */
	VEC(struct git_change) changes;
};
/* Ignored files are left out. One process, and one for each submodule that has files. Settings of
 * the repository that hide changes do not apply; git_find_hidden() finds files whose changes the
 * index hides. -1: ERR_CHECK, git says that the repository is damaged. */
int git_read_status(struct arena *a, const char *root, struct git_status *s, struct error *err);
/* The same; the index is written again if a file is not older than it, which git must read each
 * time to compare it. */
int git_refresh_status(struct arena *a, const char *root, struct git_status *s, struct error *err);
/* Paths relative to root, in the arena, whose changes `git status` does not show. */
struct git_hidden {
	VEC(const char *)
	paths;                        /* tracked files that the index marks as `assume-unchanged` or
				       * `skip-worktree` */
	VEC(const char *) skipped;    /* such files that a sparse work tree lacks */
	VEC(const char *) attributes; /* `.gitattributes` above a tracked file, not tracked */
	VEC(const char *) submodules; /* that have files, but no `.git` */
};
/* `sparse`: files that the work tree skips may be missing there; else they count as `paths`. One
 * process for an index in an unusual form. */
int git_find_hidden(
	struct arena *a, const char *root, bool sparse, struct git_hidden *out, struct error *err);
/* The first of `n` paths, sorted as an index is, that differs between two commits; NULL: none. One
 * process. */
int git_find_differing(struct arena *a, const char *root, const char *from, const char *to,
	const char *const *paths, size_t n, const char **found, struct error *err);

/* The tree that the index and the tracked files certainly equal, in the arena: their times, sizes
 * and inodes are as the index notes them, and the index notes that tree. `alone`: and there is no
 * other file. NULL: not certain, `git status` decides. No process. */
const char *git_unchanged_tree(struct arena *a, const char *root, bool alone);
/* Appends the entries of a directory of the work tree as `git ls-files -t --stage -z` prints them,
 * when its files are certainly these, unchanged, and there are no others. "": of all. False: not
 * certain. No process. */
bool git_unchanged_directory(struct arena *a, const char *root, const char *dir, struct buf *out);

struct git_commit {
	const char *id, *tree; /* in the arena; NULL: there is no such commit */
};
/* The commits of `n` references, `HEAD` or `refs/...`, in the arena; NULL: there is none. Reads a
 * few files. False: git must be asked, because a name or the repository is in another form. */
bool git_plain_ids(
	struct arena *a, const char *root, const char *const *names, size_t n, const char **ids);
/* The same; where git must be asked, as git_read_commits(). */
int git_read_ids(struct arena *a, const char *root, const char *const *names, size_t n,
	const char **ids, struct error *err);
/* Of each of the `n` names: `HEAD`, an id, `refs/...`. -1: ERR_CHECK, a reference is damaged. */
int git_read_commits(struct arena *a, const char *root, const char *const *names, size_t n,
	struct git_commit *out, struct error *err);
/* The id of the file at `path`, relative to root, in a commit, or in the work tree (commit NULL) as
 * it would be committed; in the arena. NULL: there is none. */
int git_read_file_id(struct arena *a, const char *root, const char *commit, const char *path,
	const char **id, struct error *err);
/* How many commits `to` has that `from` does not have; both are ids of commits. */
int git_count_commits(
	const char *root, const char *from, const char *to, size_t *n, struct error *err);

/* The commit where two commits have left each other, in the arena; NULL: none, or it is not known.
 */
const char *git_fork_point(struct arena *a, const char *root, const char *one, const char *other);
enum { GIT_PATCH_TEXT = 33 }; /* with its NUL */
/* A digest of the changes between two commits, as `git patch-id --verbatim` makes one: without line
 * numbers, with blanks and context, but that of a changelog; a binary file counts by its blob. "":
 * a commit cannot be read, or nothing differs. No process. */
void git_patch_digest(const char *root, const char *from, const char *to, char out[GIT_PATCH_TEXT]);
/* How the changes between the commits `from` and `to` differ from those between `base` and `was`:
 * the difference of their patches without line numbers, its first 4000 bytes, in the arena. NULL: a
 * commit cannot be read. */
const char *git_compare_changes(struct arena *a, const char *root, const char *base,
	const char *was, const char *from, const char *to);
/* Whether the branch with the commit `head` has landed on the one at `tip`. *commit: `head`, if
 * `tip` has it; else, after a squash or a rebase, the newest commit of `tip` that makes the changes
 * with this digest (NULL: those of the branch), alone or as the last of as many as the branch has,
 * in the arena; else NULL: also if the history is not known (a shallow clone). No process. */
int git_find_landed(struct arena *a, const char *root, const char *head, const char *tip,
	const char *digest, const char **commit, struct error *err);
/* Local branches of work items, unless they were given another name. */
#define GIT_ITEMS "refs/heads/dev-team/"
/* *yes: a branch of a remote, as far as is known here, or a local one of another item has `commit`;
 * those of the name `branch` do not count, nor do those of a parent and of children. */
int git_is_on_other_branch(
	const char *root, const char *commit, const char *branch, bool *yes, struct error *err);
/* *touched: the first of the paths, or a file in it, that a commit since `base` (NULL: any commit)
 * has changed, in the arena; NULL: none. One process, none without paths. */
int git_find_touched(struct arena *a, const char *root, const char *base, const char *const *paths,
	size_t n, const char **touched, struct error *err);

struct git_paths {
	VEC(const char *) list; /* in the arena */
};
/* The files that commits since `base` have added or changed, those that the commit `without` (NULL:
 * none) contains left out; one may be listed several times. One process. */
int git_list_committed(struct arena *a, const char *root, const char *base, const char *without,
	struct git_paths *out, struct error *err);
/* The commit of origin's default branch, as origin says now; it is fetched if it is not here, but
 * no reference is changed. In the arena; NULL: origin does not answer, or has none. One or two
 * processes. */
const char *git_fetch_newest(struct arena *a, const char *root);

struct git_history {
	VEC(struct git_commit) list; /* in the arena */
};
/* The commits that `to` has and `from` (NULL: none) does not. One process in a shallow clone. */
int git_list_history(struct arena *a, const char *root, const char *from, const char *to,
	struct git_history *out, struct error *err);

/* With URLs as `insteadOf` makes them. */
int git_read_remotes(struct arena *a, const char *root, struct git_remotes *out, struct error *err);
/* The commits of `branch` and of the default branch at origin, as origin says now; NULL: it has no
 * such branch. One process. */
int git_read_remote_branch(struct arena *a, const char *root, const char *branch, const char **id,
	const char **others, struct error *err);

/* Fetches a branch of origin to its remote-tracking reference; leaves FETCH_HEAD, tags and
 * submodules as they are. *fetched: false if git fails, or takes longer than a minute. */
int git_fetch_branch(const char *root, const char *branch, bool *fetched, struct error *err);

/* Removes the locks of index, HEAD and `branch` (may be NULL) that a killed git has left in a work
 * tree that nobody but the machine and its agents uses. They stay while a process works there: a
 * `git commit` whose hook runs has its lock not open. */
void git_clear_locks(const char *root, const char *branch);

/* A `CHANGELOG.md`: both lists are kept where two branches have added to one. */
bool git_is_changelog(const char *path);
/* Keeps both sides of each conflict in the text of one, the first side first, or the second. False
 * if a side has something else than bullets, nothing is in conflict, or the text is over 1,000,000
 * bytes. */
bool git_join_lists(struct str text, bool second_first, struct buf *out);
/* A rebase or a merge has stopped in the work tree `dir`: joins the changelogs in conflict, so that
 * it can continue. *left: the other files in conflict, NULL at the end, in the arena; NULL: there
 * are none, and *err is clear. -1, with *err as it was: nothing is in conflict. */
int git_join_changelogs(struct arena *a, const char *dir, bool second_first,
	const char *const **left, struct error *err);

/* A work tree goes with its branch from one commit to another. Files that somebody has changed
 * stay, and the branch too. Returns why it stays where it is, in the arena; NULL: it does not. */
const char *git_follow_branch(
	struct arena *a, const char *dir, const char *branch, const char *from, const char *to);

/*
 * Commits the changes of these files, relative to root, with `message` through the user's `git`, so
 * that hooks and signing apply. What else is staged stays as it is. *made: whether there was
 * anything to commit. -1: ERR_CHECK: a hook refuses them, or git finds nothing to commit.
 */
int git_commit_paths(const char *root, const char *const *paths, size_t n, const char *message,
	bool *made, struct error *err);

/*
 * Makes one commit of the branch's commits that no remote, tag or other branch has, and that were
 * made after the commit `since` (NULL: ever): with the tree of the last, the author of the first
 * and all messages; other authors are trailers `Co-authored-by`. Files and index stay as they are.
 * *n: how many became one; 0: there are fewer than two, one is a merge, or HEAD is detached. -1:
 * ERR_SYSTEM, also when git cannot sign.
 */
int git_squash_unpushed(const char *root, const char *since, size_t *n, struct error *err);

/*
 * Pushes HEAD's branch to origin; sets no upstream. When there is nothing to push (no remote
 * `origin`, or its default branch without new commits), sets *skipped and returns 0. `lease`: a
 * commit that the push may replace with another history if the remote's branch is at it; NULL:
 * never. -1: ERR_STATE with HEAD detached, or when it would push to the default branch; ERR_CHECK:
 * the remote or a hook refuses the push.
 */
int git_push(const char *root, const char *lease, bool *skipped, struct error *err);

enum { GIT_LATE = 124 }; /* as timeout(1) has it */

/* Removes the variables by which git names a repository from the environment: a hook or an alias of
 * git may have started us, and agents and scripts would work in its repository. */
void git_forget_caller(void);

/* The user's `git` as all of this runs it: no prompt, and without the caller's GIT_DIR and the
 * like. */
struct git_command {
	const char *dir;         /* where it runs: the root of a work tree, or a git directory */
	const char *name;        /* for people: "git worktree" */
	const char *const *argv; /* "git", ..., NULL */
	const char *const *env;  /* further environment as in process.h; may be NULL */
	struct str input;
	unsigned limit_s; /* 0: 120 */
	int inherit;      /* as in process.h, and `cancel` too: then -1, ERR_STATE */
	int cancel;
	bool batch_ssh; /* ssh must not prompt either */
	bool late;      /* the time limit is no error, but the status GIT_LATE */
	bool warnings;  /* `out` gets standard error also when the status is 0 */
	bool refresh;   /* git may write what it has found to the index */
};
/* Begins a command that runs no hooks, which an agent can have configured, and tidies nothing up.
 */
#define GIT_QUIET                                                                                  \
	"git", "-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0", "-c", "maintenance.auto=false"
/* Whoever works in the repository can write its configuration, which must not decide what has
 * changed. */
#define GIT_FIND_CHANGES                                                                           \
	"-c", "core.fsmonitor=false", "-c", "core.trustctime=true", "-c",                          \
		"core.checkStat=default", "-c", "core.untrackedCache=false", "-c",                 \
		"diff.ignoreSubmodules=none"
/* *status NULL: a status other than 0 is an error with git's output. `out` (may be NULL) gets
 * standard output, and standard error only when the status is not 0: git also writes warnings and
 * traces there. */
int git_command(const struct git_command *c, struct buf *out, int *status, struct error *err);
/* A status other than 0, with that output, as git_command() reports it. `refused`: by a hook or a
 * remote, which is a fault of the commits (ERR_CHECK). -1 unless the status is 0. */
int git_check_status(
	const char *name, int status, const struct buf *output, bool refused, struct error *err);

/* Adds the unified diff of two texts, which may contain any bytes; nothing when they are equal. */
int git_diff_texts(struct buf *out, const char *old_name, struct str old_text, const char *new_name,
	struct str new_text, struct error *err);

#endif
