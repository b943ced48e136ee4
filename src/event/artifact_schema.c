#include "src/event/artifact.h"
#include "src/event/event.h"
#include "src/sys/path.h"

/* ---- built-in schemas ---- */

/* The files of schemas/artifacts/ as they are. */
#define BUILT_IN(name)                                                                             \
	__asm__(".pushsection .rodata\n"                                                           \
		".globl schema_" #name "\n"                                                        \
		"schema_" #name ":\n"                                                              \
		".incbin \"schemas/artifacts/" #name ".schema.json\"\n"                            \
		".byte 0\n"                                                                        \
		".popsection\n");                                                                  \
	extern const char schema_##name[]
BUILT_IN(plan);
BUILT_IN(implementation);
BUILT_IN(validation);
BUILT_IN(review);
BUILT_IN(pr);
BUILT_IN(classifier);

static const char events[] = "events"; /* generated */
static const char *const names[] = {
	"plan", "implementation", "validation", "review", "pr", "classifier", events, NULL};
static const char *const texts[] = {schema_plan, schema_implementation, schema_validation,
	schema_review, schema_pr, schema_classifier};

const char *const *artifact_schema_names(void)
{
	return names;
}

static bool is_known(const char *name)
{
	return str_in(str_of(name), names);
}

struct str artifact_schema_text(struct arena *a, const char *name)
{
	CLEANUP(buf_release) struct buf generated = BUF_INIT;

	for (size_t i = 0; i < COUNT(texts); i++)
		if (strcmp(names[i], name) == 0)
			return str_of(texts[i]);
	if (strcmp(name, events) != 0)
		return (struct str){0};
	event_schema(&generated);
	return arena_str(a, buf_str(&generated));
}

int artifact_schema_compile(struct arena *a, const char *name, const char *version,
	struct schema **out, struct error *err)
{
	struct str text = artifact_schema_text(a, name);

	if (!text.p)
		return error_set(err, ERR_USAGE,
			"no schema '%.60s': there are 'plan', 'implementation', 'validation', "
			"'review', 'pr', 'classifier', 'events'",
			name);
	if (version && strcmp(version, SCHEMA_VERSION) != 0 && strcmp(version, "latest") != 0)
		return error_set(err, ERR_USAGE,
			"no version '%.60s' of schema '%s': there is '" SCHEMA_VERSION "'", version,
			name);
	return schema_compile(
		a, arena_printf(a, "schemas/artifacts/%s.schema.json", name), text, out, err);
}

/* `.../NAME.schema.json#VERSION` */
static const char *schema_referenced(struct arena *a, const char *reference)
{
	static const char suffix[] = ".schema.json";
	struct str s = str_of(reference);
	const char *name;

	s = str_sub(s, 0, str_find(s, STR("#")));
	if (!str_ends(s, suffix))
		return NULL;
	name = arena_dup(a, str_sub(s, 0, s.n - (sizeof(suffix) - 1)));
	name = arena_dup(a, path_base(name));
	return is_known(name) ? name : NULL;
}

static const char *schema_of_file(struct arena *a, const char *file)
{
	struct str base = path_base(file);
	const char *name;

	if (str_is(base, "_events.jsonl"))
		return events;
	if (!str_ends(base, ".json"))
		return NULL;
	name = arena_dup(a, str_sub(base, 0, base.n - strlen(".json")));
	if (is_known(name))
		return name;
	return str_ends(path_dir(file), "review") ? "review" : NULL;
}

/* The schema that `$schema` in the text names, else that of the file's name, else NULL. */
static const char *schema_of(struct arena *a, const char *file, struct str text)
{
	CLEANUP(json_free) json *j = NULL;
	const char *reference = NULL, *name = NULL;
	struct error invalid;

	if (json_parse(&j, text, &invalid) == 0)
		reference = json_get_str(j, "$schema");
	if (reference)
		name = schema_referenced(a, reference);
	return name ? name : schema_of_file(a, file);
}

