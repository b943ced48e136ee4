#include "src/base/clock.h"
#include "src/verify/simulator.h"
#include "steps/steps.h"

#define DIRECTORY  "/work"
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

static struct disk *create_memory_disk(uint64_t seed)
{
	(void)seed;
	return simulator_disk_new();
}

const struct simulator_disk simulator_memory_disk = {
	.create = create_memory_disk,
	.copy = simulator_disk_copy,
	.release = simulator_disk_free,
	.put = simulator_disk_put,
};

static struct simulator *simulator_on(const struct workflow *w, const char *id,
	const struct simulator_disk *kind, struct disk *disk)
{
	struct simulator *s = xmalloc(sizeof(*s));

	*s = (struct simulator){.workflow = w,
		.disk_kind = kind,
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
	const struct workflow *w, const char *id, const struct simulator_disk *kind, uint64_t seed)
{
	return simulator_on(w, id, kind, kind->create(seed));
}

struct simulator *simulator_copy(const struct simulator *s)
{
	struct simulator *copy =
		simulator_on(s->workflow, s->id, s->disk_kind, s->disk_kind->copy(s->disk));

	copy->now = s->now;
	copy->observer = s->observer;
	copy->environment = s->environment;
	if (s->environment.running)
		copy->environment.running = arena_dup(&copy->arena, str_of(s->environment.running));
	return copy;
}

void simulator_free(struct simulator **s)
{
	if (!*s)
		return;
	(*s)->disk_kind->release(&(*s)->disk);
	arena_release(&(*s)->arena);
	free(*s);
	*s = NULL;
}

/* Each invocation has a time of its own. */
static int enter(
	struct simulator *s, struct context_file *f, enum context_mode mode, struct error *err)
{
	s->now++;
	clock_fix(s->now);
	return context_open_on(f, store_files(s->disk), s->path, mode, err);
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

static int call(struct simulator *s, const struct simulator_event *e, json **actions,
	enum answer_outcome *outcome, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	if (enter(s, &f, e->step ? CONTEXT_MAY_CREATE : CONTEXT_MUST_EXIST, err) < 0)
		return -1;
	if (e->action)
		return answer_record(&f, e->owner, e->action, e->word, e->text, outcome, err);
	if (e->key) {
		context_set(&f.doc, e->key, e->text);
		return context_save(&f, err);
	}
	if (run_machine(s, e->step, &f, &out, err) < 0)
		return -1;
	return json_parse(actions, buf_str(&out), err);
}

static int observed_call(struct simulator *s, struct simulator_event e, json **actions,
	enum answer_outcome *outcome, struct error *err)
{
	const struct simulator_observer *o = s->observer;
	int rc;

	if (o)
		o->before(o->data, s, &e);
	rc = call(s, &e, actions, outcome, err);
	e.printed = actions ? *actions : NULL;
	e.error = rc < 0 ? err : NULL;
	if (o)
		o->after(o->data, s, &e);
	return rc;
}

int simulator_step(
	struct simulator *s, const struct simulator_call *step, json **actions, struct error *err)
{
	*actions = NULL;
	return observed_call(s, (struct simulator_event){.step = step}, actions, NULL, err);
}

int simulator_record(struct simulator *s, const char *owner, const char *action, const char *word,
	struct str text, enum answer_outcome *outcome, struct error *err)
{
	struct simulator_event e = {.owner = owner, .action = action, .word = word, .text = text};

	return observed_call(s, e, NULL, outcome, err);
}

int simulator_set(struct simulator *s, const char *key, struct str value, struct error *err)
{
	struct simulator_event e = {.key = key, .text = value};

	return observed_call(s, e, NULL, NULL, err);
}

int simulator_open(const struct simulator *s, struct context_file *f, struct error *err)
{
	return context_open_on(f, store_files(s->disk), s->path, CONTEXT_READ_ONLY, err);
}
