#include "src/hook/hook_internal.h"

static const struct event {
	const char *name;
	unsigned limit_s; /* less than hooks/hooks.json lets the client wait; 0: none */
	int (*answer)(struct arena *a, struct str input, struct buf *out, struct error *err);
} events[] = {
	{"UserPromptExpansion", 0, hook_command},
	{"PreToolUse", 25, hook_permission},
	{"SessionStart", 25, hook_session_start},
	{"Stop", 25, hook_stop},
	{"WorkflowStep", 1700, hook_workflow},
	{"SubagentStart", 25, hook_agent_start},
	{"AgentCall", 25, hook_agent_call},
	{"SubagentStop", 25, hook_agent_stop},
	{"StopFailure", 25, hook_agent_failed},
	{"AgentHandback", 25, hook_agent_handback},
	{"PostToolUse", 25, hook_agent_returned},
	{"PostToolBatch", 1700, hook_batch},
	{"UserPromptSubmit", 1700, hook_prompt},
};

static const struct event *hook_find_event(const char *name)
{
	for (size_t i = 0; i < COUNT(events); i++)
		if (strcmp(events[i].name, name) == 0)
			return &events[i];
	return NULL;
}

int hook_answer(
	struct arena *a, const char *event, struct str input, struct buf *out, struct error *err)
{
	const struct event *e = hook_find_event(event);

	return e ? e->answer(a, input, out, err) : 0;
}

unsigned hook_limit(const char *event)
{
	const struct event *e = hook_find_event(event);

	return e ? e->limit_s : 0;
}

bool hook_is_conductor(const json *event)
{
	return json_str_is(event, "agent_type", HOOK_CONDUCTOR);
}

bool hook_may_drive(const json *event)
{
	return hook_is_conductor(event) ||
	       (!json_get(event, "agent_id") && !json_get(event, "agent_type"));
}

void hook_put_context(struct buf *out, const char *event, const char *text)
{
	json_print_line(out, JSON_OBJECT(JSON_VALUE("hookSpecificOutput",
				     JSON_OBJECT(JSON_TEXT("hookEventName", event),
					     JSON_TEXT("additionalContext", text)))));
}

void hook_put_decision(struct buf *out, const char *reason, json *input)
{
	json_print_line(
		out, JSON_OBJECT(JSON_VALUE("hookSpecificOutput",
			     JSON_OBJECT(JSON_TEXT("hookEventName", "PreToolUse"),
				     JSON_TEXT("permissionDecision", reason ? "deny" : "allow"),
				     JSON_IF(reason, JSON_TEXT("permissionDecisionReason", reason)),
				     JSON_IF(input, JSON_VALUE("updatedInput", input))))));
}

void hook_put_block(struct buf *out, const char *reason)
{
	json_print_line(
		out, JSON_OBJECT(JSON_TEXT("decision", "block"), JSON_TEXT("reason", reason)));
}
