/*
 * continue.c: keeps work items going. SessionStart tells the session what is in progress; Stop
 * continues a turn that ends too early.
 */
#include <string.h>
#include "context/lease.h"
#include "src/hook/loop.h"
#include "src/machine/action.h"
#include "src/machine/engine.h"
#include "src/sys/digest.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

enum { TRANSCRIPT_MAX = 1 << 20 };

/* The state of an item, from its document. Texts live in the arena. */
struct progress {
	const char *over;  /* why its agents stop: it has ended, or another session took it */
	bool asks;         /* it waits for the user's answer */
	const char *waits; /* `until TIME`, `for ...`; NULL: it does not wait */
	size_t n;          /* outstanding actions */
	size_t n_answered;
	const char *state, *first; /* first: id of an outstanding action; NULL: there is none */
	const char *client;        /* NULL: unknown */
	char mark[DIGEST_TEXT];    /* another one after each step and each answer */
};

static void continue_add_actions(
	struct arena *a, const json *actions, bool open, struct progress *p, struct buf *seen)
{
	for (const json *i = json_first(actions); i; i = json_next(i)) {
		const char *id = json_get_str(i, "id");

		if (!p->n++)
			p->first = arena_dup(a, str_of(id));
		p->n_answered += !open;
		buf_addf(seen, " %s %d", id, !open);
	}
}

static int continue_read_actions(
	struct arena *a, const char *document, struct progress *p, struct error *err)
{
	CLEANUP(run_outstanding_free) struct run_outstanding o = {0};
	CLEANUP(buf_release) struct buf seen = BUF_INIT;

	if (run_outstanding_load(document, &o, err) < 0)
		return -1;
	buf_adds(&seen, p->state);
	continue_add_actions(a, o.rest, false, p, &seen);
	continue_add_actions(a, o.open, true, p, &seen);
	if (o.waits && !p->waits)
		p->waits = "for its children";
	digest_text(buf_str(&seen), p->mark);
	return 0;
}

/* For what the item waits, for people; NULL: for nothing. */
static const char *waiting_for(struct arena *a, const struct context *c, const char *id)
{
	if (context_get(c, "question").n)
		return "for the user's answer";
	if (context_get(c, "wait_until").n)
		return arena_printf(a, "until %s", context_get(c, "wait_until").p);
	return action_awaits_approval(c)
		       ? arena_printf(a, "for the user's approval, `dev-team approve %s`", id)
		       : NULL;
}

/* A wait releases the lease as well. */
static const char *over_reason(struct arena *a, const struct context_file *f,
	const struct lease_holder *h, const struct hook_item *item, const struct progress *p,
	const char *session)
{
	if (h->owner)
		return lease_held_by(h, hook_item_owner(item, session))
			       ? NULL
			       : arena_printf(a, "%s was taken over by '%s'", item->id, h->owner);
	if (p->waits)
		return NULL;
	return arena_printf(a, "%s %s", item->id,
		str_is(context_get(&f->doc, "outcome"), ENGINE_CANCELLED) ? "was cancelled"
									  : "has ended");
}

/* `in_full`: not only whether it is over. */
static int continue_read(struct arena *a, const char *session, const struct hook_item *item,
	bool in_full, struct progress *p, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct lease_holder h;
	bool there;

	*p = (struct progress){0};
	if (path_check_exists(item->context_file, &there, err) < 0)
		return -1;
	if (!there) {
		p->over = arena_printf(a, "%s is gone", item->id);
		return 0;
	}
	if (context_open(&f, item->context_file, CONTEXT_READ_ONLY, err) < 0 ||
		lease_read(&f, &h, err) < 0)
		return -1;
	if (!in_full && h.owner) {
		p->over = over_reason(a, &f, &h, item, p, session);
		return 0;
	}
	p->asks = context_get(&f.doc, "question").n > 0;
	p->waits = waiting_for(a, &f.doc, item->id);
	p->state = arena_dup(a, context_get(&f.doc, "state"));
	p->client = h.client ? arena_dup(a, str_of(h.client)) : NULL;
	if (continue_read_actions(a, item->context_file, p, err) < 0)
		return -1;
	p->over = over_reason(a, &f, &h, item, p, session);
	return 0;
}

