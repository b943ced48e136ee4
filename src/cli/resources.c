#include "src/base/clock.h"
#include "src/base/error.h"
#include "src/cli/cli.h"
#include "src/config/decode.h"
#include "src/config/model.h"
#include "src/config/resource.h"
#include "src/event/event.h"
#include "src/graph/manifest.h"
#include "src/harness/harness.h"
#include "src/run/locate.h"
#include "src/sys/path.h"

struct resources_options {
	const char *resources, *artifacts;
	bool markdown, json;
};

static const struct option resources_rows[] = {
	CLI_RESOURCES(struct resources_options),
	CLI_JSON(struct resources_options),
	OPTION_END,
};
static const struct option schema_options[] = {
	OPTION_FLAG(struct resources_options, markdown, "markdown", "as a table of fields"),
	OPTION_END,
};
static const struct option resolve_options[] = {
	OPTION_TEXT(struct resources_options, artifacts, "artifacts", "DIR",
		"record the result in this directory of artifacts"),
	OPTION_END,
};

/* ---- check ---- */

static json *resources_check_json(const struct resources *r)
{
	json *faults = json_array();

	for (size_t i = 0; i < r->n_faults; i++)
		json_push(faults, JSON_OBJECT(JSON_TEXT("file", r->faults[i].file),
					  JSON_INT("line", r->faults[i].line),
					  JSON_INT("column", r->faults[i].col),
					  JSON_TEXT("text", r->faults[i].text)));
	return JSON_OBJECT(JSON_INT("files", r->n_files), JSON_INT("pipelines", r->n_pipelines),
		JSON_INT("worktreePools", r->n_pools), JSON_INT("subscriptionPlans", r->n_plans),
		JSON_INT("databaseBranchPools", r->n_databases), JSON_INT("others", r->n_other),
		JSON_VALUE("faults", faults));
}

static void put_count(struct buf *b, const char *before, size_t n, const char *what)
{
	buf_addf(b, "%s%zu %s%s", before, n, what, n == 1 ? "" : "s");
}

static void put_summary(struct buf *b, const struct resources *r)
{
	put_count(b, "", r->n_files, "file");
	put_count(b, ", good: ", r->n_pipelines, "pipeline");
	put_count(b, ", ", r->n_pools, "worktree pool");
	put_count(b, ", ", r->n_plans, "subscription plan");
	put_count(b, ", ", r->n_databases, "database branch pool");
	if (r->n_other) {
		put_count(b, "; left out: ", r->n_other, "document");
		buf_adds(b, " of other kinds");
	}
	buf_addc(b, '\n');
}

/* Fields of pipelines and pools that somebody wrote and that have no effect. */
static void warn_of_inert(struct invocation *in, const struct resources *r)
{
	for (size_t i = 0; i < r->n_docs; i++) {
		CLEANUP(resource_values_release) struct resource_values values = {0};

		if (r->docs[i].kind == &resource_kind_pipeline ||
			r->docs[i].kind == &resource_kind_worktree_pool)
			resource_list_values(
				in->arena, r, &r->docs[i], parallelism_mode(), &values);
		for (size_t k = 0; k < values.n; k++)
			if (values.items[k].inert && values.items[k].origin == ORIGIN_WRITTEN &&
				str_starts(str_of(values.items[k].path), "spec."))
				error_log("dev-team: %s:%u: '%s' has no effect in dev-team",
					values.items[k].file, values.items[k].line,
					values.items[k].path);
	}
}

static bool model_id_known(
	const struct model_registry *registry, const struct harness *h, const char *id)
{
	for (size_t i = 0; i < registry->n; i++)
		if (strcmp(registry->list[i].id, id) == 0)
			return true;
	for (const char *const *m = h->models; m && *m; m++)
		if (strcmp(*m, id) == 0)
			return true;
	return h->models_open;
}

/*
 * A model that the stage's own harness does not drive is a fault; an id that is new to both the
 * registry and the harness may be misspelt. *warned: the pipeline's model is reported already.
 */
static void check_model_id(struct arena *a, const struct model_registry *registry,
	struct resources *r, const struct resource_doc *doc, const struct stage_spec *s,
	bool *warned)
{
	const struct pipeline *p = doc->of;
	struct error fault, ignored;
	const struct harness *h;
	const struct yaml *at;
	struct model_resolved m;
	bool own;

	/* Faults of the two words are reported already. */
	if (model_resolve(registry, s->model, p->default_model, clock_now(), &m, &ignored) < 0 ||
		m.alias || harness_find(s->harness, &h, &ignored) < 0)
		return;
	own = strcmp(m.source, "stage") == 0;
	at = config_node_above(
		doc->tree, own ? arena_printf(a, "spec.stages[%zu].model", (size_t)(s - p->stages))
			       : arena_dup(a, STR("spec.defaultModel")));
	if (!harness_takes_model(h, m.id)) {
		error_at(&fault, doc->file, at->line, at->col,
			"stage '%s': harness '%s' does not drive model '%.100s'", s->name, h->name,
			m.id);
		resources_refuse(a, r, &fault);
	} else if (!model_id_known(registry, h, m.id) && (own || !*warned)) {
		error_log("dev-team: %s:%u: model '%s' is not in the registry, and is passed on "
			  "as it is",
			doc->file, at->line, m.id);
		*warned = *warned || !own;
	}
}

