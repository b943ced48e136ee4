/*
 * conversation.c: the loop as a conversation. The conductor, an agent that the client makes of the
 * slash command, starts each agent with a call of the tool Agent, whose prompt is two lines, the
 * document and the id of the action. In an older client the session itself does so. These functions
 * and those of batch.c do what else the command's text asks of them:
 *
 *     Agent            an agent gets its brief and its skill, and runs in the foreground
 *     SubagentStop     an agent's last message is its answer; without one, it continues once
 *     SubagentHandback the same, for an agent that ends with a call of this tool
 *     PostToolUse      the conductor sees that an answer was recorded, and not the answer
 *
 * If one of them does nothing, the command's text applies: an agent without a brief calls `dev-team
 * brief`, and a conductor without an array makes the step.
 */
#include "context/lease.h"
#include "src/base/clock.h"
#include "src/harness/harness.h"
#include "src/hook/loop.h"
#include "src/machine/brief.h"
#include "src/machine/wait.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

/* No other session has the item. */
static bool conversation_is_ours(struct hook_agent *g)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct lease_holder h;
	struct error ignored;

	return context_open(&f, hook_loop_document(&g->loop, g->id), CONTEXT_READ_ONLY, &ignored) ==
		       0 &&
	       lease_read(&f, &h, &ignored) == 0 &&
	       (!h.owner || lease_held_by(&h, hook_item_owner(&g->loop.item, g->loop.session)));
}

static bool is_agent(const char *agent, const char *other)
{
	return agent && other && strcmp(agent, other) == 0;
}

/*
 * The conductor, or (agent NULL) the session, that starts the first agent drives the item from then
 * on. *why: another one drives it already; NULL: the claim succeeded.
 */
static int claim_item(struct hook_agent *g, const char *agent, const char **why, struct error *err)
{
	struct hook_item *item = &g->loop.item;
	bool own =
		agent ? is_agent(agent, item->conductor) : strcmp(item->form, "conversation") == 0;

	*why = NULL;
	if (own)
		return 0;
	if (is_agent(agent, item->former) || hook_item_is_driven(g->loop.arena, item)) {
		*why = arena_printf(g->loop.arena,
			"dev-team: %s is driven by another agent of this session: end your turn",
			item->id);
		return 0;
	}
	item->form = agent ? "conductor" : "conversation";
	item->conductor = agent;
	item->client = process_client_name(g->loop.arena);
	return hook_session_begin(g->loop.arena, g->loop.session, item, err);
}

/* ---- an agent begins ---- */

static int conversation_add_brief(struct hook_agent *g, struct buf *out, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	const char *document = hook_loop_document(&g->loop, g->id);
	struct instructions role, skill;

	if (context_open(&f, document, CONTEXT_READ_ONLY, err) < 0 ||
		brief_instructions(g->loop.arena, &f, g->id, getenv("CLAUDE_PLUGIN_ROOT"),
			g->loop.item.repo, &role, &skill, err) < 0)
		return -1;
	buf_addf(out, "%s\n%s\n\n", document, g->id);
	return brief_add(out, BRIEF_MESSAGE, &f, g->id, &role, &skill, err);
}

static void deny_unknown_action(struct hook_agent *g, const json *open, struct buf *out)
{
	CLEANUP(buf_release) struct buf reason = BUF_INIT;

	buf_addf(&reason, "dev-team: '%s' is no open action; open are:", g->id);
	for (const json *a = json_first(open); a; a = json_next(a))
		buf_addf(&reason, " %s", json_get_str(a, "id"));
	hook_put_decision(out, reason.s, NULL);
}

static int begin_agent(struct hook_agent *g, const json *action, json *input, struct error *err)
{
	CLEANUP(buf_release) struct buf prompt = BUF_INIT;

	json_set(input, "subagent_type",
		json_string(str_of(hook_action_type(g->loop.arena, action))));
	json_set(input, "description", json_string(str_of(g->id)));
	json_drop(input, "run_in_background");
	json_put_bool(input, "run_in_background", false);
	if (hook_is_script(action))
		return 0;
	if (conversation_add_brief(g, &prompt, err) < 0)
		return -1;
	json_set(input, "prompt", json_string(buf_str(&prompt)));
	return 0;
}

