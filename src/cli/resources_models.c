#include "src/base/clock.h"
#include "src/cli/registry.h"
#include "src/cli/resources.h"

struct asking {
	struct arena *a;
	struct resources *r;
	const struct model_registry *registry;
	const struct resource_doc *doc;
};

/* `word` NULL: what stands for it where nobody names one. */
static void ask(const struct asking *q, const struct yml *at, const char *word)
{
	struct model_resolved m;
	struct error why, fault;

	if (model_resolve(q->registry, word, NULL, clock_now(), &m, &why) == 0)
		return;
	error_at(&fault, q->doc->file, at->line, at->col, "%s", why.text);
	resources_refuse(q->a, q->r, &fault);
}

/* Its text; NULL where it is missing, or hands the question on. */
static const char *model_at(const struct yml *map, const char *key, const struct yml **at)
{
	*at = yml_get(map, key);
	if (!*at || (*at)->kind != YML_SCALAR || strcmp((*at)->text.p, INHERIT_MODEL) == 0)
		return NULL;
	return (*at)->text.p;
}

static void ask_stages(const struct asking *q, const struct yml *spec, bool defaulted)
{
	const struct yml *stages = yml_get(spec, "stages"), *at;

	for (size_t i = 0; stages && stages->kind == YML_LIST && i < stages->n; i++) {
		const struct yml *stage = stages->list[i];
		const char *word;

		if (stage->kind != YML_MAP)
			continue;
		word = model_at(stage, "model", &at);
		if (word || !defaulted)
			ask(q, at ? at : stage, word);
	}
}

static void ask_pipeline(const struct asking *q)
{
	const struct yml *spec = yml_get(q->doc->tree, "spec"), *at;
	const char *word;

	if (!spec || spec->kind != YML_MAP)
		return;
	word = model_at(spec, "defaultModel", &at);
	if (word)
		ask(q, at, word);
	ask_stages(q, spec, at);
}

int resources_check_models(struct invocation *in, struct resources *r, struct error *err)
{
	struct model_registry registry;
	struct asking q = {.a = in->arena, .r = r, .registry = &registry};

	if (!r->n_pipelines)
		return 0;
	if (registry_open(in->arena, &registry, err) < 0)
		return -1;
	for (size_t i = 0; i < r->n_docs; i++) {
		q.doc = &r->docs[i];
		if (q.doc->kind->fields == pipeline_fields)
			ask_pipeline(&q);
	}
	return 0;
}
