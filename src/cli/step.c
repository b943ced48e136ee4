#include "src/cli/common.h"

enum {
	WORKFLOW,
	CONTEXT_FILE,
	RESEARCH_SKILL,
	PLUGIN_ROOT,
	REPO,
	OWNER,
	TAKE_OVER,
	RETURNED,
	RESULT
};

static const struct option_spec options[] = {
	STEP_OPTIONS,
	[RETURNED] = {"returned", "[ACTION]",
		"the agents of the last array are back; ACTION is one of it", false},
	[RESULT] = {"result", "ACTION=TEXT", "an answer, given here", true},
	{0},
};

static int run(struct invocation *in, struct error *err)
{
	const struct args *args = in->args;
	struct step_call call = {STEP_CALL(args), .returned = args->value[RETURNED] != NULL,
		.agents_are_paid = true, .results = args->repeated, .n_results = args->n_repeated};

	if (args->value[RETURNED] && *args->value[RETURNED])
		call.returned_id = args->value[RETURNED];
	if (need_option(&verb_step, args, WORKFLOW, err) < 0)
		return -1;
	if (step_resolve(in->arena, &call, err) < 0 || step_run(in->arena, &call, in->out, err) < 0)
		return -1;
	buf_addc(in->out, '\n');
	return 0;
}

const struct verb verb_step = {
	.name = "step",
	.synopsis = "ID --workflow FILE [OPTION...]",
	.about = "bring a work item to the next point where somebody must act; print the actions",
	.details = "Prints one line, a JSON array of actions: spawn_agent, run_script or done.\n\n"
		   "Called again while actions are outstanding, it prints them again, the same "
		   "ids, and changes\n"
		   "nothing. With --returned, an action that has no answer by now counts as a "
		   "failure and is asked\n"
		   "for again under a new id. --returned=ACTION does so only while ACTION is "
		   "outstanding, so that\n"
		   "a call that is repeated by mistake counts nothing twice.\n\n"
		   "With --owner the work item is NAME's until NAME has made no call for the time "
		   "that the workflow\n"
		   "says (lease_minutes, 120), or until the run is done. Meanwhile a step by "
		   "anybody else is refused\n"
		   "with exit status 4; --take-over takes it all the same: what was asked for is "
		   "asked anew under\n"
		   "new ids, and the old ones are stale.",
	.options = options,
	.min_words = 1,
	.max_words = 1,
	.run = run,
};
