#include "src/base/clock.h"
#include "src/verify/stage.h"
#include "steps/steps.h"

#define FOLDER "/stage"
#define REPO   "/repo"

enum { SECOND = 1, BEGIN = 1800000000 }; /* 2027-01-15T08:00:00Z */

static int find_specs(
	void *data, struct arena *a, const char *id, char ***paths, size_t *n, struct error *err)
{
	struct stage *s = data;

	(void)id;
	s->world.asked |= EFFECT_FIND_SPEC;
	if (s->world.find_fails)
		return error_set(err, ERR_SYSTEM, "cannot look for specs");
	*n = s->world.specs;
	*paths = arena_alloc(a, (*n + 1) * sizeof(**paths));
	for (size_t i = 0; i < *n; i++)
		(*paths)[i] = arena_printf(a, "_spec_%zu.md", i + 1);
	return 0;
}

static int commit_rest(void *data, const char *id, bool *made, struct error *err)
{
	struct stage *s = data;

	(void)id;
	s->world.asked |= EFFECT_COMMIT_PUSH;
	if (s->world.commit_fails)
		return error_set(err, ERR_SYSTEM, "cannot commit");
	*made = !s->world.nothing_to_commit;
	s->world.commits += *made;
	return 0;
}

static int push(void *data, bool *skipped, struct error *err)
{
	struct stage *s = data;

	s->world.asked |= EFFECT_PUSH;
	if (s->world.push_fails)
		return error_set(err, ERR_SYSTEM, "cannot push");
	*skipped = s->world.no_remote;
	s->world.pushes += !*skipped;
	return 0;
}

static int failing_checks(
	void *data, struct arena *a, const char *pr_url, char **text, struct error *err)
{
	struct stage *s = data;

	(void)pr_url;
	s->world.asked |= EFFECT_PR_CHECKS;
	if (s->world.checks == STAGE_CHECKS_UNKNOWN)
		return error_set(err, ERR_SYSTEM, "cannot ask for the checks");
	*text = arena_dup(a, s->world.checks == STAGE_CHECKS_RED ? STR("build: failed") : STR(""));
	return 0;
}

static bool still_running(void *data, const struct context_file *f, const char *id)
{
	const struct stage *s = data;

	(void)f;
	return s->world.running && strcmp(s->world.running, id) == 0;
}

static struct stage *set_up(const struct workflow *w, const char *id, struct disk *disk)
{
	struct stage *s = xmalloc(sizeof(*s));

	*s = (struct stage){.workflow = w, .disk = disk, .now = BEGIN, .world = {.specs = 1}};
	s->id = arena_dup(&s->arena, str_of(id));
	s->path = arena_printf(&s->arena, FOLDER "/%s.md", id);
	return s;
}

struct stage *stage_new(const struct workflow *w, const char *id, uint64_t seed)
{
	return set_up(w, id, sim_disk_new(seed));
}

struct stage *stage_copy(const struct stage *s)
{
	struct stage *copy = set_up(s->workflow, s->id, sim_disk_copy(s->disk));

	copy->now = s->now;
	copy->world = s->world;
	if (s->world.running)
		copy->world.running = arena_dup(&copy->arena, str_of(s->world.running));
	return copy;
}

void stage_free(struct stage **s)
{
	if (!*s)
		return;
	sim_disk_free(&(*s)->disk);
	arena_release(&(*s)->arena);
	free(*s);
	*s = NULL;
}

/* Time goes on between two invocations, so that none has the time of another. */
static int enter(struct stage *s, struct context_file *f, enum context_mode mode, struct error *err)
{
	s->now += SECOND;
	clock_fix(s->now);
	return context_open_on(f, s->disk, s->path, mode, err);
}

static void leave(struct stage *s, const struct context_file *f)
{
	if (s->closing)
		s->closing(s->data, &f->doc);
}

static int run_machine(struct stage *s, const struct stage_call *call, struct context_file *f,
	struct buf *out, struct error *err)
{
	const struct workflow *w = s->workflow;
	struct environment environment = {.find_specs = find_specs,
		.commit_rest = commit_rest,
		.push = push,
		.failing_checks = failing_checks,
		.still_running = still_running,
		.data = s};
	struct engine m = {.file = f,
		.workflow = w,
		.step_for = step_for,
		.environment = &environment,
		.id = s->id,
		.research_skill = w->research_skill ? w->research_skill : "researcher-plan",
		.repo = REPO,
		.returned = call->returned,
		.returned_id = call->returned_id,
		.owner = call->owner,
		.take_over = call->take_over};

	return engine_step(&m, out, err);
}

int stage_step(struct stage *s, const struct stage_call *call, json **actions, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	*actions = NULL;
	if (enter(s, &f, CONTEXT_MAY_CREATE, err) < 0 || run_machine(s, call, &f, &out, err) < 0)
		return -1;
	leave(s, &f);
	return json_parse(actions, buf_str(&out), err);
}

int stage_record(struct stage *s, const char *owner, const char *action, const char *word,
	struct str text, enum answer_fate *fate, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};

	if (enter(s, &f, CONTEXT_MUST_EXIST, err) < 0)
		return -1;
	if (answer_record_by(&f, owner, action, word, text, fate, err) < 0)
		return -1;
	leave(s, &f);
	return 0;
}

int stage_set(struct stage *s, const char *key, struct str value, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};

	if (enter(s, &f, CONTEXT_MUST_EXIST, err) < 0)
		return -1;
	context_set(&f.doc, key, value);
	return context_save(&f, err);
}

int stage_look(const struct stage *s, struct context_file *f, struct error *err)
{
	return context_open_on(f, s->disk, s->path, CONTEXT_READ_ONLY, err);
}

bool stage_document(const struct stage *s, struct buf *out)
{
	return sim_disk_get(s->disk, s->path, out);
}

bool stage_journal(const struct stage *s, struct buf *out)
{
	struct arena a = {0};
	bool there = sim_disk_get(s->disk, arena_printf(&a, FOLDER "/%s.events.jsonl", s->id), out);

	arena_release(&a);
	return there;
}

void stage_put_document(struct stage *s, struct str text)
{
	sim_disk_put(s->disk, s->path, text);
}

void stage_fault(struct stage *s, unsigned n, enum sim_fault fault)
{
	sim_disk_plan(s->disk, n, fault);
}

void stage_restart(struct stage *s, bool power)
{
	sim_disk_restart(s->disk, power);
}
