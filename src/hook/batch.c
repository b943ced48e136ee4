/*
 * batch.c: the step between the arrays of a conversation. PostToolBatch makes it when the agents of
 * a message have ended; the conductor's work in the background, and the hook waits for them.
 * UserPromptSubmit makes it when the client reports to a session that its last agent in the
 * background has ended. Both add the next array to what the model reads.
 */
#include "src/base/clock.h"
#include "src/hook/loop.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

/* WAIT_S: how long agents in the background, and then scripts, are waited for; less than
 * hook_limit(). */
enum { WAIT_S = 1500, WAIT_TICK_MS = 200 };

/* ---- the agents of a message have returned ---- */

/* The calls of one message: the ids of the actions that they started agents for. */
struct batch {
	struct hook_agent first;
	json *ids;
	struct hook_workers running; /* those that still work */
	const char *client;          /* that they work for, which may end meanwhile */
	bool background;             /* they do not return to the call */
	VEC(const char *) ended;     /* so the client says, and no SubagentStop yet */
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
		struct hook_agent g;

		if (!json_str_is(c, "tool_name", "Agent") ||
			!hook_agent_read(
				a, event, json_get_str(json_get(c, "tool_input"), "prompt"), &g))
			continue;
		if (!json_len(b->ids))
			b->first = g;
		if (strcmp(g.loop.item.context_file, b->first.loop.item.context_file) != 0 &&
			!(g.loop.item.tick && b->first.loop.item.tick))
			continue;
		json_push_str(b->ids, str_of(g.id));
		running = running_agent(a, json_get(c, "tool_response"));
		if (running)
			vec_push_in(a, &b->running, (struct hook_worker){running, g.id, false});
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

/* Adds those that agents of the batch had to `own`, one of each item. */
static void batch_add_own(const struct batch *b, const json *array, json *own)
{
	for (const json *a = json_first(array); a; a = json_next(a))
		if (has_id(b->ids, json_get_str(a, "id")))
			json_set(
				own, json_get_str(a, "context_file"), json_copy(json_get(a, "id")));
}

/* Of the outstanding actions: of each item one that an agent of the batch had, in *own, separated
 * by commas; and those of agents without an answer that no agent of it had, in the result. */
static json *batch_read_open(const struct batch *b, const char **own, struct error *err)
{
	CLEANUP(hook_outstanding_free) struct hook_outstanding o = {0};
	CLEANUP(json_free) json *ids = json_object(), *open = json_array();
	CLEANUP(buf_release) struct buf list = BUF_INIT;

	*own = NULL;
	if (hook_outstanding(b->first.loop.item.context_file, &o, err) < 0)
		return NULL;
	batch_add_own(b, o.all.rest, ids);
	batch_add_own(b, o.array, ids);
	for (const json *a = json_first(o.array); a; a = json_next(a))
		if (!hook_is_script(a) && !has_id(b->ids, json_get_str(a, "id")))
			json_push(open, json_copy(a));
	for (const json *id = json_first(ids); id; id = json_next(id))
		buf_addf(&list, "%s%s", list.len ? "," : "", json_text(id));
	if (list.len)
		*own = arena_dup(b->first.loop.arena, buf_str(&list));
	return json_copy(open);
}

/* The report about an agent may come after the step; the session must not make another one. */
static void put_nothing_to_do(
	const struct batch *b, const char *why, const char *event, struct buf *out)
{
	hook_put_context(
		out, event, arena_printf(b->first.loop.arena, "dev-team: %s: end your turn", why));
}

/* The tick, when all agents of the tasks have returned. What no agent of the message had is printed
 * again. */
static void end_tick(struct batch *b, const char *event, struct buf *out)
{
	CLEANUP(buf_release) struct buf ids = BUF_INIT;
	CLEANUP(json_free) json *next = NULL;
	struct error err = {0};

	for (const json *i = json_first(b->ids); i; i = json_next(i))
		buf_addf(&ids, "%s%s", ids.len ? "," : "", json_text(i));
	if (!b->first.loop.until)
		b->first.loop.until = clock_ticks() + WAIT_S * 1000;
	if (hook_tick_advance(&b->first.loop, ids.s, &next, &err) < 0)
		put_failure(out, event, &err);
	else
		put_array(out, event, next);
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
	open = batch_read_open(b, &own, &err);
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

static bool was_stopped(struct arena *a, const json *event, const char *agent)
{
	const char *path = hook_transcript_path(a, event, str_of(agent));

	return path && hook_transcript_is_interrupted(path);
}

/* SubagentStop is over when the client notes that an agent has ended; so at the second look,
 * without its mark, it was killed or has failed. */
static int take_ended(struct batch *b, const json *event, struct hook_worker *w, struct error *err)
{
	struct arena *a = b->first.loop.arena;
	const char *path = hook_transcript_path(a, event, str_of(w->agent));
	CLEANUP(json_free) json *notes = path ? hook_transcript_notes(a, path) : NULL;

	if (!notes)
		return 0;
	for (size_t i = 0; i < b->ended.n && !w->ended; i++)
		w->ended = strcmp(b->ended.items[i], w->agent) == 0;
	if (w->ended)
		return hook_agent_take_ended(a, event, w->agent, notes, err);
	vec_push_in(a, &b->ended, w->agent);
	return 0;
}

static bool is_of_item(const struct hook_loop *l, const char *action)
{
	size_t n = strlen(l->item.id);

	return l->item.tick ||
	       (strncmp(action, l->item.id, n) == 0 && (action[n] == '/' || action[n] == '.'));
}

/* *n: how many agents of the item still work, also those that earlier messages started. */
static int read_workers(
	struct batch *b, const json *event, struct hook_workers *all, size_t *n, struct error *err)
{
	struct hook_loop *l = &b->first.loop;

	*n = 0;
	if (hook_session_agents(l->arena, l->session, b->client, all, err) < 0)
		return -1;
	for (size_t i = 0; i < all->n; i++) {
		struct hook_worker *w = &all->items[i];
		bool marked = w->ended;

		if (!is_of_item(l, w->action)) {
			w->action = "";
		} else if (!w->ended && was_stopped(l->arena, event, w->agent)) {
			w->ended = true;
			hook_agent_stopped(event, l, w);
		} else if (!w->ended && take_ended(b, event, w, err) < 0) {
			return -1;
		}
		if (w->ended && !marked &&
			hook_session_agent_ended(l->arena, l->session, w->agent, err) < 0)
			return -1;
		*n += *w->action && !w->ended;
	}
	return 0;
}

/* ---- some have ended while others work ---- */

static bool is_working(const struct hook_workers *all, const char *action)
{
	for (size_t i = 0; i < all->n; i++)
		if (!all->items[i].ended && strcmp(all->items[i].action, action) == 0)
			return true;
	return false;
}

/* How many agents work for the same item, or child, as the action. */
static size_t count_beside(const struct hook_workers *all, const char *action)
{
	size_t n = 0, of = strcspn(action, "/") + 1;

	for (size_t i = 0; i < all->n; i++)
		n += !all->items[i].ended && strncmp(all->items[i].action, action, of) == 0;
	return n;
}

/* An agent has ended and no step has taken its answer, or its silence. */
static bool is_due(const struct hook_outstanding *o, const char *action)
{
	const json *answered = action_find(o->all.rest, action);

	return answered ? !json_get(answered, "carried") : action_find(o->array, action) != NULL;
}

/* The actions whose agents are to be started now; NULL: there is none. */
static json *without_working(const json *array, const struct hook_workers *all)
{
	json *some = json_array();

	for (const json *a = json_first(array); a; a = json_next(a))
		if (!json_get_str(a, "id") || !is_working(all, json_get_str(a, "id")))
			json_push(some, json_copy(a));
	if (!json_len(some))
		json_free(&some);
	return some;
}

/* Makes a step for each agent that has ended, where actions wait for each other or an item has no
 * other agent. *next: what became ready, the caller's; NULL: nothing did. */
static int step_beside(
	struct batch *b, const struct hook_workers *all, json **next, struct error *err)
{
	struct hook_loop *l = &b->first.loop;
	CLEANUP(json_free) json *array = NULL;

	*next = NULL;
	for (size_t i = 0; i < all->n; i++) {
		CLEANUP(hook_outstanding_free) struct hook_outstanding o = {0};
		const char *id = all->items[i].action;
		size_t beside = count_beside(all, id);

		if (!*id || !all->items[i].ended)
			continue;
		if (hook_outstanding(l->item.context_file, &o, err) < 0)
			return -1;
		if (!is_due(&o, id) || (beside && !run_step_ordered(hook_loop_document(l, id))))
			continue;
		json_free(&array);
		l->others_work = beside > 0;
		if (hook_loop_advance(l, id, &array, err) < 0)
			return -1;
		l->others_work = false;
	}
	if (array)
		*next = without_working(array, all);
	return 0;
}

static bool batch_has_item(struct hook_loop *l, const char *session)
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
	bool found = batch_has_item(l, l->session);

	if (found || hook_sessions(l->arena, &sessions, &ignored) < 0)
		return found;
	for (size_t i = 0; i < sessions.n && !found; i++)
		found = batch_has_item(l, sessions.items[i]);
	return found;
}

/*
 * The agents of a conductor work in the background, as it does itself, so this may take as long as
 * they do. *next: what became ready while some of them work, the caller's; else NULL. false: they
 * work on; the client resumes the conductor when they have ended.
 */
static bool wait_for_agents(struct batch *b, const json *event, json **next, struct error *err)
{
	struct hook_loop *l = &b->first.loop;
	struct hook_workers all;
	size_t n = 1, before = SIZE_MAX;

	l->until = clock_ticks() + WAIT_S * 1000;
	b->client = process_client_name(l->arena);
	b->client = b->client ? b->client : "";
	for (size_t i = 0; i < b->running.n; i++)
		if (!*b->running.items[i].agent)
			return false;
	if (!follow_item(l) ||
		hook_session_agents_begin(l->arena, l->session, b->client, &b->running, err) < 0)
		return false;
	while (!*next && n && clock_ticks() < l->until) {
		bool found;

		clock_pause(WAIT_TICK_MS);
		found = follow_item(l);
		b->background =
			!l->item.tick && hook_item_over(l->arena, l->session, &l->item) != NULL;
		if (b->background)
			return true; /* there is nothing to do */
		if (!found || read_workers(b, event, &all, &n, err) < 0)
			return false;
		if (n && n < before && !l->item.tick && step_beside(b, &all, next, err) < 0)
			return true;
		before = n;
	}
	for (size_t i = 0; n == 0 && i < all.n; i++)
		if (*all.items[i].action && !has_id(b->ids, all.items[i].action))
			json_push_str(b->ids, str_of(all.items[i].action));
	return *next || n == 0;
}

int hook_batch(struct arena *a, struct str input, struct buf *out, struct error *err)
{
	CLEANUP(json_free) json *event = NULL, *next = NULL;
	CLEANUP(batch_free) struct batch b = {0};
	struct error why = {0};

	if (json_parse_foreign(&event, input, err) < 0) /* it has what tools have printed */
		return -1;
	if (!hook_may_drive(event))
		return 0;
	read_batch(a, event, &b);
	if (!json_len(b.ids) || (b.running.n && (!hook_is_conductor(event) ||
							!wait_for_agents(&b, event, &next, &why))))
		return 0;
	if (b.first.loop.item.tick)
		end_tick(&b, "PostToolBatch", out);
	else if (next)
		put_array(out, "PostToolBatch", next);
	else if (why.code)
		put_failure(out, "PostToolBatch", &why);
	else
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
static bool batch_is_answered(const struct hook_agent *g)
{
	CLEANUP(hook_outstanding_free) struct hook_outstanding o = {0};
	struct error ignored;

	return hook_outstanding(g->loop.item.context_file, &o, &ignored) == 0 &&
	       !action_find(o.array, g->id);
}

/* The client names the agent by the description of its call, which is the id, or, in auto mode, by
 * its own id: `<summary>Agent "ADR-1/reviewing/2" finished`, `<agent-message from="a7cc6">`. The
 * latter may also be a message of an agent that still works. */
static bool read_notice(struct arena *a, const json *event, struct str prompt, struct hook_agent *g)
{
	if (str_starts(prompt, MESSAGE))
		return hook_agent_read_transcript(a, event,
			       hook_transcript_path(a, event, quoted_text(prompt, MESSAGE)), 0,
			       g) &&
		       batch_is_answered(g);
	*g = (struct hook_agent){
		.loop = {.arena = a, .session = json_get_str(event, "session_id")}};
	g->id = arena_dup(a, quoted_text(prompt, "<summary>Agent \""));
	return str_starts(prompt, "<task-notification>") && strchr(g->id, '/') && g->loop.session &&
	       hook_loop_find(&g->loop, g->id);
}

int hook_prompt(struct arena *a, struct str input, struct buf *out, struct error *err)
{
	CLEANUP(json_free) json *event = NULL;
	CLEANUP(batch_free) struct batch b = {.background = true};
	const char *prompt;
	bool repeated;

	if (json_parse_event(&event, input, err) < 0)
		return -1;
	prompt = json_get_str(event, "prompt");
	if (!prompt)
		return 0;
	if (hook_command_repeat(a, event, out, &repeated, err) < 0)
		return -1;
	if (repeated || !read_notice(a, event, str_of(prompt), &b.first) || b.first.loop.item.tick)
		return 0;
	b.ids = json_array();
	json_push_str(b.ids, str_of(b.first.id));
	end_batch(&b, "UserPromptSubmit", out);
	return 0;
}
