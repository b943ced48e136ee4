#include "src/base/clock.h"
#include "src/config/decode.h"
#include "src/config/model.h"
#include "src/sys/path.h"

enum {
	REGISTRY_MAX = 1 << 20,
	ENTRIES_MAX = 1000,
	USE_MAX = 400,
	ALIAS_MAX = 64,
	MODEL_ID_MAX = 200,
	DAY_LEN = 10,
};

/* The shipped file itself, so that the built-in registry can be read and copied. */
__asm__(".pushsection .rodata\n"
	".globl models_yaml\n"
	"models_yaml:\n"
	".incbin \"models/models.yaml\"\n"
	".byte 0\n"
	".popsection\n");
extern const char models_yaml[];

/* ---- reading a registry ---- */

static bool is_alias(struct str s)
{
	size_t open = str_find(s, STR("["));

	if (s.n > ALIAS_MAX || str_is(s, INHERIT_MODEL) ||
		!config_made_of(str_sub(s, 0, open), CONFIG_LETTER, "", CONFIG_ALNUM, "._-"))
		return false;
	if (open == s.n)
		return true;
	return s.p[s.n - 1] == ']' && config_made_of(str_sub(s, open + 1, s.n - 1), CONFIG_ALNUM,
					      "._-", CONFIG_ALNUM, "._-");
}

bool model_id_valid(struct str s)
{
	return s.n <= MODEL_ID_MAX && config_made_of(s, CONFIG_ALNUM, "", CONFIG_ALNUM, "._:/-[]");
}

static bool is_use(struct str s)
{
	return s.n <= USE_MAX && config_line.valid(s);
}

bool model_date_parse(struct str s, int64_t *t)
{
	bool utc = s.n > DAY_LEN && s.p[DAY_LEN] == 'T' && str_ends(s, "Z");

	return (clock_parse_date(s, t) || (utc && clock_parse_rfc3339(s, t))) && *t > 0;
}

static void model_read_date(struct config_reader *r, const struct config_field *f, const char *key,
	const struct yaml *v, void *into)
{
	if (v->kind != YAML_SCALAR || !model_date_parse(v->text, into))
		config_refuse(r, f, key, v,
			"a day or a time in UTC, like 2026-05-01 or 2026-05-01T00:00:00Z");
}

static const struct config_form alias_form = {.valid = is_alias,
	.what = "a letter, then letters, digits, '.', '_' and '-', perhaps with '[...]' behind, "
		"other than 'inherit'"};
static const struct config_form id_form = {
	.valid = model_id_valid, .what = "a letter or digit, then letters, digits and '._:/-[]'"};
static const struct config_form use_form = {.valid = is_use, .what = "a line of at most 400 bytes"};

#define TEXT(name, of, member)                                                                     \
	.key = name, .kind = CONFIG_TEXT, .form = &of, CONFIG_AT(model_entry, member)
#define DATE(name, member)                                                                         \
	.key = name, .kind = CONFIG_CUSTOM, .read = model_read_date, CONFIG_AT(model_entry, member)

static const struct config_field price_fields[] = {
	{.key = "input",
		.kind = CONFIG_NUMBER,
		.above = true,
		.required = true,
		CONFIG_AT(model_entry, input_usd)},
	{.key = "output",
		.kind = CONFIG_NUMBER,
		.above = true,
		.required = true,
		CONFIG_AT(model_entry, output_usd)},
	{DATE("verified", price_verified), .required = true},
	{0},
};

static const struct config_field entry_fields[] = {
	{TEXT("alias", alias_form, alias), .required = true},
	{TEXT("modelId", id_form, id), .required = true},
	{DATE("deprecatedAt", deprecated), .null = true},
	{DATE("removedAt", removed), .null = true},
	{TEXT("replacementAlias", alias_form, replacement), .null = true},
	{TEXT("use", use_form, use), .null = true},
	{.key = "price", .kind = CONFIG_GROUP, .fields = price_fields, .optional = true},
	{0},
};

static const struct config_field registry_fields[] = {
	{.key = "models",
		.kind = CONFIG_LIST,
		CONFIG_ITEMS_AT(model_registry, list, n),
		CONFIG_RANGE(1, ENTRIES_MAX),
		.fields = entry_fields,
		.required = true},
	{0},
};

static void check_entry(
	struct config_reader *r, const struct yaml *map, const struct model_registry *all, size_t i)
{
	const struct model_entry *e = &all->list[i];
	const struct {
		bool is;
		const char *key, *what;
	} faults[] = {
		{model_find(all, e->alias) != e, "alias", "is listed twice"},
		{e->deprecated && !e->replacement, "deprecatedAt",
			"is deprecated and lacks 'replacementAlias'"},
		{e->replacement && !model_find(all, e->replacement), "replacementAlias",
			"has a 'replacementAlias' that is not an alias"},
		{e->replacement && strcmp(e->replacement, e->alias) == 0, "replacementAlias",
			"cannot replace itself"},
		{e->removed && e->removed < e->deprecated, "removedAt",
			"is removed before it is deprecated"},
	};

