/*
 * The models that pipelines use: which of them are faults, which have to be replaced soon.
 */
#include "src/base/clock.h"
#include "src/base/vec.h"
#include "src/config/models.h"
#include "src/config/kinds.h"

/* ---- faults ---- */

struct model_check {
	struct arena *a;
	struct resources *r;
	const struct model_registry *registry;
	const struct resource_doc *doc;
};

/* `word` NULL: the default model. */
static void check_model(const struct model_check *c, const struct yaml *at, const char *word)
{
	struct model_resolved m;
	struct error why, fault;

	if (model_resolve(c->registry, word, NULL, clock_now(), &m, &why) == 0)
		return;
	error_at(&fault, c->doc->file, at->line, at->col, "%s", why.text);
	resources_refuse(c->a, c->r, &fault);
}

/* The text of the key; NULL where it is missing or `inherit`. */
static const char *model_at(const struct yaml *map, const char *key, const struct yaml **at)
{
	*at = yaml_get(map, key);
	if (!*at || (*at)->kind != YAML_SCALAR || strcmp((*at)->text.p, INHERIT_MODEL) == 0)
		return NULL;
	return (*at)->text.p;
}

static void check_stages(const struct model_check *c, const struct yaml *spec, bool has_default)
{
	const struct yaml *stages = yaml_get(spec, "stages"), *at;

	for (size_t i = 0; stages && stages->kind == YAML_LIST && i < stages->n; i++) {
		const struct yaml *stage = stages->list[i];
		const char *word;

		if (stage->kind != YAML_MAP)
			continue;
		word = model_at(stage, "model", &at);
		if (word || !has_default)
			check_model(c, at ? at : stage, word);
	}
}

static void check_pipeline(const struct model_check *c)
{
	const struct yaml *spec = yaml_get(c->doc->tree, "spec"), *at;
	const char *word;

	if (!spec || spec->kind != YAML_MAP)
		return;
	word = model_at(spec, "defaultModel", &at);
	if (word)
		check_model(c, at, word);
	check_stages(c, spec, at);
}

void models_check(struct arena *a, const struct model_registry *registry, struct resources *r)
{
	struct model_check c = {.a = a, .r = r, .registry = registry};

	for (size_t i = 0; i < r->n_docs; i++) {
		c.doc = &r->docs[i];
		if (c.doc->kind->fields == pipeline_fields)
			check_pipeline(&c);
	}
}

/* ---- replacements ---- */

struct model_uses {
	struct model_use *items;
	size_t n, cap;
};

/* `STAGE:MODEL,...`; the first colon ends the stage, as a model may have colons of its own. */
static int read_stages(
	struct arena *a, const char *text, struct model_uses *uses, struct error *err)
{
	struct str rest = str_of(text);

	for (;;) {
		size_t comma = str_find(rest, STR(","));
		struct str pair = str_trim(str_sub(rest, 0, comma));
		size_t colon = str_find(pair, STR(":"));

		if (!colon || colon + 1 >= pair.n)
			return error_set(err, ERR_USAGE,
				"bad value '%.100s' of --stages: must be STAGE:MODEL,...", text);
		vec_push_in(a, uses,
			(struct model_use){arena_dup(a, str_sub(pair, 0, colon)),
				arena_dup(a, str_sub(pair, colon + 1, pair.n))});
		if (comma == rest.n)
			return 0;
		rest = str_sub(rest, comma + 1, rest.n);
	}
}

int models_bump(struct arena *a, const struct model_registry *r, const struct pipeline *p,
	const char *stages, int64_t now, struct model_bump **out, size_t *n, struct error *err)
{
	const char *otherwise = p && p->default_model_declared ? p->default_model : NULL;
	struct model_uses uses = {0};

	if (stages && read_stages(a, stages, &uses, err) < 0)
		return -1;
	for (size_t i = 0; !stages && p && i < p->n_stages; i++)
		vec_push_in(a, &uses, (struct model_use){p->stages[i].name, p->stages[i].model});
	for (size_t i = 0; !stages && !p && i < r->n; i++)
		vec_push_in(a, &uses, (struct model_use){NULL, r->list[i].alias});
	*n = model_bump_plan(a, r, uses.items, uses.n, otherwise, now, out);
	return 0;
}
