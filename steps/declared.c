#include "steps/steps.h"

static const char *declared_arguments(struct step_context *c, const struct declared_action *item)
{
	CLEANUP(buf_release) struct buf args = BUF_INIT;

	for (size_t i = 0; i < item->n_args; i++) {
		const char *word = item->args[i];

		if (strcmp(word, "ID") == 0)
			word = c->id;
		else if (strcmp(word, "SPEC_PATH") == 0)
			word = context_get(c->doc, "spec_path").p;
		buf_addf(&args, "%s%s", i ? " " : "", word);
	}
	return args.len ? arena_dup(c->arena, buf_str(&args)) : NULL;
}

static const char *words(struct step_context *c, const struct declared_action *item)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	for (size_t i = 0; i < item->n_outcomes; i++)
		buf_addf(&text, "%s%s", i ? " | " : "", item->outcomes[i].word);
	return arena_dup(c->arena, buf_str(&text));
}

static void request_item(struct step_context *c, const struct declared_action *item)
{
	struct step_request *r =
		item->child ? steps_request_child(c, item, words(c, item))
		: item->approve
			? steps_request_approval(c, item->approve, item->writes, words(c, item))
		: item->agent ? steps_request_agent(c, "", item->agent, item->skill, item->writes,
					words(c, item), STEPS_READS(NULL))
			      : steps_request_command(c, c->declared->name, item->command,
					item->timeout_s, item->writes);

	if (!r)
		return;
	r->args = declared_arguments(c, item);
	r->format = words(c, item);
	r->message = arena_printf(c->arena, "%s: %s", c->declared->name, item->writes);
	for (size_t i = 0; i < item->n_reads; i++)
		steps_add_reads(c, r, item->reads[i]);
}

static bool declared_is_good(const struct step_context *c, const struct declared_action *item,
	const struct declared_outcome *o)
{
	return o == item->outcomes ||
	       (c->declared->order && !strcmp(o->trigger, item->outcomes->trigger));
}

static const struct declared_outcome *outcome_of(
	const struct declared_action *item, const char *word)
{
	for (size_t i = 0; i < item->n_outcomes; i++)
		if (strcmp(word, item->outcomes[i].word) == 0)
			return &item->outcomes[i];
	return NULL;
}

/* `all`: all that its first word claims; else only that its state may be left. */
static void claim(struct step_context *c, const struct declared_action *item, bool all)
{
	struct step_claim claim = {.section = item->writes,
		.kinds = all ? item->evidence.kinds : 0,
		.command = all ? item->evidence.command : NULL,
		.script = item->command != NULL,
		.declared = true};

	vec_push_in(c->arena, &c->claims, claim);
}

static bool is_checked(
	const struct step_context *c, const struct declared_action *item, const json *action)
{
	const char *name = action ? json_get_str(action, "id") : item->writes;

	return json_has_text(c->checked, name);
}

/* By item: its action of the present array, or NULL. */
static const json **find_actions(const struct step_context *c)
{
	const json **found = arena_alloc(c->arena, c->declared->n * sizeof(const json *));

	for (const json *a = json_first(c->actions); a; a = json_next(a)) {
		const struct declared_action *item =
			workflow_item(c->declared, json_get_str(a, "write_section"));

		if (item)
			found[item - c->declared->items] = a;
	}
	return found;
}

/* ---- requests ---- */

/* Adds the answer of an item. *word: it lets other actions go on; a claim must be checked first. */
static enum item_status declared_look(struct step_context *c, const struct declared_action *item,
	const json *action, const char **word)
{
	const struct declared_outcome *o;
	const char *format;

	if (!steps_has_answer(c, item->writes, !item->agent, action))
		return action && !action_answered(c->doc, action) ? ITEM_DISPATCHED : ITEM_WAITING;
	format = words(c, item);
	o = outcome_of(item, steps_word(c, item->writes, format, action));
	vec_push_in(c->arena, &c->answers,
		(struct step_answer){item->writes, format, o ? o->word : ""});
	if (o == item->outcomes && item->needed && item->evidence.kinds &&
		!is_checked(c, item, action))
		claim(c, item, true);
	else if (o)
		*word = o->word;
	return ITEM_ANSWERED;
}

const enum item_status *steps_declared_status(struct step_context *c)
{
	const struct declared_state *d = c->declared;
	enum item_status *status = arena_alloc(c->arena, d->n * sizeof(*status));
	const char **word = arena_alloc(c->arena, d->n * sizeof(*word));
	const json **actions = find_actions(c);

	for (size_t i = 0; i < d->n; i++) {
		status[i] = declared_look(c, &d->items[i], actions[i], &word[i]);
		c->open |= status[i] == ITEM_DISPATCHED;
	}
	workflow_frontier(d, word, status);
	return status;
}

