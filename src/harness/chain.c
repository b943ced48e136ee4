#include "src/base/json.h"
#include "src/harness/adapter.h"
#include "src/harness/chain.h"

/* ---- the harnesses of a stage ---- */

static bool chain_contains(struct text_list w, const char *word)
{
	for (size_t i = 0; i < w.n; i++)
		if (strcmp(w.list[i], word) == 0)
			return true;
	return false;
}

void chain_add_name(struct arena *a, struct text_list *l, const char *name)
{
	const char **list = arena_alloc(a, (l->n + 1) * sizeof(*list));

	if (chain_contains(*l, name))
		return;
	for (size_t i = 0; i < l->n; i++)
		list[i] = l->list[i];
	list[l->n] = name;
	*l = (struct text_list){list, l->n + 1};
}

struct text_list chain_candidates(struct arena *a, const struct stage_spec *stage)
{
	struct text_list l = {0};

	if (stage->harness)
		chain_add_name(a, &l, stage->harness);
	for (size_t i = 0; i < stage->fallback.n; i++)
		chain_add_name(a, &l, stage->fallback.list[i]);
	return l;
}

void chain_filter(struct arena *a, struct text_list candidates, struct text_list independent_of,
	const struct chain_uses *uses, struct chain *out)
{
	*out = (struct chain){0};
	for (size_t i = 0; i < uses->n; i++)
		if (chain_contains(independent_of, uses->items[i].stage))
			chain_add_name(a, &out->forbidden, uses->items[i].harness);
	for (size_t i = 0; i < candidates.n; i++) {
		const char *name = candidates.list[i];

		chain_add_name(a, &out->declared, name);
		if (!chain_contains(out->forbidden, name))
			chain_add_name(a, &out->effective, name);
	}
	out->violated = !out->effective.n;
}

const char *chain_independence_fault(const struct pipeline *p, size_t stage, const char *from)
{
	for (size_t i = 0; i < p->n_stages; i++)
		if (strcmp(p->stages[i].name, from) == 0)
			return i < stage ? NULL : i == stage ? "the stage itself" : "a later stage";
	return "unknown stage";
}

enum failure_strategy chain_violation_strategy(const struct stage_spec *stage)
{
	bool applies =
		stage->failure_declared &&
		(!stage->failure_on || strcmp(stage->failure_on, "IndependenceViolated") == 0);

	return applies ? stage->on_failure : FAILURE_CONTINUE;
}

/* ---- events ---- */

static json *words_json(struct text_list w)
{
	json *list = json_array();

	for (size_t i = 0; i < w.n; i++)
		json_push_str(list, str_of(w.list[i]));
	return list;
}

/* BudgetExceeded or AgentTimeout, if the result is one of them. */
static int emit_limit(const struct chain_call *c, const char *harness,
	const struct harness_input *input, const struct harness_result *r, struct error *err)
{
	double cost = r->usage.cost_usd, max = input->max_budget_usd;

	/* A harness that stopped at the limit may not report the cost. */
	if (r->status == HARNESS_BUDGET)
		return event_report(c->artifacts, EVENT_BUDGET_EXCEEDED, c->issue, c->stage,
			JSON_OBJECT(JSON_TEXT("harness", harness), JSON_NUMBER("maxBudgetUsd", max),
				JSON_NUMBER("costUsd", cost < 0 ? max : cost)),
			err);
	if (r->status == HARNESS_TIMEOUT)
		return event_report(c->artifacts, EVENT_AGENT_TIMEOUT, c->issue, c->stage,
			JSON_OBJECT(JSON_TEXT("harness", harness),
				JSON_INT("seconds", r->usage.ms / 1000)),
			err);
	return 0;
}

