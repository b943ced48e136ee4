#include "steps/steps.h"
#include "src/machine/verdict.h"

enum { MAX_FIXES = 2000 }; /* more than any limit allows */

#define X(name) &step_##name,
const struct step *const steps[] = {
#include "steps/list.h"
	NULL,
};
#undef X

const struct step *steps_find(const struct workflow *w, const char *state)
{
	const struct workflow_state *st = workflow_state(w, state);

	if (!st)
		return NULL;
	if (st->declared)
		return st->declared->manifest ? &steps_graph : &steps_declared;
	for (size_t i = 0; steps[i]; i++)
		if (strcmp(steps[i]->state, state) == 0)
			return steps[i];
	return NULL;
}

const struct workflow_builtin *steps_builtin(void)
{
	static struct workflow_builtin table[COUNT(steps)];

	for (size_t i = 0; steps[i]; i++)
		table[i] = (struct workflow_builtin){steps[i]->state, steps[i]->triggers,
			steps[i]->evidence, steps[i]->answer, steps[i]->verdicts};
	return table;
}

const char *steps_word(
	const struct step_context *c, const char *section, const char *format, const json *action)
{
	const char *word = NULL;
	struct error ignored;

	if (action)
		return action_word(c->doc, action).p;
	return verdict_text_word(c->arena, context_section(c->doc, section), "status", format,
		       &word, &ignored) == 0
		       ? word
		       : "";
}

bool steps_has_answer(
	const struct step_context *c, const char *section, bool script, const json *action)
{
	return context_has_section(c->doc, section) &&
	       (!script || (action && json_get(action, "answered")));
}

/* Its answer is there, or others are: the missing ones are requested one at a time. */
static bool is_left_out(
	struct step_context *c, const char *section, const char *format, bool script)
{
	struct step_answer answer = {section, format, ""};
	const json *action = action_writing(c->actions, section);
	const char *word;

	if (!steps_has_answer(c, section, script, action))
		return c->partly && c->requests.n;
	word = steps_word(c, section, format, action);
	if (action_format_has(format, str_of(word)))
		answer.word = word;
	vec_push_in(c->arena, &c->answers, answer);
	c->partly = true;
	if (c->requests.n)
		c->requests.n = 1;
	return true;
}

static struct step_request *steps_add_request(struct step_context *c, struct step_request r)
{
	vec_push_in(c->arena, &c->requests, r);
	return &c->requests.items[c->requests.n - 1];
}

void steps_add_reads(struct step_context *c, struct step_request *r, const char *section)
{
	vec_push_in(c->arena, &r->reads, section);
}

/* In the order of their numbers. After a counter was set by hand, a number may be missing. */
static void add_fixes(struct step_context *c, struct step_request *r)
{
	size_t left = 0;

	for (size_t i = 0; i < context_sections(c->doc); i++)
		left += str_starts(context_section_name(c->doc, i), CONTEXT_FIX);
	for (unsigned long n = 1; left && n <= MAX_FIXES; n++) {
		const char *name = arena_printf(c->arena, CONTEXT_FIX "%lu", n);

		if (!context_has_section(c->doc, name))
			continue;
		steps_add_reads(c, r, name);
		left--;
	}
}

struct step_request *steps_request_agent(struct step_context *c, const char *doing,
	const char *agent, const char *skill, const char *writes, const char *format,
	const char *const *reads)
{
	struct step_request *r;

	if (is_left_out(c, writes, format, false))
		return NULL;
	r = steps_add_request(c, (struct step_request){.kind = ACTION_AGENT,
					 .message = arena_printf(c->arena, "%s %s", doing, c->id),
					 .agent = agent,
					 .skill = skill,
					 .args = c->id,
					 .writes = writes,
					 .format = format});
	for (; *reads; reads++)
		if (strcmp(*reads, STEPS_FIXES) == 0)
			add_fixes(c, r);
		else if (strcmp(*reads, STEPS_LANDING) != 0 || context_has_section(c->doc, *reads))
			steps_add_reads(c, r, *reads);
	return r;
}

const char *steps_reviewer(const struct step_context *c)
{
	return c->workflow->reviewer ? c->workflow->reviewer : "reviewer";
}

