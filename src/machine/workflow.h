/*
 * workflow.h: a workflow file. Markdown with an optional YAML frontmatter (limits, commands,
 * declared states) and one fenced mermaid block, a stateDiagram-v2 whose edges carry triggers.
 *
 * Ownership: all of it lives in the arena that was passed in. Sources: the mermaid manual for the
 * syntax of state diagrams; docs/workflow-language.md for what of it is read, and what is refused.
 */
#ifndef DT_WORKFLOW_H
#define DT_WORKFLOW_H

#include "src/base/buf.h"

#define WORKFLOW_MAX ((size_t)1 << 20)

struct edge {
	const char *from, *to, *trigger; /* trigger "" where the edge has no label */
	unsigned line;
};

struct flow_state {
	const char *name;
	const char *label;		 /* of `state "label" as name`; else name */
	unsigned line;			 /* first mentioned */
	bool terminal;			 /* name --> [*] */
	const struct declared *declared; /* NULL: a built-in step must serve it */
};

struct outcome {
	const char *word, *trigger;
};

/* One action of a declared state. */
struct item {
	unsigned line;
	const char *agent, *skill; /* agent NULL: a script */
	const char **args;	   /* words; ID and SPEC_PATH are replaced */
	size_t n_args;
	const char **reads;
	size_t n_reads;
	const char *writes;
	const char *command;
	unsigned timeout_s;
	struct outcome *outcomes; /* the first is the good one */
	size_t n_outcomes;
};

struct declared {
	const char *name;
	unsigned line;
	struct item *items;
	size_t n;
};

struct limits {
	unsigned long max_fix_iterations, max_review_fix_iterations, signoff_deadlock, review_loop,
		consecutive_failures, max_actions;
};

struct workflow {
	const char *file;
	const char *initial;
	struct edge *edges;
	size_t n_edges;
	struct flow_state *states;
	size_t n_states;
	struct limits limits;
	const char *validate; /* command of `validating`; NULL: the default */
	unsigned validate_timeout_s;
	const char *research_skill; /* NULL: the default */
};

/* -1: ERR_INPUT with FILE:LINE:COL. */
int workflow_parse(
	struct arena *a, const char *file, struct str text, struct workflow *w, struct error *err);
int workflow_load(struct arena *a, const char *path, struct workflow *w, struct error *err);

const struct flow_state *workflow_state(const struct workflow *w, const char *name);
/* Where `trigger` leads from `from`, or NULL. */
const char *workflow_target(const struct workflow *w, const char *from, const char *trigger);
/* The only edge out of `from`, or NULL when there is none or more than one. */
const struct edge *workflow_only_edge(const struct workflow *w, const char *from);

/* What a step (see step.h) can give, for the check: the built-in states and their triggers. */
struct serves {
	const char *state;
	const char *const *triggers; /* NULL-ended */
};

/*
 * Adds one line `FILE:LINE:COL: fault` per fault to `out` and returns how many: a trigger that a
 * state can give has no transition, a state that nothing serves, one that cannot be reached, one
 * that cannot reach an end.
 */
size_t workflow_check(const struct workflow *w, const struct serves *builtin, struct buf *out);

/* The diagram again, normalised; `current` (may be NULL) is marked. */
void workflow_draw_mermaid(const struct workflow *w, const char *current, struct buf *out);
/* A self-contained SVG in layers from top to bottom. */
void workflow_draw_svg(const struct workflow *w, const char *current, struct buf *out);

#endif