static int read_progress(struct arena *a, const char *session, const struct hook_item *item,
	struct progress *p, struct error *err)
{
	return continue_read(a, session, item, true, p, err);
}

/* The session's items that are in progress. The others are removed from its record; an item that
 * cannot be read is skipped. */
static int items_in_progress(
	struct arena *a, const char *session, struct hook_items *out, struct error *err)
{
	struct hook_items all;
	struct progress p;

	*out = (struct hook_items){0};
	if (hook_session_items(a, session, &all, err) < 0)
		return -1;
	for (size_t i = 0; i < all.n; i++) {
		if (read_progress(a, session, &all.items[i], &p, err) < 0)
			continue;
		if (!p.over)
			vec_push_in(a, out, all.items[i]);
		else if (hook_item_end(a, session, &all.items[i], err) < 0)
			return -1;
	}
	return 0;
}

const char *hook_item_over(struct arena *a, const char *session, const struct hook_item *item)
{
	struct progress p;
	struct error ignored;

	return continue_read(a, session, item, false, &p, &ignored) == 0 ? p.over : NULL;
}

static void read_drive(struct arena *a, const char *session, struct hook_drive *d)
{
	struct hook_items items;
	struct error ignored;

	if (d->read)
		return;
	*d = (struct hook_drive){.read = true};
	if (hook_session_items(a, session, &items, &ignored) < 0)
		return;
	d->n = items.n;
	for (size_t i = 0; i < items.n; i++)
		if (!(d->over = hook_item_over(a, session, &items.items[i])))
			return;
}

const char *hook_session_over(struct arena *a, const char *session, struct hook_drive *d)
{
	read_drive(a, session, d);
	return d->over;
}

bool hook_session_drives(struct arena *a, const char *session, struct hook_drive *d)
{
	read_drive(a, session, d);
	return !d->over && d->n;
}

void hook_add_step(struct buf *out, const struct hook_item *item, const char *owner)
{
	if (item->tick) {
		buf_add_argument(out,
			item->poll ? "dev-team tick --poll --max-concurrent "
				   : "dev-team tick --max-concurrent ",
			item->tick);
		if (item->task)
			buf_add_argument(out, " --task ", item->task);
	} else {
		buf_add_argument(out, "dev-team step ", item->id);
		buf_add_argument(out, " --workflow ", item->workflow);
	}
	if (owner)
		buf_add_argument(out, " --owner ", owner);
}

/* ---- SessionStart ---- */

static void add_slash_command(struct buf *out, const struct hook_item *item)
{
	if (item->tick)
		buf_adds(out, item->poll ? "/dev-team:poll" : "/dev-team:orchestrator-tick");
	else if (strcmp(item->workflow, "implement-task") == 0)
		buf_addf(out, "/dev-team:implement %s", item->id);
	else if (strcmp(item->workflow, "fix-issue") == 0)
		buf_addf(out, "/dev-team:fix %s", item->id);
	else
		buf_addf(out, "/dev-team:dev-team %s %s", item->workflow, item->id);
}

static void add_progress(struct buf *out, const struct hook_item *item, const struct progress *p)
{
	buf_addf(out, "dev-team: %s is in progress (%s, ", item->id, p->state);
	if (p->waits)
		buf_addf(out, "it waits %s)", p->waits);
	else
		buf_addf(out, "%zu action%s open)", p->n, p->n == 1 ? "" : "s");
}

int hook_add_progress(struct arena *a, const char *session, const struct hook_item *item,
	struct buf *out, struct error *err)
{
	struct progress p;

	if (read_progress(a, session, item, &p, err) < 0)
		return -1;
	add_progress(out, item, &p);
	return 0;
}

/* One line. `own`: `session` is the owner that a step must name; `driven`: a script or a conductor
 * makes them. */
