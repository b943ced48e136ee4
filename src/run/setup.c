#include "src/base/error.h"
#include "src/base/clock.h"
#include "src/run/run_internal.h"
#include "src/workflow/workflow.h"
#include "src/event/event.h"
#include "src/harness/pipeline.h"

enum { CHAIN_MAX = 8 };

/* `a,b,c`: a harness and its fallbacks. */
static int read_chain(struct arena *a, const char *text, struct words *out, struct error *err)
{
	const char **list = arena_alloc(a, CHAIN_MAX * sizeof(*list));
	struct str rest = str_of(text);
	const struct harness *h;

	do {
		size_t comma = str_find(rest, STR(","));

		if (out->n == CHAIN_MAX)
			return error_set(
				err, ERR_USAGE, "--harness has more than %d names", CHAIN_MAX);
		list[out->n] = arena_dup(a, str_trim(str_sub(rest, 0, comma)));
		if (harness_find(list[out->n], &h, err) < 0) {
			err->code = ERR_USAGE;
			return error_prefix(err, "--harness");
		}
		out->n++;
		rest = comma < rest.n ? str_sub(rest, comma + 1, rest.n) : (struct str){0};
	} while (rest.n);
	out->list = list;
	return 0;
}

/* The first harness must be available; unavailable fallbacks are dropped. */
static int probe_chain(struct run_config *s, struct error *err)
{
	const char **list = (const char **)(uintptr_t)s->chain.list;
	size_t kept = 0;

	for (size_t i = 0; i < s->chain.n; i++) {
		const struct harness_availability *is;
		const struct harness *h;

		if (harness_find(list[i], &h, err) < 0)
			return -1;
		is = harness_available(h);
		if (is->available) {
			list[kept++] = list[i];
			continue;
		}
		if (i == 0 &&
			harness_emit(s->artifacts, s->id, NULL, EVENT_HARNESS_UNAVAILABLE, err,
				"harness", list[i], "reason", unavailable_reason_name(is->reason),
				"detail", is->detail, NULL) < 0)
			return -1;
		if (i == 0)
			return error_set(err, ERR_SYSTEM, "harness '%s' cannot be used: %s%s%.600s",
				list[i], unavailable_reason_name(is->reason),
				is->detail ? ": " : "", is->detail ? is->detail : "");
		error_log("dev-team: fallback '%s' is dropped: %s%s%.600s", list[i],
			unavailable_reason_name(is->reason), is->detail ? ": " : "",
			is->detail ? is->detail : "");
	}
	s->chain.n = kept;
	return 0;
}

/* The first fault; emits those that have an event. */
static int report_faults(struct arena *a, const struct resources *all, const char *artifacts,
	const char *repo, struct error *err)
{
	char *dir;

	if (locate_artifacts(a, artifacts, repo, &dir, err) < 0 ||
		event_report_faults(a, dir, all, err) < 0)
		return -1;
	return resources_fault(all, err);
}

int run_load_pipeline(struct arena *a, const struct run_pipeline_request *q, struct resources *all,
	const struct pipeline **out, struct error *err)
{
	char *dir;

	if (locate_resources(a, q->resources, q->repo, &dir, err) < 0)
		return -1;
	if (!dir)
		return error_set(err, ERR_USAGE,
			"--pipeline: no resources in this repository: name their directory with "
			"--resources");
	if (resources_load(a, dir, all, err) < 0)
		return -1;
	if (all->n_faults)
		return report_faults(a, all, q->artifacts, q->repo, err);
	*out = resources_pipeline(all, q->name);
	return *out ? 0 : error_set(err, ERR_USAGE, "no pipeline '%s' in '%s'", q->name, dir);
}

/* The first harness must take the id; a fallback runs its own default model. */
static int check_model(
	const struct run_config *s, const struct model_resolved *m, struct error *err)
{
	const struct harness *h;
	bool fits;

	for (size_t i = 0; i < s->chain.n; i++) {
		if (harness_find(s->chain.list[i], &h, err) < 0)
			return -1;
		if (harness_model(h, m, &fits))
			continue;
		if (i == 0 && !fits)
			return error_set(err, ERR_USAGE, "--model: harness '%s' has no model '%s'",
				s->chain.list[i], m->asked);
		error_log("dev-team: '%s' runs its own default model: '%s' is none of its models",
			s->chain.list[i], m->asked);
	}
	return 0;
}

