/*
 * hook.h: the PreToolUse hook of a coding agent's client: reads a tool call, judges it by the
 * persona's clearance (.dev-team/clearance.yaml) and policy, and prints the answer. docs/policy.md.
 */
#ifndef DT_POLICY_HOOK_H
#define DT_POLICY_HOOK_H

#include "src/policy/check.h"
#include "src/policy/clearance.h"

/*
 * `input` is the call as the client sends it, `project` the client's project directory or NULL.
 * Adds the answer to *out, or nothing where the client decides as it would without the hook. What
 * cannot be read or judged is denied, unless it surely comes from the session itself.
 */
int policy_hook(
	struct arena *a, struct str input, const char *project, struct buf *out, struct error *err);

/*
 * The clearance file for a call from directory `directory`: in it, in the nearest one above it, or
 * in the repository whose worktree it is. NULL: there is none.
 */
char *clearance_find(struct arena *a, const char *folder);
/* The policy that REPO/.dev-team/clearance.yaml gives a persona; *v is denied when it may not run
 * commands. -1: ERR_INPUT, there is no such file, or a fault in it. */
int clearance_policy(struct arena *a, const char *repo, const char *persona, struct policy *out,
	struct verdict *v, struct error *err);
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
 * (NULL: readonly) or of the persona. Call policy_question_release() also after -1: ERR_USAGE when
 * both are given, else as policy_load() and clearance_policy().
 */
int policy_question_open(struct arena *a, struct policy_question *q, const char *root,
	const char *policy, const char *persona, struct error *err);
/* Fills in the verdict; *tree is NULL where the text was not understood. `trace` may be NULL. */
void policy_question_check(
	struct arena *a, struct policy_question *q, struct node **tree, struct trace *trace);
void policy_question_release(struct policy_question *q); /* for CLEANUP */
/*
 * Projects that have had a clearance file are remembered as files of the state directory,
 * clearances/DIGEST: an agent that may change branches can make the file vanish, and that must not
 * read as "nothing was ever configured". The user removes the mark to forget the project. Failing
 * to remember is ignored.
 */
void clearance_mark(struct arena *a, const char *folder);
/* The mark of `directory` or of the nearest directory above it; NULL: there is none. */
char *clearance_marked(struct arena *a, const char *folder);

/* The commands with which agents call this program (brief, record, exec, context, events). No
 * policy has to name them: without them an agent could not work at all. */
struct hook_protocol {
	struct arena *arena;
	const struct root *root;
	const char *cwd;  /* absolute */
	const char *self; /* this program, absolute */
};
/* Whether `command` begins as one of them. */
bool hook_protocol_begins(struct str command, const char *self);
/*
 * 0 with the text to run in *out (this program by its path), or -1 with *v. Allowed is one command
 * with options as the agents are told to write them, its answer in a here document, about a
 * document in the state directory that the agent could not have written itself: `exec` runs what
 * the document says.
 */
int hook_protocol_check(
	const struct hook_protocol *p, struct str command, struct buf *out, struct verdict *v);

#endif
