#include "src/base/log.h"
#include "src/cli/resources.h"
#include "src/cli/common.h"
#include "src/event/pipeline_report.h"
#include "src/cli/subcommands.h"
static const struct option_spec options[] = {
	ARTIFACTS_OPTION,
	RESOURCES_OPTION,
	[JSON] = {"json", NULL, "the result as JSON", false},
	[MARKDOWN] = {"markdown", NULL, "for 'schema': as a table of fields", false},
	{0},
};

enum parallelism_mode resources_mode(void)
{
	return parallelism_mode(getenv("AI_SDLC_PARALLELISM"));
}

static int load(struct invocation *in, const char *given, struct resources *r, struct error *err)
{
	char *dir = NULL;

	if (given) /* faults are told of the path that was given */
		return resources_load(in->arena, given, r, err);
	if (resources_folder(in->arena, NULL, NULL, &dir, err) < 0)
		return -1;
	if (!dir)
		return error_set(err, ERR_USAGE,
			"no folder of resources: give --resources, or make .dev-team/resources");
	return resources_load(in->arena, dir, r, err);
}

int resources_good(struct invocation *in, struct resources *r, struct error *err)
{
	if (load(in, in->args->value[RESOURCES], r, err) < 0)
		return -1;
	return resources_fault(r, err);
}

int resources_any(struct invocation *in, struct resources *r, struct error *err)
{
	char *dir;

	*r = (struct resources){0};
	if (in->args->value[RESOURCES])
		return resources_good(in, r, err);
	if (resources_folder(in->arena, NULL, NULL, &dir, err) < 0)
		return -1;
	return dir ? resources_need(in->arena, dir, r, err) : 0;
}

static void put(struct invocation *in, const json *j)
{
	json_print(in->out, j);
	buf_addc(in->out, '\n');
}

void resources_put_path(json *j, const char *key, const char *path)
{
	CLEANUP(buf_release) struct buf clean = BUF_INIT;

	buf_adds(&clean, path);
	utf8_mend(&clean);
	json_put_str(j, key, buf_str(&clean));
}

static json *faults_json(const struct resources *r)
{
	json *list = json_array();

	for (size_t i = 0; i < r->n_faults; i++) {
		json *row = json_object();

		resources_put_path(row, "file", r->faults[i].file);
		json_put_int(row, "line", r->faults[i].line);
		json_put_int(row, "column", r->faults[i].col);
		json_put_str(row, "text", str_of(r->faults[i].text));
		json_push(list, row);
	}
	return list;
}

static json *check_json(const struct resources *r)
{
	json *j = json_object();

	json_put_int(j, "files", (int64_t)r->n_files);
	json_put_int(j, "pipelines", (int64_t)r->n_pipelines);
	json_put_int(j, "worktreePools", (int64_t)r->n_pools);
	json_put_int(j, "subscriptionPlans", (int64_t)r->n_plans);
	json_put_int(j, "databaseBranchPools", (int64_t)r->n_databases);
	json_put_int(j, "others", (int64_t)r->n_other);
	json_put(j, "faults", faults_json(r));
	return j;
}

static void put_count(struct buf *b, size_t n, const char *what)
{
	buf_addf(b, "%zu %s%s", n, what, n == 1 ? "" : "s");
}

static void put_summary(struct buf *b, const struct resources *r)
{
	put_count(b, r->n_files, "file");
	buf_adds(b, ", good: ");
	put_count(b, r->n_pipelines, "pipeline");
	buf_adds(b, ", ");
	put_count(b, r->n_pools, "worktree pool");
	buf_adds(b, ", ");
	put_count(b, r->n_plans, "subscription plan");
	buf_adds(b, ", ");
	put_count(b, r->n_databases, "database branch pool");
	if (r->n_other) {
		buf_adds(b, "; left out: ");
		put_count(b, r->n_other, "document");
		buf_adds(b, " of other kinds");
	}
	buf_addc(b, '\n');
}

/* Of pipelines and pools: whoever writes them may count on them. */
static void warn_of_inert(struct invocation *in, const struct resources *r)
{
	for (size_t i = 0; i < r->n_docs; i++) {
		CLEANUP(shown_release) struct shown shown = {0};
		bool ours = r->docs[i].kind->fields == pipeline_fields ||
			    r->docs[i].kind->fields == worktree_pool_fields;

		if (ours)
			resource_shown(in->arena, r, &r->docs[i], resources_mode(), &shown);
		for (size_t k = 0; k < shown.n; k++)
			if (shown.items[k].inert && shown.items[k].origin == ORIGIN_WRITTEN &&
				str_starts(str_of(shown.items[k].path), "spec."))
				log_line("dev-team: %s:%u: '%s' is not acted on",
					shown.items[k].file, shown.items[k].line,
					shown.items[k].path);
	}
}

