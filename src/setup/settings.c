/*
 * settings.c: reads the settings of a repository. `dev-team init` writes them.
 */
#include "src/config/decode.h"
#include "src/machine/engine.h"
#include "src/setup/setup.h"
#include "src/sys/path.h"

enum { SETTINGS_MAX = 64 << 10, KEY_MAX = 20, WORDS_MAX = 100 };

bool settings_key_valid(struct str text)
{
	return text.n <= KEY_MAX && config_made_of(text, CONFIG_LETTER, "", CONFIG_ALNUM, "_");
}

static const struct config_form key_form = {
	.valid = settings_key_valid, .what = "a letter, then letters, digits or '_', at most 20"};

static const struct config_field settings_fields[] = {
	{.key = "workflow",
		.kind = CONFIG_TEXT,
		.form = &config_line,
		CONFIG_AT(settings, workflow)},
	{.key = "key", .kind = CONFIG_TEXT, .form = &key_form, CONFIG_AT(settings, key)},
	{.key = "specs", .kind = CONFIG_TEXT, .form = &config_relative, CONFIG_AT(settings, specs)},
	{.key = "harness", .kind = CONFIG_TEXT, .form = &config_line, CONFIG_AT(settings, harness)},
	{.key = "policy", .kind = CONFIG_TEXT, .form = &config_line, CONFIG_AT(settings, policy)},
	{.key = "pipeline",
		.kind = CONFIG_TEXT,
		.form = &config_line,
		CONFIG_AT(settings, pipeline)},
	{.key = "plans",
		.kind = CONFIG_REFUSED,
		.hint = "a repository names no program: it stands in config.yaml of the state "
			"directory"},
	{0},
};

static const struct config_field plan_fields[] = {
	{.key = "quotaCommand",
		.kind = CONFIG_TEXTS,
		.form = &config_line,
		.min = 1,
		.max = WORDS_MAX,
		CONFIG_LIST_AT(user_plan, command.list, command.n)},
	{.key = "countCacheReads", .kind = CONFIG_BOOL, CONFIG_AT(user_plan, count_cache_reads)},
	{0},
};

static const struct config_field user_fields[] = {
	{.key = "plans",
		.kind = CONFIG_ENTRIES,
		.form = &config_line,
		CONFIG_ITEMS_AT(user_settings, plans, n_plans),
		.fields = plan_fields},
	{0},
};

/* Leaves *out as it is if there is no file. */
static int setup_settings_load(struct arena *a, const char *file, const char *what,
	const struct config_field *fields, void *out, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct yaml *map;
	struct error why;
	bool missing;

	if (sys_read_file(&text, file, SETTINGS_MAX, &missing, &why) < 0) {
		if (missing)
			return 0;
		*err = why;
		return -1;
	}
	return yaml_parse(a, arena_str(a, buf_str(&text)), file, 1, &map, err) < 0
		       ? -1
		       : config_decode(a, file, map, what, fields, out, err);
}

int user_settings_load(
	struct arena *a, const char *state, struct user_settings *out, struct error *err)
{
	*out = (struct user_settings){.file = path_join(a, state, "config.yaml")};
	return setup_settings_load(a, out->file, "the settings of a user", user_fields, out, err);
}

const struct user_plan *user_plan_find(const struct user_settings *s, const char *name)
{
	for (size_t i = 0; i < s->n_plans; i++)
		if (strcmp(s->plans[i].name, name) == 0)
			return &s->plans[i];
	return NULL;
}

int settings_load(struct arena *a, const char *repo, struct settings *out, struct error *err)
{
	*out = (struct settings){0};
	if (setup_settings_load(a, path_join(a, repo, SETTINGS_FILE),
		    "the settings of a repository", settings_fields, out, err) < 0)
		return -1;
	if (out->policy && strchr(out->policy, '/'))
		out->policy = path_join(a, repo, out->policy);
	if (out->workflow && strchr(out->workflow, '/'))
		out->workflow = path_join(a, repo, out->workflow);
	return 0;
}
