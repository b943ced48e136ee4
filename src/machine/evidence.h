/*
 * evidence.h: verifies the claims of answers. `implemented` claims that there are commits,
 * `approved` that the commit at HEAD was reviewed; the engine checks claims before it follows the
 * transition (docs/evidence.md). Its reference values are a key of the store and not a part of the
 * document, because agents can edit the document.
 */
#ifndef DT_EVIDENCE_H
#define DT_EVIDENCE_H

#include "src/base/json.h"
#include "src/base/vec.h"
#include "src/machine/place.h"
#include "src/workflow/workflow.h"

/* The key of the store; evidence.c describes its value. */
#define EVIDENCE_KEY "evidence"

/* A commit that an answer names (`commitSha`). */
struct evidence_named {
	const char *commit; /* as the answer has it: an id, an abbreviation, anything */
	unsigned kinds;     /* of the claims of the answer: WORK, REVIEW */
};

/* A question to the environment. */
struct evidence_query {
	unsigned kinds; /* bits of enum evidence_kind; 0: only HEAD */
	bool before;    /* the action is being requested: the result is a reference value */
	const struct item_place *place;
	const char *since;     /* WORK: HEAD when the work was requested; NULL: not known */
	const char *pr_url;    /* PULL; NULL: none is known */
	const char *confirmed; /* PULL, for success: the URL if it was confirmed earlier, so that it
				* may have been merged; else NULL */
	const char *forge;     /* command that describes a pull request; NULL: none */
	VEC(const char *) commands;
	VEC(struct evidence_named) named;
	const char *reviewed; /* REVIEW: the commit that was reviewed; NULL: not known */
	const char *later;    /* a command that success requires; NULL: none */
};

struct evidence {
	const char *head, *tree; /* of HEAD; NULL: there is no commit */
	/* REVIEW: where the branch has left the default branch, the digest of the changes since
	 * then, and `reviewed` if it has the same changes. NULL: not known. */
	const char *base, *patch, *same_as;
	/* A commit of the remote's default branch that contains HEAD, or that makes the changes of
	 * the whole branch (a squash merge). NULL: not merged, as far as was fetched. */
	const char *landed;
	/* WORK with `since`: why a new file is in no commit, although no rule of the repository
	 * ignores it; NULL: there is none. No contradiction. */
	const char *left;
	const char *faults[EVIDENCE_KINDS]; /* by bit of the kind: the contradiction, or NULL */
};

/* What the last review approved, and what was pushed last. Texts are in the arena; NULL: nothing.
 */
struct evidence_approved {
	const char *head;   /* a commit */
	const char *patch;  /* its changes, as git_patch_digest() has them */
	const char *base;   /* where it had left the default branch */
	const char *pushed; /* the last commit of the branch that is known to be on the remote */
};
int evidence_load_approved(
	struct arena *a, struct context_file *f, struct evidence_approved *out, struct error *err);

/* As JSON: how the environment answers, and what the journal keeps. */
json *evidence_to_json(const struct evidence *e);

#endif
