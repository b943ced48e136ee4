/*
 * reference_tables.h: what the model knows of the built-in states, as rows: requests, changes,
 * limits. Each table ends with an empty row.
 */
#ifndef DT_MODEL_REFERENCE_TABLES_H
#define DT_MODEL_REFERENCE_TABLES_H

#include <stddef.h>
#include "src/workflow/workflow.h"

#define LOG "Troubleshooter Log" /* the section of the troubleshooter */

/* URL: whatever the word is, the text must have one. */
enum kind { BUILTIN, URL, DECLARED };

struct result {
	const char *word, *trigger;
};

/* What a state requests, and which trigger each word means. The first word is the good one. `again`
 * repeats the request, `ask` calls the troubleshooter, `-` stays in the state. */
struct action {
	const char *state, *section, *agent, *reads;
	enum kind kind;
	unsigned evidence; /* what the first word claims */
	struct result results[WORKFLOW_RESULTS_MAX];
};
extern const struct action reference_actions[];

/* What changes when a state is entered, lacks an answer, requests, has a bad answer in a section,
 * or gives a trigger. +NAME: a key or section is written; -NAME: removed, or set to 0; =NAME: moved
 * to `Earlier NAME`, if the state has requested something before; 1NAME: a counter is incremented;
 * !NAME: an effect is carried out; ?checks: if there is a pull request, and red ones are noted. */
struct state_change {
	const char *state, *when, *changes;
};
extern const struct state_change reference_changes[];

/* What happens when a counter is at its limit: in a state its trigger, else the troubleshooter is
 * called. The first that applies. */
struct limit {
	const char *counter, *trigger, *state;
	size_t limit;
};
extern const struct limit reference_limits[];

#endif
