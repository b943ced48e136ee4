/*
 * place.h: where a work item is worked on: in a worktree of its own, or in the user's checkout. The
 * place is chosen once, when the run starts. It is a key of the store and not a part of the
 * document, because agents can edit the document.
 */
#ifndef DT_PLACE_H
#define DT_PLACE_H

#include "context/file.h"
#include "src/sys/git.h"

struct item_place {
	const char *directory; /* absolute; NULL: not chosen yet */
	const char *branch;    /* checked out there; NULL: HEAD is detached */
	const char *base;      /* id of the commit that the work begins from; NULL: none */
	bool in_place;         /* the user's checkout */
	/* Files that were modified before the work began: in the checkout by the user; in a new
	 * worktree as git reports them, for example because of line endings. */
	VEC(const char *) dirty;
	/* In the checkout: files whose changes git did not show then; struct git_hidden. */
	VEC(const char *) hidden;
	const char *pushed; /* not in the key: last known commit of the remote's branch; or NULL */
	const json *marks;  /* not in the key: changes that precede the action; see place_marks() */
	const char *const *allow_secrets; /* not in the key: patterns of the workflow; NULL: none */
	size_t n_allow_secrets;
	bool fresh; /* not in the key: no script has been requested yet that could leave files */
	struct git_identity identity; /* of the directory when it was chosen */
};

/* The key of the item; `out` stays empty if it has none. Texts are in the arena. */
int place_load(struct arena *a, struct context_file *f, struct item_place *out, struct error *err);
/* Written by the next save. */
void place_store(struct context_file *f, const struct item_place *p);

bool place_was_dirty(const struct item_place *p, const char *path);
bool place_was_hidden(const struct item_place *p, const char *path);
/* A sparse checkout was active. */
bool place_is_sparse(const struct item_place *p);
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
/*
 * Commits the changed files that have no mark and were not changed before the item began. Ignored
 * files are never committed. -1: ERR_CHECK if the agent must correct something first: a file that
 * may hold a secret, a conflict, another branch.
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

/* The place as JSON, for the journal. */
json *place_to_json(const struct item_place *p);
void place_from_json(struct arena *a, const json *j, struct item_place *out);

#endif
