/*
 * answer.c: checks who answers. Only an agent of the type that the action requests may record its
 * answer; other agents and the session itself are refused.
 */
#include "src/hook/hook_internal.h"
#include "src/machine/action.h"
#include "src/shell/parse.h"
#include "src/sys/path.h"

#define PLUGIN "dev-team:"

struct answer_call {
	struct arena *arena;
	const char *type; /* NULL: the session */
	struct verdict *verdict;
};

static int deny_answer(const struct answer_call *c, const char *why)
{
	return deny(c->verdict, RULE_PERSONA, (struct span){0}, "%s", why);
}

/* The value of `--NAME VALUE` or `--NAME=VALUE`; NULL: no such option, or the value is not plain.
 */
static const char *value_of_option(
	const struct answer_call *c, const struct command *n, const char *name)
{
	const char *option = arena_printf(c->arena, "--%s", name);

	for (size_t i = 2; i < n->n_words; i++) {
		const char *word = n->words[i].text;

		if (!word || !str_starts(str_of(word), option))
			continue;
		if (word[strlen(option)] == '=')
			return word + strlen(option) + 1;
		if (!word[strlen(option)] && i + 1 < n->n_words)
			return n->words[i + 1].text;
	}
	return NULL;
}

/* The type for actions of agents that the plugin does not define. */
#define GENERIC_AGENT PLUGIN "task-runner"

static bool hook_answer_has_type(struct arena *a, const char *agent)
{
	const char *root = getenv("CLAUDE_PLUGIN_ROOT");

	return root && path_exists(arena_printf(a, "%s/agents/%s.md", root, agent));
}

const char *hook_agent_type(struct arena *a, const char *agent)
{
	return hook_answer_has_type(a, agent) ? arena_printf(a, PLUGIN "%s", agent) : GENERIC_AGENT;
}

bool hook_agent_matches(struct arena *a, const char *type, const char *agent)
{
	if (strcmp(type, agent) == 0 || strcmp(type, arena_printf(a, PLUGIN "%s", agent)) == 0)
		return true;
	return strcmp(type, GENERIC_AGENT) == 0 && !hook_answer_has_type(a, agent);
}

static int hook_answer_check_action(const struct answer_call *c, const char *file, const char *id)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(json_free) json *array = NULL;
	const json *action;
	struct error ignored;
	const char *why;

	if (context_open(&f, file, CONTEXT_READ_ONLY, &ignored) < 0 ||
		action_load(&f.doc, &array, &ignored) < 0 || !(action = action_find(array, id)))
		return 0; /* `record` refuses it, and keeps its text */
	why = action_rows[action_kind(action)].no_record;
	if (why)
		return deny_answer(c, arena_printf(c->arena, "'%s' %s", id, why));
	if (c->type && hook_agent_matches(c->arena, c->type, json_get_str(action, "agent")))
		return 0;
	return deny_answer(
		c, arena_printf(c->arena, "'%s' is answered by the agent '%s' alone, not by %s%s",
			   id, json_get_str(action, "agent"), c->type ? "" : "the session",
			   c->type ? c->type : ""));
}

static int hook_answer_check_command(const struct answer_call *c, const struct command *n)
{
	const char *program = n->n_words > 1 ? n->words[0].text : NULL, *file, *id;
	const char *verb = program ? n->words[1].text : NULL;

	if (!verb || !str_is(path_base(program), "dev-team"))
		return 0;
	if (strcmp(verb, "step") == 0 && value_of_option(c, n, "result"))
		return deny_answer(
			c, "agents record their answers; 'step' takes none in the client");
	if (strcmp(verb, "record") != 0)
		return 0;
	file = value_of_option(c, n, "context-file");
	id = value_of_option(c, n, "action");
	if (!file || file[0] != '/' || !id)
		return deny_answer(c,
			"'record' must name its document, by its absolute path, and its "
			"action plainly");
	return hook_answer_check_action(c, file, id);
}

int hook_answer_check(struct arena *a, const json *call, struct verdict *v)
{
	const struct answer_call c = {
		.arena = a, .type = json_get_str(call, "agent_type"), .verdict = v};
	const char *command = json_get_str(json_get(call, "tool_input"), "command");
	struct verdict ignored = {0};
	struct command *n;

	if (!command || !strstr(command, "dev-team"))
		return 0;
	if (shell_parse(a, str_of(command), &n, &ignored) == 0) {
		for (; n; n = n->next)
			if (hook_answer_check_command(&c, n) < 0)
				return -1;
		return 0;
	}
	if (!c.type || !strstr(command, "dev-team record"))
		return 0;
	return deny_answer(&c, "'dev-team record' is called alone, as the brief prints it");
}