int chain_emit_violation(const char *artifacts, const char *issue, const struct stage_spec *stage,
	const struct chain *c, struct error *err)
{
	static const char *const strategies[] = {
		[FAILURE_ABORT] = "abort",
		[FAILURE_RETRY] = "retry",
		[FAILURE_PAUSE] = "pause",
		[FAILURE_CONTINUE] = "continue",
	};

	return event_report(artifacts, EVENT_INDEPENDENCE_VIOLATED, issue, stage->name,
		JSON_OBJECT(JSON_VALUE("chain", words_json(c->declared)),
			JSON_VALUE("effectiveChain", words_json(c->effective)),
			JSON_VALUE("forbidden", words_json(c->forbidden)),
			JSON_VALUE("from", words_json(stage->independent_of)),
			JSON_TEXT("onFailure", strategies[chain_violation_strategy(stage)])),
		err);
}

/* ---- runtime.json ---- */

static void add_use(
	struct arena *a, struct chain_uses *uses, const char *stage, const char *harness)
{
	if (!harness)
		return;
	for (size_t i = 0; i < uses->n; i++)
		if (strcmp(uses->items[i].stage, stage) == 0 &&
			strcmp(uses->items[i].harness, harness) == 0)
			return;
	vec_push_in(a, uses,
		(struct chain_use){arena_dup(a, str_of(stage)), arena_dup(a, str_of(harness))});
}

int chain_uses_read(struct arena *a, const char *artifacts, const char *issue,
	struct chain_uses *out, struct error *err)
{
	CLEANUP(json_free) json *runtime = NULL;
	const json *stages;

	*out = (struct chain_uses){0};
	if (!artifacts || !issue)
		return 0;
	if (artifact_read_runtime(artifacts, issue, &runtime, err) < 0)
		return -1;
	stages = runtime ? json_get(runtime, "stages") : NULL;
	for (const json *s = json_first(stages); s; s = json_next(s)) {
		const json *list = json_get(s, "harnesses");

		if (!json_is_array(list))
			list = NULL;
		for (const json *h = json_first(list); h; h = json_next(h))
			add_use(a, out, json_key(s), json_text(h));
		add_use(a, out, json_key(s), json_get_str(s, "harness"));
	}
	return 0;
}

/* Merges `row` into the stage's record, with `harnesses`: the earlier ones and this one. */
static int merge_row(const char *artifacts, const char *issue, const char *stage,
	const char *harness, json *row, struct error *err)
{
	CLEANUP(json_free) json *members = NULL;
	CLEANUP(arena_release) struct arena a = {0};
	json *names = json_array();
	struct chain_uses uses;
	int rc = chain_uses_read(&a, artifacts, issue, &uses, err);

	if (rc == 0)
		add_use(&a, &uses, stage, harness);
	for (size_t i = 0; i < uses.n; i++)
		if (strcmp(uses.items[i].stage, stage) == 0)
			json_push_str(names, str_of(uses.items[i].harness));
	JSON_ADD(row, JSON_VALUE("harnesses", names));
	members = JSON_OBJECT(JSON_VALUE("stages", JSON_OBJECT(JSON_VALUE(stage, row))));
	return rc < 0 ? -1 : artifact_merge_runtime(artifacts, issue, members, err);
}

int chain_record(const char *artifacts, const char *issue, const char *stage,
	const struct harness *h, const struct chain *c, const struct harness_result *r,
	struct error *err)
{
	json *row = JSON_OBJECT(JSON_TEXT("harness", h->name),
		JSON_IF(r->model, JSON_TEXT("model", r->model)),
		JSON_VALUE("declared", words_json(c->declared)),
		JSON_VALUE("effective", words_json(c->effective)),
		JSON_IF(c->forbidden.n, JSON_VALUE("forbidden", words_json(c->forbidden))),
		JSON_TEXT("status", harness_status_names[r->status]),
		JSON_IF(r->exit_code >= 0, JSON_INT("exitCode", r->exit_code)));

	usage_put(row, &r->usage, harness_usage_members, false);
	JSON_ADD(row, JSON_IF(r->detail, JSON_TEXT("detail", r->detail)));
	return merge_row(artifacts, issue, stage, h->name, row, err);
}

/* This harness may have changed files, although the result will be another one's. */
static int record_worked(const struct chain_call *c, const char *harness, struct error *err)
{
	if (!c->artifacts || !c->issue || !c->stage)
		return 0;
	return merge_row(c->artifacts, c->issue, c->stage, harness,
		JSON_OBJECT(JSON_TEXT("status", "running")), err);
}

