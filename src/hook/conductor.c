/*
 * conductor.c: the agent that the client makes of a slash command, and that starts the agents of a
 * work item. It goes on while actions are open, and gets its task again after a compaction.
 */
#include <string.h>
#include "src/hook/loop.h"
#include "src/sys/path.h"

enum { TRANSCRIPT_MAX = 1 << 20, COMMAND_MAX = 64 << 10 };

/* Whether an agent has started others: its conversation says so. */
static bool has_started_agents(const json *event)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *path = json_get_str(event, "agent_transcript_path");
	struct str call = STR("\"name\":\"Agent\"");

	return path && hook_transcript_end(path, TRANSCRIPT_MAX, &text) == 0 &&
	       str_find(buf_str(&text), call) < text.len;
}

/* The item that the agent of the event conducts. If that agent has started no other one yet, the
 * item is the only one of the session that has neither a script nor a conductor. */
static int find_conducted(
	struct arena *a, const json *event, struct hook_item *item, bool *found, struct error *err)
{
	const char *session = json_get_str(event, "session_id"),
		   *agent = json_get_str(event, "agent_id");
	struct hook_items items;
	size_t n_free = 0;

	*found = false;
	if (!session || !agent)
		return 0;
	if (hook_session_items(a, session, &items, err) < 0)
		return -1;
	for (size_t i = 0; i < items.n && !*found; i++) {
		const struct hook_item *one = &items.items[i];

		*found = one->conductor && strcmp(one->conductor, agent) == 0 &&
			 !(one->tick && i + 1 < items.n && hook_item_over(a, session, one));
		/* All tasks of the backlog have one conductor. */
		if (*found || (strcmp(one->form, "command") == 0 &&
				      !(n_free && one->tick && item->tick) && !n_free++))
			*item = *one;
	}
	*found |= n_free == 1 && !has_started_agents(event);
	return 0;
}

/* The text of a command, which says how to go on; NULL: it cannot be read. */
static const char *command_text(struct arena *a, const char *command)
{
	const char *root = getenv("CLAUDE_PLUGIN_ROOT"), *body;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error ignored;

	if (!root || sys_read_file(&text, arena_printf(a, "%s/commands/%s.md", root, command),
			     COMMAND_MAX, NULL, &ignored) < 0)
		return NULL;
	body = strstr(text.s, "\n---\n");
	return body ? arena_dup(a, str_trim(str_of(body + strlen("\n---\n")))) : NULL;
}

/* false: the text of the command cannot be read. */
static bool conductor_add_task(
	struct arena *a, const struct hook_item *item, const char *session, struct buf *out)
{
	const char *body = command_text(a, item->tick ? "orchestrator-tick" : "continue");

	if (!body)
		return false;
	buf_addf(out,
		"dev-team: you conduct %s: run STEP and go to 1 with what it prints.\nSTEP: `",
		item->id);
	hook_add_step(out, item, hook_item_owner(item, session));
	buf_addf(out, "`\n\n%s", body);
	return true;
}

int hook_conductor_start(struct arena *a, const json *event, struct buf *out, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *session = json_get_str(event, "session_id");
	struct hook_item item;
	bool found;

	if (find_conducted(a, event, &item, &found, err) < 0)
		return -1;
	if (found && conductor_add_task(a, &item, session, &text))
		hook_put_context(out, "SessionStart", text.s);
	return 0;
}

int hook_conductor_call(
	struct arena *a, const json *event, struct buf *out, bool *found, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *session = json_get_str(event, "session_id");
	const json *call = json_get(event, "tool_input");
	struct hook_items items;
	json *changed;

	*found = !json_get(event, "agent_id") &&
		 json_str_is(call, "subagent_type", HOOK_CONDUCTOR) &&
		 json_str_is(call, "prompt", HOOK_CONDUCTOR_TICK);
	if (!*found || !session)
		return 0;
	if (hook_session_items(a, session, &items, err) < 0)
		return -1;
	for (size_t i = 0; i < items.n && !text.len; i++)
		if (items.items[i].tick && strcmp(items.items[i].form, "command") == 0)
			(void)conductor_add_task(a, &items.items[i], session, &text);
	if (!text.len)
		return 0;
	changed = json_copy(call);
	json_set(changed, "prompt", json_string(buf_str(&text)));
	hook_put_decision(out, NULL, changed);
	return 0;
}

/* Whether an agent of the item still works in the background. The call of each is described by the
 * action's id. */
static bool is_waiting(const json *event, const struct hook_item *item)
{
	const json *tasks = json_get(event, "background_tasks");
	size_t n = strlen(item->id);

	for (const json *t = json_first(tasks); t; t = json_next(t)) {
		const char *of = json_get_str(t, "description");

		if (json_str_is(t, "type", "subagent") && of &&
			(item->tick ? strchr(of, '/') != NULL
				    : strncmp(of, item->id, n) == 0 && of[n] == '/'))
			return true;
	}
	return false;
}

int hook_conductor_stop(struct arena *a, const json *event, struct buf *out, struct error *err)
{
	const char *session = json_get_str(event, "session_id");
	struct hook_item item;
	bool found, block;

	if (find_conducted(a, event, &item, &found, err) < 0)
		return -1;
	if (!found || is_waiting(event, &item))
		return 0;
	if (hook_block_end(a, session, &item, out, &block, err) < 0)
		return -1;
	return block ? 0 : hook_session_loop_ended(a, session, item.context_file, err);
}

int hook_conductor_failed(struct arena *a, const json *event, struct error *err)
{
	struct hook_item item;
	bool found;

	if (find_conducted(a, event, &item, &found, err) < 0)
		return -1;
	return found ? hook_session_loop_ended(
			       a, json_get_str(event, "session_id"), item.context_file, err)
		     : 0;
}
