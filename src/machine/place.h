/*
 * place.h: where a work item is worked on: in a worktree of its own, or in the user's checkout. The
 * place is chosen once, when the run starts. It is a key of the store and not a part of the
 * document, because agents can edit the document.
 */
#ifndef DT_PLACE_H
#define DT_PLACE_H

#include "context/file.h"
#include "src/sys/git.h"

#define PLACE_KEY "place"
/* The key of the store: {"path": PATH, "digest": ID} */
#define SCRIPT_KEY "script"

struct item_place {
	/* Absolute here; in the key as seen from the document, so that both can be moved. */
	const char *directory; /* NULL: not chosen yet */
	const char *repo;      /* the user's checkout; NULL: not known */
	const char *branch;    /* checked out there; NULL: HEAD is detached */
	/* The directory that alone is checked out, where agents work; NULL: all. */
	const char *target;
	const char *base; /* id of the commit that the work begins from; NULL: none */
	const char *tree; /* its files, if the place had these alone; NULL: not known */
	bool in_place;    /* the user's checkout */
	/* Files that were modified before the work began: in the checkout by the user; in a new
	 * worktree as git reports them, for example because of line endings. */
	VEC(const char *) dirty;
	/* In the checkout: files whose changes git did not show then; struct git_hidden. */
	VEC(const char *) hidden;
	const char *pushed; /* not in the key: last known commit of the remote's branch; or NULL */
	const json *marks;  /* not in the key: changes that precede the action; see place_marks() */
	const char *const *allow_secrets; /* not in the key: patterns of the workflow; NULL: none */
	size_t n_allow_secrets;
	const char *script; /* of the key SCRIPT_KEY: the path of a script that was copied from the
			     * user's checkout, which has not committed it; NULL: none was */
	bool shown; /* not in the key: a person has approved what `marks` has, and it alone */
	bool fresh; /* not in the key: no script has been requested yet that could leave files */
	struct git_identity identity; /* of the directory when it was chosen */
};

/* The key of the item; `out` stays empty if it has none. Texts are in the arena. */
int place_load(struct arena *a, struct context_file *f, struct item_place *out, struct error *err);
/* The same of a document. */
int place_read(struct arena *a, const char *document, struct item_place *out, struct error *err);
/* Written by the next save. */
void place_store(struct context_file *f, const struct item_place *p);

bool place_was_dirty(const struct item_place *p, const char *path);
bool place_was_hidden(const struct item_place *p, const char *path);
/* A sparse checkout was active. */
bool place_is_sparse(const struct item_place *p);

/* The place as JSON, for the journal; `from`: the directory of the document. */
json *place_to_json(const struct item_place *p, const char *from);
void place_from_json(struct arena *a, const json *j, const char *from, struct item_place *out);

#endif
