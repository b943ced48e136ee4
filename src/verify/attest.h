/*
 * attest.h: who answered since the work was last changed, validated and approved it, as a git note
 * in ATTEST_REF on the approved commit:
 *
 *     {"version":1,"taskId":"T-1","commit":SHA,"tree":SHA,"at":TIME,"evidence":["review"],
 *      "answers":[
 *         {"action":"T-1/reviewing/2","agent":"code-reviewer","result":"approved","sum":"..."}],
 *      "others":[...]}
 *
 * Where the user's git signs commits (commit.gpgSign), the same text is also the message of a
 * signed tag object, ATTEST_TAGS/COMMIT, made as the user's git makes one. docs/backlog.md.
 */
#ifndef DT_ATTEST_H
#define DT_ATTEST_H

#include "src/base/json.h"

#define ATTEST_REF  "refs/notes/dev-team"
#define ATTEST_TAGS "refs/dev-team/attestations"

/* Writes the note of the commit that the item of this document was approved at: that of its
 * evidence, or, if its workflow requires none, the tip of its branch. -1: ERR_STATE, the journal
 * has no approval, ERR_SYSTEM. `others`: as of sibling_read(); in the note if there are any. */
int attest_write(struct arena *a, const char *repo, const char *id, const char *document,
	const json *others, struct error *err);
/*
 * Compares the note of a commit (anything that git resolves) with that commit, and its signature.
 * *note is the caller's. -1: ERR_CHECK, it says something else, or its signature is not good;
 * ERR_INPUT, there is no such commit, or it has no note.
 */
int attest_verify(struct arena *a, const char *repo, const char *commit, json **note,
	bool *is_signed, struct error *err);

/* ---- other repositories ---- */

/*
 * Looks for `branch` in the repositories that contain `paths` (absolute, or relative to the main
 * work tree of `repo`). Writes nothing there and fetches nothing. Adds to the array `out` one
 * object for each repository other than `repo`:
 *
 *     {"path":"../docs","state":"pushed","branch":"dev-team/T-1","commit":SHA,
 *      "reason":"branch 'dev-team/T-1' is pushed at 0123456789ab"}
 *
 * state: `pushed`, or what must be done there first: `uncommitted`, `unpushed`; or `none`, there is
 * no such branch; or `unknown`, there is no repository, or what lies there cannot be told apart
 * from somebody else's changes. -1: git could not be run.
 */
int sibling_read(struct arena *a, const char *repo, const char *branch, const char *const *paths,
	size_t n, json *out, struct error *err);
/* "'../docs': REASON", those of all joined by "; "; NULL: there are none. `unfinished`: only those
 * where something must be done first. */
const char *sibling_text(struct arena *a, const json *found, bool unfinished);

#endif
