/*
 * common.h: what several verbs need to read their command line and their input.
 */
#ifndef DT_CLI_COMMON_H
#define DT_CLI_COMMON_H

#include "src/cli/cli.h"
#include "src/run/step_run.h"

/* The rows of an option table for them; the verb's enum has ARTIFACTS, RESOURCES. */
#define ARTIFACTS_OPTION                                                                           \
	[ARTIFACTS] = {"artifacts", "DIR",                                                         \
		"folder of the artifacts; default: $ARTIFACTS_DIR, or one in the state folder",    \
		false}
#define RESOURCES_OPTION                                                                           \
	[RESOURCES] = {"resources", "DIR",                                                         \
		"folder (or file) of the resources; default: .dev-team/resources or .ai-sdlc of "  \
		"the repository",                                                                  \
		false}

/*
 * What the verbs' command lines share: rows of an option table, and what they and the first word
 * fill in. Each verb's own enum has the indices, so --help keeps the order of that enum.
 */
#define STEP_OPTIONS                                                                               \
	[WORKFLOW] = {"workflow", "FILE",                                                          \
		"a workflow file, or the name of a shipped one: implement-task, fix-issue",        \
		false},                                                                            \
	[CONTEXT_FILE] = {"context-file", "FILE",                                                  \
		"the work item's document; default: as 'context path' says", false},               \
	[RESEARCH_SKILL] = {"research-skill", "NAME",                                              \
		"skill of the researcher; default: as the workflow says", false},                  \
	[PLUGIN_ROOT] = {"plugin-root", "DIR",                                                     \
		"where workflows/ is; default: where dev-team is installed", false},               \
	[REPO] = {"repo", "DIR", "the repository; default: the one around the working directory",  \
		false},                                                                            \
	[OWNER] = {"owner", "NAME", "who asks, and holds the work item from now on", false},       \
	[TAKE_OVER] = {"take-over", NULL, "with --owner: also from another who holds it", false}
#define STEP_CALL(args)                                                                            \
	.id = (args)->words[0], .workflow = (args)->value[WORKFLOW],                               \
	.context_file = (args)->value[CONTEXT_FILE],                                               \
	.research_skill = (args)->value[RESEARCH_SKILL], .root = (args)->value[PLUGIN_ROOT],       \
	.repo = (args)->value[REPO], .owner = (args)->value[OWNER],                                \
	.take_over = (args)->value[TAKE_OVER] != NULL

/* All of standard input, UTF-8 or not; ERR_USAGE when it is a terminal. */
int read_input(struct buf *out, size_t max, struct error *err);

/* The value `text` of --NAME: a whole number of min..max seconds. -1: ERR_USAGE. */
int read_seconds(
	const char *name, const char *text, long min, long max, long *out, struct error *err);

/* -1 with ERR_USAGE unless option `k` was given. */
int need_option(const struct verb *v, const struct args *args, int k, struct error *err);

#endif
