#include "src/base/error.h"
#include "src/base/clock.h"
#include "src/run/locate.h"
#include "src/run/run_staff.h"
#include "src/workflow/workflow.h"
#include "src/event/pipeline_report.h"
#include "src/harness/pipeline.h"

enum { CHAIN_MAX = 8 };

/* `a,b,c`: the first one is meant, the others are for when it cannot be used. */
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

static int tell_unavailable(const struct staff *s, const char *name,
	const struct harness_availability *is, struct error *err)
{
	struct event h = {.id = EVENT_HARNESS_UNAVAILABLE, .issue = s->id};
	json *fields = json_object();
	int rc;

	json_put_str(fields, "harness", str_of(name));
	json_put_str(fields, "reason", str_of(unavailable_reason_name(is->reason)));
	if (is->detail)
		json_put_str(fields, "detail", str_of(is->detail));
	h.fields = fields;
	rc = event_emit(s->artifacts, &h, err);
	json_free(&fields);
	return rc;
}

/* Before anything runs: the first must be there; of the others those that are not are left out. */
static int probe_chain(struct staff *s, struct error *err)
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
		if (i == 0 && tell_unavailable(s, list[i], is, err) < 0)
			return -1;
		if (i == 0)
			return error_set(err, ERR_SYSTEM, "harness '%s' cannot be used: %s%s%.600s",
				list[i], unavailable_reason_name(is->reason),
				is->detail ? ": " : "", is->detail ? is->detail : "");
		log_line("dev-team: fallback '%s' is left out: %s%s%.600s", list[i],
			unavailable_reason_name(is->reason), is->detail ? ": " : "",
			is->detail ? is->detail : "");
	}
	s->chain.n = kept;
	return 0;
}

/* The first fault; those that are events are told. */
static int refuse(struct arena *a, const struct resources *all, const char *artifacts,
	const char *repo, struct error *err)
{
	char *dir;

	if (artifacts_folder(a, artifacts, repo, &dir, err) < 0 ||
		pipeline_report_faults(a, dir, all, err) < 0)
		return -1;
	return resources_fault(all, err);
}

int staff_pipeline(struct arena *a, const struct pipeline_ask *ask, struct resources *all,
	const struct pipeline **out, struct error *err)
{
	char *dir;

	if (resources_folder(a, ask->resources, ask->repo, &dir, err) < 0)
		return -1;
	if (!dir)
		return error_set(err, ERR_USAGE,
			"--pipeline: there are no resources here; name their folder with "
			"--resources");
	if (resources_load(a, dir, all, err) < 0)
		return -1;
	if (all->n_faults)
		return refuse(a, all, ask->artifacts, ask->repo, err);
	*out = resources_pipeline(all, ask->name);
	return *out ? 0 : error_set(err, ERR_USAGE, "no pipeline '%s' in '%s'", ask->name, dir);
}

/* An id that the first harness cannot be asked for is a mistake; a fallback runs its own default.
 */
static int check_model(const struct staff *s, const struct model_resolved *m, struct error *err)
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
		log_line("dev-team: '%s' runs its own default model: '%s' is none of its models",
			s->chain.list[i], m->asked);
	}
	return 0;
}

/* Which model each stage gets is settled once, before the first one runs. */
static int pin_models(struct arena *a, struct staff *s, struct error *err)
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

/* Every stage's harness is there and can do what it asks for; what is only a pity is said. */
static int check_pipeline(struct arena *a, struct staff *s, struct error *err)
{
	struct pipeline_question q = {.pipeline = s->pipeline,
		.registry = &s->models,
		.pool = s->pool,
		.artifacts = s->artifacts,
		.now = clock_now()};

	if (harness_check_pipeline(a, &q, &s->load, err) < 0)
		return -1;
	for (size_t i = 0; i < s->load.notes.n; i++)
		if (!s->load.notes.items[i].fault)
			log_line("dev-team: stage '%s': %s", s->load.notes.items[i].stage->name,
				s->load.notes.items[i].text);
	return pipeline_plan_fault(&s->load, s->pipeline, err);
}

/* Names alone: a value on the command line is seen by every user of the machine. */
static int check_names(const struct words *names, struct error *err)
{
	for (size_t i = 0; i < names->n; i++)
		if (!*names->list[i] || strchr(names->list[i], '='))
			return error_set(err, ERR_USAGE,
				"--pass-env takes the name of a variable, not '%.60s'",
				names->list[i]);
	return 0;
}

/* `reviewing-reviewer` is a name for state `reviewing`, `developer` one for an agent of any state.
 */
static bool has_stage(const struct workflow *w, const char *name)
{
	static const char *const agents[] = {
		"researcher", "developer", "reviewer", "debugger", "troubleshooter"};

	for (size_t i = 0; i < w->n_states; i++) {
		size_t n = strlen(w->states[i].name);

		if (strncmp(name, w->states[i].name, n) == 0 && (!name[n] || name[n] == '-'))
			return true;
	}
	for (size_t i = 0; i < COUNT(agents); i++)
		if (strcmp(name, agents[i]) == 0)
			return true;
	return false;
}

/* A slip of the pen in a name would have its stage run on the defaults without a word. */
static int warn_of_stages(
	struct arena *a, const char *path, const struct pipeline *p, struct error *err)
{
	struct workflow w;

	if (!p || !path)
		return 0;
	if (workflow_load(a, path, &w, err) < 0)
		return -1;
	for (size_t i = 0; i < p->n_stages; i++)
		if (!w.n_declared && !has_stage(&w, p->stages[i].name))
			log_line(
				"dev-team: stage '%s' of pipeline '%s' has the name of no state or "
				"agent of the workflow: nothing runs by it",
				p->stages[i].name, p->name);
	return 0;
}

int staff_hire(struct arena *a, const struct staff_ask *ask, struct staff *out, struct error *err)
{
	char *path;

	*out = (struct staff){.id = ask->id,
		.repo = ask->repo,
		.context_file = ask->context_file,
		.model = ask->model,
		.resources = ask->resources,
		.pass = {ask->pass, ask->n_pass}};
	if (check_names(&out->pass, err) < 0)
		return -1;
	if (plugin_root(a, ask->root, &path, err) < 0)
		return -1;
	out->root = path;
	if (artifacts_folder(a, ask->artifacts, ask->repo, &path, err) < 0)
		return -1;
	out->artifacts = path;
	out->timeout_s = ask->timeout_s;
	out->pipeline = ask->pipeline;
	out->pool = ask->pool;
	if (ask->harness && (read_chain(a, ask->harness, &out->chain, err) < 0))
		return -1;
	if (pin_models(a, out, err) < 0)
		return -1;
	if (out->pipeline && !out->chain.n && check_pipeline(a, out, err) < 0)
		return -1;
	if (warn_of_stages(a, ask->workflow, out->pipeline, err) < 0)
		return -1;
	return probe_chain(out, err);
}
