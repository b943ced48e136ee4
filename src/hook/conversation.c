/*
 * conversation.c: the loop as a conversation. The conductor, an agent that the client makes of the
 * slash command, starts each agent with a call of the tool Agent, whose prompt is two lines, the
 * document and the id of the action. In an older client the session itself does so. These functions
 * do what else the command's text asks of them:
 *
 *     Agent            an agent gets its brief and its skill, and runs in the foreground
 *     SubagentStop     an agent's last message is its answer; without one, it continues once
 *     SubagentHandback the same, for an agent that ends with a call of this tool
 *     PostToolUse      the conductor sees that an answer was recorded, and not the answer
 *     PostToolBatch    when the agents of an array have ended: the step, and the next array
 *     UserPromptSubmit the same, when the client reports to the session that agents in the
 *                      background have ended
 *
 * If one of them does nothing, the command's text applies: an agent without a brief calls `dev-team
 * brief`, and a conductor without an array makes the step.
 */
#include <fcntl.h>
#include <unistd.h>
#include "context/lease.h"
#include "src/base/clock.h"
#include "src/hook/loop.h"
#include "src/machine/brief.h"
#include "src/sys/directory.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

/* WAIT_S: how long agents in the background, and then scripts, are waited for; less than
 * hook_limit(). */
enum { WAIT_S = 1500, WAIT_TICK_MS = 200, TRANSCRIPT_MAX = 1 << 20, TRANSCRIPT_WAIT_MS = 3000 };

/* An agent of the loop, as its prompt says. */
struct agent {
	struct hook_loop loop;
	const char *id;
	bool briefed; /* by begin_agent() */
};

/* ---- the agent of a prompt ---- */

static bool find_document(struct agent *g, struct str line)
{
	struct hook_items items;
	struct error ignored;

	if (!line.n || line.p[0] != '/' ||
		hook_session_items(g->loop.arena, g->loop.session, &items, &ignored) < 0)
		return false;
	for (size_t i = 0; i < items.n; i++)
		if (str_is(line, items.items[i].context_file)) {
			g->loop.item = items.items[i];
			return true;
		}
	return false;
}

/* The two lines, with the brief or without. */
static bool read_prompt(struct agent *g, const char *prompt)
{
	struct str rest = str_of(prompt ? prompt : ""), line;

	while (str_line(&rest, &line)) {
		if (!find_document(g, str_trim(line)))
			continue;
		if (!str_line(&rest, &line))
			return false;
		g->id = arena_dup(g->loop.arena, str_trim(line));
		g->briefed =
			str_starts(str_trim(rest), arena_printf(g->loop.arena, "# %s\n", g->id));
		return strchr(g->id, '/') != NULL;
	}
	return false;
}

static bool read_agent(struct arena *a, const json *event, const char *prompt, struct agent *g)
{
	*g = (struct agent){.loop = {.arena = a, .session = json_get_str(event, "session_id")}};
	return g->loop.session && read_prompt(g, prompt);
}

/* No other session has the item. */
static bool is_ours(struct agent *g)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct lease_holder h;
	struct error ignored;

	return context_open(&f, g->loop.item.context_file, CONTEXT_READ_ONLY, &ignored) == 0 &&
	       lease_read(&f, &h, &ignored) == 0 &&
	       (!h.owner || lease_held_by(&h, hook_item_owner(&g->loop.item, g->loop.session)));
}

static bool is_agent(const char *agent, const char *other)
{
	return agent && other && strcmp(agent, other) == 0;
}

/*
 * Who starts the first agent drives the item from then on: the conductor, or (agent NULL) the
 * session. *why: another one drives it; NULL: none does.
 */
static int claim_item(struct agent *g, const char *agent, const char **why, struct error *err)
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

