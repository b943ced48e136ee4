#include "src/base/clock.h"
#include "src/base/json.h"
#include "src/harness/pipeline.h"

struct pipeline_checker {
	struct arena *arena;
	const struct pipeline_question *q;
	struct pipeline_check *out;
	const struct stage_spec *stage;
	struct error *err;
};

static void harness_pipeline_add_note(struct pipeline_checker *c, bool fault, const char *text)
{
	vec_push_in(c->arena, &c->out->notes, (struct pipeline_note){c->stage, fault, text});
	c->out->n_faults += fault;
}

/* An event of the stage. */
static int harness_pipeline_report(const struct pipeline_checker *c, enum event_id id, json *fields)
{
	return event_report(c->q->artifacts, id, NULL, c->stage->name, fields, c->err);
}

/* ---- one harness of a stage ---- */

const char *harness_model_for(const char *name, const struct model_resolved *m)
{
	const struct harness *h;
	struct error ignored;
	bool fits;

	return harness_find(name, &h, &ignored) < 0 ? NULL : harness_model(h, m, &fits);
}

const char *harness_model(const struct harness *h, const struct model_resolved *m, bool *fits)
{
	*fits = true;
	/* A harness that takes any id would take the alias of another vendor's model too. */
	if (m->alias ? harness_lists_model(h, m->id) : harness_takes_model(h, m->id))
		return m->id;
	*fits = m->alias;
	return NULL;
}

int harness_choose_model(const struct harness *h, const struct model_registry *r, const char *word,
	const char **id, struct error *err)
{
	const struct model_entry *e = model_find(r, word);
	const struct model_resolved m = {.asked = word, .alias = e, .id = e ? e->id : word};
	bool fits;

	*id = harness_model(h, &m, &fits);
	if (!fits)
		return error_set(err, ERR_INPUT, "harness '%s' does not drive model '%.100s'",
			h->name, word);
	if (!*id)
		error_log("harness '%s' does not drive '%s' (alias '%s'): its own default model is "
			  "used",
			h->name, m.id, word);
	return 0;
}

/* The first capability that the stage requires and `h` does not have in full; NULL: none. */
static const char *missing_capability(const struct stage_spec *s, const struct harness *h)
{
	enum harness_capability c;

	for (size_t i = 0; i < s->needs.n; i++)
		if (!harness_capability_find(s->needs.list[i], &c) || h->can[c] != HARNESS_YES)
			return s->needs.list[i];
	return NULL;
}

/* Why `h` does not suit the stage, installed or not; NULL: it does. */
static const char *unsuitable(
	struct pipeline_checker *c, const struct harness *h, const struct model_resolved *m)
{
	const char *capability = missing_capability(c->stage, h);
	bool fits;

	if (capability)
		return arena_printf(c->arena, "harness '%s' lacks '%s'", h->name, capability);
	(void)harness_model(h, m, &fits);
	if (!fits)
		return arena_printf(
			c->arena, "harness '%s' does not drive model '%s'", h->name, m->id);
	return NULL;
}

/* Whether it is available; *why: why not. */
static int harness_pipeline_check_available(
	struct pipeline_checker *c, const struct harness *h, bool primary, const char **why)
{
	const struct harness_availability *v =
		c->q->available ? c->q->available(h) : harness_available(h);
	const char *reason = harness_reason_names[v->reason];

	*why = NULL;
	if (!v->available) {
		*why = arena_printf(c->arena, "harness '%s' is unavailable: %s: %s", h->name,
			reason, v->detail);
		return primary ? harness_pipeline_report(c, EVENT_HARNESS_UNAVAILABLE,
					 JSON_OBJECT(JSON_TEXT("harness", h->name),
						 JSON_TEXT("reason", reason),
						 JSON_TEXT("detail", v->detail)))
			       : 0;
	}
	if (v->reason != HARNESS_PROBE_FAILED)
		return 0;
	harness_pipeline_add_note(
		c, false, arena_printf(c->arena, "harness '%s': %s", h->name, v->detail));
	return harness_pipeline_report(c, EVENT_HARNESS_PROBE_FAILED,
		JSON_OBJECT(JSON_TEXT("harness", h->name), JSON_TEXT("detail", v->detail)));
}