static void continue_add_line(struct buf *out, const struct hook_item *item,
	const struct progress *p, const char *session, bool own, bool driven)
{
	if (out->len)
		buf_addc(out, '\n');
	add_progress(out, item, p);
	if (driven) {
		buf_addf(out, "; its %s runs, and reports its end: start nothing",
			item->conductor ? "conductor" : "script");
		return;
	}
	buf_adds(out, "; continue with ");
	add_slash_command(out, item);
	if (p->asks)
		buf_adds(out, " ANSWER");
	if (!own || p->waits || strcmp(item->form, "conversation") != 0)
		return; /* the session does not know how to carry an array out */
	buf_adds(out, ", or with `");
	hook_add_step(out, item, session);
	buf_adds(out, "` and the array that it prints");
}

static bool is_client(const char *text, const char *wanted)
{
	return text && strcmp(text, wanted) == 0;
}

static int continue_add_items(struct arena *a, const char *session, const char *client,
	struct buf *out, struct error *err)
{
	struct hook_items items;
	struct progress p;

	if (items_in_progress(a, session, &items, err) < 0)
		return -1;
	for (size_t i = 0; i < items.n; i++)
		if (read_progress(a, session, &items.items[i], &p, err) == 0 &&
			(!client || is_client(items.items[i].client, client) ||
				is_client(p.client, client)))
			continue_add_line(out, &items.items[i], &p, session, !client,
				!client && hook_item_is_driven(a, &items.items[i]));
	return 0;
}

/* After /clear the client's hooks name the new session, which drives the item from then on. */
static int adopt_item(struct arena *a, const char *session, const char *former,
	struct hook_item *item, struct error *err)
{
	if (!hook_item_is_driven(a, item))
		return 0;
	item->owner = hook_item_owner(item, former);
	return hook_session_move(a, former, session, item, err);
}

/* A script or a conductor goes on after /clear. */
static int adopt_items(struct arena *a, const char *session, struct error *err)
{
	struct store_paths sessions;
	struct hook_items items;

	if (hook_sessions(a, &sessions, err) < 0)
		return -1;
	for (size_t i = 0; i < sessions.n; i++) {
		const char *former = sessions.items[i];

		if (strcmp(former, session) == 0 || hook_session_items(a, former, &items, err) < 0)
			continue;
		for (size_t k = 0; k < items.n; k++)
			if (adopt_item(a, session, former, &items.items[k], err) < 0)
				return -1;
	}
	return 0;
}

/* After /clear the client has a new session id; the lease still names the former one. */
static int add_former(struct arena *a, const char *session, struct buf *out, struct error *err)
{
	const char *client = process_client_name(a);
	struct store_paths sessions;

	if (!client)
		return 0;
	if (hook_sessions(a, &sessions, err) < 0)
		return -1;
	for (size_t i = 0; i < sessions.n; i++)
		if (strcmp(sessions.items[i], session) != 0)
			(void)continue_add_items(a, sessions.items[i], client, out, err);
	return 0;
}

int hook_session_start(struct arena *a, struct str input, struct buf *out, struct error *err)
{
	CLEANUP(json_free) json *event = NULL;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *session;
	bool clear;

	if (json_parse_event(&event, input, err) < 0)
		return -1;
	session = json_get_str(event, "session_id");
	clear = json_str_is(event, "source", "clear");
	if (hook_is_conductor(event))
		return hook_conductor_start(a, event, out, err);
	if (!session || json_get(event, "agent_id"))
		return 0;
	if ((clear && adopt_items(a, session, err) < 0) ||
		continue_add_items(a, session, NULL, &text, err) < 0 ||
		(clear && add_former(a, session, &text, err) < 0))
		return -1;
	if (!text.len)
		return 0;
	hook_put_context(out, "SessionStart", text.s);
	return 0;
}

/* ---- Stop ---- */

/* The offset after the last `mark` in `text`; 0: there is none. */
static size_t offset_after_last(struct str text, struct str mark)
{
	size_t last = 0, at;

	while ((at = str_find(str_sub(text, last, text.n), mark)) < text.n - last)
		last += at + mark.n;
	return last;
}

