/*
 * check.h: what the text of a command gets: deny (the rule, the bytes, what to do instead), ask
 * (the user decides) or run (contained, as src/sandbox does it).
 *
 * It is advice, early and readable: text that the parser does not accept runs too, unless the
 * policy lists its programs, and the sandbox is the barrier.
 */
#ifndef DT_POLICY_CHECK_H
#define DT_POLICY_CHECK_H

#include "src/policy/policy.h"
#include "src/policy/where.h"

/* cwd: absolute or relative to the caller's. 0 (run; v->ask: ask), or -1 with *v. */
int policy_check(struct arena *a, const struct policy *p, const struct root *r, const char *cwd,
	struct str command, struct verdict *v);

/* The directory of the artifacts of the item that the caller works for,
 * $ARTIFACTS_DIR/$DEV_TEAM_ID, which its commands and file tools may write; NULL: there is none. */
const char *policy_artifacts(struct arena *a);

/* The working directory as a real path relative to the root; -1: it is not below it (CWD). */
int policy_cwd(
	struct arena *a, const struct root *r, const char *cwd, struct str *out, struct verdict *v);

/* A command, and what it is judged by. */
struct policy_question {
	struct policy policy;
	struct root root;
	const char *cwd;
	struct str command;
	struct verdict verdict; /* denied already: the persona may not run commands at all */
};
/*
 * Opens the root (NULL: that of the worktree around q->cwd) and loads the policy of that name
 * (NULL: readonly), or that which .dev-team/clearance.yaml of the root gives the persona; the
 * verdict is denied when it may not run commands. -1: ERR_USAGE when both are given, ERR_INPUT
 * without that file, else as policy_load() and clearance_load().
 */
int policy_question_open(struct arena *a, struct policy_question *q, const char *root,
	const char *policy, const char *persona, struct error *err);
/* Fills in the verdict. */
void policy_question_check(struct arena *a, struct policy_question *q);

#endif