/* ---- prompts ---- */

static const char *schema_name(struct arena *a, const struct artifact_target *target)
{
	return target->schema ? target->schema : schema_of(a, target->name, STR(""));
}

static void put_schema(struct buf *b, struct arena *a, const char *name)
{
	buf_addf(b, "Its \"$schema\" is \"schemas/artifacts/%s.schema.json#" SCHEMA_VERSION "\".\n",
		name);
	buf_adds(b, "It must hold to this JSON Schema:\n\n```json\n");
	buf_add(b, artifact_schema_text(a, name));
	buf_adds(b, "```\n");
}

static const char *target_path(struct arena *a, const struct artifact_target *target)
{
	struct error invalid;
	char *path;

	if (artifact_path(a, target->dir, target->issue, target->name, &path, &invalid) < 0)
		return target->name;
	return path;
}

const char *artifact_prompt(struct arena *a, const struct artifact_target *target)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	const char *schema = schema_name(a, target);

	if (!schema)
		return "";
	buf_addf(&b,
		"Before you end, write what you did as JSON to %s (write another file beside it "
		"and rename it).\n",
		target_path(a, target));
	put_schema(&b, a, schema);
	return arena_dup(a, buf_str(&b));
}

/* The prompt of the second attempt: the faults and the schema. */
static const char *retry_prompt(
	struct arena *a, const struct artifact_target *target, const char *fault)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	const char *schema = schema_name(a, target);

	buf_addf(&b,
		"The work is done, but %s is not as it must be:\n\n%s\n\n"
		"Change nothing else. Write this file again, whole, so that every one of these "
		"faults is gone. There is no third try.\n",
		target_path(a, target), fault);
	if (schema)
		put_schema(&b, a, schema);
	return arena_dup(a, buf_str(&b));
}

/* ---- validation ---- */

static const char *artifact_schema_error_line(struct arena *a, const struct error *why)
{
	char line[2048];

	error_format(why, line, sizeof(line));
	return arena_dup(a, str_trim(str_of(line)));
}

static int validate_text(struct arena *a, const struct artifact_target *target, struct str text,
	const char **fault, struct error *err)
{
	CLEANUP(buf_release) struct buf lines = BUF_INIT;
	const char *file = target_path(a, target), *name = schema_name(a, target);
	struct schema_faults faults;
	struct schema *schema;
	struct error why;

	if (!name)
		return error_set(err, ERR_USAGE, "no schema for artifact '%s'", target->name);
	if (artifact_schema_compile(a, name, target->version, &schema, err) < 0)
		return -1;
	if (schema_check_text(a, schema, file, text, &faults, &why) < 0) {
		*fault = artifact_schema_error_line(a, &why);
		return 0;
	}
	for (size_t i = 0; i < faults.n; i++) {
		const struct schema_fault *f = &faults.list[i];

		buf_addf(&lines, "%s:%u:%u: %s%s%s\n", file, f->line, f->col, f->at,
			f->at[0] ? ": " : "", f->text);
	}
	*fault = faults.n ? arena_dup(a, str_trim(buf_str(&lines))) : NULL;
	return 0;
}

/* A missing file, invalid JSON and a link in the path are faults of the artifact. */
static int artifact_schema_validate(struct arena *a, const struct artifact_target *target,
	const char **fault, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	bool missing;
	char *path;

	if (artifact_path(a, target->dir, target->issue, target->name, &path, err) < 0)
		return -1;
	if (artifact_read_text(target->dir, target->issue, target->name, &text, &missing, err) <
		0) {
		if (err->code != ERR_STATE && err->code != ERR_INPUT)
			return -1;
		*fault = artifact_schema_error_line(a, err);
		return 0;
	}
	if (!missing)
		return validate_text(a, target, buf_str(&text), fault, err);
	*fault = arena_printf(a, "%s: it was not written", path);
	return 0;
}

