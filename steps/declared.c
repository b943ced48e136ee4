#include "steps/steps.h"

static const char *arguments(struct step_context *c, const struct declared_action *item)
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
	struct step_request *r = item->agent
					 ? steps_request_agent(c, "", item->agent, item->skill,
						   item->writes, NULL, STEPS_READS(NULL))
					 : steps_request_command(c, c->declared->name,
						   item->command, item->timeout_s, item->writes);

	if (!r)
		return;
	r->args = arguments(c, item);
	r->format = words(c, item);
	r->message = arena_printf(c->arena, "%s: %s", c->declared->name, item->writes);
	for (size_t i = 0; i < item->n_reads; i++)
		steps_add_reads(c, r, item->reads[i]);
}

static void request(struct step_context *c)
{
	for (size_t i = 0; i < c->declared->n; i++)
		request_item(c, &c->declared->items[i]);
}

/* The outcome of an item's answer, or NULL if it gives none of the item's words. */
static const struct declared_outcome *outcome_of(
	const struct step_context *c, const struct declared_action *item)
{
	const char *word = steps_answer_word(c, item->writes);

	if (!*word && !item->agent)
		word = steps_script_passed(c, item->writes) ? "passed" : "failed";
	for (size_t i = 0; i < item->n_outcomes; i++)
		if (strcmp(item->outcomes[i].word, word) == 0)
			return &item->outcomes[i];
	return NULL;
}

/*
 * If every answer is good, the first item's good trigger; else the trigger of the first answer that
 * is not. What was found becomes Last Failure, for the agent that fixes it.
 */
static void decide(struct step_context *c)
{
	CLEANUP(buf_release) struct buf failures = BUF_INIT;
	const struct declared_outcome *found = NULL;

	for (size_t i = 0; i < c->declared->n; i++) {
		const struct declared_action *item = &c->declared->items[i];
		const struct declared_outcome *o = outcome_of(c, item);

		if (!o) {
			steps_set_failed(c, item->writes,
				arena_printf(c->arena,
					"the answer in '%s' has none of the words %s", item->writes,
					words(c, item)));
			return;
		}
		if (o == item->outcomes)
			continue;
		found = found ? found : o;
		steps_add_failure(c, &failures, item->writes);
	}
	if (found)
		context_put(c->doc, CONTEXT_LAST_FAILURE, buf_str(&failures));
	steps_set_trigger(c, found ? found->trigger : c->declared->items[0].outcomes[0].trigger);
}

const struct step steps_declared = {
	.state = "(declared)",
	.about = "a state that the workflow declares",
	.pending = "declared",
	.triggers = (const char *const[]){NULL}, /* they are the workflow's */
	.request = request,
	.decide = decide,
};