int hook_agent_call(struct arena *a, struct str input, struct buf *out, struct error *err)
{
	CLEANUP(json_free) json *event = NULL;
	CLEANUP(hook_outstanding_free) struct hook_outstanding o = {0};
	const json *call, *action;
	const char *why;
	struct hook_agent g;
	bool conductor;
	json *changed;

	if (json_parse_event(&event, input, err) < 0)
		return -1;
	if (hook_conductor_call(a, event, out, &conductor, err) < 0)
		return -1;
	if (conductor)
		return 0;
	call = json_get(event, "tool_input");
	if (!hook_may_drive(event) || !json_is_object(call) ||
		!hook_agent_read(a, event, json_get_str(call, "prompt"), &g) ||
		!conversation_is_ours(&g))
		return 0;
	if (hook_outstanding(g.loop.item.context_file, &o, err) < 0 ||
		claim_item(&g, json_get_str(event, "agent_id"), &why, err) < 0)
		return -1;
	if (why) {
		hook_put_decision(out, why, NULL);
		return 0;
	}
	action = action_find(o.array, g.id);
	if (!action) {
		deny_unknown_action(&g, o.array, out);
		return 0;
	}
	changed = json_copy(call);
	if (begin_agent(&g, action, changed, err) < 0) {
		json_free(&changed);
		return -1;
	}
	hook_put_decision(out, NULL, changed);
	return 0;
}

/* ---- an agent ends ---- */

/* An agent that gave no valid answer continues, once. */
static int send_back(struct hook_agent *g, const char *agent, const struct error *why,
	struct buf *out, bool *sent, struct error *err)
{
	CLEANUP(buf_release) struct buf reason = BUF_INIT;
	char text[1600];
	unsigned n;

	if (hook_session_stop(g->loop.arena, g->loop.session, agent, g->id, &n, err) < 0)
		return -1;
	*sent = n <= 1;
	if (!*sent)
		return 0;
	error_format(why, text, sizeof(text));
	buf_addf(&reason, "%s. End with your whole answer, corrected.", text);
	hook_put_block(out, reason.s);
	return 0;
}

#define PLUGIN "dev-team:"

enum { TRANSCRIPT_WAIT_MS = 3000 };

struct agent_run *hook_agent_used(struct arena *a, const json *event, const char *agent,
	const char *id, const char *last, struct error *err)
{
	const char *path = json_get_str(event, "agent_transcript_path");
	int64_t until = clock_ticks() + TRANSCRIPT_WAIT_MS;
	struct agent_run *run = arena_alloc(a, sizeof(*run));
	bool ended = false;
	int rc = -1;

	*run = (struct agent_run){
		.action = id, .agent = agent, .harness = "claude-code", .status = "success"};
	path = path ? path : hook_transcript_path(a, event, str_of(agent));
	last = last && *last ? last : NULL;
	*err = (struct error){.code = ERR_INPUT, .text = "the client names no transcript"};
	while (path) {
		rc = harness_transcript_usage(a, path, agent, last, &ended, &run->used, err);
		if (ended || !last || clock_ticks() >= until)
			break;
		clock_pause(20);
	}
	if (rc == 0 && last && !ended)
		rc = error_set(err, ERR_INPUT, "%s: the last message is missing", path);
	return rc < 0 ? NULL : run;
}

/* In the quota ledger. run NULL: its figures are unknown. */
static void settle_agent(const struct hook_loop *l, const char *id, const char *type,
	const struct agent_run *run, const struct error *why)
{
	if (!run_quota_session_asks(l->arena, l->item.repo))
		return;
	if (run)
		run_quota_session_settle(
			l->arena, l->item.repo, hook_loop_document(l, id), id, type, &run->used);
	else
		error_log("dev-team: the usage of '%s' counts as estimated: %s", id, why->text);
}

void hook_agent_stopped(const json *event, const struct hook_loop *l, const struct hook_worker *w)
{
	CLEANUP(hook_outstanding_free) struct hook_outstanding o = {0};
	struct error err;
	struct agent_run *run = hook_agent_used(l->arena, event, w->agent, w->action, NULL, &err);
	const json *action;

	if (run) {
		run->status = "failure";
		run->detail = "stopped by the user";
		hook_loop_note_run(l, run);
	}
	if (hook_outstanding(hook_loop_document(l, w->action), &o, &err) < 0)
		return;
	action = action_find(o.array, w->action);
	settle_agent(l, w->action, action ? json_get_str(action, "agent") : "", run, &err);
}

/* *sent: the agent goes on; not without `out`. */
static int take_last_message(
	struct arena *a, const json *event, struct buf *out, bool *sent, struct error *err)
{
	const char *agent = json_get_str(event, "agent_id"), *word;
	const char *type = json_get_str(event, "agent_type");
	const char *text = json_get_str(event, "last_assistant_message");
	struct answer_offer offer = {0};
	struct error why = {0}, unknown;
	struct hook_agent g;