static int run_check(struct invocation *in, struct error *err)
{
	const char *given = in->args->n > 1 ? in->args->words[1] : in->args->value[RESOURCES];
	struct resources r;

	if (load(in, given, &r, err) < 0 || resources_check_models(in, &r, err) < 0)
		return -1;
	if (in->args->value[JSON]) {
		CLEANUP(json_free) json *j = check_json(&r);

		put(in, j);
	} else if (!r.n_faults) {
		put_summary(in->out, &r);
		warn_of_inert(in, &r);
	}
	for (size_t i = 0; !in->args->value[JSON] && i < r.n_faults; i++)
		buf_addf(in->out, "%s:%u:%u: %s\n", r.faults[i].file, r.faults[i].line,
			r.faults[i].col, r.faults[i].text);
	return r.n_faults ? ERR_INPUT : 0;
}

static int run_schema(struct invocation *in, struct error *err)
{
	const struct resource_kind *kind;

	if (in->args->n == 1) {
		for (kind = resource_kinds; kind->name; kind++)
			buf_addf(in->out, "%s\n", kind->name);
		return 0;
	}
	kind = resource_kind(in->args->words[1]);
	if (!kind)
		return error_set(err, ERR_USAGE,
			"there is no kind '%.60s' (see 'resources schema')", in->args->words[1]);
	if (in->args->value[MARKDOWN])
		resource_page(kind, in->out);
	else
		resource_schema(kind, in->out);
	return 0;
}

/* Only what the user named: a look leaves nothing behind. */
static int note(struct invocation *in, const struct pipeline *p, const struct parallelism *n,
	struct error *err)
{
	char *dir;

	if (!in->args->value[ARTIFACTS])
		return 0;
	if (artifacts_folder(in->arena, in->args->value[ARTIFACTS], NULL, &dir, err) < 0)
		return -1;
	return pipeline_report_parallelism(dir, p, n, err);
}

static int run_resolve(struct invocation *in, struct error *err)
{
	CLEANUP(json_free) json *j = NULL;
	const struct pipeline *p;
	struct parallelism n;
	struct resources r;

	if (resources_good(in, &r, err) < 0)
		return -1;
	p = resources_pipeline(&r, in->args->words[1]);
	if (!p)
		return error_set(
			err, ERR_INPUT, "there is no Pipeline '%.253s'", in->args->words[1]);
	parallelism_resolve(in->arena, &r, p, resources_mode(), &n);
	if (note(in, p, &n, err) < 0)
		return -1;
	j = pipeline_parallelism_json(p, &n);
	if (in->args->value[JSON])
		put(in, j);
	else
		buf_addf(in->out, "%u (%s)\n", n.max, parallelism_word(n.source));
	return 0;
}

static const struct subcommand parts[] = {
	{"check", run_check, OPTION(RESOURCES) | OPTION(JSON), 0, 1},
	{"show", resources_show, OPTION(RESOURCES) | OPTION(JSON), 0, 1},
	{"schema", run_schema, OPTION(MARKDOWN), 0, 1},
	{"resolve", run_resolve, OPTION(RESOURCES) | OPTION(JSON) | OPTION(ARTIFACTS), 1, 1},
	{0},
};

static int run(struct invocation *in, struct error *err)
{
	return subcommand_run(&verb_resources, parts, in, err);
}

const struct verb verb_resources = {
	.name = "resources",
	.synopsis = "check [DIR] | show [KIND[/NAME]] | schema [KIND] | resolve PIPELINE",
	.about = "check and show pipelines, pools and plans",
	.details =
		"  check [DIR]         all faults, one a line as FILE:LINE:COL: TEXT, and exit "
		"status 3; or a summary\n"
		"  show [KIND[/NAME]]  each field with its value and where that comes from; the "
		"pool that "
		"there is\n"
		"                      without a WorktreePool, too\n"
		"  schema [KIND]       the kinds; the JSON Schema of one, or with --markdown its "
		"fields\n"
		"  resolve PIPELINE    how many issues it works on at one time, and why; with "
		"--artifacts DIR\n"
		"                      put on record there\n"
		"\n"
		"Exit status 3: a resource is refused.",
	.options = options,
	.min_words = 1,
	.max_words = MAX_WORDS,
	.run = run,
};
