/*
 * settings.c: reads the settings of a repository. `dev-team init` writes them.
 */
#include "src/config/decode.h"
#include "src/machine/engine.h"
#include "src/setup/setup.h"
#include "src/sys/path.h"

enum { SETTINGS_MAX = 64 << 10, KEY_MAX = 20 };

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
	{0},
};

int settings_load(struct arena *a, const char *repo, struct settings *out, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *file = path_join(a, repo, SETTINGS_FILE);
	struct yaml *map;
	bool missing;

	*out = (struct settings){0};
	if (sys_read_file(&text, file, SETTINGS_MAX, &missing, err) < 0)
		return missing ? 0 : -1;
	if (yaml_parse(a, buf_str(&text), file, 1, &map, err) < 0 ||
		config_decode(a, file, map, "the settings of a repository", settings_fields, out,
			err) < 0)
		return -1;
	if (out->policy && strchr(out->policy, '/'))
		out->policy = path_join(a, repo, out->policy);
	if (out->workflow && strchr(out->workflow, '/'))
		out->workflow = path_join(a, repo, out->workflow);
	return 0;
}
