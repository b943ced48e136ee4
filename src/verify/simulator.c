#include "src/base/clock.h"
#include "src/sys/path.h"
#include "src/verify/item_store.h"
#include "src/verify/simulator.h"
#include "steps/steps.h"

#define DIRECTORY  "/state"
#define REPOSITORY "/repo"

enum { START = 1800000000 }; /* 2027-01-15T08:00:00Z */

static int simulator_find_specs(void *data, struct arena *a, const struct environment_input *input,
	json **answer, struct error *err)
{
	struct simulator *s = data;

	(void)input;
	s->environment.requested |= EFFECT_FIND_SPEC;
	if (s->environment.find_fails)
		return error_set(err, ERR_SYSTEM, "cannot search for specs");
	*answer = json_array();
	for (size_t i = 0; i < s->environment.specs; i++)
		json_push_str(*answer, str_of(arena_printf(a, "_spec_%zu.md", i + 1)));
	return 0;
}

static void choose_place(struct arena *a, struct item_place *place)
{
	place->directory = arena_dup(a, STR("/worktree"));
	place->branch = arena_dup(a, STR("work"));
}

static int simulator_enter(void *data, struct arena *a, const struct environment_input *input,
	json **answer, struct error *err)
{
	struct simulator *s = data;
	struct item_place place = {0};

	if (input->place->directory)
		return 0;
	s->environment.requested |= SIMULATOR_PLACE;
	if (s->environment.enter_fails)
		return error_set(err, ERR_SYSTEM, "cannot make a worktree");
	choose_place(a, &place);
	*answer = place_to_json(&place, s->dir);
	return 0;
}

static int simulator_carry_out(void *data, struct arena *a, const struct environment_input *input,
	json **answer, struct error *err)
{
	struct simulator *s = data;
	struct simulator_environment *e = &s->environment;
	bool commit = strcmp(input->what, "commit") == 0;
	bool push = strcmp(input->what, "push") == 0;
	bool none = (commit && e->nothing_to_commit) || (push && e->no_remote);

	(void)a;
	e->requested |= (commit ? EFFECT_COMMIT : 0u) | (push ? EFFECT_PUSH : 0u);
	if ((commit && e->commit_fails) || (push && e->push_fails))
		return error_set(err, ERR_SYSTEM, "cannot %s", input->what);
	*answer = json_string(none ? STR("no") : STR("yes"));
	return 0;
}

static int simulator_read_forge(void *data, struct arena *a, const struct environment_input *input,
	json **answer, struct error *err)
{
	struct simulator *s = data;

	(void)a;
	if (strcmp(input->what, "checks") != 0)
		return 0;
	s->environment.requested |= EFFECT_PR_CHECKS;
	if (s->environment.checks == CHECKS_UNKNOWN)
		return error_set(err, ERR_SYSTEM, "cannot read the checks");
	*answer = json_string(s->environment.checks == CHECKS_RED ? STR("build: failed") : STR(""));
	return 0;
}

/* What answers will be compared with is always found as it should be. */
static int simulator_evidence(void *data, struct arena *a, const struct environment_input *input,
	json **answer, struct error *err)
{
	struct simulator *s = data;
	const struct evidence_query *q = input->evidence;
	bool moved =
		s->environment.moved && !q->before && q->kinds & (EVIDENCE_TREE | EVIDENCE_REVIEW);
	struct evidence found = {.head = moved ? "c2" : "c1", .tree = moved ? "t2" : "t1"};

	(void)a, (void)err;
	if (!q->before) {
		s->environment.requested |= SIMULATOR_EVIDENCE;
		s->environment.claimed |= q->kinds;
	}
	for (size_t i = 0; !q->before && i < EVIDENCE_KINDS; i++)
		if ((q->kinds & s->environment.refuted) >> i & 1)
			found.faults[i] = evidence_name(1u << i);
	*answer = evidence_to_json(&found);
	return 0;
}

static bool simulator_still_running(void *data, const struct context_file *f, const char *id)
{
	const struct simulator *s = data;

	(void)f;
	return s->environment.running && strcmp(s->environment.running, id) == 0;
}

static struct store_backend *create_in_memory(void)
{
	struct item_store *s = xmalloc(sizeof(*s));

	item_store_init(s);
	return &s->backend;
}

static struct store_backend *copy_in_memory(const struct store_backend *b)
{
	struct item_store *s = xmalloc(sizeof(*s));

	item_store_copy(s, (const struct item_store *)b);
	return &s->backend;
}

static void release_in_memory(struct store_backend *b)
{
	item_store_release((struct item_store *)b);
	free(b);
}

