#include "src/event/event.h"
#include "src/event/artifact_schema.h"
#include "src/sys/path.h"

/* The files of schemas/artifacts/ as they are, so that what is built in is what can be read. */
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

static const struct {
	const char *name, *text;
} built_in[] = {
	{"plan", schema_plan},
	{"implementation", schema_implementation},
	{"validation", schema_validation},
	{"review", schema_review},
	{"pr", schema_pr},
	{"classifier", schema_classifier},
};

static const char events[] = "events";

const char *const *artifact_schema_names(void)
{
	static const char *const names[] = {
		"plan", "implementation", "validation", "review", "pr", "classifier", events, NULL};

	return names;
}

bool artifact_schema_known(const char *name)
{
	for (const char *const *n = artifact_schema_names(); *n; n++)
		if (strcmp(*n, name) == 0)
			return true;
	return false;
}

struct str artifact_schema_text(struct arena *a, const char *name)
{
	CLEANUP(buf_release) struct buf made = BUF_INIT;

	for (size_t i = 0; i < COUNT(built_in); i++)
		if (strcmp(built_in[i].name, name) == 0)
			return str_of(built_in[i].text);
	if (strcmp(name, events) != 0)
		return (struct str){0};
	event_schema(&made);
	return arena_str(a, buf_str(&made));
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
static const char *named_by(struct arena *a, const char *reference)
{
	static const char end[] = ".schema.json";
	struct str s = str_of(reference);
	const char *name;

	s = str_sub(s, 0, str_find(s, STR("#")));
	if (!str_ends(s, end))
		return NULL;
	name = arena_dup(a, path_base(arena_dup(a, str_sub(s, 0, s.n - (sizeof(end) - 1)))));
	return artifact_schema_known(name) ? name : NULL;
}

static const char *by_file(struct arena *a, const char *file)
{
	struct str base = path_base(file);
	const char *name;

	if (str_is(base, "_events.jsonl"))
		return events;
	if (!str_ends(base, ".json"))
		return NULL;
	name = arena_dup(a, str_sub(base, 0, base.n - 5));
	if (artifact_schema_known(name))
		return name;
	return str_ends(path_dir(file), "review") ? "review" : NULL;
}

const char *artifact_schema_of(struct arena *a, const char *file, struct str text)
{
	CLEANUP(json_free) json *j = NULL;
	const char *reference = NULL, *name = NULL;
	struct error odd;

	if (json_parse(&j, text, &odd) == 0)
		reference = json_get_str(j, "$schema");
	if (reference)
		name = named_by(a, reference);
	return name ? name : by_file(a, file);
}