static int add_brief(struct agent *g, struct buf *out, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct instructions role, skill;

	if (context_open(&f, g->loop.item.context_file, CONTEXT_READ_ONLY, err) < 0 ||
		brief_instructions(g->loop.arena, &f, g->id, getenv("CLAUDE_PLUGIN_ROOT"),
			g->loop.item.repo, &role, &skill, err) < 0)
		return -1;
	buf_addf(out, "%s\n%s\n\n", g->loop.item.context_file, g->id);
	return brief_add(out, BRIEF_MESSAGE, &f, g->id, &role, &skill, err);
}

static void deny_unknown_action(struct agent *g, const json *open, struct buf *out)
{
	CLEANUP(buf_release) struct buf reason = BUF_INIT;

	buf_addf(&reason, "dev-team: '%s' is no open action; open are:", g->id);
	for (const json *a = json_first(open); a; a = json_next(a))
		buf_addf(&reason, " %s", json_get_str(a, "id"));
	hook_put_decision(out, reason.s, NULL);
}

static int begin_agent(struct agent *g, const json *action, json *input, struct error *err)
{
	CLEANUP(buf_release) struct buf prompt = BUF_INIT;

	json_set(input, "subagent_type",
		json_string(str_of(hook_action_type(g->loop.arena, action))));
	json_set(input, "description", json_string(str_of(g->id)));
	json_drop(input, "run_in_background");
	json_put_bool(input, "run_in_background", false);
	if (hook_is_script(action))
		return 0;
	if (add_brief(g, &prompt, err) < 0)
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
	struct agent g;
	json *changed;

	if (json_parse(&event, input, err) < 0)
		return -1;
	call = json_get(event, "tool_input");
	if (!hook_may_drive(event) || !json_is_object(call) ||
		!read_agent(a, event, json_get_str(call, "prompt"), &g) || !is_ours(&g))
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

static void read_start(const char *path, struct buf *out)
{
	CLEANUP(base_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char chunk[8192];
	ssize_t n;

	while (fd >= 0 && out->len < TRANSCRIPT_MAX && (n = read(fd, chunk, sizeof(chunk))) > 0)
		buf_add(out, (struct str){chunk, (size_t)n});
}

/* `content` is a text, or blocks of which one has the prompt. */
static bool read_message(struct arena *a, const json *event, const json *content, struct agent *g)
{
	if (json_is_string(content))
		return read_agent(a, event, json_text(content), g);
	for (const json *b = json_first(content); b; b = json_next(b))
		if (read_agent(a, event, json_get_str(b, "text"), g))
			return true;
	return false;
}

/* The prompt is the agent's first message. *written: messages are there. */
static bool read_rows(
	struct arena *a, const json *event, struct str text, bool *written, struct agent *g)
{
	struct str line;

	while (str_line(&text, &line)) {
		CLEANUP(json_free) json *row = NULL;
		struct error ignored;

		if (json_parse(&row, line, &ignored) < 0)
			return false;
		*written |= json_str_is(row, "type", "assistant");
		if (json_str_is(row, "type", "user") &&
			read_message(a, event, json_get(json_get(row, "message"), "content"), g))
			return true;
	}
	return false;
}

/* Of an agent of the session. */
static const char *transcript_path(struct arena *a, const json *event, struct str agent)
{
	const char *session = json_get_str(event, "transcript_path");

	if (!session || !str_ends(str_of(session), ".jsonl") || !agent.n ||
		memchr(agent.p, '/', agent.n))
		return NULL;
	return arena_printf(a, "%.*s/subagents/agent-%.*s.jsonl",
		(int)(strlen(session) - strlen(".jsonl")), session, (int)agent.n, agent.p);
}

/* The client may write it a moment after the event. `path` may be NULL. */
static bool read_transcript(
	struct arena *a, const json *event, const char *path, int wait_ms, struct agent *g)
{
	int64_t until = clock_ticks() + wait_ms;
	bool written = false;

	while (path) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;

		read_start(path, &text);
		if (read_rows(a, event, buf_str(&text), &written, g))
			return true;
		if (written || clock_ticks() >= until)
			break;
		clock_pause(20);
	}
	return false;
}

/* After /clear the event names the new session's directory; the prompt is in that of the session
 * which started the agent. */
static bool find_transcript(struct arena *a, const json *event, const char *agent, struct agent *g)
{
	const char *session = json_get_str(event, "transcript_path"), *projects;
	struct directory_names names;
	struct error ignored;

	projects = session ? arena_dup(a, path_dir(session)) : "/";
	if (read_transcript(
		    a, event, json_get_str(event, "agent_transcript_path"), TRANSCRIPT_WAIT_MS, g))
		return true;
	if (strchr(agent, '/') || directory_list(a, projects, &names, NULL, &ignored) < 0)
		return false;
	for (size_t i = 0; i < names.n; i++)
		if (read_transcript(a, event,
			    arena_printf(a, "%s/%s/subagents/agent-%s.jsonl", projects,
				    names.items[i], agent),
			    0, g))
			return true;
	return false;
}

/* An agent that gave no valid answer continues, once. */
static int send_back(struct agent *g, const char *agent, const struct error *why, struct buf *out,
	bool *sent, struct error *err)
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

/* *sent: the agent goes on. */
static int take_last_message(
	struct arena *a, const json *event, struct buf *out, bool *sent, struct error *err)
{
	const char *agent = json_get_str(event, "agent_id"), *word;
	const char *type = json_get_str(event, "agent_type");
	const char *text = json_get_str(event, "last_assistant_message");
	struct answer_offer offer = {0};
	struct error why = {0};
	struct agent g;

	if (!type || !find_transcript(a, event, agent, &g) || !g.briefed)
		return 0;
	offer.id = g.id;
	offer.text = str_of(text ? text : "");
	if (hook_loop_record(&g.loop, type, &offer, &word, &why) != HOOK_REFUSED)
		return 0;
	return send_back(&g, agent, &why, out, sent, err);
}

int hook_agent_stop(struct arena *a, struct str input, struct buf *out, struct error *err)
{
	CLEANUP(json_free) json *event = NULL;
	const char *session, *agent;
	bool sent = false;

	if (json_parse(&event, input, err) < 0)
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

int hook_agent_failed(struct arena *a, struct str input, struct buf *out, struct error *err)
{
	CLEANUP(json_free) json *event = NULL;
	const char *session, *agent;

	if (json_parse(&event, input, err) < 0)
		return -1;
	if (hook_is_conductor(event))
		return hook_conductor_failed(a, event, err);
	(void)out;
	session = json_get_str(event, "session_id");
	agent = json_get_str(event, "agent_id");
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
	struct agent g;
	json *changed;

	if (json_parse(&event, input, err) < 0)
		return -1;
	agent = json_get_str(event, "agent_id");
	type = json_get_str(event, "agent_type");
	text = json_get_str(json_get(event, "tool_input"), "message");
	if (!agent || !type || !text ||
		!read_transcript(a, event, transcript_path(a, event, str_of(agent)),
			TRANSCRIPT_WAIT_MS, &g) ||
		!g.briefed)
		return 0;
	offer.id = g.id;
	offer.text = str_of(text);
	if (hook_loop_record(&g.loop, type, &offer, &word, &why) == HOOK_REFUSED) {
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
static bool is_answer(const struct agent *g, struct str text)
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
static const char *describe_answer(struct agent *g, const json *event)
{
	struct answer_offer offer = {.id = g->id};
	const json *response = json_get(event, "tool_response");
	struct error ignored;
	const char *word = NULL;

	offer.text = str_of(last_text(json_get(response, "content")));
	if (is_answer(g, offer.text))
		(void)hook_loop_record(&g->loop,
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

static json *replace_answer(struct agent *g, const json *event, const json *response)
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
	struct agent g;

	if (json_parse(&event, input, err) < 0)
		return -1;
	response = json_get(event, "tool_response");
	launched = json_str_is(response, "status", "async_launched");
	if (!hook_may_drive(event) ||
		(!launched && !json_str_is(response, "status", "completed")) ||
		!json_get_str(json_get(event, "tool_input"), "subagent_type") ||
		!read_agent(a, event, json_get_str(json_get(event, "tool_input"), "prompt"), &g) ||
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

/* ---- the agents of a message have returned ---- */

/* The calls of one message: the ids of the actions that they started agents for. */
struct batch {
	struct agent first;
	json *ids;
	VEC(const char *) running; /* the client's ids of those that still work */
	bool background;           /* they do not return to the call */
};

static void batch_free(struct batch *b)
{
	json_free(&b->ids);
}

static bool has_id(const json *ids, const char *id)
{
	for (const json *i = json_first(ids); i; i = json_next(i))
		if (strcmp(json_text(i), id) == 0)
			return true;
	return false;
}

/* The client's id of an agent that works in the background, which the text of the result says; ""
 * if it does not. NULL: it has returned. */
static const char *running_agent(struct arena *a, const json *response)
{
	const json *block = json_is_array(response) ? json_at(response, 0) : NULL;
	const char *text = block ? json_get_str(block, "text") : json_text(response), *id;

	if (!text || !str_starts(str_of(text), "Async agent launched"))
		return NULL;
	id = strstr(text, "agentId: ");
	id = id ? id + strlen("agentId: ") : "";
	return arena_dup(a, (struct str){id, strcspn(id, " \n")});
}

/* If a message starts agents of two items, the command's text applies to those of the second. */
static void read_batch(struct arena *a, const json *event, struct batch *b)
{
	*b = (struct batch){.ids = json_array()};
	for (const json *c = json_first(json_get(event, "tool_calls")); c; c = json_next(c)) {
		const char *running;
		struct agent g;

		if (!json_str_is(c, "tool_name", "Agent") ||
			!read_agent(
				a, event, json_get_str(json_get(c, "tool_input"), "prompt"), &g))
			continue;
		if (!json_len(b->ids))
			b->first = g;
		if (strcmp(g.loop.item.context_file, b->first.loop.item.context_file) != 0)
			continue;
		json_push_str(b->ids, str_of(g.id));
		running = running_agent(a, json_get(c, "tool_response"));
		if (running)
			vec_push_in(a, &b->running, running);
	}
}

/* What the session needs in order to start an agent. */
static json *shorten_array(const json *array)
{
	static const char *const members[] = {"action", "agent", "id", "context_file", "message"};
	json *out = json_array();

	if (json_str_is(json_at(array, 0), "action", "done")) {
		json_free(&out);
		return json_copy(array);
	}
	for (const json *a = json_first(array); a; a = json_next(a)) {
		json *item = json_object();

		for (size_t i = 0; i < COUNT(members); i++)
			if (json_get_str(a, members[i]))
				json_put_str(item, members[i], str_of(json_get_str(a, members[i])));
		json_push(out, item);
	}
	return out;
}

static void put_array(struct buf *out, const char *event, const json *array)
{
	CLEANUP(json_free) json *items = shorten_array(array);
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	buf_adds(&text, "ARRAY: ");
	json_print(&text, items);
	hook_put_context(out, event, text.s);
}

static void put_failure(struct buf *out, const char *event, const struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char line[1600];

	error_format(err, line, sizeof(line));
	buf_addf(&text, "FAILED: %s", line);
	hook_put_context(out, event, text.s);
}

/* Of the outstanding actions: one that an agent of the batch had, in *own; and those of agents
 * without an answer that no agent of it had, in the result. */
static json *read_open(const struct batch *b, const char **own, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(json_free) json *all = NULL;
	struct arena *arena = b->first.loop.arena;
	json *open;

	*own = NULL;
	if (context_open(&f, b->first.loop.item.context_file, CONTEXT_READ_ONLY, err) < 0 ||
		action_load(&f.doc, &all, err) < 0)
		return NULL;
	open = json_array();
	for (const json *a = json_first(all); a; a = json_next(a)) {
		const char *id = json_get_str(a, "id");

		if (has_id(b->ids, id))
			*own = arena_dup(arena, str_of(id));
		else if (!hook_is_script(a) && !action_answered(&f.doc, a))
			json_push(open, json_copy(a));
	}
	return open;
}

/* The report about an agent may come after the step; the session must not make another one. */
static void put_nothing_to_do(
	const struct batch *b, const char *why, const char *event, struct buf *out)
{
	hook_put_context(
		out, event, arena_printf(b->first.loop.arena, "dev-team: %s: end your turn", why));
}

/* The step, when all agents have returned. Actions without an answer have agents that were not
 * started, or work in the background. */
static void end_batch(struct batch *b, const char *event, struct buf *out)
{
	CLEANUP(json_free) json *open = NULL, *next = NULL;
	struct error err = {0};
	const struct hook_loop *l = &b->first.loop;
	const char *own, *over;

	over = b->background ? hook_item_over(l->arena, l->session, &l->item) : NULL;
	if (over) {
		put_nothing_to_do(b, over, event, out);
		return;
	}
	open = read_open(b, &own, &err);
	if (open && json_len(open) && b->background) {
		put_nothing_to_do(b,
			arena_printf(l->arena, "other agents of %s still work", l->item.id), event,
			out);
		return;
	}
	if (open && !own)
		return;
	if (open && json_len(open)) {
		put_array(out, event, open);
		return;
	}
	if (!b->first.loop.until)
		b->first.loop.until = clock_ticks() + WAIT_S * 1000;
	if (!open || hook_loop_advance(&b->first.loop, own, &next, &err) < 0)
		put_failure(out, event, &err);
	else if (next)
		put_array(out, event, next);
}

/* An agent that the user stops ends without an event; the last row of its transcript says so. */
static bool is_stopped(struct arena *a, const json *event, const char *agent)
{
	const char *path = transcript_path(a, event, str_of(agent));
	CLEANUP(base_close) int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	char end[4096];
	ssize_t n;

	if (fd < 0 || (lseek(fd, -(off_t)sizeof(end) + 1, SEEK_END) < 0 && lseek(fd, 0, SEEK_SET)))
		return false;
	n = read(fd, end, sizeof(end) - 1);
	if (n <= 0)
		return false;
	end[n - (end[n - 1] == '\n')] = '\0';
	return strstr(strrchr(end, '\n') ? strrchr(end, '\n') : end, HOOK_INTERRUPTED) != NULL;
}

/* *n: how many of the agents of the batch still work. */
static int count_running(struct batch *b, const json *event, size_t *n, struct error *err)
{
	struct hook_loop *l = &b->first.loop;

	for (size_t i = 0; i < b->running.n; i++)
		if (is_stopped(l->arena, event, b->running.items[i]) &&
			hook_session_agent_ended(l->arena, l->session, b->running.items[i], err) <
				0)
			return -1;
	return hook_session_agents(l->arena, l->session, b->running.items, b->running.n, n, err);
}

static bool has_item(struct hook_loop *l, const char *session)
{
	struct hook_items items;
	struct error ignored;

	if (hook_session_items(l->arena, session, &items, &ignored) < 0)
		return false;
	for (size_t i = 0; i < items.n; i++)
		if (strcmp(items.items[i].context_file, l->item.context_file) == 0) {
			l->item = items.items[i];
			l->session = session;
			return true;
		}
	return false;
}

/* After /clear another session has the item. */
static bool follow_item(struct hook_loop *l)
{
	struct store_paths sessions;
	struct error ignored;
	bool found = has_item(l, l->session);

	if (found || hook_sessions(l->arena, &sessions, &ignored) < 0)
		return found;
	for (size_t i = 0; i < sessions.n && !found; i++)
		found = has_item(l, sessions.items[i]);
	return found;
}

/*
 * The agents of a conductor work in the background, as it does itself, so this may take as long as
 * they do. false: they work on; the client resumes the conductor when they have ended.
 */
static bool wait_for_agents(struct batch *b, const json *event)
{
	struct hook_loop *l = &b->first.loop;
	struct error ignored;
	size_t n = b->running.n;

	l->until = clock_ticks() + WAIT_S * 1000;
	while (n && clock_ticks() < l->until) {
		bool found;

		clock_pause(WAIT_TICK_MS);
		found = follow_item(l);
		b->background = hook_item_over(l->arena, l->session, &l->item) != NULL;
		if (b->background)
			return true; /* there is nothing to do */
		if (!found || count_running(b, event, &n, &ignored) < 0)
			return false;
	}
	return n == 0;
}

int hook_batch(struct arena *a, struct str input, struct buf *out, struct error *err)
{
	CLEANUP(json_free) json *event = NULL;
	CLEANUP(batch_free) struct batch b = {0};

	if (json_parse(&event, input, err) < 0)
		return -1;
	if (!hook_may_drive(event))
		return 0;
	read_batch(a, event, &b);
	if (!json_len(b.ids) ||
		(b.running.n && (!hook_is_conductor(event) || !wait_for_agents(&b, event))))
		return 0;
	end_batch(&b, "PostToolBatch", out);
	return 0;
}

/* ---- an agent in the background has ended ---- */

#define MESSAGE "<agent-message from=\""

/* The text between `opening` and the next quote; empty: there is none. */
static struct str quoted_text(struct str text, const char *opening)
{
	size_t at = str_find(text, str_of(opening));
	struct str rest = str_sub(text, at < text.n ? at + strlen(opening) : at, text.n);

	return str_sub(rest, 0, str_find(rest, STR("\"")));
}

/* Whether the action waits for no answer. */
static bool is_answered(const struct agent *g)
{
	CLEANUP(hook_outstanding_free) struct hook_outstanding o = {0};
	struct error ignored;

	return hook_outstanding(g->loop.item.context_file, &o, &ignored) == 0 &&
	       !action_find(o.array, g->id);
}

/* The client names the agent by the description of its call, which is the id, or, in auto mode, by
 * its own id: `<summary>Agent "ADR-1/reviewing/2" finished`, `<agent-message from="a7cc6">`. The
 * latter may also be a message of an agent that still works. */
static bool read_notice(struct arena *a, const json *event, struct str prompt, struct agent *g)
{
	if (str_starts(prompt, MESSAGE))
		return read_transcript(a, event,
			       transcript_path(a, event, quoted_text(prompt, MESSAGE)), 0, g) &&
		       is_answered(g);
	*g = (struct agent){.loop = {.arena = a, .session = json_get_str(event, "session_id")}};
	g->id = arena_dup(a, quoted_text(prompt, "<summary>Agent \""));
	return str_starts(prompt, "<task-notification>") && strchr(g->id, '/') && g->loop.session &&
	       hook_loop_find(&g->loop, g->id);
}

int hook_prompt(struct arena *a, struct str input, struct buf *out, struct error *err)
{
	CLEANUP(json_free) json *event = NULL;
	CLEANUP(batch_free) struct batch b = {.background = true};
	const char *prompt;

	if (json_parse(&event, input, err) < 0)
		return -1;
	prompt = json_get_str(event, "prompt");
	if (!prompt || !read_notice(a, event, str_of(prompt), &b.first))
		return 0;
	b.ids = json_array();
	json_push_str(b.ids, str_of(b.first.id));
	end_batch(&b, "UserPromptSubmit", out);
	return 0;
}
