/*
 * local.h: the environment of a user: the repository, git, the forge and scripts of this host.
 */
#ifndef DT_LOCAL_H
#define DT_LOCAL_H

#include "src/machine/engine.h"

/* The user's repository, git and gh; without say(). `data` is a pointer to the repository's path.
 */
extern const struct environment environment_local;

/* True if `name` is `_spec_*.md`. */
bool environment_is_spec(struct str name);
/* True if it is, and `id` is a whole word of it. */
bool environment_spec_matches(struct str name, struct str id);
/* True if `id` occurs in `text` as a whole word: ADR-1 is not in ADR-10, ADR-1.2 or XADR-1, but it
 * is in `ADR-1.`, `(ADR-1)` and `_spec_ADR-1.md`. */
bool environment_text_names(struct str text, struct str id);

/* ---- the place ---- */

/* Notes the files that are hidden now. */
int place_note_hidden(struct arena *a, struct item_place *p, struct error *err);
/* *may: the path looks like that of a secret, the base does not have it, and the workflow does not
 * allow it. */
int place_may_hold_secret(struct arena *a, const struct item_place *p, const char *path, bool *may,
	struct error *err);
/* *fault: a commit contains a file that may hold a secret, a link to a repository that no submodule
 * names or, in the checkout, a file that the user had changed before; NULL: none does. Starts git
 * once, in the checkout twice. */
int place_check_commits(
	struct arena *a, const struct item_place *p, const char **fault, struct error *err);

/* Marks of the files with uncommitted changes, an array that the caller frees. Runs `git status`
 * once. */
int place_marks(struct arena *a, const struct item_place *p, json **marks, struct error *err);
/* A changed file that has no mark in `p`: the person who approves has not seen it so. NULL: none;
 * *gone: but one that has a mark is not changed any more. */
const char *place_find_unseen(
	struct arena *a, const struct item_place *p, const struct git_status *s, bool *gone);
/*
 * Commits the changed files that have no mark and were not changed before the item began; of what
 * was shown to a person, those that have one. Ignored files are never committed. -1: ERR_CHECK if
 * the agent must correct something first: a file that may hold a secret, a conflict, another
 * branch.
 */
int place_commit_leftovers(const struct item_place *p, const char *id, const json *marks,
	bool *done, struct error *err);

/*
 * Copies the shell script that `command` names (`*.sh`) from the user's checkout into the worktree,
 * unless the branch has one there, and hides it from git. Overwrites an earlier copy. *copied:
 * {path, digest}, the caller's to free; NULL: there is none to be copied. -1: ERR_STATE, it cannot
 * be hidden.
 */
int place_copy_script(struct arena *a, const char *repo, const struct item_place *p,
	const char *command, json **copied, struct error *err);

/* ---- evidence ---- */

/* Asks git, the remote and the forge: at most one `git` process for WORK and TREE, one more for
 * work that was requested (`left`), and one for the remote for PULL and REVIEW, two if the branch
 * is gone there. -1: something could not be read, which is not a contradiction. */
int evidence_collect(
	struct arena *a, const struct evidence_query *q, struct evidence *out, struct error *err);

/* *fault: the shell command runs a program of the repository that is neither that of the place's
 * base nor that of the commit `upstream` (NULL: none); NULL: it does not, as far as its text says.
 * Starts no process. */
int evidence_check_programs(struct arena *a, const struct item_place *p, const char *upstream,
	const char *command, const char **fault, struct error *err);

/* What the workflow (NULL: none is known) requires and cannot be verified in this repository; NULL:
 * nothing. */
const char *evidence_limits(
	struct arena *a, const struct workflow *w, unsigned kinds, const char *repo);

#endif