static void warn_of_default_model(
	struct pipeline_checker *c, const struct harness *h, const struct model_resolved *m)
{
	bool fits;

	if (!harness_model(h, m, &fits))
		harness_pipeline_add_note(c, false,
			arena_printf(c->arena,
				"harness '%s' does not drive '%s' (alias '%s'): its own default "
				"model is used",
				h->name, m->id, m->asked));
}

/* *take: it stays in the chain. */
static int check_harness(struct pipeline_checker *c, const char *name, bool primary,
	const struct model_resolved *m, bool *take)
{
	const struct harness *h;
	const char *why;

	*take = false;
	if (harness_find(name, &h, c->err) < 0) {
		harness_pipeline_add_note(c, true, arena_dup(c->arena, str_of(c->err->text)));
		return harness_pipeline_report(
			c, EVENT_UNKNOWN_HARNESS, JSON_OBJECT(JSON_TEXT("harness", name)));
	}
	why = unsuitable(c, h, m);
	if (!why && harness_pipeline_check_available(c, h, primary, &why) < 0)
		return -1;
	if (!why) {
		warn_of_default_model(c, h, m);
		*take = true;
	} else {
		harness_pipeline_add_note(c, primary,
			primary ? why : arena_printf(c->arena, "fallback dropped: %s", why));
	}
	return 0;
}

/* ---- a stage ---- */

static void check_capabilities(struct pipeline_checker *c)
{
	enum harness_capability found;

	for (size_t i = 0; i < c->stage->needs.n; i++)
		if (!harness_capability_find(c->stage->needs.list[i], &found))
			harness_pipeline_add_note(c, true,
				arena_printf(c->arena, "unknown capability '%.100s'",
					c->stage->needs.list[i]));
}

/* Faults of the model itself emit their events when the models are pinned. */
static int check_stage(struct pipeline_checker *c, struct pipeline_stage_check *out)
{
	struct text_list all = chain_candidates(c->arena, c->stage);
	const char **left = arena_alloc(c->arena, (all.n + 1) * sizeof(*left));

	*out = (struct pipeline_stage_check){.stage = c->stage, .chain = {left, 0}};
	check_capabilities(c);
	if (model_resolve(c->q->registry, c->stage->model, c->q->pipeline->default_model, c->q->now,
		    &out->model, c->err) < 0) {
		harness_pipeline_add_note(c, true, arena_dup(c->arena, str_of(c->err->text)));
		return 0;
	}
	for (size_t i = 0; i < all.n; i++) {
		bool take;

		if (check_harness(c, all.list[i], i == 0, &out->model, &take) < 0)
			return -1;
		if (take)
			left[out->chain.n++] = all.list[i];
	}
	return 0;
}

/* ---- the pipeline ---- */

static void add_independence_fault(
	struct pipeline_checker *c, const char *from, const char *why, json *list)
{
	harness_pipeline_add_note(c, true,
		arena_printf(c->arena, "it must be independent of '%s', which is %s%s", from,
			strcmp(why, "unknown stage") == 0 ? "an " : "", why));
	json_push_str(
		list, str_of(arena_printf(c->arena, "%s: %s (%s)", c->stage->name, from, why)));
}

static int check_independence(struct pipeline_checker *c)
{
	const struct pipeline *p = c->q->pipeline;
	CLEANUP(json_free) json *list = json_array();

	for (size_t i = 0; i < p->n_stages; i++) {
		struct text_list from = p->stages[i].independent_of;

		c->stage = &p->stages[i];
		for (size_t k = 0; k < from.n; k++) {
			const char *why = chain_independence_fault(p, i, from.list[k]);

			if (why)
				add_independence_fault(c, from.list[k], why, list);
		}
	}
	if (!json_len(list))
		return 0;
	return event_report(c->q->artifacts, EVENT_CYCLIC_INDEPENDENCE_CONSTRAINT, NULL, NULL,
		JSON_OBJECT(JSON_VALUE("constraints", json_copy(list))), c->err);
}

