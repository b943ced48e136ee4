#include "src/harness/chain_tell.h"

/* The harnesses that a stage's note has. */
static const json *noted_harnesses(const json *row)
{
	const json *list = json_get(row, "harnesses");

	return json_is_array(list) ? list : NULL;
}

static void add_ran(
	struct arena *a, struct ran **list, size_t *n, const char *stage, const char *harness)
{
	for (size_t i = 0; i < *n; i++)
		if (strcmp((*list)[i].stage, stage) == 0 &&
			strcmp((*list)[i].harness, harness) == 0)
			return;
	(*list)[(*n)++] = (struct ran){arena_dup(a, str_of(stage)), arena_dup(a, str_of(harness))};
}

int chain_ran(struct arena *a, const char *artifacts, const char *issue, struct ran **out,
	size_t *n, struct error *err)
{
	CLEANUP(json_free) json *runtime = NULL;
	const json *stages;
	size_t max = 0;

	*n = 0;
	*out = NULL;
	if (!artifacts || !issue)
		return 0;
	if (runtime_read(artifacts, issue, &runtime, err) < 0)
		return -1;
	stages = runtime ? json_get(runtime, "stages") : NULL;
	for (const json *s = json_first(stages); s; s = json_next(s))
		max += 1 + json_len(noted_harnesses(s));
	*out = arena_alloc(a, (max + 1) * sizeof(**out));
	for (const json *s = json_first(stages); s; s = json_next(s)) {
		const char *last = json_get_str(s, "harness");

		for (const json *h = json_first(noted_harnesses(s)); h; h = json_next(h))
			if (json_text(h))
				add_ran(a, out, n, json_key(s), json_text(h));
		if (last)
			add_ran(a, out, n, json_key(s), last);
	}
	return 0;
}

/* `row` gets the harnesses that its stage had before, and this one (may be NULL). */
static int put_harnesses(json *row, const char *artifacts, const char *issue, const char *stage,
	const char *harness, struct error *err)
{
	struct arena a = {0};
	struct ran *ran;
	size_t n = 0;
	int rc = chain_ran(&a, artifacts, issue, &ran, &n, err);
	json *list = json_array();
	bool there = false;

	for (size_t i = 0; rc == 0 && i < n; i++) {
		if (strcmp(ran[i].stage, stage) != 0)
			continue;
		there = there || (harness && strcmp(ran[i].harness, harness) == 0);
		json_push_str(list, str_of(ran[i].harness));
	}
	if (harness && !there)
		json_push_str(list, str_of(harness));
	json_put(row, "harnesses", list);
	arena_release(&a);
	return rc;
}

/* Takes `row`. */
static int merge_row(
	const char *artifacts, const char *issue, const char *stage, json *row, struct error *err)
{
	CLEANUP(json_free) json *members = json_object();
	json *stages = json_object();

	json_put(stages, stage, row);
	json_put(members, "stages", stages);
	return runtime_merge(artifacts, issue, members, err);
}

int note_worked(const struct chain_call *c, const char *harness, struct error *err)
{
	json *row;

	if (!c->artifacts || !c->issue || !c->stage)
		return 0;
	row = json_object();
	chain_put(row, "status", "running");
	if (put_harnesses(row, c->artifacts, c->issue, c->stage, harness, err) < 0) {
		json_free(&row);
		return -1;
	}
	return merge_row(c->artifacts, c->issue, c->stage, row, err);
}

static void put_result(json *row, const struct harness_result *r)
{
	static const struct usage_member members[] = {{USAGE_COST, "costUsd"},
		{USAGE_INPUT, "inputTokens"}, {USAGE_OUTPUT, "outputTokens"},
		{USAGE_CACHE, "cacheTokens"}, {USAGE_MS, "durationMs"}, {0}};

	chain_put(row, "status", harness_status_word(r->status));
	if (r->exit_code >= 0)
		json_put_int(row, "exitCode", r->exit_code);
	usage_put(row, &r->usage, members, false);
	chain_put(row, "detail", r->detail);
}

int chain_note(const char *artifacts, const char *issue, const char *stage, const struct harness *h,
	const struct chain *c, const struct harness_result *r, struct error *err)
{
	json *row = json_object();

	chain_put(row, "harness", h ? harness_name(h) : NULL);
	chain_put(row, "model", r->model);
	json_put(row, "declared", chain_words(c->declared));
	json_put(row, "effective", chain_words(c->effective));
	if (c->forbidden.n)
		json_put(row, "forbidden", chain_words(c->forbidden));
	put_result(row, r);
	if (put_harnesses(row, artifacts, issue, stage, h ? harness_name(h) : NULL, err) < 0) {
		json_free(&row);
		return -1;
	}
	return merge_row(artifacts, issue, stage, row, err);
}
