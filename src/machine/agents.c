#include "src/machine/agents.h"

/* A context_visit: the last one is found first. */
static bool find_total(const json *event, void *data)
{
	json **total = data;

	if (json_str_is(event, "type", AGENT_RUN))
		*total = json_copy(json_get(event, "total"));
	return !*total;
}

json *agents_total(const struct context_file *f)
{
	json *total = NULL;

	context_each_event(f, "\"" AGENT_RUN "\"", find_total, &total);
	return total;
}

/* Each event has the sums of all so far, so that nobody has to read all of them. */
static json *add_to_total(const struct context_file *f, const json *members)
{
	CLEANUP(json_free) json *before = agents_total(f);
	json *total = JSON_OBJECT(JSON_INT("calls", 1 + json_get_int(before, "calls", 0)));
	struct usage sum, more;

	usage_get(before, &sum);
	usage_get(members, &more);
	usage_add(&sum, &more);
	usage_put(total, &sum, usage_members, false);
	return total;
}

void agents_note_run(struct context_file *f, const json *members)
{
	static const char *const journal[] = {"seq", "rev", "ts", "type", "total", NULL};
	json *event = context_event(f, AGENT_RUN);

	for (const json *m = json_first(members); m; m = json_next(m))
		if (!str_in(str_of(json_key(m)), journal))
			json_put(event, json_key(m), json_copy(m));
	json_put(event, "total", add_to_total(f, members));
}

struct timeout_search {
	const char *action;
	bool found;
};

/* A context_visit: the last call for the action is found first. */
static bool find_timeout(const json *event, void *data)
{
	struct timeout_search *s = data;
	bool run = json_str_is(event, "type", AGENT_RUN);

	if (!json_str_is(event, "action", s->action))
		return true;
	s->found = run && json_str_is(event, "status", "timeout");
	return !run && !json_str_is(event, "type", "dispatch");
}

bool agents_timed_out(const struct context_file *f, const char *action)
{
	struct timeout_search s = {.action = action};

	context_each_event(f, action, find_timeout, &s);
	return s.found;
}

/* State of the search, which begins at the last event. */
struct noted_usage {
	const struct agent_run *run;
	struct usage sum;
};

/* A context_visit. */
static bool add_noted(const json *event, void *data)
{
	struct noted_usage *n = data;
	struct usage more;

	if (!json_str_is(event, "action", n->run->action))
		return true;
	usage_get(event, &more);
	if (json_str_is(event, "type", AGENT_RUN) && json_str_is(event, "agent_id", n->run->agent))
		usage_add(&n->sum, &more);
	return !json_str_is(event, "type", "dispatch");
}

void agents_note_new(struct context_file *f, const struct agent_run *run)
{
	struct noted_usage n = {.run = run};
	CLEANUP(json_free)
	json *members =
		JSON_OBJECT(JSON_TEXT("action", run->action), JSON_TEXT("harness", run->harness),
			JSON_TEXT("agent_id", run->agent), JSON_TEXT("status", run->status),
			JSON_IF(run->detail, JSON_TEXT("detail", run->detail)));
	struct usage rest = {.cost_usd = -1, .ms = -1};

	context_each_event(f, run->action, add_noted, &n);
	usage_add_tokens(&rest, run->used.input_tokens - n.sum.input_tokens,
		run->used.output_tokens - n.sum.output_tokens,
		run->used.cache_tokens - n.sum.cache_tokens);
	usage_put(members, &rest, usage_members, false);
	if (rest.input_tokens || rest.output_tokens || rest.cache_tokens)
		agents_note_run(f, members);
}

void agents_note_turn(struct context_file *f, const char *key, const char *action)
{
	json_put_texts(context_event(f, AGENT_TURN), "action", action, "entry", key);
}
