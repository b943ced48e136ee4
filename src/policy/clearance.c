#include "src/sys/path.h"
#include "src/policy/clearance.h"
#include "src/policy/fields.h"

enum { CLEARANCE_MAX = 256 << 10 };

/* `plugin:name` and names as agents have them. */
static bool persona_valid(struct str text)
{
	const char *colon = text.n ? memchr(text.p, ':', text.n) : NULL;
	size_t at = colon ? (size_t)(colon - text.p) : 0;

	if (!colon)
		return name_valid(text);
	return name_valid(str_sub(text, 0, at)) && name_valid(str_sub(text, at + 1, text.n));
}

/* `Bash`, `mcp__server__tool`, `mcp__server__*`. */
static bool tool_valid(struct str text)
{
	if (text.n > 1 && text.p[text.n - 1] == '*')
		text.n--;
	return name_valid(text);
}

static int read_tools(const struct fields *f, const struct yml *v, const char *key, void *into)
{
	struct persona *p = into;

	p->tools_listed = true;
	return field_texts(f, v, key, tool_valid, "the name of a tool", &p->tools);
}

/* A path is relative to the folder of the file that says it. */
static int read_policy(const struct fields *f, const struct yml *v, const char *key, void *into)
{
	const char **policy = into;
	bool path;

	if (field_text(f, v, key, policy) < 0)
		return -1;
	path = strchr(*policy, '/') || str_ends(v->text, ".yaml") || str_ends(v->text, ".yml");
	if (path && **policy != '/')
		*policy = path_join(f->arena, arena_dup(f->arena, path_dir(f->file)), *policy);
	return 0;
}

static const struct field persona_keys[] = {
	{"policy", read_policy, offsetof(struct persona, policy), false},
	{"tools", read_tools, 0, false},
};

static int read_personas(const struct fields *f, const struct yml *v, const char *key, void *into)
{
	struct clearance *c = into;

	if (v->kind != YML_MAP)
		return field_fault(f, v, "'%s' must be a map of personas", key);
	c->personas = arena_alloc(f->arena, (v->n + 1) * sizeof(*c->personas));
	for (size_t i = 0; i < v->n; i++) {
		struct persona *p = &c->personas[c->n++];

		p->name = v->map[i].key->text.p;
		if (!persona_valid(v->map[i].key->text))
			return field_fault(
				f, v->map[i].key, "'%.80s' is not the name of a persona", p->name);
		if (fields_read(f, v->map[i].value, "a persona", persona_keys, COUNT(persona_keys),
			    p) < 0)
			return -1;
	}
	return 0;
}

static int read_bash(const struct fields *f, const struct yml *v, const char *key, void *into)
{
	static const char *const words[] = {"check", "exec"};
	size_t which;

	if (field_word(f, v, key, words, COUNT(words), &which) < 0)
		return -1;
	*(bool *)into = which == 1;
	return 0;
}

static const struct field clearance_keys[] = {
	{"personas", read_personas, 0, true},
	{"bash", read_bash, offsetof(struct clearance, exec), false},
};

int clearance_load(
	struct arena *a, const char *file, struct clearance *out, bool *there, struct error *err)
{
	const struct fields f = {a, file, err};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct yml *map;
	bool missing;

	*out = (struct clearance){.file = file};
	*there = true;
	if (file_read(&text, file, CLEARANCE_MAX, &missing, err) < 0) {
		*there = !missing;
		return missing ? 0 : -1;
	}
	if (yml_parse(a, buf_str(&text), file, 1, &map, err) < 0)
		return -1;
	return fields_read(&f, map, "a clearance file", clearance_keys, COUNT(clearance_keys), out);
}

int clearance_persona(
	const struct clearance *c, struct str name, const struct persona **out, struct verdict *v)
{
	const char *colon = name.n ? memchr(name.p, ':', name.n) : NULL;
	struct str bare = colon ? str_sub(name, (size_t)(colon - name.p) + 1, name.n) : name;

	for (size_t i = 0; i < c->n; i++)
		if (str_is(name, c->personas[i].name))
			return *out = &c->personas[i], 0;
	for (size_t i = 0; i < c->n; i++)
		if (str_is(bare, c->personas[i].name))
			return *out = &c->personas[i], 0;
	return deny_word(v, RULE_PERSONA, (struct span){0}, name, STR(""),
		"'%s' has no persona of this name", c->file);
}

static bool tool_listed(const struct texts *tools, struct str tool)
{
	if (texts_have(tools, tool))
		return true;
	for (size_t i = 0; i < tools->n; i++) {
		size_t n = strlen(tools->p[i]);

		if (tools->p[i][n - 1] == '*' && tool.n >= n &&
			memcmp(tools->p[i], tool.p, n - 1) == 0)
			return true;
	}
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
