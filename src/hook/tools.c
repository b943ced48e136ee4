/*
 * tools.c: the tools of an agent. The action of a node of a manifest says which its agent may use;
 * the client's own list is that of the agent's type, which several personas share.
 */
#include "src/hook/loop.h"
#include "src/machine/action.h"
#include "src/policy/clearance.h"

/* Without these no agent can answer. */
static const char *const answering[] = {"StructuredOutput", "SubagentHandback", NULL};

static bool tools_is_listed(const json *tools, const char *tool)
{
	for (const json *t = json_first(tools); t; t = json_next(t))
		if (json_text(t) && clearance_tool_matches(json_text(t), str_of(tool)))
			return true;
	return false;
}

static int tools_check_action(
	const char *document, const char *id, const char *tool, struct verdict *v)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(json_free) json *array = NULL;
	const json *action, *execution, *tools;
	struct error ignored;

	if (context_open(&f, document, CONTEXT_READ_ONLY, &ignored) < 0 ||
		action_load(&f.doc, &array, &ignored) < 0 || !(action = action_find(array, id)))
		return 0; /* it has been answered or cancelled: nothing that it does counts */
	execution = json_get(action, "execution");
	tools = json_get(execution, "allowedTools");
	if (!tools || tools_is_listed(tools, tool))
		return 0;
	return deny(v, RULE_TOOL, (struct span){0},
		"the persona '%s' of '%s' has no tool '%s': its action lists its tools",
		json_get_str(execution, "persona"), id, tool);
}

int hook_tools_check(struct arena *a, const json *call, const char *self, struct hook_drive *d,
	struct verdict *v)
{
	const char *agent = json_get_str(call, "agent_id"),
		   *type = json_get_str(call, "agent_type"),
		   *tool = json_get_str(call, "tool_name"),
		   *session = json_get_str(call, "session_id"),
		   *command = json_get_str(json_get(call, "tool_input"), "command");
	struct hook_agent g;

	if (!agent || !type || !tool || !session || !str_starts(str_of(type), "dev-team:") ||
		hook_is_conductor(call))
		return 0;
	/* The session would take its message for the report of its end. */
	if (!strcmp(tool, "SendMessage"))
		return deny(v, RULE_TOOL, (struct span){0},
			"the agent of an action ends with its answer, and sends no messages");
	if (str_in(str_of(tool), answering) ||
		(command && hook_protocol_begins(str_of(command), self)) ||
		!hook_session_drives(a, session, d) ||
		!hook_agent_read_transcript(
			a, call, hook_transcript_path(a, call, str_of(agent)), 0, &g))
		return 0;
	return tools_check_action(hook_loop_document(&g.loop, g.id), g.id, tool, v);
}
