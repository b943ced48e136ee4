/*
 * agents.h: what a run keeps about the agents that answer its actions: a script that answers in
 * their place (docs/agent-scripts.md), and two events in the work item's journal (docs/events.md).
 * `agent_run` says what a harness did for an action: harness and model, outcome, usage. `scripted`
 * says which entry of a script answered, so that an interrupted run resumes at the right turn.
 *
 * Ownership: a script lives in the arena that was passed in.
 */
#ifndef DT_AGENTS_H
#define DT_AGENTS_H

#include "context/file.h"
#include "src/event/usage.h"

#define SCRIPTED_MAX ((size_t)16 << 20) /* bytes of a file */

enum {
	SCRIPTED_RUN_MAX = 100000, /* bytes of `run`: the system passes it on as one word */
};

/* One turn of an entry. */
struct scripted_turn {
	bool exec;          /* really run the action's own command; nothing else is set */
	bool silent;        /* no answer */
	const char *run;    /* shell commands, may be NULL */
	bool from_run;      /* the text is what `run` prints */
	struct str text;    /* else this */
	const char *result; /* may be NULL: as the text says */
	unsigned result_line, result_col;
	unsigned timeout_s;
	unsigned line, col;
};

/* The answers to one key: a section, the id of an action, or `Fix N`. */
struct scripted_entry {
	const char *key;
	unsigned line, col;
	struct scripted_turn *turns;
	size_t n;
};

struct scripted_entries {
	struct scripted_entry *list;
	size_t n;
};

struct scripted_agents {
	const char *file;
	struct scripted_entries answers, scripts;
	bool others; /* an agent without an entry is asked elsewhere; set by the caller */
};

/* -1: ERR_INPUT with FILE:LINE:COL. */
int agents_parse(struct arena *a, const char *file, struct str text, struct scripted_agents *s,
	struct error *err);
int agents_load(struct arena *a, const char *path, struct scripted_agents *s, struct error *err);

/*
 * The entry that plays `action`: that of its id, else of its section, else `Fix N` for the sections
 * Fix 1, Fix 2... If there is none: *entry is NULL for a run_script, which is run as it is, and,
 * with `others`, for an agent's action; else -1.
 */
int agents_find(const struct scripted_agents *s, const json *action,
	const struct scripted_entry **entry, struct error *err);

/* The turn for the `use`-th time (from 0); the last one stays. -1: it does not fit the action. */
int agents_turn(const struct scripted_agents *s, const struct scripted_entry *entry, size_t use,
	const json *action, const struct scripted_turn **turn, struct error *err);

#define AGENT_RUN "agent_run"

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
/* What all calls of harnesses for this item have used: `calls` and usage_members. NULL: there was
 * none; the caller's to free. */
json *agents_total(const struct context_file *f);
void agents_note_turn(struct context_file *f, const char *key, const char *action);

/*
 * *turns: how often the entry was used since the work item started, not counting `action`, so that
 * a repeated action gets its turn again; not counted further than agents_turn() distinguishes.
 * `document` is the work item's.
 */
int agents_count_turns(const char *document, const struct scripted_entry *entry, const char *action,
	size_t *turns, struct error *err);

#endif
