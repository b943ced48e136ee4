/*
 * answer.c: checks who answers. Only an agent of the type that the action requests may record its
 * answer, or, for a type that the plugin lacks, the task-runner that was started for this action;
 * other agents and the session itself are refused.
 */
#include "src/hook/loop.h"
#include "src/machine/action.h"
#include "src/shell/parse.h"
#include "src/sys/path.h"

#define PLUGIN "dev-team:"

struct answer_call {
	struct arena *arena;
	const json *call;
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

/* The client has one type for all agents that the plugin lacks: the prompt says which one this is.
 */
const char *hook_agent_fault(struct arena *a, const json *call, const char *type, const char *agent,
	const char *document, const char *id)
{
	if (!type || !hook_agent_matches(a, type, agent))
		return arena_printf(a, "'%s' is answered by the agent '%s' alone, not by %s", id,
			agent, type ? type : "the session");
	return !call || strcmp(type, GENERIC_AGENT) != 0 || hook_agent_has(a, call, document, id)
		       ? NULL
		       : arena_printf(a, "this %s was not started for '%s'", type, id);
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
	why = hook_agent_fault(c->arena, c->call, c->type, json_get_str(action, "agent"), file, id);
	return why ? deny_answer(c, why) : 0;
}

/* A call of this program, or of another name for it. */
static int hook_answer_check_call(const struct answer_call *c, const struct command *n)
{
	const char *program = n->words[0].text, *verb = n->words[1].text, *file, *id;
	bool own = program && str_is(path_base(program), "dev-team");

	if (!verb || (!own && (strcmp(verb, "record") != 0 || !value_of_option(c, n, "action"))))
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

/* Also behind programs that start the rest of their words: `env X=1 dev-team record`. */
static int hook_answer_check_command(const struct answer_call *c, const struct command *n)
{
	struct command rest = *n;

	for (; rest.n_words > 1; rest.words++, rest.n_words--)
		if (hook_answer_check_call(c, &rest) < 0)
			return -1;
	return 0;
}

/* ---- commands within a text ---- */

/* `dev-team record`, in whatever quotes. In the session it is prose unless an option follows. */
static bool mentions_record(const struct answer_call *c, const char *text)
{
	static const char between[] = " \t\n\\'\",";

	while (text && (text = strstr(text, "dev-team")) != NULL) {
		const char *verb;

		text += strlen("dev-team");
		verb = text + strspn(text, between);
		if (strncmp(verb, "record", strlen("record")) != 0)
			continue;
		verb += strlen("record");
		if (c->type || verb[strspn(verb, between)] == '-')
			return true;
	}
	return false;
}

/* Programs that run a text which they are given. */
static bool hook_answer_is_interpreter(const struct word *w)
{
	static const char *const names[] = {"sh", "bash", "dash", "zsh", "ksh", "ash", "eval", "su",
		"python", "python3", "perl", "ruby", "node", "awk", NULL};

	return w->text && str_in(path_base(w->text), names);
}

/* Whether the commands have an interpreter, and a text for it that records an answer. */
static bool hides_record(const struct answer_call *c, const struct command *all)
{
	bool runs = false, records = false;

	for (const struct command *n = all; n; n = n->next) {
		for (size_t i = 0; i < n->n_words; i++) {
			runs |= hook_answer_is_interpreter(&n->words[i]);
			records |= mentions_record(c, n->words[i].text);
		}
		for (const struct redirect *r = n->redirects; r; r = r->next)
			records |= r->kind == REDIRECT_TEXT && mentions_record(c, r->word.text);
	}
	return runs && records;
}

int hook_answer_check(struct arena *a, const json *call, struct verdict *v)
{
	const struct answer_call c = {
		.arena = a, .call = call, .type = json_get_str(call, "agent_type"), .verdict = v};
	const char *command = json_get_str(json_get(call, "tool_input"), "command");
	struct verdict ignored = {0};
	struct command *all;
	bool hidden;

	if (!command || !(strstr(command, "dev-team") || strstr(command, "record")))
		return 0;
	if (shell_parse(a, str_of(command), &all, &ignored) == 0) {
		for (const struct command *n = all; n; n = n->next)
			if (hook_answer_check_command(&c, n) < 0)
				return -1;
		hidden = hides_record(&c, all);
	} else {
		hidden = mentions_record(&c, command) ||
			 (c.type && strstr(command, "record") && strstr(command, "--action"));
	}
	return hidden ? deny_answer(&c, "'dev-team record' is called alone, as the brief prints it")
		      : 0;
}
