#include "src/harness/load.h"
#include "src/event/event.h"

struct loading {
	struct arena *arena;
	const struct load_question *q;
	struct load *out;
	size_t cap;
	const struct stage_spec *stage;
	struct error *err;
};

static void note(struct loading *l, bool fault, const char *text)
{
	struct load *out = l->out;

	if (out->n_notes == l->cap) {
		struct load_note *more = arena_alloc(l->arena, (2 * l->cap + 8) * sizeof(*more));

		for (size_t i = 0; i < out->n_notes; i++)
			more[i] = out->notes[i];
		out->notes = more;
		l->cap = 2 * l->cap + 8;
	}
	out->notes[out->n_notes++] = (struct load_note){l->stage, fault, text};
	out->n_faults += fault;
}

/* An event with the members harness, reason (may be NULL) and detail (may be NULL). */
static int tell(struct loading *l, enum event_id what, const char *harness, const char *reason,
	const char *detail)
{
	CLEANUP(json_free) json *fields = json_object();
	struct event h = {.id = what, .stage = l->stage->name, .fields = fields};

	json_put_str(fields, "harness", str_of(harness));
	if (reason)
		json_put_str(fields, "reason", str_of(reason));
	if (detail)
		json_put_str(fields, "detail", str_of(detail));
	return event_emit(l->q->artifacts, &h, l->err);
}

bool harness_has(const struct harness *h, const char *capability)
{
	enum capability c;

	return capability_find(capability, &c) && harness_can(h, c) == CAPABLE_YES;
}

const char *harness_model(const struct harness *h, const struct model_resolved *m, bool *fits)
{
	*fits = true;
	/* One that takes any id would take another vendor's too. */
	if (m->alias ? harness_lists(h, m->id) : harness_drives(h, m->id))
		return m->id;
	*fits = m->alias;
	return NULL;
}

/* What `requires` asks for and `h` lacks; NULL: nothing. */
static const char *lacking(const struct stage_spec *s, const struct harness *h)
{
	for (size_t i = 0; i < s->needs.n; i++)
		if (!harness_has(h, s->needs.list[i]))
			return s->needs.list[i];
	return NULL;
}

/* Why `h` cannot be used for this stage, whether it is there or not; NULL: it can. */
static const char *unfit(struct loading *l, const struct harness *h, const struct model_resolved *m)
{
	const char *what = lacking(l->stage, h);
	bool fits;

	if (what)
		return arena_printf(l->arena, "harness '%s' lacks '%s'", harness_name(h), what);
	(void)harness_model(h, m, &fits);
	if (!fits)
		return arena_printf(
			l->arena, "harness '%s' does not drive model '%s'", harness_name(h), m->id);
	return NULL;
}

/* Whether it is there. *why: why not. */
static int look(struct loading *l, const struct harness *h, bool primary, const char **why)
{
	const struct availability *v = l->q->available ? l->q->available(h) : harness_available(h);
	const char *reason = unavailable_word(v->reason);

	*why = NULL;
	if (!v->available) {
		*why = arena_printf(l->arena, "harness '%s' is unavailable: %s%s%s",
			harness_name(h), reason, v->detail ? ": " : "", v->detail ? v->detail : "");
		return primary ? tell(l, EVENT_HARNESS_UNAVAILABLE, harness_name(h), reason,
					 v->detail)
			       : 0;
	}
	if (v->reason != PROBE_FAILED)
		return 0;
	note(l, false,
		arena_printf(l->arena, "harness '%s': %s", harness_name(h),
			v->detail ? v->detail : "its version cannot be told"));
	return tell(l, EVENT_HARNESS_PROBE_FAILED, harness_name(h), NULL, v->detail);
}

static void warn_of_default(
	struct loading *l, const struct harness *h, const struct model_resolved *m)
{
	bool fits;

	if (!harness_model(h, m, &fits) && fits)
		note(l, false,
			arena_printf(l->arena,
				"harness '%s' does not drive '%s' (alias '%s'): its own default "
				"model is used",
				harness_name(h), m->id, m->asked));
}

/* One of the chain. *take: it stays in it. */
static int check_one(struct loading *l, const char *name, bool primary,
	const struct model_resolved *m, bool *take)
{
	const struct harness *h;
	const char *why;

	*take = false;
	if (harness_find(name, &h, l->err) < 0) {
		note(l, true, arena_dup(l->arena, str_of(l->err->text)));
		return tell(l, EVENT_UNKNOWN_HARNESS, name, NULL, NULL);
	}
	why = unfit(l, h, m);
	if (!why && look(l, h, primary, &why) < 0)
		return -1;
	if (why) {
		note(l, primary,
			primary ? why : arena_printf(l->arena, "fallback dropped: %s", why));
		return 0;
	}
	warn_of_default(l, h, m);
	*take = true;
	return 0;
}