struct step_request *steps_request_approval(
	struct step_context *c, const char *what, const char *writes, const char *format)
{
	if (is_left_out(c, writes, format, true))
		return NULL;
	return steps_add_request(c, (struct step_request){.kind = ACTION_APPROVAL,
					    .approve = what,
					    .writes = writes,
					    .format = format});
}

struct step_request *steps_request_child(
	struct step_context *c, const struct declared_action *item, const char *format)
{
	if (is_left_out(c, item->writes, format, true))
		return NULL;
	return steps_add_request(c, (struct step_request){.kind = ACTION_CHILD,
					    .child = item->child,
					    .child_workflow = item->workflow,
					    .task = item->task,
					    .writes = item->writes,
					    .format = format});
}

bool steps_answer_is(const struct step_context *c, const char *section, const char *word)
{
	for (size_t i = 0; i < c->answers.n; i++)
		if (strcmp(c->answers.items[i].section, section) == 0)
			return strcmp(c->answers.items[i].word, word) == 0;
	return false;
}

const char *steps_quote(struct step_context *c, const char *text)
{
	CLEANUP(buf_release) struct buf word = BUF_INIT;

	buf_add_shell(&word, str_of(text));
	return arena_dup(c->arena, buf_str(&word));
}

static bool is_excepted(const struct workflow_security *s, const char *name)
{
	for (size_t i = 0; i < s->n_except; i++)
		if (strcmp(s->except[i], name) == 0)
			return true;
	return false;
}

struct step_request *steps_request_command(struct step_context *c, const char *name,
	const char *rest, unsigned timeout_s, const char *writes)
{
	const struct workflow_security *s = &c->workflow->security;
	struct step_request r = {.kind = ACTION_SCRIPT,
		.command = rest,
		.timeout_s = timeout_s,
		.writes = writes,
		.format = "passed | failed"};

	if (is_left_out(c, writes, r.format, true))
		return NULL;
	if (s->policy && !is_excepted(s, name)) {
		r.policy = s->policy;
		r.violation = s->violation;
	}
	return steps_add_request(c, r);
}

const char *steps_validate_command(const struct step_context *c)
{
	return c->workflow->validate ? c->workflow->validate : WORKFLOW_VALIDATE;
}

struct step_request *steps_request_validated(struct step_context *c, const char *name,
	const char *rest, unsigned timeout_s, const char *writes)
{
	const struct workflow_security *s = &c->workflow->security;
	const char *validate = steps_validate_command(c);
	bool apart = s->policy && is_excepted(s, name) && !is_excepted(s, "validate");
	struct step_request *r = steps_request_command(c, name,
		apart ? rest : arena_printf(c->arena, "(%s) && (%s)", validate, rest), timeout_s,
		writes);

	if (r && apart)
		r->first = validate;
	return r;
}

const char *steps_fix_section(struct step_context *c)
{
	return arena_printf(c->arena, CONTEXT_FIX "%lu", 1 + context_fixes(c->doc));
}

struct str steps_clip(struct step_context *c, struct str text)
{
	struct str start = str_cut(text, (size_t)1 << 20);

	if (start.n == text.n)
		return text;
	return str_of(arena_printf(c->arena, "%.*s\n\n(%zu bytes more are left out here)",
		(int)start.n, start.p, text.n - start.n));
}

void steps_add_failure(struct step_context *c, struct buf *failures, const char *section)
{
	if (failures->len)
		buf_adds(failures, "\n\n---\n\n");
	buf_addf(failures, "%s:\n\n", section);
	buf_add(failures, steps_clip(c, context_section(c->doc, section)));
}

void steps_set_trigger(struct step_context *c, const char *trigger)
{
	c->result = STEP_TRANSITION;
	c->trigger = trigger;
}

bool steps_claim(struct step_context *c, const char *section, unsigned kinds)
{
	struct step_claim claim = {
		.section = section, .kinds = kinds, .script = kinds == EVIDENCE_TREE};

	if (!c->verified)
		vec_push_in(c->arena, &c->claims, claim);
	return c->verified;
}

void steps_set_failed(struct step_context *c, const char *section, const char *reason)
{
	c->result = STEP_FAILED;
	c->section = section;
	c->reason = reason;
}
