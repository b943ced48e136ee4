/*
 * agents.h: what the journal of a work item keeps of the agents that answer its actions, in two
 * events (docs/events.md). `agent_run` says what a harness did for an action: harness and model,
 * outcome, usage. `scripted` says which entry of a script answered in the place of an agent
 * (docs/agent-scripts.md), so that an interrupted run resumes at the right turn.
 */
#ifndef DT_AGENTS_H
#define DT_AGENTS_H

#include "context/file.h"
#include "src/event/usage.h"

#define AGENT_RUN  "agent_run"
#define AGENT_TURN "scripted"

/* Both are written with the next save or log. `members` is an object and is borrowed; its members
 * seq, rev, ts, type and total are ignored. */
void agents_note_run(struct context_file *f, const json *members);

/* What an agent of a client's session has used since it began. */
struct agent_run {
	const char *action, *agent;            /* the client's id of the agent */
	const char *harness, *status, *detail; /* detail: NULL: none */
	struct usage used;
};
/* Notes the event with what no earlier one has of this agent and action; nothing new: no event. */
void agents_note_new(struct context_file *f, const struct agent_run *run);
/* Whether the last call of a harness for the action ended at its time limit. */
bool agents_timed_out(const struct context_file *f, const char *action);
/* What all calls of harnesses for this item have used: `calls` and usage_members. NULL: there was
 * none; the caller's to free. */
json *agents_total(const struct context_file *f);
void agents_note_turn(struct context_file *f, const char *key, const char *action);

#endif