static void check_needs(struct loading *l)
{
	enum capability c;

	for (size_t i = 0; i < l->stage->needs.n; i++)
		if (!capability_find(l->stage->needs.list[i], &c))
			note(l, true,
				arena_printf(l->arena, "unknown capability '%.100s'",
					l->stage->needs.list[i]));
}

/* The model's own faults (unknown, removed) are told by who pins the models. */
static int check_stage(struct loading *l, struct load_stage *s)
{
	struct words all = chain_candidates(l->arena, l->stage);
	const char **left = arena_alloc(l->arena, (all.n + 1) * sizeof(*left));

	s->stage = l->stage;
	s->chain.list = left;
	check_needs(l);
	if (model_resolve(l->q->registry, l->stage->model, l->q->pipeline->default_model, l->q->now,
		    &s->model, l->err) < 0) {
		note(l, true, arena_dup(l->arena, str_of(l->err->text)));
		return 0;
	}
	for (size_t i = 0; i < all.n; i++) {
		bool take;

		if (check_one(l, all.list[i], i == 0, &s->model, &take) < 0)
			return -1;
		if (take)
			left[s->chain.n++] = all.list[i];
	}
	return 0;
}

static int tell_cycles(struct loading *l, const struct cycle *cycles, size_t n)
{
	CLEANUP(json_free) json *fields = json_object();
	struct event h = {.id = EVENT_CYCLIC_INDEPENDENCE_CONSTRAINT, .fields = fields};
	json *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_push_str(list, str_of(arena_printf(l->arena, "%s: %s (%s)", cycles[i].stage,
					    cycles[i].from, cycles[i].why)));
	json_put(fields, "constraints", list);
	return event_emit(l->q->artifacts, &h, l->err);
}

static int check_cycles(struct loading *l)
{
	const struct pipeline *p = l->q->pipeline;
	struct cycle *cycles;
	size_t n = chain_cycles(l->arena, p, &cycles);

	for (size_t i = 0; i < n; i++) {
		l->stage = pipeline_stage(p, cycles[i].stage);
		note(l, true,
			arena_printf(l->arena, "it must be independent of '%s', which is %s%s",
				cycles[i].from,
				strcmp(cycles[i].why, "unknown stage") == 0 ? "an " : "",
				cycles[i].why));
	}
	return n ? tell_cycles(l, cycles, n) : 0;
}

static bool named_before(const struct load *l, size_t stage, size_t at)
{
	for (size_t i = 0; i <= stage; i++)
		for (size_t k = 0; k < (i < stage ? l->stages[i].chain.n : at); k++)
			if (strcmp(l->stages[i].chain.list[k], l->stages[stage].chain.list[at]) ==
				0)
				return true;
	return false;
}

/* Where plans are to be shared by account, and none can be told. */
static int tell_account(struct loading *l, const char *name)
{
	CLEANUP(json_free) json *fields = NULL;
	struct event h = {.id = EVENT_LEDGER_KEY_AMBIGUOUS};
	const struct harness *of;
	const char *id;

	if (harness_find(name, &of, l->err) < 0 || harness_account(l->arena, of, &id, l->err) < 0)
		return -1;
	if (id)
		return 0;
	fields = json_object();
	json_put_str(fields, "harness", str_of(name));
	json_put_str(fields, "pipeline", str_of(l->q->pipeline->name));
	h.fields = fields;
	return event_emit(l->q->artifacts, &h, l->err);
}

static int check_accounts(struct loading *l)
{
	const struct pipeline *p = l->q->pipeline;
	const struct load *out = l->out;

	bool plans = p->plans.n || (l->q->pool && l->q->pool->plans.n);

	if (!l->q->artifacts || !plans || p->account)
		return 0;
	for (size_t i = 0; i < p->n_stages; i++)
		for (size_t k = 0; k < out->stages[i].chain.n; k++)
			if (!named_before(out, i, k) &&
				tell_account(l, out->stages[i].chain.list[k]) < 0)
				return -1;
	return 0;
}

int harness_check_pipeline(
	struct arena *a, const struct load_question *q, struct load *out, struct error *err)
{
	struct loading l = {.arena = a, .q = q, .out = out, .err = err};
	const struct pipeline *p = q->pipeline;

	*out = (struct load){.stages = arena_alloc(a, (p->n_stages + 1) * sizeof(*out->stages))};
	if (check_cycles(&l) < 0)
		return -1;
	for (size_t i = 0; i < p->n_stages; i++) {
		l.stage = &p->stages[i];
		if (check_stage(&l, &out->stages[i]) < 0)
			return -1;
	}
	return check_accounts(&l);
}

int load_need(const struct load *l, const struct pipeline *p, struct error *err)
{
	for (size_t i = 0; i < l->n_notes; i++)
		if (l->notes[i].fault)
			return error_at(err, p->file, l->notes[i].stage->line,
				l->notes[i].stage->col, "stage '%s': %s", l->notes[i].stage->name,
				l->notes[i].text);
	return 0;
}
