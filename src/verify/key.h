/*
 * key.h: what of a document decides the future. Two documents with the same key have the same
 * future, but for ids, times, texts and how much of the budget is spent, which the graph counts by
 * itself (docs/explore.md says why that is so).
 */
#ifndef DT_EXPLORE_KEY_H
#define DT_EXPLORE_KEY_H

#include "context/context.h"
#include "src/base/json.h"
#include "src/workflow/workflow.h"

/* Stands in a key behind an answer that is kept from before. */
#define KEY_CARRIED    " carried "
#define BUDGET_TRIGGER "budget_exceeded"

struct key_rules {
	const struct workflow *w;
	bool *reach; /* n_states x n_states: the diagram leads from the first to the second */
};

void key_rules_init(struct arena *a, const struct workflow *w, struct key_rules *r);
/* Adds the key of `c` to `out`. `changes`: how often the troubleshooter may still change things. */
void key_of(const struct key_rules *r, const struct context *c, unsigned changes, struct buf *out);
/* The same without the counters: all that `record` looks at. */
void key_kind(
	const struct key_rules *r, const struct context *c, unsigned changes, struct buf *out);
/* The kind is the end of a key. */
const char *key_kind_in(const char *key);
/* Adds of a key or a kind the state alone and what is outstanding there, and how it is answered. */
void key_open_in(const char *key, struct buf *out);
/* Takes out of the document what does not decide, and sets the budget back. */
void key_trim(const struct key_rules *r, struct context *c);
/* The troubleshooter is called, or the user is asked, because the budget is spent. */
bool key_budget(const struct context *c);
/* Sections that decide and are there; NULL-ended. */
const char *const *key_sections(struct arena *a, const struct context *c);

#endif
