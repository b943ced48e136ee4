#include "src/harness/chain_tell.h"

static int tell(const char *artifacts, const char *issue, const char *stage, enum event_id what,
	const json *fields, struct error *err)
{
	struct event h = {.id = what, .issue = issue, .stage = stage, .fields = fields};

	return event_emit(artifacts, &h, err);
}

void chain_put(json *object, const char *key, const char *text)
{
	if (text)
		json_put_str(object, key, str_of(text));
}

json *chain_words(struct words w)
{
	json *list = json_array();

	for (size_t i = 0; i < w.n; i++)
		json_push_str(list, str_of(w.list[i]));
	return list;
}

int tell_probe_failed(
	const struct chain_call *c, const char *harness, const char *detail, struct error *err)
{
	CLEANUP(json_free) json *fields = json_object();

	chain_put(fields, "harness", harness);
	chain_put(fields, "detail", detail);
	return tell(c->artifacts, c->issue, c->stage, EVENT_HARNESS_PROBE_FAILED, fields, err);
}

int tell_fallback(const struct chain_call *c, const char *from, const char *to, const char *reason,
	const char *detail, struct error *err)
{
	CLEANUP(json_free) json *fields = json_object();

	chain_put(fields, "from", from);
	chain_put(fields, "to", to);
	chain_put(fields, "reason", reason);
	chain_put(fields, "detail", detail);
	return tell(c->artifacts, c->issue, c->stage, EVENT_HARNESS_FALLBACK, fields, err);
}

int tell_unavailable(const struct chain_call *c, const char *harness, const char *reason,
	const char *detail, struct error *err)
{
	CLEANUP(json_free) json *fields = json_object();

	chain_put(fields, "harness", harness);
	chain_put(fields, "reason", reason);
	chain_put(fields, "detail", detail);
	return tell(c->artifacts, c->issue, c->stage, EVENT_HARNESS_UNAVAILABLE, fields, err);
}

static int tell_budget(const struct chain_call *c, const char *harness,
	const struct harness_input *input, const struct harness_result *r, struct error *err)
{
	CLEANUP(json_free) json *fields = json_object();

	chain_put(fields, "harness", harness);
	json_put_number(fields, "maxBudgetUsd", input->max_budget_usd);
	/* A harness that ended itself at the limit may not tell what it came to. */
	json_put_number(fields, "costUsd",
		r->usage.cost_usd < 0 ? input->max_budget_usd : r->usage.cost_usd);
	return tell(c->artifacts, c->issue, c->stage, EVENT_BUDGET_EXCEEDED, fields, err);
}

int tell_result(const struct chain_call *c, const char *harness, const struct harness_input *input,
	const struct harness_result *r, struct error *err)
{
	CLEANUP(json_free) json *fields = json_object();

	if (r->status == HARNESS_BUDGET)
		return tell_budget(c, harness, input, r, err);
	if (r->status != HARNESS_TIMEOUT)
		return 0;
	chain_put(fields, "harness", harness);
	json_put_int(fields, "seconds", r->usage.ms / 1000);
	return tell(c->artifacts, c->issue, c->stage, EVENT_AGENT_TIMEOUT, fields, err);
}

static const char *strategy_word(enum failure_strategy s)
{
	static const char *const words[] = {
		[FAILURE_ABORT] = "abort",
		[FAILURE_RETRY] = "retry",
		[FAILURE_PAUSE] = "pause",
		[FAILURE_CONTINUE] = "continue",
	};

	return words[s];
}

int chain_tell_violation(const char *artifacts, const char *issue, const struct stage_spec *stage,
	const struct chain *c, struct error *err)
{
	CLEANUP(json_free) json *fields = json_object();

	json_put(fields, "chain", chain_words(c->declared));
	json_put(fields, "effectiveChain", chain_words(c->effective));
	json_put(fields, "forbidden", chain_words(c->forbidden));
	json_put(fields, "from", chain_words(stage->independent_of));
	chain_put(fields, "onFailure", strategy_word(chain_violation_strategy(stage)));
	return tell(artifacts, issue, stage->name, EVENT_INDEPENDENCE_VIOLATED, fields, err);
}
