#include "src/base/clock.h"
#include "src/cli/models.h"

enum { STAGES_MAX = 1000 };

struct asks {
	struct model_use *list;
	size_t n;
};

/* `STAGE:MODEL`: what is behind the first colon is the model, which may have colons of its own. */
static int add_ask(struct invocation *in, struct asks *asks, struct str pair, struct error *err)
{
	size_t colon = str_find(pair, STR(":"));

	if (!colon || colon + 1 >= pair.n || asks->n == STAGES_MAX)
		return error_set(err, ERR_USAGE,
			"bad value '%.100s' of --stages: must be STAGE:MODEL,...",
			in->args->value[MODELS_STAGES]);
	asks->list[asks->n++] = (struct model_use){arena_dup(in->arena, str_sub(pair, 0, colon)),
		arena_dup(in->arena, str_sub(pair, colon + 1, pair.n))};
	return 0;
}

static int asks_of_text(struct invocation *in, struct asks *asks, struct error *err)
{
	struct str rest = str_of(in->args->value[MODELS_STAGES]);

	for (;;) {
		size_t comma = str_find(rest, STR(","));

		if (add_ask(in, asks, str_trim(str_sub(rest, 0, comma)), err) < 0)
			return -1;
		if (comma == rest.n)
			return 0;
		rest = str_sub(rest, comma + 1, rest.n);
	}
}

static int asks_of_pipeline(struct asks *asks, const struct pipeline *p, struct error *err)
{
	if (p->n_stages > STAGES_MAX)
		return error_set(err, ERR_INPUT, "more than %d stages", STAGES_MAX);
	for (size_t i = 0; i < p->n_stages; i++)
		asks->list[asks->n++] = (struct model_use){p->stages[i].name, p->stages[i].model};
	return 0;
}

static void asks_of_registry(struct asks *asks, const struct model_registry *r)
{
	for (size_t i = 0; i < r->n; i++)
		asks->list[asks->n++] = (struct model_use){NULL, r->list[i].alias};
}

static json *row_json(const struct model_bump *row)
{
	const struct model_entry *e = row->entry;
	json *j = json_object();

	models_put_text(j, "stage", row->stage);
	json_put_str(j, "alias", str_of(e->alias));
	json_put_str(j, "currentModelId", str_of(e->id));
	models_put_time(j, "deprecatedAt", e->deprecated);
	models_put_time(j, "removedAt", e->removed);
	models_put_text(j, "replacementAlias", e->replacement);
	models_put_text(j, "replacementModelId", row->replacement_id);
	json_put_bool(j, "inGracePeriod", row->grace);
	json_put_bool(j, "removed", row->removed);
	return j;
}

static void put_row(struct invocation *in, const struct model_bump *row)
{
	const struct model_entry *e = row->entry;
	char day[CLOCK_TEXT];

	clock_text(e->removed, day);
	if (row->stage)
		buf_addf(in->out, "%s: ", row->stage);
	buf_addf(in->out, "%s (%s) -> %s (%s)", e->alias, e->id,
		e->replacement ? e->replacement : "?",
		row->replacement_id ? row->replacement_id : "not known");
	if (e->removed)
		buf_addf(in->out, ", %s %s", row->removed ? "removed at" : "ends at", day);
	buf_adds(in->out, row->grace ? ": within 30 days\n" : "\n");
}

static int collect(struct invocation *in, const struct model_registry *r, struct asks *asks,
	const char **otherwise, struct error *err)
{
	const struct pipeline *p;

	*otherwise = NULL;
	asks->list = arena_alloc(in->arena, STAGES_MAX * sizeof(*asks->list));
	if (models_pipeline(in, &p, err) < 0)
		return -1;
	if (p && in->args->value[MODELS_STAGES])
		return error_set(err, ERR_USAGE, "give --stages or --pipeline, not both");
	if (in->args->value[MODELS_STAGES])
		return asks_of_text(in, asks, err);
	if (!p)
		return asks_of_registry(asks, r), 0;
	if (p->default_model_declared)
		*otherwise = p->default_model;
	return asks_of_pipeline(asks, p, err);
}

int models_bump(struct invocation *in, struct error *err)
{
	CLEANUP(json_free) json *list = json_array();
	struct model_registry r;
	struct asks asks = {0};
	struct model_bump *rows;
	const char *otherwise;
	size_t n;

	if (!in->args->value[MODELS_DRY_RUN])
		return error_set(err, ERR_USAGE,
			"'models bump-plan' needs --dry-run: it only says what to change");
	if (models_registry(in, &r, err) < 0 || collect(in, &r, &asks, &otherwise, err) < 0)
		return -1;
	n = model_bump_plan(in->arena, &r, asks.list, asks.n, otherwise, clock_now(), &rows);
	for (size_t i = 0; i < n; i++) {
		if (in->args->value[MODELS_JSON])
			json_push(list, row_json(&rows[i]));
		else
			put_row(in, &rows[i]);
	}
	if (in->args->value[MODELS_JSON])
		models_put(in, list);
	return 0;
}
