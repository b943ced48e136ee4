/*
 * workflow.c: the loop as a script of the client's Workflow tool (workflows/loop.js). The script
 * starts the agents; these functions make the steps, in the hooks of these events:
 *
 *     Workflow          the first actions become the script's arguments
 *     SubagentStart     an agent gets its brief and its skill
 *     StructuredOutput  an agent's answer is recorded; the last of an array makes the next step
 *
 * The script gets only ids, types of agents and result words, because the client may review what
 * agents return.
 */
#include "src/base/clock.h"
#include "src/hook/loop.h"
#include "src/machine/brief.h"
#include "src/sys/process.h"

#define SCRIPT   "dev-team:loop"
#define RETURNED "returned" /* the word of the script's own agent: the others have ended */

/* How long a call waits for scripts; after that an agent waits for them. Less than hook_limit(). */
enum { WAIT_START_S = 20, WAIT_ANSWER_S = 1500, CONTEXT_BYTES = 9900 };

struct script {
	struct hook_loop loop;
	const json *call, *input; /* the event, the tool's */
	json *to;                 /* gets `next` or `done`; borrowed */
};

static int read_script(struct arena *a, const json *call, struct script *s)
{
	*s = (struct script){.loop = {.arena = a, .session = json_get_str(call, "session_id")},
		.call = call,
		.input = json_get(call, "tool_input")};
	return s->loop.session ? 0 : -1;
}

static void put_error(struct buf *out, const struct error *err)
{
	char text[1600];

	error_format(err, text, sizeof(text));
	hook_put_decision(out, text, NULL);
}

/* ---- the next array ---- */

static json *hook_workflow_words_of(const json *action)
{
	struct str rest = str_of(json_get_str(action, "result_format")), word;
	json *words = json_array();

	while (rest.n) {
		size_t end = str_find(rest, STR("|"));

		word = str_trim(str_sub(rest, 0, end));
		json_push_str(words, word);
		rest = str_sub(rest, end < rest.n ? end + 1 : end, rest.n);
	}
	return words;
}

static void put_next(struct script *s, const json *array)
{
	json *next = json_array();

	for (const json *a = json_first(array); a; a = json_next(a))
		json_push(next, JSON_OBJECT(JSON_TEXT("id", json_get_str(a, "id")),
					JSON_TEXT("agent", hook_action_type(s->loop.arena, a)),
					JSON_VALUE("words", hook_workflow_words_of(a))));
	json_set(s->to, "next", next);
}

static int end_script(struct script *s, struct error *err)
{
	return hook_session_loop_ended(
		s->loop.arena, s->loop.session, s->loop.item.context_file, err);
}

/* returned: see hook_loop_advance(). */
static int advance_script(struct script *s, const char *returned, int wait_s, struct error *err)
{
	CLEANUP(json_free) json *next = NULL;
	const json *first;

	s->loop.until = clock_ticks() + wait_s * 1000;
	if (hook_loop_advance(&s->loop, returned, &next, err) < 0)
		return -1;
	first = json_at(next, 0);
	if (first && json_str_is(first, "action", "done")) {
		json_set(s->to, "done", json_copy(first));
		return end_script(s, err);
	}
	if (next)
		put_next(s, next);
	return 0;
}

/* ---- the script begins ---- */

static int begin_script(struct script *s, struct buf *out, struct error *err)
{
	json *args = JSON_OBJECT(JSON_TEXT("file", s->loop.item.context_file)), *input;
	struct error ignored;

	s->loop.item.form = "workflow";
	s->loop.item.client = process_client_name(s->loop.arena);
	s->to = args;
	if (hook_session_begin(s->loop.arena, s->loop.session, &s->loop.item, err) < 0 ||
		advance_script(s, NULL, WAIT_START_S, err) < 0) {
		(void)end_script(s, &ignored);
		json_free(&args);
		return -1;
	}
	input = json_copy(s->input);
	json_set(input, "args", args);
	hook_put_decision(out, NULL, input);
	return 0;
}

/* NULL: the script may begin. */
static const char *script_obstacle(struct script *s, const char *id)
{
	if (!hook_loop_find(&s->loop, id))
		return "dev-team: this session drives no such work item; its slash command "
		       "begins it";
	if (hook_item_is_driven(s->loop.arena, &s->loop.item))
		return "dev-team: the work item is driven already, and its end is reported; "
		       "start nothing else, and end your turn";
	if (json_str_is(s->call, "permission_mode", "plan"))
		return "dev-team: in plan mode nothing is started; tell the user to leave it and "
		       "to repeat the command, and end your turn";
	return NULL;
}

static void start_script(struct script *s, struct buf *out)
{
	const json *args = json_get(s->input, "args");
	const char *id = json_is_object(args) ? json_get_str(args, "id") : NULL, *why;
	struct error err = {0};

	if (!json_str_is(s->input, "name", SCRIPT) || json_get(s->call, "agent_type"))
		return;
	why = script_obstacle(s, id);
	if (why)
		hook_put_decision(out, why, NULL);
	else if (begin_script(s, out, &err) < 0)
		put_error(out, &err);
}

/* ---- an agent begins ---- */

