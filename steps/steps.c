#include "steps/steps.h"
#include "src/machine/verdict.h"

enum { MAX_FIXES = 2000 }; /* more than any limit allows */

#define X(name) &step_##name,
const struct step *const steps[] = {
#include "steps/list.h"
	NULL,
};
#undef X

const struct step *step_for(const struct workflow *w, const char *state)
{
	const struct flow_state *fs = workflow_state(w, state);

	if (!fs)
		return NULL;
	if (fs->declared)
		return &step_declared;
	for (size_t i = 0; steps[i]; i++)
		if (strcmp(steps[i]->state, state) == 0)
			return steps[i];
	return NULL;
}

const struct serves *steps_serve(void)
{
	static struct serves table[COUNT(steps)];

	for (size_t i = 0; steps[i]; i++)
		table[i] = (struct serves){steps[i]->state, steps[i]->triggers};
	return table;
}

static struct request *add_request(struct moment *m)
{
	if (m->n_requests == m->cap_requests) {
		size_t cap = m->cap_requests ? m->cap_requests * 2 : 4;
		struct request *more = arena_alloc(m->arena, cap * sizeof(*more));

		if (m->n_requests)
			memcpy(more, m->requests, m->n_requests * sizeof(*more));
		m->requests = more;
		m->cap_requests = cap;
	}
	return &m->requests[m->n_requests++];
}

struct request *ask_agent(struct moment *m, const char *agent, const char *skill, const char *args,
	const char *writes, const char *format)
{
	struct request *r = add_request(m);

	*r = (struct request){
		.agent = agent, .skill = skill, .args = args, .writes = writes, .format = format};
	return r;
}

struct request *ask_script(
	struct moment *m, const char *command, unsigned timeout_s, const char *writes)
{
	struct request *r = add_request(m);

	*r = (struct request){.command = command,
		.timeout_s = timeout_s,
		.writes = writes,
		.format = "passed | failed"};
	return r;
}

void ask_reads(struct moment *m, struct request *r, const char *section)
{
	if (r->n_reads == r->cap_reads) {
		size_t cap = r->cap_reads ? r->cap_reads * 2 : 8;
		const char **more = arena_alloc(m->arena, cap * sizeof(*more));

		if (r->n_reads)
			memcpy(more, r->reads, r->n_reads * sizeof(*more));
		r->reads = more;
		r->cap_reads = cap;
	}
	r->reads[r->n_reads++] = section;
}

void ask_reads_if_there(struct moment *m, struct request *r, const char *section)
{
	if (context_has_section(m->doc, section))
		ask_reads(m, r, section);
}

void ask_reads_fixes(struct moment *m, struct request *r)
{
	unsigned long last = context_count(m->doc, "fix_iteration") +
			     context_count(m->doc, "review_fix_iteration");

	for (unsigned long n = 1; n <= MAX_FIXES; n++) {
		const char *name = arena_printf(m->arena, "Fix %lu", n);

		if (context_has_section(m->doc, name))
			ask_reads(m, r, name);
		else if (n > last)
			return;
	}
}

const char *answer_word(const struct moment *m, const char *section)
{
	char word[64];

	for (const json *a = json_first(m->outstanding); a; a = json_next(a))
		if (strcmp(json_get_str(a, "write_section"), section) == 0)
			return action_word(m->doc, a).p;
	if (!verdict_status(context_section(m->doc, section), word, sizeof(word)))
		return "";
	return arena_dup(m->arena, str_of(word));
}

/* `cd REPO || exit 125; rest`, quoted. */
static const char *command_in_repo(struct moment *m, const char *rest)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	buf_adds(&text, "cd ");
	buf_add_shell(&text, str_of(m->repo));
	buf_addf(&text, " || exit 125; %s",
		rest); /* `&&` would bind to the first part of `a; b` alone */
	return arena_dup(m->arena, buf_str(&text));
}

static const char *command_under(struct moment *m, const char *policy, const char *rest)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	buf_adds(&text, "dev-team policy exec --policy ");
	buf_add_shell(&text, str_of(policy));
	buf_adds(&text, " --cwd ");
	buf_add_shell(&text, str_of(m->repo));
	buf_adds(&text, " -- ");
	buf_add_shell(&text, str_of(rest));
	return arena_dup(m->arena, buf_str(&text));
}

/* A file of the repository, unless it is the name of a shipped one. */
static const char *policy_path(struct moment *m, const char *policy)
{
	bool file = strchr(policy, '/') || str_ends(str_of(policy), ".yaml") ||
		    str_ends(str_of(policy), ".yml");

	return file && policy[0] != '/' ? arena_printf(m->arena, "%s/%s", m->repo, policy) : policy;
}

static bool excepted(const struct flow_security *s, const char *name)
{
	for (size_t i = 0; i < s->n_except; i++)
		if (strcmp(s->except[i], name) == 0)
			return true;
	return false;
}

struct request *ask_command(struct moment *m, const char *name, const char *rest,
	unsigned timeout_s, const char *writes)
{
	const struct flow_security *s = &m->workflow->security;
	const char *policy;
	struct request *r;

	if (!s->policy || excepted(s, name))
		return ask_script(m, command_in_repo(m, rest), timeout_s, writes);
	policy = policy_path(m, s->policy);
	r = ask_script(m, command_under(m, policy, rest), timeout_s, writes);
	r->policy = policy;
	r->violation = s->violation;
	r->folder = m->repo;
	r->script = rest;
	return r;
}

const char *fix_section(struct moment *m)
{
	return arena_printf(m->arena, "Fix %lu",
		1 + context_count(m->doc, "fix_iteration") +
			context_count(m->doc, "review_fix_iteration"));
}

struct str clipped(struct moment *m, struct str text)
{
	size_t n = (size_t)1 << 20;

	if (text.n <= n)
		return text;
	while (((unsigned char)text.p[n] & 0xc0) == 0x80)
		n--;
	return str_of(arena_printf(m->arena, "%.*s\n\n(%zu bytes more are left out here)", (int)n,
		text.p, text.n - n));
}

void gives(struct moment *m, const char *trigger)
{
	m->meaning = MEANS_TRIGGER;
	m->trigger = trigger;
}

void could_not(struct moment *m, const char *section, const char *reason)
{
	m->meaning = MEANS_FAILED;
	m->section = section;
	m->reason = reason;
}