static void check_model_ids(
	struct arena *a, const struct model_registry *registry, struct resources *r)
{
	for (const struct resource_doc *doc = r->docs; doc < r->docs + r->n_docs; doc++) {
		const struct pipeline *p = doc->of;
		bool warned = false;

		if (doc->kind == &resource_kind_pipeline)
			for (size_t i = 0; i < p->n_stages; i++)
				check_model_id(a, registry, r, doc, &p->stages[i], &warned);
	}
}

/* A directory that was found, as people would name it in the working directory. NULL stays. */
static const char *short_directory(struct arena *a, const char *dir)
{
	const char *here = path_real(a, ".");

	return dir && path_is_below(here, dir) ? path_relative(a, here, dir) : dir;
}

/* Faults name the path as it was given. */
static int cli_resources_load(
	struct invocation *in, const char *given, struct resources *r, struct error *err)
{
	const char *dir;

	if (given)
		return resources_load(in->arena, given, r, err);
	if (locate_resources_required(in->arena, NULL, NULL, &dir, err) < 0)
		return -1;
	return resources_load(in->arena, short_directory(in->arena, dir), r, err);
}

static int resources_run_check(struct invocation *in, struct error *err)
{
	const struct resources_options *o = in->values;
	struct model_registry registry;
	struct resources r;

	if (cli_resources_load(in, in->n ? in->words[0] : o->resources, &r, err) < 0 ||
		(r.n_pipelines && locate_models(in->arena, NULL, NULL, &registry, err) < 0))
		return -1;
	if (r.n_pipelines) {
		model_check(in->arena, &registry, &r);
		check_model_ids(in->arena, &registry, &r);
	}
	if (o->json) {
		json_print_line(in->out, resources_check_json(&r));
		return r.n_faults ? ERR_INPUT : 0;
	}
	for (size_t i = 0; i < r.n_faults; i++)
		buf_addf(in->out, "%s:%u:%u: %s\n", r.faults[i].file, r.faults[i].line,
			r.faults[i].col, r.faults[i].text);
	if (r.n_faults)
		return ERR_INPUT;
	put_summary(in->out, &r);
	warn_of_inert(in, &r);
	return 0;
}

/* ---- show ---- */

static char *source(struct arena *a, const struct resource_value *f)
{
	switch (f->origin) {
	case ORIGIN_WRITTEN:
		return arena_printf(a, "%s:%u%s%s%s", f->file, f->line, f->why ? ", " : "",
			f->why ? f->why : "", f->inert ? ", no effect in dev-team" : "");
	case ORIGIN_DEFAULT:
		return arena_printf(a, "default%s%s", f->why ? ", " : "", f->why ? f->why : "");
	case ORIGIN_DERIVED:
		return arena_printf(a, "from %s", f->why);
	default:
		return arena_printf(a, "environment, %s", f->why);
	}
}

static void put_values(
	struct invocation *in, const struct resource_doc *doc, const struct resource_values *values)
{
	buf_addf(in->out, "%s/%s\n", doc->kind->name, doc->name);
	for (size_t i = 0; i < values->n; i++) {
		CLEANUP(buf_release) struct buf value = BUF_INIT;

		json_print(&value, values->items[i].value);
		buf_addf(in->out, "  %-42s %-28s %s\n", values->items[i].path, value.s,
			source(in->arena, &values->items[i]));
	}
}

static json *field_json(const struct resource_value *f)
{
	static const char *const origins[] = {[ORIGIN_WRITTEN] = "file",
		[ORIGIN_DEFAULT] = "default",
		[ORIGIN_DERIVED] = "derived",
		[ORIGIN_ENVIRONMENT] = "environment"};
	bool written = f->origin == ORIGIN_WRITTEN;

	return JSON_OBJECT(JSON_VALUE("value", json_copy(f->value)),
		JSON_TEXT("from", origins[f->origin]), JSON_IF(written, JSON_TEXT("file", f->file)),
		JSON_IF(written, JSON_INT("line", f->line)),
		JSON_IF(f->why, JSON_TEXT("why", f->why)),
		JSON_IF(f->inert, JSON_BOOL("inert", true)));
}

static json *values_json(const struct resource_doc *doc, const struct resource_values *values)
{
	json *fields = json_object();

	for (size_t i = 0; i < values->n; i++)
		json_put(fields, values->items[i].path, field_json(&values->items[i]));
	return JSON_OBJECT(JSON_TEXT("kind", doc->kind->name), JSON_TEXT("name", doc->name),
		JSON_TEXT("file", doc->file), JSON_VALUE("fields", fields));
}