/* The only action that an agent of this type can have been started for. */
static int hook_workflow_add_brief(
	struct script *s, const char *type, struct buf *out, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(hook_outstanding_free) struct hook_outstanding o = {0};
	const char *root = getenv("CLAUDE_PLUGIN_ROOT");
	struct instructions role, skill;
	const json *own = NULL;
	size_t n = 0;

	if (hook_outstanding(s->loop.item.context_file, &o, err) < 0)
		return -1;
	for (const json *a = json_first(o.array); a; a = json_next(a))
		if (!hook_is_script(a) && strcmp(hook_action_type(s->loop.arena, a), type) == 0) {
			own = a;
			n++;
		}
	if (n != 1)
		return 0;
	if (context_open(&f, json_get_str(own, "context_file"), CONTEXT_READ_ONLY, err) < 0 ||
		brief_instructions(s->loop.arena, &f, json_get_str(own, "id"), root,
			s->loop.item.repo, &role, &skill, err) < 0)
		return -1;
	return brief_add(out, BRIEF_STRUCTURED, &f, json_get_str(own, "id"), &role, &skill, err);
}

static int start_agent(struct script *s, struct buf *out, struct error *err)
{
	const char *type = json_get_str(s->call, "agent_type");
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (!type || !hook_loop_find(&s->loop, NULL) || strcmp(s->loop.item.form, "workflow") != 0)
		return 0;
	if (hook_workflow_add_brief(s, type, &text, err) < 0)
		return -1;
	if (!text.len || text.len > CONTEXT_BYTES) /* the agent calls `dev-team brief` */
		return 0;
	hook_put_context(out, "SubagentStart", text.s);
	return 0;
}

/* ---- an agent answers ---- */

/* Ends the script; its result gives the session the reason. */
static void put_stopped(struct script *s, const struct error *err)
{
	char text[1600];

	error_format(err, text, sizeof(text));
	json_set(s->to, "done",
		JSON_OBJECT(JSON_TEXT("result", "stopped"), JSON_TEXT("reason", text)));
}

/* The item was cancelled, or taken over, while the agent worked. */
static bool put_over(struct script *s)
{
	const char *why = hook_item_over(s->loop.arena, s->loop.session, &s->loop.item);
	struct error ignored;

	if (!why)
		return false;
	json_set(s->to, "done",
		JSON_OBJECT(JSON_TEXT("result",
				    str_ends(str_of(why), "cancelled") ? "cancelled" : "stopped"),
			JSON_TEXT("reason", why)));
	(void)end_script(s, &ignored);
	return true;
}

static void hook_workflow_put_answer(
	struct script *s, const char *id, const char *word, struct buf *out)
{
	const char *text = json_get_str(s->input, "text"), *recorded;
	struct answer_offer offer = {.id = id, .word = word, .text = str_of(text ? text : "")};
	bool back = strcmp(word, RETURNED) == 0;
	enum hook_recorded taken = HOOK_RECORDED;
	struct error err = {0};
	json *input;

	if (!back) {
		offer.run =
			hook_agent_used(s->loop.arena, s->call, json_get_str(s->call, "agent_id"),
				id, json_get_str(s->call, "tool_use_id"), &err);
		taken = hook_loop_record(&s->loop, s->call, json_get_str(s->call, "agent_type"),
			&offer, &recorded, &err);
	}
	if (taken == HOOK_REFUSED) {
		put_error(out, &err);
		return;
	}
	input = JSON_OBJECT(JSON_TEXT("id", id), JSON_TEXT("word", word),
		JSON_TEXT("text", taken == HOOK_RECORDED ? "recorded" : "not recorded"));
	s->to = input;
	if (!((back || taken == HOOK_DISCARDED) && put_over(s)) && taken == HOOK_RECORDED &&
		(back || hook_loop_is_last(&s->loop, id)) &&
		advance_script(s, id, WAIT_ANSWER_S, &err) < 0) {
		put_stopped(s, &err);
		(void)end_script(s, &err);
	}
	hook_put_decision(out, NULL, input);
}

static void end_agent(struct script *s, struct buf *out)
{
	const char *id = json_get_str(s->input, "id"), *word = json_get_str(s->input, "word");

	if (id && word && json_get_str(s->call, "agent_type") && strchr(id, '/') &&
		hook_loop_find(&s->loop, id))
		hook_workflow_put_answer(s, id, word, out);
}

/* ---- the events ---- */

int hook_workflow(struct arena *a, struct str input, struct buf *out, struct error *err)
{
	CLEANUP(json_free) json *call = NULL;
	struct script s;

	if (json_parse_event(&call, input, err) < 0)
		return -1;
	if (read_script(a, call, &s) < 0 || !json_is_object(s.input))
		return 0;
	if (json_str_is(call, "tool_name", "Workflow"))
		start_script(&s, out);
	else if (json_str_is(call, "tool_name", "StructuredOutput"))
		end_agent(&s, out);
	return 0;
}

int hook_agent_start(struct arena *a, struct str input, struct buf *out, struct error *err)
{
	CLEANUP(json_free) json *call = NULL;
	struct script s;

	if (json_parse_event(&call, input, err) < 0)
		return -1;
	return read_script(a, call, &s) < 0 ? 0 : start_agent(&s, out, err);
}
