/*
 * hook.h: answers the events of a coding agent's client (the hooks of Claude Code): the event's
 * JSON in, the answer's JSON out. Also keeps which work items a session of the client drives.
 */
#ifndef DT_HOOK_H
#define DT_HOOK_H

#include "src/store/store.h"

/*
 * Adds the answer to the event of that name. Without an answer, the client decides as if there were
 * no hook. An unknown event gets none: the plugin may be newer than the program.
 * -1: `input` is not JSON, or an internal error.
 */
int hook_answer(
	struct arena *a, const char *event, struct str input, struct buf *out, struct error *err);
/* Seconds after which the answer to this event comes too late; 0: there is no limit. */
unsigned hook_limit(const char *event);

/* ---- the items of a session (session.c) ---- */

/* A work item that a session drives as its owner. Texts live in the arena. */
struct hook_item {
	const char *context_file; /* absolute */
	const char *id, *workflow, *repo;
	/* What starts the agents: nothing yet (`command`), the session (`conversation`), a script
	 * of the client (`workflow`), or an agent of the client (`conductor`). */
	const char *form;
	const char *conductor; /* the client's id of that agent; NULL: it has not begun, or ended */
	const char *former;    /* the agent that drove it before `take over`; NULL */
	const char *client;    /* the process of the session; NULL: unknown */
	const char *owner;     /* the session before /clear, which owns the item; NULL: this one */
	/* Of a task of the backlog that `tick` steps with others: --max-concurrent. NULL: none. */
	const char *tick;
	const char *task; /* --task of those ticks; NULL: all tasks */
	bool poll;        /* --poll */
};

struct hook_items {
	struct hook_item *items;
	size_t n, cap;
};

/* -1: ERR_INPUT unless the id can be a file name. */
int hook_session_check(const char *session, struct error *err);
/* The items that the session drives, in no order. */
int hook_session_items(
	struct arena *a, const char *session, struct hook_items *out, struct error *err);
/* Records that the session drives the item. */
int hook_session_begin(
	struct arena *a, const char *session, const struct hook_item *item, struct error *err);
/* Records that the session no longer drives the item of this document. */
int hook_session_end(
	struct arena *a, const char *session, const char *context_file, struct error *err);
/* The script or the conductor that drove the session's item of this document has ended. */
int hook_session_loop_ended(
	struct arena *a, const char *session, const char *context_file, struct error *err);
/* Records that an agent of the session, named by the client's id, has ended; after /clear, for the
 * session that drives the item then. */
int hook_session_agent_ended(
	struct arena *a, const char *session, const char *agent, struct error *err);
/* Makes `to` the session that drives the item, and that knows which agents of `from` have ended. */
int hook_session_move(struct arena *a, const char *from, const char *to,
	const struct hook_item *item, struct error *err);
/* Agents that work in the background, by the client's ids. */
struct hook_worker {
	const char *agent, *action; /* action: its id */
	bool ended;
};
struct hook_workers {
	struct hook_worker *items;
	size_t n, cap;
};
/* Remembers that they work for this client, a name of process_client_name() or ""; nothing if the
 * session drives no item. */
int hook_session_agents_begin(struct arena *a, const char *session, const char *client,
	const struct hook_workers *w, struct error *err);
/* All of this client that were remembered; those of another one ended with it. */
int hook_session_agents(struct arena *a, const char *session, const char *client,
	struct hook_workers *out, struct error *err);
/* All sessions that drive an item, sorted. */
int hook_sessions(struct arena *a, struct store_paths *out, struct error *err);
enum { HOOK_STOPS_MAX = 3 };
/* Counts the turns that have ended at `mark` of `what`, a document of the session or an agent of
 * it: *n, this one included. A new mark begins at 1; the count stops above HOOK_STOPS_MAX. */
int hook_session_stop(struct arena *a, const char *session, const char *what, const char *mark,
	unsigned *n, struct error *err);
/* Whether an array of actions says that the item has ended: it is `done`, without a question. */
bool hook_is_end(struct str array);

#endif