/* ---- running ---- */

struct chain_attempt {
	const struct chain_call *call;
	const char *from;            /* the previous harness; NULL: none */
	const char *reason, *detail; /* why it was left */
	bool limited;                /* one was left because of a usage limit */
	int64_t resets_at;           /* the earliest reset that was reported; 0: none */
};

/* Whether it can be used; if not, the reason is left in *t and *r. */
static int chain_check_available(struct arena *a, struct chain_attempt *t, const struct harness *h,
	bool *usable, struct harness_result *r, struct error *err)
{
	const struct chain_call *c = t->call;
	const struct harness_availability *v =
		c->available ? c->available(h) : harness_available(h);

	*usable = v->available;
	if (v->available && v->reason == HARNESS_PROBE_FAILED)
		return event_report(c->artifacts, EVENT_HARNESS_PROBE_FAILED, c->issue, c->stage,
			JSON_OBJECT(JSON_TEXT("harness", h->name), JSON_TEXT("detail", v->detail)),
			err);
	if (v->available)
		return 0;
	t->reason = harness_reason_names[v->reason];
	t->detail = v->detail;
	harness_set_unavailable(r, arena_printf(a, "%s: %s", t->reason, v->detail));
	return 0;
}

static int chain_invoke(struct arena *a, struct chain_attempt *t, const struct harness *h,
	const struct harness_input *input, struct harness_result *r, struct error *err)
{
	const struct chain_call *c = t->call;
	struct harness_input own = *input;

	own.model = c->model_for ? c->model_for(c->data, h->name) : input->model;
	if (harness_invoke(a, h, &own, c->listener, c->data, r, err) < 0)
		return -1;
	if (r->status != HARNESS_UNAVAILABLE)
		return emit_limit(c, h->name, input, r, err);
	t->reason = r->rate_limited ? "rate-limited" : "unavailable";
	t->limited |= r->rate_limited;
	if (r->resets_at && (!t->resets_at || r->resets_at < t->resets_at))
		t->resets_at = r->resets_at;
	t->detail = r->detail;
	if (r->worked && c->left)
		c->left(c->data, h, r);
	return r->worked ? record_worked(c, h->name, err) : 0;
}

/* *used is set if this harness's result stands. */
static int try_harness(struct arena *a, struct chain_attempt *t, const char *name,
	const struct harness_input *input, struct harness_result *r, const struct harness **used,
	struct error *err)
{
	const struct chain_call *c = t->call;
	const struct harness *h;
	bool usable;

	if (harness_find(name, &h, err) < 0)
		return -1;
	if (t->from &&
		event_report(c->artifacts, EVENT_HARNESS_FALLBACK, c->issue, c->stage,
			JSON_OBJECT(JSON_TEXT("from", t->from), JSON_TEXT("to", name),
				JSON_TEXT("reason", t->reason), JSON_TEXT("detail", t->detail)),
			err) < 0)
		return -1;
	t->from = name;
	if (chain_check_available(a, t, h, &usable, r, err) < 0)
		return -1;
	if (!usable)
		return 0;
	if (chain_invoke(a, t, h, input, r, err) < 0)
		return -1;
	if (r->status != HARNESS_UNAVAILABLE)
		*used = h;
	return 0;
}

int chain_run(struct arena *a, const struct chain_call *c, const struct harness_input *input,
	struct harness_result *result, const struct harness **used, struct error *err)
{
	struct chain_attempt t = {.call = c};

	*used = NULL;
	harness_set_unavailable(result, "no harness is left to run on");
	for (size_t i = 0; i < c->effective.n && !*used; i++)
		if (try_harness(a, &t, c->effective.list[i], input, result, used, err) < 0)
			return -1;
	if (*used || !t.from)
		return 0;
	result->rate_limited = t.limited;
	result->resets_at = t.resets_at;
	return event_report(c->artifacts, EVENT_HARNESS_UNAVAILABLE, c->issue, c->stage,
		JSON_OBJECT(JSON_TEXT("harness", t.from), JSON_TEXT("reason", t.reason),
			JSON_TEXT("detail", t.detail)),
		err);
}