	if (!type || !hook_agent_find(a, event, agent, &g))
		return 0;
	offer.run = hook_agent_used(a, event, agent, g.id, text, &unknown);
	if (!g.briefed) {
		hook_loop_note_run(&g.loop, offer.run);
		return 0;
	}
	offer.id = g.id;
	offer.text = str_of(text ? text : "");
	if (hook_loop_record(&g.loop, NULL, type, &offer, &word, &why) == HOOK_REFUSED && out &&
		send_back(&g, agent, &why, out, sent, err) < 0)
		return -1;
	type += str_starts(str_of(type), PLUGIN) ? strlen(PLUGIN) : 0;
	if (!*sent)
		settle_agent(&g.loop, g.id, type, offer.run, &unknown);
	return 0;
}

int hook_agent_stop(struct arena *a, struct str input, struct buf *out, struct error *err)
{
	CLEANUP(json_free) json *event = NULL;
	const char *session, *agent;
	bool sent = false;

	if (json_parse_event(&event, input, err) < 0)
		return -1;
	if (hook_is_conductor(event))
		return hook_conductor_stop(a, event, out, err);
	session = json_get_str(event, "session_id");
	agent = json_get_str(event, "agent_id");
	if (!session || !agent)
		return 0;
	if (take_last_message(a, event, out, &sent, err) < 0)
		return -1;
	return sent ? 0 : hook_session_agent_ended(a, session, agent, err);
}

int hook_agent_take_ended(
	struct arena *a, const json *event, const char *agent, const json *notes, struct error *err)
{
	const char *path = hook_transcript_path(a, event, str_of(agent)),
		   *last = hook_transcript_last_text(a, path),
		   *type = json_get_str(notes, "agentType");
	CLEANUP(json_free)
	json *stop = JSON_OBJECT(JSON_TEXT("session_id", json_get_str(event, "session_id")),
		JSON_TEXT("transcript_path", json_get_str(event, "transcript_path")),
		JSON_TEXT("agent_id", agent), JSON_TEXT("agent_transcript_path", path),
		JSON_IF(type, JSON_TEXT("agent_type", type)),
		JSON_IF(last, JSON_TEXT("last_assistant_message", last)));
	bool sent = false;

	return take_last_message(a, stop, NULL, &sent, err);
}

enum { LIMIT_SHOWN = 200 };

/* At a usage limit the item waits, so that the step after this counts no failure. */
static int take_limit(struct arena *a, const json *event, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	const char *agent = json_get_str(event, "agent_id"),
		   *text = json_get_str(event, "last_assistant_message");
	struct hook_agent g = {.loop = {.arena = a, .session = json_get_str(event, "session_id")}};

	if (!json_str_is(event, "error", "rate_limit") || !g.loop.session ||
		(!(agent && hook_agent_find(a, event, agent, &g)) &&
			!hook_loop_find(&g.loop, NULL)))
		return 0;
	text = text && *text ? arena_printable(a, str_of(text), LIMIT_SHOWN) : "usage limit";
	run_quota_session_limit(a, g.loop.item.repo, hook_loop_document(&g.loop, g.id),
		g.id ? g.id : g.loop.item.id, harness_limit_reset(str_of(text), clock_now()));
	return context_open(&f, hook_loop_document(&g.loop, g.id), CONTEXT_MUST_EXIST, err) < 0
		       ? -1
		       : wait_for_limit(
				 &f, harness_limit_reset(str_of(text), clock_now()), text, err);
}

static void note_failed(struct arena *a, const json *event)
{
	const char *agent = json_get_str(event, "agent_id");
	struct agent_run *run;
	struct hook_agent g;
	struct error ignored;

	if (!agent || !hook_agent_find(a, event, agent, &g) ||
		!(run = hook_agent_used(a, event, agent, g.id, NULL, &ignored)))
		return;
	run->status = "failure";
	run->detail = json_get_str(event, "error");
	hook_loop_note_run(&g.loop, run);
}

int hook_agent_failed(struct arena *a, struct str input, struct buf *out, struct error *err)
{
	CLEANUP(json_free) json *event = NULL;
	const char *session, *agent;

	if (json_parse_event(&event, input, err) < 0)
		return -1;
	(void)out;
	if (take_limit(a, event, err) < 0)
		return -1;
	if (hook_is_conductor(event))
		return hook_conductor_failed(a, event, err);
	session = json_get_str(event, "session_id");
	agent = json_get_str(event, "agent_id");
	note_failed(a, event);
	return session && agent ? hook_session_agent_ended(a, session, agent, err) : 0;
}

/* In auto mode an agent in the background ends with a call whose message the session gets: the hook
 * takes it as the answer, and the session gets the recorded word. */