int artifact_validate_retry(struct arena *a, const struct artifact_target *target,
	int (*again)(void *data, const char *prompt, struct error *err), void *data,
	enum artifact_outcome *outcome, const char **fault, struct error *err)
{
	const char *second = NULL;
	struct error why;

	*outcome = ARTIFACT_GOOD;
	if (artifact_schema_validate(a, target, fault, err) < 0)
		return -1;
	if (!*fault)
		return 0;
	*outcome = ARTIFACT_INVALID;
	if (again && again(data, retry_prompt(a, target, *fault), &why) < 0) {
		*fault = arena_printf(
			a, "%s\nthe agent could not be asked again: %s", *fault, why.text);
	} else if (again) {
		if (artifact_schema_validate(a, target, &second, err) < 0)
			return -1;
		*outcome = second ? ARTIFACT_INVALID : ARTIFACT_RETRIED;
		*fault = second ? second : *fault;
	}
	return event_report(target->dir,
		*outcome == ARTIFACT_RETRIED ? EVENT_ARTIFACT_SCHEMA_RETRY
					     : EVENT_ARTIFACT_SCHEMA_INVALID,
		target->issue, target->stage,
		JSON_OBJECT(JSON_TEXT("artifact", target->name), JSON_TEXT("fault", *fault)), err);
}

/* ---- files ---- */

enum { FILE_MAX = 16 << 20 };

static bool is_file(const char *schema)
{
	return !is_known(schema) && (strchr(schema, '/') || str_ends(str_of(schema), ".json"));
}

int artifact_schema_open(
	struct arena *a, const char *given, struct artifact_schema *out, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	*out = (struct artifact_schema){.name = given};
	if (!given)
		return 0;
	if (!is_file(given))
		return artifact_schema_compile(a, given, NULL, &out->schema, err);
	if (sys_read_file(&text, given, FILE_MAX, NULL, err) < 0)
		return -1;
	return schema_compile(a, given, buf_str(&text), &out->schema, err);
}

/* The schema of --schema, else the one that the text or the file's name asks for. */
static int artifact_schema_choose(struct arena *a, const struct artifact_schema *given,
	struct str text, struct artifact_checked *out, struct schema **schema, struct error *err)
{
	out->schema = given->name ? given->name : schema_of(a, out->file, text);
	*schema = given->schema;
	if (*schema)
		return 0;
	if (!out->schema)
		return error_set(err, ERR_INPUT,
			"'%s' names no schema that is built in: give --schema NAME", out->file);
	return artifact_schema_compile(a, out->schema, NULL, schema, err);
}

/* `before`: lines of the file above `text`. */
static int artifact_schema_check_text(struct arena *a, const struct schema *schema, struct str text,
	unsigned before, struct artifact_checked *out, struct error *err)
{
	struct schema_faults found;

	if (schema_check_text(a, schema, out->file, text, &found, err) < 0) {
		err->line += before;
		return -1;
	}
	for (size_t i = 0; i < found.n; i++) {
		found.list[i].line += before;
		vec_push_in(a, &out->faults, found.list[i]);
	}
	return 0;
}

int artifact_check(struct arena *a, const struct artifact_schema *given, const char *file,
	struct artifact_checked *out, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	bool lines = str_ends(str_of(file), ".jsonl");
	struct schema *schema;
	struct str rest, line;

	*out = (struct artifact_checked){.file = file};
	if (sys_read_file(&text, file, FILE_MAX, NULL, err) < 0 ||
		artifact_schema_choose(
			a, given, lines ? STR("") : buf_str(&text), out, &schema, err) < 0)
		return -1;
	if (!lines)
		return artifact_schema_check_text(a, schema, buf_str(&text), 0, out, err);
	rest = buf_str(&text);
	for (unsigned n = 0; str_line(&rest, &line); n++)
		if (str_trim(line).n &&
			artifact_schema_check_text(a, schema, line, n, out, err) < 0)
			return -1;
	return 0;
}
