/*
 * expand.h: words to arguments, as bash does it: variables and $( ), splitting on blank, tab and
 * newline, patterns. The rules engine and the executor both come through here; they differ in where
 * values come from.
 */
#ifndef DT_POLICY_EXPAND_H
#define DT_POLICY_EXPAND_H

#include "src/policy/check.h"
#include "src/policy/where.h"

struct args_list {
	struct arg *p; /* in the arena of the check */
	size_t n, cap;
};
void args_push(struct arena *a, struct args_list *l, struct arg arg);

struct expander {
	struct check *check;
	struct str cwd;
	/* What $name gives: ARG_KNOWN with its text, or ARG_DYNAMIC. -1: denied, in check->v. */
	int (*variable)(void *of, struct str name, struct span at, struct arg *out);
	/* What $( ) puts out, trailing newlines cut off. -1: denied. */
	int (*output)(void *of, const struct node *node, struct arg *out);
	void *of;
};

/* Adds the words that `w` becomes: none, one or several. 0, or -1 with the denial. */
int expand_word(const struct expander *e, const struct word *w, struct args_list *out);
/* Without splitting and patterns: values of assignments, targets of redirections, the word of case
 * and of <<<. */
int expand_single(const struct expander *e, const struct word *w, struct arg *out);

/*
 * What `left`, the part before in a pipeline, is as a call: true when it is one command whose words
 * are known and whose output goes into the pipe. For call.feeds.
 */
bool expand_feeder(const struct expander *e, const struct node *left, struct call *out);

/* Whether the command itself reads what comes through the pipe before it. */
bool reads_pipe(const struct node *n);

/* ---- what one check of one line has looked up ---- */

/* Programs by name, places by directory and path. Only for answers that were good: a denial ends
 * the check. The executor, for which the disk changes between two questions, has none. For check.c
 * and expand.c alone. */
struct memory;

struct memory *memory_new(struct arena *a);
/* p == NULL: not asked yet. */
struct str memory_program(const struct memory *m, struct str name);
void memory_put_program(struct memory *m, struct str name, struct str path);

struct question {
	struct str cwd, path;
	enum access access;
	bool whole;
};
/* NULL: not asked yet. */
const struct place *memory_place(const struct memory *m, const struct question *q);
void memory_put_place(struct memory *m, const struct question *q, const struct place *place);

/* NULL: not asked yet. */
const struct texts *memory_matches(const struct memory *m, struct str cwd, struct str glob);
void memory_put_matches(
	struct memory *m, struct str cwd, struct str glob, const struct texts *matches);

#endif