/* `KIND`, `KIND/NAME`, or nothing for all. */
static bool wanted(const struct invocation *in, const struct resource_doc *doc)
{
	const char *word = in->n ? in->words[0] : "", *slash = strchr(word, '/');
	struct str kind = {word, slash ? (size_t)(slash - word) : strlen(word)};

	return (!kind.n || str_is(kind, doc->kind->name)) &&
	       (!slash || strcmp(slash + 1, doc->name) == 0);
}

/* How many of them were wanted. */
static size_t resources_show_all(struct invocation *in, const struct resources *r, json *all)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_docs; i++) {
		CLEANUP(resource_values_release) struct resource_values values = {0};

		if (!wanted(in, &r->docs[i]))
			continue;
		resource_list_values(in->arena, r, &r->docs[i], parallelism_mode(), &values);
		json_push(all, values_json(&r->docs[i], &values));
		put_values(in, &r->docs[i], &values);
		n++;
	}
	return n;
}

static int resources_run_show(struct invocation *in, struct error *err)
{
	CLEANUP(json_free) json *all = json_array();
	const struct resources_options *o = in->values;
	struct resources r = {0}, standard;
	const char *dir = o->resources;
	size_t n;

	if (!dir && locate_resources(in->arena, NULL, NULL, &dir, err) < 0)
		return -1;
	if (!o->resources)
		dir = short_directory(in->arena, dir);
	if (dir && resources_need(in->arena, dir, &r, err) < 0)
		return -1;
	resources_default(in->arena, &standard);
	n = resources_show_all(in, &r, all);
	if (!r.n_pools)
		n += resources_show_all(in, &standard, all);
	if (!n && in->n)
		return error_set(err, ERR_INPUT, "there is no resource '%.300s'", in->words[0]);
	cli_put_json(in, o->json, json_copy(all));
	return 0;
}

/* ---- schema and resolve ---- */

static int resources_run_schema(struct invocation *in, struct error *err)
{
	const struct resources_options *o = in->values;
	const struct resource_kind *kind;

	if (!in->n) {
		for (size_t i = 0; resource_kinds[i]; i++)
			buf_addf(in->out, "%s\n", resource_kinds[i]->name);
		buf_addf(in->out, "%s\n", manifest_kind.name);
		return 0;
	}
	kind = strcmp(in->words[0], manifest_kind.name) ? resource_kind(in->words[0])
							: &manifest_kind;
	if (!kind)
		return error_set(err, ERR_USAGE,
			"there is no kind '%.60s' (see 'resources schema')", in->words[0]);
	(o->markdown ? resource_page : resource_schema)(kind, in->out);
	return 0;
}

static int resources_run_resolve(struct invocation *in, struct error *err)
{
	const struct resources_options *o = in->values;
	const struct pipeline *p;
	struct parallelism n;
	struct resources r;
	const char *dir;

	if (cli_resources_load(in, o->resources, &r, err) < 0 || resources_fault(&r, err) < 0)
		return -1;
	p = resources_pipeline(&r, in->words[0]);
	if (!p)
		return error_set(err, ERR_INPUT, "there is no Pipeline '%.253s'", in->words[0]);
	parallelism_resolve(in->arena, &r, p, parallelism_mode(), &n);
	/* Recorded only where the user says so. */
	if (o->artifacts && (locate_artifacts(in->arena, o->artifacts, NULL, &dir, err) < 0 ||
				    event_report_parallelism(dir, p, &n, err) < 0))
		return -1;
	buf_addf(in->out, "%u (%s)\n", n.max, parallelism_word(n.source));
	cli_put_json(in, o->json, event_parallelism_json(p, &n));
	return 0;
}

static const struct verb *const subcommands[] = {
	CLI_SUBCOMMAND("check", "[DIR]", resources_run_check,
		"print all faults as FILE:LINE:COL and exit with status 3, or a summary",
		.options = {resources_rows}),
	CLI_SUBCOMMAND("show", "[KIND[/NAME]]", resources_run_show,
		"print every field with its value and its origin",
		.details = "Also shows the default pool where there is no WorktreePool.",
		.options = {resources_rows}),
	CLI_SUBCOMMAND("schema", "[KIND]", resources_run_schema,
		"list the kinds, or print the JSON Schema of one", .options = {schema_options}),
	CLI_SUBCOMMAND("resolve", "PIPELINE", resources_run_resolve,
		"print how many issues a pipeline works on at one time, and why",
		.options = {resources_rows, resolve_options}),
	NULL,
};

const struct verb verb_resources = {
	.name = "resources",
	.group = "Workflows",
	.about = "check and show pipelines, pools and plans",
	.details = "Exit status 3: a resource is refused.",
	.examples = "dev-team resources check\n"
		    "dev-team resources show Pipeline/implement-task\n"
		    "dev-team resources schema WorktreePool",
	.size = sizeof(struct resources_options),
	.subcommands = subcommands,
};
