/*
 * retries.c: how often requests have failed in a row. A state that waits for its whole array has
 * one count, `consecutive_failures`. Where actions wait for each other, others answer while one
 * fails again and again: there each has a count of its own in `failures`, by section, since a
 * failed action is not outstanding until it is requested again; so has the end of the state.
 * `consecutive_failures` is the largest of them, and none counts for more than that, so that
 * whoever sets it to 0 sets them all.
 */
#include "src/machine/agents.h"
#include "src/machine/engine_internal.h"

#define COUNTER "consecutive_failures"

bool engine_counts_each(const struct engine_run *r)
{
	const struct declared_state *d = engine_declared(r);

	return d && d->order && d->n > 1;
}

json *engine_failures(const struct engine_run *r)
{
	int64_t most = (int64_t)context_count(r->doc, COUNTER);
	CLEANUP(json_free) json *all = NULL;
	json *counts;

	if (!engine_counts_each(r))
		return NULL;
	all = context_failures(r->doc);
	counts = json_object();
	for (const json *n = json_first(all); n && most; n = json_next(n)) {
		const char *section = json_key(n);
		int64_t count = json_int(n, 0);

		if (count > 0 && (strcmp(section, CONTEXT_FAILURES_END) == 0 ||
					 workflow_item(engine_declared(r), section)))
			json_put_int(counts, section, count < most ? count : most);
	}
	return counts;
}

bool engine_review_is_late(const struct engine_run *r, const json *action)
{
	return action_accepts(action, STR("changes_requested")) &&
	       !action_answered(r->doc, action) &&
	       agents_timed_out(r->e->file, json_get_str(action, "id"));
}

void engine_count_unanswered(struct engine_run *r, unsigned long count)
{
	unsigned long limit = r->e->workflow->limits.consecutive_failures;

	for (const json *a = json_first(r->outstanding); a && count < limit; a = json_next(a))
		if (engine_review_is_late(r, a))
			count = limit;
	context_set_count(r->doc, COUNTER, count);
}

unsigned long engine_add_failure(json *counts, const char *section, unsigned long least)
{
	int64_t n = json_get_int(counts, section, 0) + 1;

	n = n < (int64_t)least ? (int64_t)least : n;
	JSON_SET(counts, JSON_INT(section, n));
	return (unsigned long)n;
}

void engine_set_failures(struct engine_run *r, const json *counts)
{
	int64_t most = 0;

	for (const json *n = json_first(counts); n; n = json_next(n))
		most = json_int(n, 0) > most ? json_int(n, 0) : most;
	context_set_failures(r->doc, counts);
	context_set_count(r->doc, COUNTER, (unsigned long)most);
}

/* An answer that claims something is good once that is checked. */
static bool is_good(const struct engine_run *r, const char *section, const json *checked)
{
	const struct declared_action *item = workflow_item(engine_declared(r), section);
	const json *action = action_writing(r->outstanding, section);
	struct str word;

	if (!item)
		return false;
	if (!action)
		return context_has_section(r->doc, section);
	if (!action_answered(r->doc, action))
		return false;
	word = action_word(r->doc, action);
	return word.n && (!item->evidence.kinds || !str_is(word, item->outcomes->word) ||
				 json_has_text(checked, json_get_str(action, "id")));
}

void engine_forget_answered(struct engine_run *r, const json *checked)
{
	CLEANUP(json_free) json *counts = engine_failures(r);
	bool changed = false;

	for (const json *n = json_first(counts), *next; n; n = next) {
		next = json_next(n);
		if (!is_good(r, json_key(n), checked))
			continue;
		json_drop(counts, json_key(n));
		changed = true;
	}
	if (changed)
		engine_set_failures(r, counts);
}

static bool has_reached(const struct engine_run *r, const json *count)
{
	return (unsigned long)json_int(count, 0) >= r->e->workflow->limits.consecutive_failures;
}

void engine_forget_reached(struct engine_run *r)
{
	CLEANUP(json_free) json *counts = engine_failures(r);

	for (const json *n = json_first(counts), *next; n; n = next) {
		next = json_next(n);
		if (has_reached(r, n))
			json_drop(counts, json_key(n));
	}
	engine_set_failures(r, counts);
}

void engine_forget_each(struct engine_run *r)
{
	CLEANUP(json_free) json *counts = context_failures(r->doc);

	if (json_first(counts))
		engine_set_failures(r, NULL);
}

json *engine_reached(const struct engine_run *r)
{
	CLEANUP(json_free) json *counts = engine_failures(r);
	json *sections = json_array();

	for (const json *n = json_first(counts); n; n = json_next(n))
		if (has_reached(r, n) && strcmp(json_key(n), CONTEXT_FAILURES_END) != 0)
			json_push_str(sections, str_of(json_key(n)));
	if (!json_first(sections))
		json_free(&sections);
	return sections;
}
