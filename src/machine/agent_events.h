/*
 * agent_events.h: the two events about agents that a run adds to a work item's journal. `agent_run`
 * says what a harness did for an action: harness and model, outcome, usage. `scripted` says which
 * entry of an agent script answered, so that an interrupted run resumes at the right turn.
 * Fields: docs/events.md.
 */
#ifndef DT_AGENT_EVENTS_H
#define DT_AGENT_EVENTS_H

#include "context/file.h"

#define AGENT_RUN "agent_run"

/* Both go into the journal with the next save or log. */
/* `members` is an object and is borrowed; its members seq, rev, ts and type are ignored. */
void agent_run_note(struct context_file *f, const json *members);
void agent_turn_note(struct context_file *f, const char *key, const char *action);

/*
 * *turns: how often entry `key` was used for actions other than `action` since the work item
 * started. An action that is repeated gets the turn that it had. `document` is the work item's.
 */
int agent_turns_played(const char *document, const char *key, const char *action, size_t *turns,
	struct error *err);

#endif