int hook_agent_handback(struct arena *a, struct str input, struct buf *out, struct error *err)
{
	CLEANUP(json_free) json *event = NULL;
	const char *agent, *type, *text, *word = NULL;
	struct answer_offer offer = {0};
	struct error why = {0};
	struct hook_agent g;
	json *changed;

	if (json_parse_event(&event, input, err) < 0)
		return -1;
	agent = json_get_str(event, "agent_id");
	type = json_get_str(event, "agent_type");
	text = json_get_str(json_get(event, "tool_input"), "message");
	if (!agent || !type || !text ||
		!hook_agent_read_transcript(
			a, event, hook_transcript_path(a, event, str_of(agent)), 3000, &g) ||
		!g.briefed)
		return 0;
	offer.id = g.id;
	offer.text = str_of(text);
	offer.run =
		hook_agent_used(a, event, agent, g.id, json_get_str(event, "tool_use_id"), &why);
	if (hook_loop_record(&g.loop, NULL, type, &offer, &word, &why) == HOOK_REFUSED) {
		hook_put_decision(out, why.text, NULL);
		return 0;
	}
	changed = json_copy(json_get(event, "tool_input"));
	json_set(changed, "message", json_string(str_of(word ? word : "not recorded")));
	hook_put_decision(out, NULL, changed);
	return 0;
}

/* ---- an agent has returned ---- */

/* The last of the texts that it returned. */
static const char *last_text(const json *content)
{
	const char *text = "";

	for (const json *b = json_first(content); b; b = json_next(b))
		if (json_get_str(b, "text"))
			text = json_get_str(b, "text");
	return text;
}

/* Whether SubagentStop would have recorded it; it has refused other answers already. */
static bool is_answer(const struct hook_agent *g, struct str text)
{
	CLEANUP(hook_outstanding_free) struct hook_outstanding o = {0};
	struct error ignored;
	const json *action;
	char word[64];

	if (hook_outstanding(g->loop.item.context_file, &o, &ignored) < 0)
		return false;
	action = action_find(o.array, g->id);
	return !action || (action_word_in(action, text, word, sizeof(word)) &&
				  action_accepts(action, str_of(word)));
}

/* What the session sees. SubagentStop has recorded the answer, unless there was no transcript. */
static const char *describe_answer(struct hook_agent *g, const json *event)
{
	struct answer_offer offer = {.id = g->id};
	const json *response = json_get(event, "tool_response");
	struct error ignored;
	const char *word = NULL;

	offer.text = str_of(last_text(json_get(response, "content")));
	if (is_answer(g, offer.text))
		(void)hook_loop_record(&g->loop, NULL,
			json_get_str(json_get(event, "tool_input"), "subagent_type"), &offer, &word,
			&ignored);
	return word ? word : "not recorded";
}

/* The client's text about an agent in the background then leaves out how to watch and continue it.
 */
static json *shorten_launch(const json *response)
{
	static const char *const members[] = {"canReadOutputFile", "canContinueAgent"};
	json *output = json_copy(response);

	for (size_t i = 0; i < COUNT(members); i++) {
		json_drop(output, members[i]);
		json_put_bool(output, members[i], false);
	}
	return output;
}

static json *replace_answer(struct hook_agent *g, const json *event, const json *response)
{
	json *output = json_copy(response), *content = json_array();

	json_push(content, JSON_OBJECT(JSON_TEXT("type", "text"),
				   JSON_TEXT("text", describe_answer(g, event))));
	json_set(output, "content", content);
	return output;
}

int hook_agent_returned(struct arena *a, struct str input, struct buf *out, struct error *err)
{
	CLEANUP(json_free) json *event = NULL;
	const json *response;
	bool launched;
	struct hook_agent g;

	if (json_parse_event(&event, input, err) < 0)
		return -1;
	response = json_get(event, "tool_response");
	launched = json_str_is(response, "status", "async_launched");
	if (!hook_may_drive(event) ||
		(!launched && !json_str_is(response, "status", "completed")) ||
		!json_get_str(json_get(event, "tool_input"), "subagent_type") ||
		!hook_agent_read(
			a, event, json_get_str(json_get(event, "tool_input"), "prompt"), &g) ||
		!g.briefed)
		return 0;
	json_print_line(
		out, JSON_OBJECT(JSON_VALUE("hookSpecificOutput",
			     JSON_OBJECT(JSON_TEXT("hookEventName", "PostToolUse"),
				     JSON_VALUE("updatedToolOutput",
					     launched ? shorten_launch(response)
						      : replace_answer(&g, event, response))))));
	return 0;
}
