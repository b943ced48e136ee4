#include "src/cli/cli.h"
#include "src/hook/hook.h"
#include "src/run/run.h"

const struct option cli_step_options[] = {
	OPTION_TEXT(struct run_step_call, workflow, "workflow", "FILE",
		"a workflow file, or the name of a shipped one: implement-task, fix-issue; "
		"default: that of the work item's last step, else of .dev-team/config.yaml, else "
		"implement-task"),
	CLI_DOCUMENT(struct run_step_call),
	OPTION_TEXT(struct run_step_call, research_skill, "research-skill", "NAME",
		"skill of the researcher; default: the workflow's"),
	CLI_PLUGIN_ROOT(struct run_step_call),
	CLI_REPO(struct run_step_call),
	OPTION_TEXT(struct run_step_call, owner, "owner", "NAME",
		"who calls; owns the work item from now on"),
	OPTION_FLAG(struct run_step_call, take_over, "take-over",
		"with --owner: take the work item from another owner"),
	OPTION_FLAG(struct run_step_call, own_worktree, "worktree",
		"work in a worktree of its own, which is the default, even if the workflow says "
		"'worktree: false'"),
	OPTION_FLAG(struct run_step_call, in_place, "in-place",
		"work in the checkout, not in a worktree of its own"),
	OPTION_FLAG(struct run_step_call, allow_dirty, "allow-dirty",
		"with --in-place: leave uncommitted changes alone instead of refusing them"),
	OPTION_END,
};

static const struct option options[] = {
	OPTION_OPTIONAL(struct run_step_call, returned, "returned", "ACTION",
		"the agents of the last array have returned: what has no answer counts; with "
		"ACTION[,ACTION]: only these, while they are outstanding"),
	OPTION_FLAG(struct run_step_call, accept_workflow, "accept-workflow",
		"accept that the workflow requires less, or names other commands, than when the "
		"item began"),
	OPTION_LIST(
		struct run_step_call, results, "result", "ACTION=TEXT", "record this answer first"),
	OPTION_END,
};

static int step_run(struct invocation *in, struct error *err)
{
	struct run_step_call call = *(const struct run_step_call *)in->values;

	call.id = in->words[0];
	call.returned_checked = true;
	if (run_step_resolve(in->arena, &call, err) < 0 ||
		run_check_returned(in->arena, &call, err) < 0 ||
		run_step(in->arena, &call, in->out, err) < 0)
		return -1;
	buf_addc(in->out, '\n');
	/* If this fails, the same command removes the record. */
	return call.owner && hook_is_end(buf_str(in->out))
		       ? hook_session_end(in->arena, call.owner, call.context_file, err)
		       : 0;
}

const struct verb verb_step = {
	.name = "step",
	.group = "Plumbing",
	.about = "advance a work item and print the actions that it needs next",
	.details =
		"Prints one line, a JSON array of actions: spawn_agent, run_script or done.\n"
		"\n"
		"While actions are outstanding, the same array is printed again and nothing "
		"changes. With --returned, an outstanding action without an answer counts as a "
		"failure and is requested again under a new id. --returned=ACTION does this only "
		"while ACTION is outstanding, so that a repeated call counts nothing twice; an id "
		"that was never requested is refused.\n"
		"\n"
		"With --owner the work item belongs to NAME until the run is done, or until NAME "
		"has made no call for the time that the workflow sets (lease_minutes, 120). "
		"Meanwhile a step by anyone else is refused with exit status 4, unless it has "
		"--take-over: then the outstanding actions are requested again under new ids, and "
		"answers to the old ids are refused as stale.",
	.examples = "dev-team step ADR-1 --workflow implement-task\n"
		    "dev-team step ADR-1 --workflow implement-task --returned\n"
		    "dev-team step ADR-1 --workflow implement-task --owner ada --take-over",
	.words = "ID",
	.options = {cli_step_options, options},
	.size = sizeof(struct run_step_call),
	.run = step_run,
};
