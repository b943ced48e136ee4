/*
 * step_run.h: one step of a work item from what a command line says; `step` and `run` share it.
 */
#ifndef DT_STEP_RUN_H
#define DT_STEP_RUN_H

#include "src/cli/common.h"

struct step_call {
	const char *id, *workflow, *context_file, *research_skill, *root,
		*repo; /* NULL: find out */
	bool returned;
	const char *returned_id; /* NULL: not said */
	const char *owner;       /* NULL: not said */
	bool take_over;
	const char *const *results; /* `ACTION=TEXT` */
	size_t n_results;
	bool quiet;
	bool agents_are_paid; /* so a run that cannot be validated is warned of at its start */
};

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

/* Fills in what was NULL: absolute paths. -1: also when the owner is no good. */
int step_resolve(struct arena *a, struct step_call *call, struct error *err);
/* Runs it; the call must be resolved. Adds the array, one line without a newline. */
int step_run(struct arena *a, const struct step_call *call, struct buf *out, struct error *err);
/* Nobody holds the work item any more, if it was call->owner. Best effort. */
void step_give_back(const struct step_call *call);

#endif
