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

/* What every subcommand that looks at a command needs. The root is the caller's to close. */
struct policy_question {
	struct policy policy;
	struct root root;
	const char *cwd;
	struct str command;
};

/* From the command line; `first`: the word with which the command begins. -1 with the usual codes.
 */
int policy_question(
	struct invocation *in, size_t first, struct policy_question *q, struct error *err);

/* Each has the signature of verb.run; words[0] is its own name. */
int policy_exec(struct invocation *in, struct error *err);
int policy_test(struct invocation *in, struct error *err);
int policy_hook(struct invocation *in, struct error *err);
int policy_layers(struct invocation *in, struct error *err);

#endif
