/*
 * policy.h: the parts of `dev-team policy`, one function a subcommand. For the files policy*.c
 * alone.
 */
#ifndef DT_CLI_POLICY_H
#define DT_CLI_POLICY_H

#include "src/cli/cli.h"
#include "src/policy/check.h"

enum policy_option {
	POLICY_NAME,
	POLICY_PERSONA,
	POLICY_CWD,
	POLICY_ROOT,
	POLICY_COMMAND_FILE,
	POLICY_TIMEOUT,
	POLICY_REPORT,
	POLICY_STDIN,
	POLICY_TREE,
	POLICY_JSON,
};

/* What every subcommand that looks at a command needs. */
struct policy_question {
	struct policy policy;
	struct root root;
	const char *cwd;
	struct str command;
	struct verdict verdict; /* denied already: the persona may not run commands at all */
};

/* From the command line; `first`: the word with which the command begins. -1 with the usual codes.
 */
int policy_question(
	struct invocation *in, size_t first, struct policy_question *q, struct error *err);
void policy_question_end(struct policy_question *q); /* for CLEANUP */
/* Answers it: 0, or -1 with q->verdict. *tree is NULL where the text was not understood. */
int policy_ask(
	struct invocation *in, struct policy_question *q, struct node **tree, struct trace *trace);

/* Each has the signature of verb.run; words[0] is its own name. */
int policy_exec(struct invocation *in, struct error *err);
int policy_test(struct invocation *in, struct error *err);
int policy_hook(struct invocation *in, struct error *err);
int policy_layers(struct invocation *in, struct error *err);

#endif
