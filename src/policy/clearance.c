#include "src/sys/path.h"
#include "src/policy/clearance.h"

enum { CLEARANCE_MAX = 256 << 10 };

/* `plugin:name` and names as agents have them. */
static bool persona_valid(struct str text)
{
	size_t colon = str_find(text, STR(":"));

	return policy_name_valid(str_sub(text, 0, colon)) &&
	       (colon == text.n || policy_name_valid(str_sub(text, colon + 1, text.n)));
}

/* `Bash`, `mcp__server__tool`, `mcp__server__*`. */
static bool tool_valid(struct str text)
{
	if (text.n > 1 && text.p[text.n - 1] == '*')
		text.n--;
	return policy_name_valid(text);
}

static bool clearance_is_policy(struct str text)
{
	return text.n <= 4096 && config_line.valid(text);
}

static const struct config_form persona_form = {
	.valid = persona_valid, .what = "the name of a persona", .ascii = true};
static const struct config_form tool_form = {
	.valid = tool_valid, .what = "the name of a tool", .ascii = true};
static const struct config_form policy_form = {
	.valid = clearance_is_policy, .what = "the name of a policy or the path of a file"};

/* A path is relative to the directory of the file that has it. */
static void read_policy(struct config_reader *r, const struct config_field *f, const char *key,
	const struct yaml *v, void *into)
{
	const char **policy = into;

	if (config_text(r, f, key, v, policy) && policy_is_path(*policy) && **policy != '/')
		*policy = path_join(r->arena, arena_dup(r->arena, path_dir(r->file)), *policy);
}

static const struct config_field persona_fields[] = {
	{.key = "policy",
		.kind = CONFIG_CUSTOM,
		.form = &policy_form,
		.read = read_policy,
		CONFIG_AT(persona, policy)},
	{.key = "tools",
		.kind = CONFIG_TEXTS,
		.form = &tool_form,
		.once = true,
		.sorted = true,
		CONFIG_LIST_AT(persona, tools.p, tools.n),
		CONFIG_SEEN(persona, tools_listed)},
	{0},
};

static const struct config_field clearance_fields[] = {
	{.key = "personas",
		.kind = CONFIG_ENTRIES,
		.form = &persona_form,
		.required = true,
		CONFIG_ITEMS_AT(clearance, personas, n),
		.fields = persona_fields},
	{0},
};

int clearance_load(
	struct arena *a, const char *file, struct clearance *out, bool *there, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct yaml *map;
	bool missing;

	*out = (struct clearance){.file = file};
	*there = true;
	if (sys_read_file(&text, file, CLEARANCE_MAX, &missing, err) < 0) {
		*there = !missing;
		return missing ? 0 : -1;
	}
	if (yaml_parse(a, buf_str(&text), file, 1, &map, err) < 0)
		return -1;
	return config_decode(a, file, map, "a clearance file", clearance_fields, out, err);
}

int clearance_persona(
	const struct clearance *c, struct str name, const struct persona **out, struct verdict *v)
{
	size_t colon = str_find(name, STR(":"));
	const struct str forms[] = {name, str_sub(name, colon < name.n ? colon + 1 : 0, name.n)};

	for (size_t i = 0; i < COUNT(forms) * c->n; i++)
		if (str_is(forms[i / c->n], c->personas[i % c->n].name))
			return *out = &c->personas[i % c->n], 0;
	return deny_word(v, RULE_PERSONA, (struct span){0}, name, STR(""),
		"'%s' has no persona of this name", c->file);
}

bool clearance_tool_matches(const char *pattern, struct str tool)
{
	size_t n = strlen(pattern);

	return str_is(tool, pattern) ||
	       (n && pattern[n - 1] == '*' && tool.n >= n && memcmp(pattern, tool.p, n - 1) == 0);
}

static bool tool_listed(const struct texts *tools, struct str tool)
{
	for (size_t i = 0; i < tools->n; i++)
		if (clearance_tool_matches(tools->p[i], tool))
			return true;
	return false;
}

int clearance_tool(const struct persona *p, struct str tool, struct verdict *v)
{
	if (p->tools_listed && !tool_listed(&p->tools, tool))
		return deny_word(v, RULE_TOOL, (struct span){0}, tool, STR(""),
			"the persona '%s' may not use this tool", p->name);
	if (str_is(tool, "Bash") && !p->policy)
		return deny_word(v, RULE_TOOL, (struct span){0}, tool, STR(""),
			"the persona '%s' has no policy, so it may not run commands", p->name);
	return 0;
}