/* The state was entered more often than its limit allows: it requests nothing. */
static bool declared_is_spent(const struct step_context *c)
{
	const struct declared_rules *rules = &c->declared->rules;

	return rules->limit && context_visits(c->doc, c->declared->name) > rules->limit;
}

static void declared_request(struct step_context *c)
{
	const struct declared_state *d = c->declared;
	const enum item_status *status;

	if (declared_is_spent(c))
		return;
	status = steps_declared_status(c);
	for (size_t i = 0; i < d->n; i++)
		if (status[i] == ITEM_READY)
			request_item(c, &d->items[i]);
	c->partly = c->answers.n > 0;
}

/* ---- the decision ---- */

static unsigned effects_of(const struct declared_rules *rules)
{
	unsigned effects = EFFECT_NONE;

	for (size_t i = 0; i < rules->n_effects; i++)
		effects |= strcmp(rules->effects[i], "commit") ? EFFECT_PUSH : EFFECT_COMMIT;
	return effects;
}

/*
 * If every answer is good, the first item's good trigger; else the trigger of the first answer that
 * is not. What was found becomes Last Failure, for the agent that fixes it.
 */
static void declared_decide(struct step_context *c)
{
	CLEANUP(buf_release) struct buf failures = BUF_INIT;
	const struct declared_outcome *found = NULL;
	const json **actions = find_actions(c);

	if (declared_is_spent(c)) {
		steps_set_trigger(c, c->declared->rules.limit_trigger);
		return;
	}
	for (size_t i = 0; i < c->answers.n; i++) {
		const struct step_answer *a = &c->answers.items[i];
		const struct declared_action *item = workflow_item(c->declared, a->section);
		const struct declared_outcome *o = outcome_of(item, a->word);

		if (declared_is_good(c, item, o)) {
			if (!c->verified)
				claim(c, item,
					o == item->outcomes &&
						!is_checked(c, item,
							actions[item - c->declared->items]));
			continue;
		}
		found = found ? found : o;
		steps_add_failure(c, &failures, item->writes);
	}
	steps_set_trigger(c, found ? found->trigger : c->declared->items[0].outcomes[0].trigger);
	if (!found) {
		c->effects = effects_of(&c->declared->rules);
		return;
	}
	c->claims.n = 0;
	context_put(c->doc, CONTEXT_LAST_FAILURE, buf_str(&failures));
}

/* ---- another attempt ---- */

/* The word of an item's answer; NULL: it has none. *lost: it is none that is good. */
static const char *look_again(
	struct step_context *c, const struct declared_action *item, const json *action, bool *lost)
{
	const struct declared_outcome *o = NULL;

	if (steps_has_answer(c, item->writes, !item->agent, action))
		o = outcome_of(item, steps_word(c, item->writes, words(c, item), action));
	*lost = !o || !declared_is_good(c, item, o) || json_get(action, "violation");
	return o ? o->word : NULL;
}

bool steps_declared_again(struct step_context *c)
{
	const struct declared_state *d = c->declared;
	enum item_status *status = arena_alloc(c->arena, d->n * sizeof(*status));
	const char **word = arena_alloc(c->arena, d->n * sizeof(*word));
	bool *lost = arena_alloc(c->arena, d->n * sizeof(*lost)), any = false;
	const json **actions = find_actions(c);

	for (size_t i = 0; i < d->n; i++) {
		word[i] = look_again(c, &d->items[i], actions[i], &lost[i]);
		status[i] = word[i] ? ITEM_ANSWERED : ITEM_WAITING;
	}
	workflow_frontier(d, word, status);
	for (size_t o = 0; o < d->n; o++) {
		size_t i = d->order[o];

		lost[i] &= status[i] != ITEM_SKIPPED;
		for (size_t k = 0; k < d->items[i].n_after; k++)
			lost[i] |= lost[d->items[i].needs[k].item];
		if (lost[i])
			context_remove(c->doc, d->items[i].writes);
		any |= lost[i];
	}
	return any;
}

const struct step steps_declared = {
	.state = "(declared)",
	.about = "a state that the workflow declares",
	.pending = "declared",
	.void_counter = "review_cycle_count",
	.triggers = (const char *const[]){NULL}, /* they are the workflow's */
	.together = true,
	.request = declared_request,
	.decide = declared_decide,
};
