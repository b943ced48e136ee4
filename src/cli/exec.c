#include "src/cli/cli.h"
#include "src/local/script.h"
#include "src/run/databases.h"
#include "src/run/run.h"

enum { WAIT_MAX_S = 604800 };

struct exec_options {
	const char *context_file, *action, *owner, *policy;
	int64_t wait_s;
};

static const struct option options[] = {
	CLI_DOCUMENT(struct exec_options),
	OPTION_REQUIRED(struct exec_options, action, "action", "ID", "the run_script action"),
	OPTION_NUMBER(struct exec_options, wait_s, "wait", "SECONDS", 0, WAIT_MAX_S,
		"return after this time with 'running' if the script has not finished"),
	OPTION_TEXT(struct exec_options, owner, "owner", "NAME", "who calls; optional"),
	OPTION_TEXT(struct exec_options, policy, "policy", "NAME|FILE",
		"the policy that the script runs under, if the action has none"),
	OPTION_END,
};

static int exec_run(struct invocation *in, struct error *err)
{
	const struct exec_options *o = in->values;
	const char *const *env;
	const char *file;
	char *line;

	if (cli_find_action_document(in, o->context_file, o->action, &file, err) < 0 ||
		run_place_check_copy(in->arena, file, o->action, err) < 0 ||
		(o->owner && script_admit(file, o->action, o->owner, err) < 0))
		return -1;
	if (session_databases_environment(in->arena, file, o->action, &env, err) < 0 ||
		script_run(in->arena, file, o->action, o->policy, env, (int)o->wait_s, &line, err) <
			0)
		return -1;
	buf_addf(in->out, "%s\n", line);
	return 0;
}

const struct verb verb_exec = {
	.name = "exec",
	.group = "Plumbing",
	.about = "run the script of an action and record its result",
	.details =
		"Prints one line, the recorded answer: 'passed — log: FILE', 'failed — log: FILE' "
		"or 'failed — timed out after N s — log: FILE', each with exit status 0. FILE has "
		"the script's output, also while it runs. A second call prints the answer again.\n"
		"\n"
		"With --wait it returns after SECONDS with 'running — log: FILE'; the script "
		"continues, and the same command waits for it again. If the caller is killed, the "
		"script continues and its result is recorded. A script never runs twice at the "
		"same time.\n"
		"\n"
		"INT, TERM and HUP end the script and all its processes (TERM, then KILL after "
		"5 s) and record nothing. The time limit of the action ends them in the same way "
		"and records the failure. Background processes of the script end with it.\n"
		"\n"
		"An action with 'security' (docs/workflow-language.md), or any with --policy, runs "
		"under that policy (see 'dev-team policy'). What the policy denies is recorded as "
		"'failed — security violation: RULE ...' and handled like any other failure, or "
		"ends the run, as the action or the policy says.\n"
		"\n"
		"Exit status: 3 if the action is not a run_script; 4 if it is not outstanding, "
		"NAME does not own the work item, or this clone has a copy of its worktree, in "
		"which a step must go on first; 5 if the script could not be started or its "
		"result could not be recorded.",
	.words = "[ID]",
	.options = {options},
	.size = sizeof(struct exec_options),
	.defaults = &(const struct exec_options){.wait_s = SCRIPT_WAIT_FOREVER},
	.run = exec_run,
};