/* Whether the user interrupted the loop and has not continued it since by a step or a slash
 * command. */
static bool is_interrupted(const json *event)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *path = json_get_str(event, "transcript_path");
	size_t at;

	if (!path || hook_transcript_end(path, TRANSCRIPT_MAX, &text) < 0)
		return false;
	at = offset_after_last(buf_str(&text), STR(HOOK_INTERRUPTED));
	return at && at > offset_after_last(buf_str(&text), STR("\"command\":\"dev-team step ")) &&
	       at > offset_after_last(buf_str(&text), STR("\"command\":\"dev-team tick ")) &&
	       at > offset_after_last(buf_str(&text), STR("<command-name>/dev-team:"));
}

/* Whether the client has such a task in the background. */
static bool has_task(const json *event, const char *member, const char *value)
{
	const json *tasks = json_get(event, "background_tasks");

	for (const json *t = json_first(tasks); t; t = json_next(t))
		if (json_str_is(t, member, value))
			return true;
	return false;
}

/* The client says nothing when the user has stopped a script or a conductor. */
static int end_stopped_loops(
	struct arena *a, const json *event, const char *session, struct error *err)
{
	struct hook_items items;

	if (hook_session_items(a, session, &items, err) < 0)
		return -1;
	for (size_t i = 0; i < items.n; i++) {
		const struct hook_item *item = &items.items[i];

		if (!hook_item_is_driven(a, item) ||
			(item->conductor ? has_task(event, "id", item->conductor)
					 : has_task(event, "type", "workflow")))
			continue;
		if (hook_session_loop_ended(a, session, item->context_file, err) < 0)
			return -1;
	}
	return 0;
}

/* The turn waits for work in the background or for the user. */
static bool may_end(const json *event)
{
	const char *last = json_get_str(event, "last_assistant_message");

	return json_first(json_get(event, "background_tasks")) ||
	       json_first(json_get(event, "session_crons")) ||
	       json_str_is(event, "permission_mode", "plan") ||
	       (last && str_ends(str_trim(str_of(last)), "?")) || is_interrupted(event);
}

static void put_unfinished(struct buf *out, const char *session, const struct hook_item *item,
	const struct progress *p)
{
	CLEANUP(buf_release) struct buf reason = BUF_INIT;

	buf_addf(&reason, "dev-team: %s has not ended; run `", item->id);
	hook_add_step(&reason, item, hook_item_owner(item, session));
	if (p->n_answered == p->n)
		buf_add_argument(&reason, " --returned=", p->first);
	buf_adds(&reason, "` and carry out the array that it prints");
	hook_put_block(out, reason.s);
}

int hook_block_end(struct arena *a, const char *session, const struct hook_item *item,
	struct buf *out, bool *block, struct error *err)
{
	struct progress p;
	unsigned n;

	*block = false;
	if (read_progress(a, session, item, &p, err) < 0 || p.over || p.waits || !p.n)
		return 0;
	if (hook_session_stop(a, session, item->context_file, p.mark, &n, err) < 0)
		return -1;
	*block = n <= HOOK_STOPS_MAX;
	if (*block)
		put_unfinished(out, session, item, &p);
	return 0;
}

int hook_stop(struct arena *a, struct str input, struct buf *out, struct error *err)
{
	CLEANUP(json_free) json *event = NULL;
	struct hook_items items;
	const char *session;
	bool block = false;

	if (json_parse_event(&event, input, err) < 0)
		return -1;
	session = json_get_str(event, "session_id");
	if (!session || json_get(event, "agent_id"))
		return 0;
	if (end_stopped_loops(a, event, session, err) < 0)
		return -1;
	if (may_end(event))
		return 0;
	if (items_in_progress(a, session, &items, err) < 0)
		return -1;
	for (size_t i = 0; i < items.n && !block; i++)
		if (strcmp(items.items[i].form, "conversation") == 0 &&
			hook_block_end(a, session, &items.items[i], out, &block, err) < 0)
			return -1;
	return 0;
}
