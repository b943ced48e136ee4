#include "src/base/clock.h"
#include "src/verify/simulator.h"
#include "steps/steps.h"

#define DIRECTORY  "/state"
#define REPOSITORY "/repo"

enum { START = 1800000000 }; /* 2027-01-15T08:00:00Z */

static int find_specs(
	void *data, struct arena *a, const char *id, char ***paths, size_t *n, struct error *err)
{
	struct simulator *s = data;

	(void)id;
	s->environment.requested |= EFFECT_FIND_SPEC;
	if (s->environment.find_fails)
		return error_set(err, ERR_SYSTEM, "cannot search for specs");
	*n = s->environment.specs;
	*paths = arena_alloc(a, (*n + 1) * sizeof(**paths));
	for (size_t i = 0; i < *n; i++)
		(*paths)[i] = arena_printf(a, "_spec_%zu.md", i + 1);
	return 0;
}

static int carry_out(
	void *data, const struct effect_kind *kind, const char *id, bool *done, struct error *err)
{
	struct simulator *s = data;
	struct simulator_environment *e = &s->environment;

	(void)id;
	e->requested |= kind->effect;
	if (kind->effect == EFFECT_COMMIT ? e->commit_fails
					  : kind->effect == EFFECT_PUSH && e->push_fails)
		return error_set(err, ERR_SYSTEM, "cannot %s", kind->name);
	*done = kind->effect == EFFECT_COMMIT ? !e->nothing_to_commit
					      : kind->effect != EFFECT_PUSH || !e->no_remote;
	return 0;
}

static int failing_checks(
	void *data, struct arena *a, const char *pr_url, char **text, struct error *err)
{
	struct simulator *s = data;

	(void)pr_url;
	s->environment.requested |= EFFECT_PR_CHECKS;
	if (s->environment.checks == CHECKS_UNKNOWN)
		return error_set(err, ERR_SYSTEM, "cannot read the checks");
	*text = arena_dup(a, s->environment.checks == CHECKS_RED ? STR("build: failed") : STR(""));
	return 0;
}

static bool still_running(void *data, const struct context_file *f, const char *id)
{
	const struct simulator *s = data;

	(void)f;
	return s->environment.running && strcmp(s->environment.running, id) == 0;
}

const struct simulator_kind simulator_in_memory = {
	.create = simulator_disk_new,
	.copy = simulator_disk_copy,
	.release = simulator_disk_free,
	.put = simulator_disk_put,
	.invoke = simulator_invoke,
};

static struct simulator *simulator_on(const struct workflow *w, const char *id,
	const struct simulator_kind *kind, struct disk *disk)
{
	struct simulator *s = xmalloc(sizeof(*s));

	*s = (struct simulator){.workflow = w,
		.kind = kind,
		.disk = disk,
		.now = START,
		.environment = {.specs = 1}};
	s->id = arena_dup(&s->arena, str_of(id));
	s->dir = DIRECTORY;
	s->path = arena_printf(&s->arena, DIRECTORY "/%s.md", id);
	s->journal = arena_printf(&s->arena, DIRECTORY "/%s.events.jsonl", id);
	return s;
}

struct simulator *simulator_new(
	const struct workflow *w, const char *id, const struct simulator_kind *kind)
{
	return simulator_on(w, id, kind, kind->create());
}

struct simulator *simulator_copy(const struct simulator *s)
{
	struct simulator *copy = simulator_on(s->workflow, s->id, s->kind, s->kind->copy(s->disk));

	copy->now = s->now;
	copy->environment = s->environment;
	if (s->environment.running)
		copy->environment.running = arena_dup(&copy->arena, str_of(s->environment.running));
	return copy;
}

void simulator_free(struct simulator **s)
{
	if (!*s)
		return;
	(*s)->kind->release(&(*s)->disk);
	arena_release(&(*s)->arena);
	free(*s);
	*s = NULL;
}

static int run_machine(struct simulator *s, const struct simulator_call *call,
	struct context_file *f, struct buf *out, struct error *err)
{
	const struct workflow *w = s->workflow;
	struct environment environment = {.find_specs = find_specs,
		.carry_out = carry_out,
		.failing_checks = failing_checks,
		.still_running = still_running,
		.data = s};
	struct engine e = {.file = f,
		.workflow = w,
		.step_for = steps_find,
		.environment = &environment,
		.id = s->id,
		.research_skill = w->research_skill ? w->research_skill : "researcher-plan",
		.repo = REPOSITORY,
		.returned = call->returned,
		.returned_id = call->returned_id,
		.owner = call->owner,
		.take_over = call->take_over};

	return engine_step(&e, out, err);
}

int simulator_invoke(
	struct simulator *s, const struct simulator_call *c, json **printed, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	bool is_step = !c->action && !c->key;

	/* Each invocation has a time of its own. */
	clock_fix(++s->now);
	if (context_open_on(&f, store_files(s->disk), s->path,
		    is_step ? CONTEXT_MAY_CREATE : CONTEXT_MUST_EXIST, err) < 0)
		return -1;
	if (c->action) {
		struct answer_offer offer = {
			.owner = c->owner, .id = c->action, .word = c->word, .text = c->text};
		int rc = answer_record(&f, &offer, err);

		s->outcome = offer.outcome;
		return rc;
	}
	if (c->key) {
		context_set(&f.doc, c->key, c->text);
		return context_save(&f, err);
	}
	return run_machine(s, c, &f, &out, err) < 0 ? -1 : json_parse(printed, buf_str(&out), err);
}

int simulator_read(const struct simulator *s, struct context *c, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	bool missing;

	if (s->disk->ops->read(s->disk, s->path, CONTEXT_MAX, &text, &missing, err) < 0)
		return -1;
	return context_parse_buf(c, s->path, &text, err);
}
