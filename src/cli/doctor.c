#include "src/cli/cli.h"
#include "src/run/run.h"

struct doctor_options {
	struct run_step_call call;
	bool permissions;
};

static const struct option options[] = {
	OPTION_FLAG(struct doctor_options, permissions, "permissions",
		"print the settings entries that a run needs"),
	OPTION_TEXT(struct doctor_options, call.workflow, "workflow", "FILE",
		"with ID: its workflow; default: as of 'step'"),
	OPTION_FLAG(struct doctor_options, call.in_place, "in-place",
		"with ID: as for a first step with --in-place"),
	OPTION_FLAG(struct doctor_options, call.allow_dirty, "allow-dirty",
		"with --in-place: as for a first step with it"),
	OPTION_TEXT(struct doctor_options, call.repo, "repo", "DIR",
		"the repository; default: the one around the working directory"),
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

static int doctor_run(struct invocation *in, struct error *err)
{
	const struct doctor_options *o = in->values;
	struct run_step_call call = o->call;

	if (o->permissions)
		return put_permissions(in->out);
	call.id = in->n ? in->words[0] : NULL;
	if (!call.id && (call.workflow || call.in_place))
		return error_set(err, ERR_USAGE, "--%s needs an ID",
			call.workflow ? "workflow" : "in-place");
	if (call.allow_dirty && !call.in_place)
		return error_set(err, ERR_USAGE, "--allow-dirty needs --in-place");
	return run_doctor(in->arena, &call, in->out) ? 0 : ERR_CHECK;
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
		   "With ID also what the first step of that item checks, such as its spec.\n"
		   "\n"
		   "With --permissions it prints entries for .claude/settings.json instead.",
	.words = "[ID]",
	.options = {options},
	.size = sizeof(struct doctor_options),
	.run = doctor_run,
};
