/*
 * harness.h: the parts of `dev-team harness`, one function a subcommand. For the files harness*.c
 * alone.
 */
#ifndef DT_CLI_HARNESS_H
#define DT_CLI_HARNESS_H

#include "src/cli/cli.h"
#include "src/config/models.h"
#include "src/harness/harness.h"

enum harness_option {
	ARTIFACTS,
	RESOURCES,
	WITH_PROMPT_FILE,
	WITH_MODEL,
	WITH_CWD,
	WITH_TOOLS,
	WITH_ENV,
	WITH_TIMEOUT,
	WITH_MAX_BUDGET,
	WITH_JSON,
};

int harness_run(struct invocation *in, struct error *err);
int harness_check(struct invocation *in, struct error *err);

/* The models of the repository around, where it has some, else the shipped ones. */
/* A line with it; frees nothing. */
void harness_put(struct invocation *in, const json *j);
void harness_put_text(json *object, const char *key, const char *text); /* null for NULL */

#endif