/* The model of each stage is fixed before the first one runs. */
static int pin_models(struct arena *a, struct run_config *s, struct error *err)
{
	struct model_pin *pins;
	struct model_resolved m;
	const char *file;

	if (model_registry_file(a, s->repo, &file, err) < 0 ||
		model_registry_load(a, file, &s->models, err) < 0)
		return -1;
	if (s->pipeline) {
		struct pipeline_question q = {.pipeline = s->pipeline,
			.registry = &s->models,
			.artifacts = s->artifacts,
			.now = clock_now()};

		if (harness_pin_models(a, &q, s->id, &pins, err) < 0)
			return -1;
		s->pins = pins;
	}
	if (s->pipeline && !s->model)
		return 0;
	if (model_resolve(&s->models, s->model, NULL, clock_now(), &m, err) < 0 ||
		harness_emit_model(s->artifacts, NULL, &m, err) < 0)
		return -1;
	return s->model ? check_model(s, &m, err) : 0;
}

/* Every stage can run on its harness; warnings are logged. */
static int check_pipeline(struct arena *a, struct run_config *s, struct error *err)
{
	struct pipeline_question q = {.pipeline = s->pipeline,
		.registry = &s->models,
		.pool = s->pool,
		.artifacts = s->artifacts,
		.now = clock_now()};

	if (harness_check_pipeline(a, &q, &s->plan, err) < 0)
		return -1;
	for (size_t i = 0; i < s->plan.notes.n; i++)
		if (!s->plan.notes.items[i].fault)
			error_log("dev-team: stage '%s': %s", s->plan.notes.items[i].stage->name,
				s->plan.notes.items[i].text);
	return pipeline_plan_fault(&s->plan, s->pipeline, err);
}

/* Names only: every user of the machine can see a command line. */
static int check_names(const struct words *names, struct error *err)
{
	for (size_t i = 0; i < names->n; i++)
		if (!*names->list[i] || strchr(names->list[i], '='))
			return error_set(err, ERR_USAGE,
				"--pass-env takes the name of a variable, not '%.60s'",
				names->list[i]);
	return 0;
}

/* A stage is named STATE, STATE-AGENT or AGENT; see stage_of() in dispatch.c. */
static bool has_stage(
	struct arena *a, const struct run_config *c, const struct workflow *w, const char *name)
{
	struct instructions role;
	struct error ignored;

	for (size_t i = 0; i < w->n_states; i++) {
		size_t n = strlen(w->states[i].name);

		if (strncmp(name, w->states[i].name, n) == 0 && (!name[n] || name[n] == '-'))
			return true;
	}
	return instructions_agent(a, c->root, c->repo, name, &role, &ignored) == 0 && role.path;
}

/* A misspelt stage would otherwise run with the defaults, unnoticed. */
static int warn_of_stages(
	struct arena *a, const struct run_config *c, const char *path, struct error *err)
{
	const struct pipeline *p = c->pipeline;
	struct workflow w;

	if (!p || !path)
		return 0;
	if (workflow_load(a, path, &w, err) < 0)
		return -1;
	for (size_t i = 0; i < p->n_stages; i++)
		if (!w.n_declared && !has_stage(a, c, &w, p->stages[i].name))
			error_log(
				"dev-team: stage '%s' of pipeline '%s' is not named after a state "
				"or an agent of the workflow: it never runs",
				p->stages[i].name, p->name);
	return 0;
}

int run_configure(struct arena *a, const struct run_config_request *q, struct run_config *out,
	struct error *err)
{
	char *path;

	*out = (struct run_config){.id = q->id,
		.repo = q->repo,
		.context_file = q->context_file,
		.model = q->model,
		.resources = q->resources,
		.pass = {q->pass, q->n_pass}};
	if (check_names(&out->pass, err) < 0)
		return -1;
	if (locate_plugin(a, q->root, &path, err) < 0)
		return -1;
	out->root = path;
	if (locate_artifacts(a, q->artifacts, q->repo, &path, err) < 0)
		return -1;
	out->artifacts = path;
	out->timeout_s = q->timeout_s;
	out->pipeline = q->pipeline;
	out->pool = q->pool;
	if (q->harness && (read_chain(a, q->harness, &out->chain, err) < 0))
		return -1;
	if (pin_models(a, out, err) < 0)
		return -1;
	if (out->pipeline && !out->chain.n && check_pipeline(a, out, err) < 0)
		return -1;
	if (warn_of_stages(a, out, q->workflow, err) < 0)
		return -1;
	return probe_chain(out, err);
}
