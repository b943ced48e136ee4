#include "steps/steps.h"
#include "src/machine/verdict.h"

static const char *arguments(struct moment *m, const struct item *item)
{
	CLEANUP(buf_release) struct buf args = BUF_INIT;

	for (size_t i = 0; i < item->n_args; i++) {
		const char *word = item->args[i];

		if (strcmp(word, "ID") == 0)
			word = m->id;
		else if (strcmp(word, "SPEC_PATH") == 0)
			word = context_get(m->doc, "spec_path").p;
		buf_addf(&args, "%s%s", i ? " " : "", word);
	}
	return args.len ? arena_dup(m->arena, buf_str(&args)) : NULL;
}

static const char *words(struct moment *m, const struct item *item)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	for (size_t i = 0; i < item->n_outcomes; i++)
		buf_addf(&text, "%s%s", i ? " | " : "", item->outcomes[i].word);
	return arena_dup(m->arena, buf_str(&text));
}

static void ask_item(struct moment *m, const struct item *item)
{
	struct request *r;

	if (item->agent)
		r = ask_agent(m, item->agent, item->skill, arguments(m, item), item->writes, NULL);
	else
		r = ask_command(m, m->declared->name, item->command, item->timeout_s, item->writes);
	r->format = words(m, item);
	r->message = arena_printf(m->arena, "%s: %s", m->declared->name, item->writes);
	for (size_t i = 0; i < item->n_reads; i++)
		ask_reads(m, r, item->reads[i]);
}

static void ask(struct moment *m)
{
	bool partly = false;

	for (size_t i = 0; i < m->declared->n; i++)
		partly |= context_has_section(m->doc, m->declared->items[i].writes);
	m->partly = partly;
	for (size_t i = 0; i < m->declared->n; i++)
		if (!context_has_section(m->doc, m->declared->items[i].writes) &&
			!(partly && m->n_requests))
			ask_item(m, &m->declared->items[i]);
}

/* The outcome of an item's answer; NULL when the answer gives none of its words. */
static const struct outcome *outcome_of(const struct moment *m, const struct item *item)
{
	const char *word = answer_word(m, item->writes);

	if (!*word && !item->agent)
		word = verdict_passed(context_section(m->doc, item->writes)) ? "passed" : "failed";
	for (size_t i = 0; i < item->n_outcomes; i++)
		if (strcmp(item->outcomes[i].word, word) == 0)
			return &item->outcomes[i];
	return NULL;
}

static void add_failure(struct moment *m, struct buf *failures, const struct item *item)
{
	if (failures->len)
		buf_adds(failures, "\n\n---\n\n");
	buf_addf(failures, "%s:\n\n", item->writes);
	buf_add(failures, clipped(m, context_section(m->doc, item->writes)));
}

/*
 * All good: the first item's good trigger. Else that of the first item that is not good; what was
 * found becomes Last Failure, so that who mends it can read it.
 */
static void decide(struct moment *m)
{
	CLEANUP(buf_release) struct buf failures = BUF_INIT;
	const struct outcome *found = NULL;

	for (size_t i = 0; i < m->declared->n; i++) {
		const struct item *item = &m->declared->items[i];
		const struct outcome *o = outcome_of(m, item);

		if (!o) {
			could_not(m, item->writes,
				arena_printf(m->arena,
					"the answer in '%s' has none of the words %s", item->writes,
					words(m, item)));
			return;
		}
		if (o == item->outcomes)
			continue;
		found = found ? found : o;
		add_failure(m, &failures, item);
	}
	if (found)
		context_put(m->doc, "Last Failure", buf_str(&failures));
	gives(m, found ? found->trigger : m->declared->items[0].outcomes[0].trigger);
}

static const char *const no_triggers[] = {NULL}; /* they are the workflow's, not the step's */

const struct step step_declared = {
	.state = "(declared)",
	.about = "a state that the workflow declares",
	.pending = "declared",
	.triggers = no_triggers,
	.ask = ask,
	.decide = decide,
};