static void put_in_memory(struct store_backend *b, const char *path, struct str text)
{
	(void)path;
	item_store_put((struct item_store *)b, STR(ITEM_DOCUMENT), text, 0);
}

const struct simulator_kind simulator_in_memory = {
	.create = create_in_memory,
	.copy = copy_in_memory,
	.release = release_in_memory,
	.put = put_in_memory,
	.invoke = simulator_invoke,
};

static struct simulator *simulator_on(const struct workflow *w, const char *id,
	const struct simulator_kind *kind, struct store_backend *backend)
{
	struct simulator *s = xmalloc(sizeof(*s));

	*s = (struct simulator){.workflow = w,
		.kind = kind,
		.backend = backend,
		.now = START,
		.facts = "",
		.environment = {.specs = 1}};
	s->id = arena_dup(&s->arena, str_of(id));
	s->dir = DIRECTORY;
	s->path = arena_printf(&s->arena, DIRECTORY "/%s.md", id);
	s->journal = arena_printf(&s->arena, DIRECTORY "/%s" STORE_JOURNAL_SUFFIX, id);
	return s;
}

struct simulator *simulator_new(
	const struct workflow *w, const char *id, const struct simulator_kind *kind)
{
	return simulator_on(w, id, kind, kind->create());
}

struct simulator *simulator_copy(const struct simulator *s)
{
	struct simulator *copy =
		simulator_on(s->workflow, s->id, s->kind, s->kind->copy(s->backend));

	copy->now = s->now;
	copy->placed = s->placed;
	copy->environment = s->environment;
	copy->facts = arena_dup(&copy->arena, str_of(s->facts));
	if (s->environment.running)
		copy->environment.running = arena_dup(&copy->arena, str_of(s->environment.running));
	return copy;
}

void simulator_free(struct simulator **s)
{
	if (!*s)
		return;
	(*s)->kind->release((*s)->backend);
	arena_release(&(*s)->arena);
	free(*s);
	*s = NULL;
}

static int run_machine(struct simulator *s, const struct simulator_call *call,
	struct context_file *f, struct buf *out, struct error *err)
{
	const struct workflow *w = s->workflow;
	struct environment environment = {.find_specs = simulator_find_specs,
		.enter = simulator_enter,
		.carry_out = simulator_carry_out,
		.read_forge = simulator_read_forge,
		.evidence = simulator_evidence,
		.still_running = simulator_still_running,
		.data = s};
	struct item_place place;
	struct str facts;
	int rc;
	struct engine e = engine_make(f, w, steps_find, &environment, s->id);

	e.repo = REPOSITORY;
	e.returned = call->returned;
	e.returned_id = call->returned_id;
	e.owner = call->owner;
	e.take_over = call->take_over;
	e.cancel = call->cancel;
	rc = engine_step(&e, out, err);
	if (rc == 0 && context_get_key(f, EVIDENCE_KEY, &facts, err) == 0)
		s->facts = arena_dup(&s->arena, facts);
	if (rc == 0 && place_load(&s->arena, f, &place, err) == 0)
		s->placed = place.directory != NULL;
	return rc;
}

void simulator_put_facts(struct simulator *s, const char *facts, bool placed)
{
	struct item_place place = {0};
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(json_free) json *array = NULL;
	struct error ignored;

	s->facts = arena_dup(&s->arena, str_of(facts));
	s->placed = placed;
	if (context_open_on(&f, s->backend, s->path, CONTEXT_MUST_EXIST, &ignored) < 0)
		return;
	if (*facts)
		context_put_key(&f, EVIDENCE_KEY, str_of(facts));
	choose_place(&s->arena, &place);
	if (placed)
		place_store(&f, &place);
	if (action_load(&f.doc, &array, &ignored) == 0)
		(void)action_note(&f, array, NULL, &ignored);
	(void)context_log(&f, &ignored);
}

int simulator_invoke(
	struct simulator *s, const struct simulator_call *c, json **printed, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	bool is_step = !c->action && !c->key;

	/* Each invocation has a time of its own. */
	clock_fix(++s->now);
	if (context_open_on(&f, s->backend, s->path,
		    is_step ? CONTEXT_MAY_CREATE : CONTEXT_MUST_EXIST, err) < 0)
		return -1;
	if (c->action) {
		struct answer_offer offer = {.owner = c->owner,
			.id = c->action,
			.word = c->word,
			.text = c->text,
			.ran = true,
			.person = "person@host"};
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

	if (store_read_file(s->backend, s->dir, path_base(s->path).p, &text, &missing, err) < 0)
		return -1;
	return context_parse_buf(c, s->path, &text, err);
}