/* Plans are shared per account: warns if the environment names none. */
static int check_account(struct pipeline_checker *c, const char *name)
{
	const struct harness *h;
	const char *id;

	if (harness_find(name, &h, c->err) < 0 || harness_account(c->arena, h, &id, c->err) < 0)
		return -1;
	if (id)
		return 0;
	return event_report(c->q->artifacts, EVENT_LEDGER_KEY_AMBIGUOUS, NULL, NULL,
		JSON_OBJECT(
			JSON_TEXT("harness", name), JSON_TEXT("pipeline", c->q->pipeline->name)),
		c->err);
}

static int check_accounts(struct pipeline_checker *c)
{
	const struct pipeline *p = c->q->pipeline;
	struct text_list names = {0};
	bool plans = p->plans.n || (c->q->pool && c->q->pool->plans.n);

	if (!c->q->artifacts || !plans || p->account)
		return 0;
	for (size_t i = 0; i < p->n_stages; i++) {
		struct text_list chain = c->out->stages[i].chain;

		for (size_t k = 0; k < chain.n; k++)
			chain_add_name(c->arena, &names, chain.list[k]);
	}
	for (size_t i = 0; i < names.n; i++)
		if (check_account(c, names.list[i]) < 0)
			return -1;
	return 0;
}

int harness_check_pipeline(struct arena *a, const struct pipeline_question *q,
	struct pipeline_check *out, struct error *err)
{
	struct pipeline_checker c = {.arena = a, .q = q, .out = out, .err = err};
	const struct pipeline *p = q->pipeline;

	*out = (struct pipeline_check){
		.stages = arena_alloc(a, (p->n_stages + 1) * sizeof(*out->stages))};
	if (check_independence(&c) < 0)
		return -1;
	for (size_t i = 0; i < p->n_stages; i++) {
		c.stage = &p->stages[i];
		if (check_stage(&c, &out->stages[i]) < 0)
			return -1;
	}
	return check_accounts(&c);
}

int pipeline_check_fault(
	const struct pipeline_check *check, const struct pipeline *p, struct error *err)
{
	for (size_t i = 0; i < check->notes.n; i++) {
		const struct pipeline_note *n = &check->notes.items[i];

		if (n->fault)
			return error_at(err, p->file, n->stage->line, n->stage->col,
				"stage '%s': %s", n->stage->name, n->text);
	}
	return 0;
}

/* Members of runtime.json: {STAGE: {alias, modelId, source}} and, of the pipeline only, {ALIAS: the
 * removal date that was announced}. */
#define PINNED    "models"
#define ANNOUNCED "modelGraceTold"

/* ---- events of models ---- */

/* A removal date that was moved is announced again. */
static int is_announced(const char *dir, const struct model_entry *e, const char *date, bool *yes,
	struct error *err)
{
	CLEANUP(json_free) json *runtime = NULL;
	const char *before;

	if (artifact_read_runtime(dir, PIPELINE_SCOPE, &runtime, err) < 0)
		return -1;
	before = json_get_str(json_get(runtime, ANNOUNCED), e->alias);
	*yes = before && strcmp(before, date) == 0;
	return 0;
}

/* Emitted before it is recorded: a crash in between announces it twice rather than never. */
static int emit_grace(
	const char *dir, const char *stage, const struct model_entry *e, struct error *err)
{
	CLEANUP(json_free)
	json *members =
		JSON_OBJECT(JSON_VALUE(ANNOUNCED, JSON_OBJECT(JSON_TIME(e->alias, e->removed))));
	char date[CLOCK_TEXT];
	bool already;

	clock_text(e->removed, date);
	if (is_announced(dir, e, date, &already, err) < 0)
		return -1;
	if (already)
		return 0;
	if (event_report(dir, EVENT_MODEL_DEPRECATION_GRACE_PERIOD, NULL, stage,
		    JSON_OBJECT(JSON_TEXT("alias", e->alias), JSON_TEXT("removedAt", date)),
		    err) < 0)
		return -1;
	return artifact_merge_runtime(dir, PIPELINE_SCOPE, members, err);
}

