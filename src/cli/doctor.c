#include "src/cli/cli.h"
#include "src/run/run.h"

struct doctor_options {
	const char *repo;
	bool permissions;
};

static const struct option options[] = {
	OPTION_FLAG(struct doctor_options, permissions, "permissions",
		"print the settings entries that a run needs"),
	CLI_REPO(struct doctor_options),
	OPTION_END,
};

/*
 * What the plugin's commands allow for the run that they start. The client refuses narrower Bash
 * patterns for what agents must do: an answer with JSON in a here document, a pipe behind a build,
 * a loop.
 */
static int put_permissions(struct buf *out)
{
	static const char *const allow[] = {"Bash", "Read", "Edit", "Write", "Agent", "Skill",
		"Workflow", "WebFetch", "WebSearch", NULL};
	CLEANUP(json_free)
	json *j = JSON_OBJECT(
		JSON_VALUE("permissions", JSON_OBJECT(JSON_VALUE("allow", json_names(allow)))));

	json_print_pretty(out, j);
	error_log("The plugin's commands set these for the run that they start. Put them into "
		  ".claude/settings.json");
	error_log("for your own requests, or for runs that are started in another way.");
	error_log("Add \"mcp__SERVER\" for each MCP server that agents need.");
	error_log("Put what must never run into \"deny\" there, which always wins.");
	return 0;
}

static int run(struct invocation *in, struct error *err)
{
	const struct doctor_options *o = in->values;

	(void)err;
	if (o->permissions)
		return put_permissions(in->out);
	return run_doctor(in->arena, o->repo, in->out) ? 0 : ERR_CHECK;
}

const struct verb verb_doctor = {
	.name = "doctor",
	.group = "Everyday",
	.about = "check what a run needs and say how to repair it",
	.also = "check",
	.details = "Prints one line for each finding: 'ok', 'warn' (a run can do without it) or "
		   "'fail', then the subject, its state, and how to repair it. Exit status 1 if a "
		   "check fails.\n"
		   "\n"
		   "With --permissions it prints entries for .claude/settings.json instead.",
	.options = {options},
	.size = sizeof(struct doctor_options),
	.run = run,
};