	for (size_t k = 0; k < COUNT(faults); k++)
		if (faults[k].is)
			config_fault(r, yaml_get(map, faults[k].key), "model '%s' %s", e->alias,
				faults[k].what);
}

int model_registry_parse(struct arena *a, struct str text, const char *name,
	struct model_registry *out, struct error *err)
{
	struct config_reader r = {.arena = a, .file = name, .limit = 1};
	const struct yaml *list;
	struct yaml *root;

	*out = (struct model_registry){0};
	if (yaml_parse(a, text, name, 1, &root, err) < 0 ||
		config_decode(a, name, root, "a registry of models", registry_fields, out, err) < 0)
		return -1;
	list = yaml_get(root, "models");
	for (size_t i = 0; i < out->n; i++)
		check_entry(&r, list->list[i], out, i);
	return config_result(&r, err);
}

int model_registry_load(
	struct arena *a, const char *file, struct model_registry *out, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	bool missing = false;

	if (!file)
		return model_registry_parse(a, str_of(models_yaml), "models.yaml", out, err);
	if (sys_read_file(&text, file, REGISTRY_MAX, &missing, err) < 0)
		return missing ? error_set(err, ERR_INPUT, "there is no file '%s'", file) : -1;
	if (model_registry_parse(a, buf_str(&text), file, out, err) < 0)
		return -1;
	out->file = arena_dup(a, str_of(file));
	return 0;
}

int model_registry_file(struct arena *a, const char *repo, const char **file, struct error *err)
{
	char *path = path_join(a, repo, ".dev-team/models.yaml");
	bool there;

	if (path_check_exists(path, &there, err) < 0)
		return -1;
	*file = there ? path : NULL;
	return 0;
}

const struct model_entry *model_find(const struct model_registry *r, const char *alias)
{
	for (size_t i = 0; i < r->n; i++)
		if (strcmp(r->list[i].alias, alias) == 0)
			return &r->list[i];
	return NULL;
}

const struct model_entry *model_priced(const struct model_registry *r, const char *id)
{
	for (size_t i = 0; i < r->n; i++)
		if (strcmp(r->list[i].id, id) == 0 && r->list[i].price_verified)
			return &r->list[i];
	return NULL;
}

/* ---- resolving ---- */

static bool given(const char *model)
{
	return model && strcmp(model, INHERIT_MODEL) != 0;
}

static void model_choose(const char *stage, const char *pipeline, struct model_resolved *out)
{
	*out = (struct model_resolved){.asked = DEFAULT_MODEL, .source = "default"};
	if (given(stage))
		*out = (struct model_resolved){.asked = stage, .source = "stage"};
	else if (given(pipeline))
		*out = (struct model_resolved){.asked = pipeline, .source = "pipeline"};
}

/* `opus[2m]`: an alias with the wrong brackets is a mistake, not an id. */
static bool alias_with_brackets(const struct model_registry *r, struct str asked)
{
	struct str head = str_sub(asked, 0, str_find(asked, STR("[")));

	for (size_t i = 0; head.n < asked.n && i < r->n; i++)
		if (str_is(head, r->list[i].alias))
			return true;
	return false;
}

/* Words such as `mystery-model` could be either; a misspelt alias is more likely than an id. */
static bool model_is_id(const struct model_registry *r, const char *asked)
{
	return model_id_valid(str_of(asked)) && strpbrk(asked, "0123456789/:") &&
	       !alias_with_brackets(r, str_of(asked));
}

static int unknown(const struct model_registry *r, const char *asked, struct error *err)
{
	CLEANUP(buf_release) struct buf names = BUF_INIT;

	for (size_t i = 0; i < r->n && names.len < 400; i++)
		buf_addf(&names, "%s%s", i ? ", " : "", r->list[i].alias);
	return error_set(err, ERR_INPUT,
		"unknown model alias '%.100s': there are %s%s; an id has a digit, '/' or ':' in it",
		asked, names.s, names.len < 400 ? "" : " ...");
}

static int removed(const struct model_entry *e, struct error *err)
{
	char day[CLOCK_TEXT];

	clock_text(e->removed, day);
	return error_set(err, ERR_STATE, "model '%s' (%.200s) was removed at %s%s%s%s", e->alias,
		e->id, day, e->replacement ? ": use '" : "", e->replacement ? e->replacement : "",
		e->replacement ? "'" : "");
}

static bool past(int64_t date, int64_t now)
{
	return date && now >= date;
}

static bool soon_removed(const struct model_entry *e, int64_t now)
{
	return e->removed && !past(e->removed, now) &&
	       now >= e->removed - MODEL_GRACE_DAYS * MODEL_DAY_S;
}