int harness_emit_model(
	const char *dir, const char *stage, const struct model_resolved *m, struct error *err)
{
	const struct model_entry *e = m->entry;
	json *fields;

	if (!dir || !e)
		return 0;
	if (m->removed || m->deprecated) {
		fields = JSON_OBJECT(JSON_TEXT("alias", e->alias), JSON_TEXT("modelId", e->id),
			JSON_IF(e->removed, JSON_TIME("removedAt", e->removed)),
			JSON_IF(!m->removed && e->replacement,
				JSON_TEXT("replacementAlias", e->replacement)));
		if (event_report(dir, m->removed ? EVENT_MODEL_REMOVED : EVENT_MODEL_DEPRECATED,
			    NULL, stage, fields, err) < 0)
			return -1;
	}
	if (m->removed)
		return 0;
	return m->grace ? emit_grace(dir, stage, e, err) : 0;
}

/* ---- pinning models ---- */

/* Agents can write to the directory, and the id goes onto command lines: a malformed id is ignored.
 */
static const char *pinned_id(const json *runtime, const char *stage)
{
	const char *id = json_get_str(json_get(json_get(runtime, PINNED), stage), "modelId");

	return id && model_id_valid(str_of(id)) ? id : NULL;
}

static json *pin_row(const struct model_pin *pin)
{
	return JSON_OBJECT(JSON_TEXT("alias", pin->model.alias ? pin->model.asked : NULL),
		JSON_TEXT("modelId", pin->model.id), JSON_TEXT("source", pin->model.source));
}

static int write_pins(const char *dir, const char *issue, const struct model_pin *pins, size_t n,
	struct error *err)
{
	json *rows = json_object();
	CLEANUP(json_free) json *members = JSON_OBJECT(JSON_VALUE(PINNED, rows));

	for (size_t i = 0; i < n; i++)
		if (!pins[i].kept || strcmp(issue, PIPELINE_SCOPE) == 0)
			json_put(rows, pins[i].stage, pin_row(&pins[i]));
	return json_first(rows) ? artifact_merge_runtime(dir, issue, members, err) : 0;
}

/* Adds the place of the stage. */
static int fault_at_stage(const struct pipeline *p, const struct stage_spec *s, struct error *err)
{
	if (err->code == ERR_INPUT && p->file && s->line)
		error_place(err, p->file, s->line, s->col);
	return error_prefix(err, "stage '%s'", s->name);
}

static int pin_stage(struct arena *a, const struct pipeline_question *q, const struct stage_spec *s,
	const char *pinned, struct model_pin *pin, struct error *err)
{
	const struct pipeline *p = q->pipeline;
	int rc = model_resolve(q->registry, s->model,
		p->default_model_declared ? p->default_model : NULL, q->now, &pin->model, err);
	struct error ignored;

	pin->stage = s->name;
	if (pinned && !pin->model.removed) {
		pin->model.id = arena_dup(a, str_of(pinned));
		pin->kept = true;
		rc = 0;
	}
	if (rc == 0)
		return harness_emit_model(q->artifacts, s->name, &pin->model, err);
	(void)harness_emit_model(q->artifacts, s->name, &pin->model, &ignored);
	return fault_at_stage(p, s, err);
}

int harness_pin_models(struct arena *a, const struct pipeline_question *q, const char *issue,
	struct model_pin **out, struct error *err)
{
	CLEANUP(json_free) json *before = NULL;
	const struct pipeline *p = q->pipeline;

	*out = arena_alloc(a, (p->n_stages + 1) * sizeof(**out));
	if (q->artifacts && issue && artifact_read_runtime(q->artifacts, issue, &before, err) < 0)
		return -1;
	for (size_t i = 0; i < p->n_stages; i++)
		if (pin_stage(a, q, &p->stages[i], pinned_id(before, p->stages[i].name), &(*out)[i],
			    err) < 0)
			return -1;
	if (!q->artifacts)
		return 0;
	if (write_pins(q->artifacts, PIPELINE_SCOPE, *out, p->n_stages, err) < 0)
		return -1;
	return issue ? write_pins(q->artifacts, issue, *out, p->n_stages, err) : 0;
}
