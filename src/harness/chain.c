#include "src/harness/chain.h"

static bool has(const struct words *w, const char *word)
{
	for (size_t i = 0; i < w->n; i++)
		if (strcmp(w->list[i], word) == 0)
			return true;
	return false;
}

/* Makes room for `max` texts; they are added by add(). */
static const char **words_room(struct arena *a, size_t max, struct words *w)
{
	const char **list = arena_alloc(a, (max + 1) * sizeof(*list));

	*w = (struct words){list, 0};
	return list;
}

static void add(const char **list, struct words *w, const char *word)
{
	if (!has(w, word))
		list[w->n++] = word;
}

struct words chain_candidates(struct arena *a, const struct stage_spec *stage)
{
	struct words w;
	const char **list = words_room(a, stage->fallback.n + 1, &w);

	if (stage->harness)
		add(list, &w, stage->harness);
	for (size_t i = 0; i < stage->fallback.n; i++)
		add(list, &w, stage->fallback.list[i]);
	return w;
}

static struct words forbidden_by(
	struct arena *a, struct words independent_of, const struct ran *ran, size_t n_ran)
{
	struct words w;
	const char **list = words_room(a, n_ran, &w);

	for (size_t i = 0; i < n_ran; i++)
		if (has(&independent_of, ran[i].stage))
			add(list, &w, ran[i].harness);
	return w;
}

void chain_filter(struct arena *a, struct words candidates, struct words independent_of,
	const struct ran *ran, size_t n_ran, struct chain *out)
{
	const char **declared = words_room(a, candidates.n, &out->declared);
	const char **effective = words_room(a, candidates.n, &out->effective);
	const char **removed = words_room(a, candidates.n, &out->removed);

	out->forbidden = forbidden_by(a, independent_of, ran, n_ran);
	for (size_t i = 0; i < candidates.n; i++) {
		const char *name = candidates.list[i];

		add(declared, &out->declared, name);
		if (has(&out->forbidden, name))
			add(removed, &out->removed, name);
		else
			add(effective, &out->effective, name);
	}
	out->violated = !out->effective.n;
}

/* Why a stage cannot be independent of `from`; NULL: it can. */
static const char *cycle_of(const struct pipeline *p, size_t stage, const char *from)
{
	for (size_t i = 0; i < p->n_stages; i++) {
		if (strcmp(p->stages[i].name, from) != 0)
			continue;
		return i < stage ? NULL : i == stage ? "the stage itself" : "a later stage";
	}
	return "unknown stage";
}

size_t chain_cycles(struct arena *a, const struct pipeline *p, struct cycle **out)
{
	size_t n = 0, max = 0;

	for (size_t i = 0; i < p->n_stages; i++)
		max += p->stages[i].independent_of.n;
	*out = arena_alloc(a, (max + 1) * sizeof(**out));
	for (size_t i = 0; i < p->n_stages; i++) {
		struct words from = p->stages[i].independent_of;

		for (size_t k = 0; k < from.n; k++) {
			const char *why = cycle_of(p, i, from.list[k]);

			if (why)
				(*out)[n++] = (struct cycle){p->stages[i].name, from.list[k], why};
		}
	}
	return n;
}

enum failure_strategy chain_violation_strategy(const struct stage_spec *stage)
{
	bool meant = stage->failure_declared &&
		     (!stage->failure_on || strcmp(stage->failure_on, "IndependenceViolated") == 0);

	return meant ? stage->on_failure : FAILURE_CONTINUE;
}

int chain_of(struct arena *a, const struct stage_spec *stage, const char *artifacts,
	const char *issue, struct chain *out, struct error *err)
{
	struct ran *ran = NULL;
	size_t n = 0;

	if (stage->independent_of.n && chain_ran(a, artifacts, issue, &ran, &n, err) < 0)
		return -1;
	chain_filter(a, chain_candidates(a, stage), stage->independent_of, ran, n, out);
	return 0;
}
