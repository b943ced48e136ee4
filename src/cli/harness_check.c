#include "src/base/clock.h"
#include "src/sys/path.h"
#include "src/cli/harness.h"
#include "src/cli/common.h"
#include "src/cli/registry.h"
#include "src/harness/load.h"
#include "src/event/pipeline_report.h"

/* A check alone leaves nothing behind, unless it is said where. */
static const char *folder(const struct invocation *in)
{
	const char *given = in->args->value[ARTIFACTS];

	return given ? path_absolute(in->arena, given) : NULL;
}

static int load(struct invocation *in, const char *dir, struct resources *r, struct error *err)
{
	const char *events = folder(in);

	if (resources_load(in->arena, dir, r, err) < 0)
		return -1;
	if (r->n_faults && events && pipeline_report_faults(in->arena, events, r, err) < 0)
		return -1;
	return resources_fault(r, err);
}

/* A file with one pipeline in it, or the name of one in the folder of resources. */
static int find_pipeline(struct invocation *in, struct load_question *q, struct error *err)
{
	const struct pipeline **out = &q->pipeline;
	const char *word = in->args->words[1];
	struct resources *r = arena_alloc(in->arena, sizeof(*r));
	bool file = strchr(word, '/') || str_ends(str_of(word), ".yaml") ||
		    str_ends(str_of(word), ".yml");
	char *dir = (char *)word;

	if (!file && resources_folder(in->arena, in->args->value[RESOURCES], NULL, &dir, err) < 0)
		return -1;
	if (!dir)
		return error_set(err, ERR_USAGE,
			"no folder of resources: give --resources, or make .dev-team/resources");
	if (load(in, dir, r, err) < 0)
		return -1;
	*out = file && r->n_pipelines == 1 ? r->pipelines : resources_pipeline(r, word);
	if (*out) {
		q->pool = resources_pool(r, q->pipeline->worktree_pool);
		return 0;
	}
	if (file)
		return error_set(err, ERR_INPUT, "'%.400s' has %zu pipelines, not one", word,
			r->n_pipelines);
	return error_set(err, ERR_INPUT, "there is no pipeline '%.100s' in '%.400s'", word, dir);
}

/* The model that a harness of the chain is asked for. */
static const char *model_of(const char *harness, const struct model_resolved *m)
{
	const struct harness *h;
	struct error ignored;
	bool fits;

	return harness_find(harness, &h, &ignored) < 0 ? NULL : harness_model(h, m, &fits);
}

static json *stage_json(const struct load_stage *s)
{
	json *j = json_object(), *chain = json_array();

	json_put_str(j, "stage", str_of(s->stage->name));
	for (size_t i = 0; i < s->chain.n; i++) {
		json *row = json_object();

		json_put_str(row, "harness", str_of(s->chain.list[i]));
		harness_put_text(row, "model", model_of(s->chain.list[i], &s->model));
		json_push(chain, row);
	}
	json_put(j, "chain", chain);
	return j;
}

static json *notes_json(const struct load *l, bool faults)
{
	json *list = json_array();

	for (size_t i = 0; i < l->n_notes; i++) {
		json *row;

		if (l->notes[i].fault != faults)
			continue;
		row = json_object();
		json_put_str(row, "stage", str_of(l->notes[i].stage->name));
		json_put_int(row, "line", l->notes[i].stage->line);
		json_put_int(row, "column", l->notes[i].stage->col);
		json_put_str(row, "text", str_of(l->notes[i].text));
		json_push(list, row);
	}
	return list;
}

static void put_json(struct invocation *in, const struct pipeline *p, const struct load *l)
{
	CLEANUP(json_free) json *j = json_object();
	json *stages = json_array();

	json_put_str(j, "pipeline", str_of(p->name));
	json_put_str(j, "file", str_of(p->file));
	for (size_t i = 0; i < p->n_stages; i++)
		json_push(stages, stage_json(&l->stages[i]));
	json_put(j, "stages", stages);
	json_put(j, "faults", notes_json(l, true));
	json_put(j, "warnings", notes_json(l, false));
	harness_put(in, j);
}

static void put_stage(struct invocation *in, const struct load_stage *s)
{
	buf_addf(in->out, "%s:", s->stage->name);
	for (size_t i = 0; i < s->chain.n; i++) {
		const char *model = model_of(s->chain.list[i], &s->model);

		buf_addf(in->out, "%s %s (%s)", i ? "," : "", s->chain.list[i],
			model ? model : "its default model");
	}
	buf_adds(in->out, s->chain.n ? "\n" : " nothing to run on\n");
}

static void put_text(struct invocation *in, const struct pipeline *p, const struct load *l)
{
	for (size_t i = 0; i < p->n_stages; i++)
		put_stage(in, &l->stages[i]);
	for (size_t i = 0; i < l->n_notes; i++) {
		const struct load_note *n = &l->notes[i];

		buf_addf(in->out, "%s:%u:%u: %sstage '%s': %s\n", p->file, n->stage->line,
			n->stage->col, n->fault ? "" : "warning: ", n->stage->name, n->text);
	}
}

int harness_check(struct invocation *in, struct error *err)
{
	struct load_question q = {.now = clock_now()};
	struct model_registry r;
	struct load l;

	if (find_pipeline(in, &q, err) < 0 || registry_open(in->arena, &r, err) < 0)
		return -1;
	q.registry = &r;
	q.artifacts = folder(in);
	if (harness_check_pipeline(in->arena, &q, &l, err) < 0)
		return -1;
	if (in->args->value[WITH_JSON])
		put_json(in, q.pipeline, &l);
	else
		put_text(in, q.pipeline, &l);
	return l.n_faults ? ERR_CHECK : 0;
}
