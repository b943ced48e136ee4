/*
 * scripted_agents.h: a script that answers in the place of agents (docs/agent-scripts.md). It lives
 * in the arena that was passed in.
 */
#ifndef DT_SCRIPTED_AGENTS_H
#define DT_SCRIPTED_AGENTS_H

#include "context/file.h"

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
int scripted_parse(struct arena *a, const char *file, struct str text, struct scripted_agents *s,
	struct error *err);
int scripted_load(struct arena *a, const char *path, struct scripted_agents *s, struct error *err);

/*
 * The entry that plays `action`: that of its id, else of its section, else `Fix N` for the sections
 * Fix 1, Fix 2... If there is none: *entry is NULL for a run_script, which is run as it is, and,
 * with `others`, for an agent's action; else -1.
 */
int scripted_find(const struct scripted_agents *s, const json *action,
	const struct scripted_entry **entry, struct error *err);

/* The turn for the `use`-th time (from 0); the last one stays. -1: it does not fit the action. */
int scripted_turn_of(const struct scripted_agents *s, const struct scripted_entry *entry,
	size_t use, const json *action, const struct scripted_turn **turn, struct error *err);

/*
 * *turns: how often the entry was used since the work item started, not counting `action`, so that
 * a repeated action gets its turn again; not counted further than scripted_turn_of() distinguishes.
 * `document` is the work item's.
 */
int scripted_count_turns(const char *document, const struct scripted_entry *entry,
	const char *action, size_t *turns, struct error *err);

#endif