int model_resolve(const struct model_registry *r, const char *stage_model,
	const char *pipeline_model, int64_t now, struct model_resolved *out, struct error *err)
{
	const struct model_entry *e;

	model_choose(stage_model, pipeline_model, out);
	e = model_find(r, out->asked);
	if (!e) {
		out->id = out->asked;
		return model_is_id(r, out->asked) ? 0 : unknown(r, out->asked, err);
	}
	out->entry = e;
	out->alias = true;
	out->id = e->id;
	out->removed = past(e->removed, now);
	out->deprecated = past(e->deprecated, now) && !out->removed;
	out->grace = out->deprecated && soon_removed(e, now);
	return out->removed ? removed(e, err) : 0;
}

const char *model_state(const struct model_entry *e, int64_t now)
{
	if (past(e->removed, now))
		return "removed";
	if (!past(e->deprecated, now))
		return "active";
	return soon_removed(e, now) ? "grace" : "deprecated";
}

bool model_stale(const struct model_entry *e, int64_t now)
{
	return e->deprecated && !e->removed && now > e->deprecated + MODEL_STALE_DAYS * MODEL_DAY_S;
}

bool model_removal_unannounced(const struct model_entry *e, int64_t now)
{
	return !past(e->deprecated, now) && soon_removed(e, now);
}

/* ---- the models that pipelines use ---- */

/* `word` NULL: the default model. `path` is where it is, or would be. */
static void model_check_word(struct arena *a, const struct model_registry *registry,
	struct resources *r, const struct resource_doc *doc, char *path, const char *word)
{
	const struct yaml *at = config_node_above(doc->tree, path);
	struct model_resolved m;
	struct error why, fault;

	if (model_resolve(registry, word, NULL, clock_now(), &m, &why) == 0)
		return;
	error_at(&fault, doc->file, at->line, at->col, "%s", why.text);
	resources_refuse(a, r, &fault);
}

void model_check(struct arena *a, const struct model_registry *registry, struct resources *r)
{
	for (const struct resource_doc *doc = r->docs; doc < r->docs + r->n_docs; doc++) {
		const struct pipeline *p = doc->of;

		if (doc->kind != &resource_kind_pipeline)
			continue;
		if (p->default_model_declared && given(p->default_model))
			model_check_word(a, registry, r, doc,
				arena_dup(a, STR("spec.defaultModel")), p->default_model);
		for (size_t i = 0; i < p->n_stages; i++)
			if (p->stages[i].model || !p->default_model_declared)
				model_check_word(a, registry, r, doc,
					arena_printf(a, "spec.stages[%zu].model", i),
					p->stages[i].model);
	}
}

struct bump_plan {
	struct arena *arena;
	const struct model_registry *registry;
	const char *otherwise; /* the pipeline's model; NULL: none */
	int64_t now;
	VEC(struct model_bump) rows;
};

/* Adds a row if the model, which is as it was written, has to be replaced. */
static void plan_stage(struct bump_plan *plan, const char *stage, const char *model)
{
	const struct model_entry *next;
	struct model_resolved m;
	struct error ignored;

	(void)model_resolve(plan->registry, model, plan->otherwise, plan->now, &m, &ignored);
	if (!m.deprecated && !m.removed)
		return;
	next = m.entry->replacement ? model_find(plan->registry, m.entry->replacement) : NULL;
	vec_push_in(plan->arena, &plan->rows,
		(struct model_bump){stage, m.entry, next ? next->id : NULL, m.grace, m.removed});
}

/* `STAGE:MODEL,...`; the first colon ends the stage, as a model may have colons of its own. */
static int plan_stages(struct bump_plan *plan, const char *text, struct error *err)
{
	struct str rest = str_of(text), pair;

	while (str_next_item(&rest, &pair)) {
		size_t colon = str_find(pair, STR(":"));

		if (!colon || colon + 1 >= pair.n)
			return error_set(err, ERR_USAGE,
				"bad value '%.100s' of --stages: must be STAGE:MODEL,...", text);
		plan_stage(plan, arena_dup(plan->arena, str_sub(pair, 0, colon)),
			arena_dup(plan->arena, str_sub(pair, colon + 1, pair.n)));
	}
	return 0;
}

int model_bump_plan(struct arena *a, const struct model_registry *r, const struct pipeline *p,
	const char *stages, int64_t now, struct model_bump **out, size_t *n, struct error *err)
{
	const char *otherwise = p && p->default_model_declared ? p->default_model : NULL;
	struct bump_plan plan = {.arena = a, .registry = r, .otherwise = otherwise, .now = now};

	if (stages && plan_stages(&plan, stages, err) < 0)
		return -1;
	for (size_t i = 0; !stages && p && i < p->n_stages; i++)
		plan_stage(&plan, p->stages[i].name, p->stages[i].model);
	for (size_t i = 0; !stages && !p && i < r->n; i++)
		plan_stage(&plan, NULL, r->list[i].alias);
	*out = plan.rows.items;
	*n = plan.rows.n;
	return 0;
}
