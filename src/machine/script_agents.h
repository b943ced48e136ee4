/*
 * script_agents.h: agents that a file plays: what is answered to each action, in which order.
 * Reference for the file's form: docs/agent-scripts.md.
 *
 * Ownership: all of it lives in the arena that was passed in.
 */
#ifndef DT_SCRIPT_AGENTS_H
#define DT_SCRIPT_AGENTS_H

#include "src/base/json.h"

#define SCRIPT_MAX ((size_t)16 << 20) /* bytes of a file */

enum {
	SCRIPT_RUN_MAX = 100000, /* bytes of `run`: the system passes it on as one word */
};

/* One turn of an entry. */
struct scripted {
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
struct script_entry {
	const char *key;
	unsigned line, col;
	struct scripted *turns;
	size_t n;
};

struct script_entries {
	struct script_entry *list;
	size_t n;
};

struct script_agents {
	const char *file;
	struct script_entries answers, scripts;
	bool others; /* an agent without an entry is asked elsewhere; set by the caller */
};

/* -1: ERR_INPUT with FILE:LINE:COL. */
int agents_parse(struct arena *a, const char *file, struct str text, struct script_agents *s,
	struct error *err);
int agents_load(struct arena *a, const char *path, struct script_agents *s, struct error *err);

/*
 * The entry that plays `action`: that of its id, else of its section, else `Fix N` for the sections
 * Fix 1, Fix 2... *entry is NULL for a run_script that is to be run as it is, and with `others` for
 * an agent's action that has none; without, that is -1.
 */
int agents_find(const struct script_agents *s, const json *action,
	const struct script_entry **entry, struct error *err);

/* The turn for the `use`-th time (from 0); the last one stays. -1: it does not fit the action. */
int agents_turn(const struct script_agents *s, const struct script_entry *entry, size_t use,
	const json *action, const struct scripted **turn, struct error *err);

#endif
