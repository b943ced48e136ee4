#include "src/cli/cli.h"
#include "src/machine/engine.h"
#include "src/run/run.h"

static const struct option options[] = {
	OPTION_TEXT(struct run_step_call, workflow, "workflow", "FILE",
		"its workflow; default: that of its last step"),
	CLI_DOCUMENT(struct run_step_call),
	CLI_PLUGIN_ROOT(struct run_step_call),
	CLI_REPO(struct run_step_call),
	OPTION_TEXT(struct run_step_call, owner, "owner", "NAME",
		"who cancels; default: dev-team cancel"),
	OPTION_FLAG(struct run_step_call, take_over, "take-over",
		"even if another session holds the work item"),
	OPTION_END,
};

static int cancel_run(struct invocation *in, struct error *err)
{
	struct run_step_call call = *(const struct run_step_call *)in->values;

	call.id = in->words[0];
	if (!call.owner)
		call.owner = "dev-team cancel";
	if (run_cancel(in->arena, &call, err) < 0)
		return -1;
	buf_addf(in->out, "%s: " ENGINE_CANCELLED "\n", call.id);
	return 0;
}

const struct verb verb_cancel = {
	.name = "cancel",
	.group = "Everyday",
	.about = "end a work item",
	.also = "abort end",
	.details = "The item ends as failed, 'cancelled by the user'. Its open actions are "
		   "dropped: an "
		   "answer that comes later is refused. What was done stays, in its worktree too.\n"
		   "\n"
		   "Exit status 4 if it has ended already, or if another session holds it and "
		   "--take-over is not given.",
	.examples = "dev-team cancel ADR-1",
	.words = "ID",
	.options = {options},
	.size = sizeof(struct run_step_call),
	.run = cancel_run,
};
