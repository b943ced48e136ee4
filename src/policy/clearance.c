#include <errno.h>
#include <fcntl.h>
#include "context/file.h"
#include "src/policy/check.h"
#include "src/policy/clearance.h"
#include "src/sys/digest.h"
#include "src/sys/path.h"

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

int clearance_tool(const struct persona *p, struct str tool, struct verdict *v)
{
	size_t i = 0;

	while (i < p->tools.n && !clearance_tool_matches(p->tools.p[i], tool))
		i++;
	if (p->tools_listed && i == p->tools.n)
		return deny_word(v, RULE_TOOL, (struct span){0}, tool, STR(""),
			"the persona '%s' may not use this tool", p->name);
	if (str_is(tool, "Bash") && !p->policy)
		return deny_word(v, RULE_TOOL, (struct span){0}, tool, STR(""),
			"the persona '%s' has no policy, so it may not run commands", p->name);
	return 0;
}

/* ---- where the file is ---- */

/* An answer that cannot be had counts as yes. */
static bool is_there(const char *file)
{
	return access(file, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

/* The clearance file of a directory, or its mark among `marks`. */
static char *clearance_name_in(struct arena *a, const char *folder, const char *marks)
{
	char name[DIGEST_TEXT];

	if (!marks)
		return path_join(a, folder, ".dev-team/clearance.yaml");
	digest_text(str_of(folder), name);
	return path_join(a, marks, name);
}

/* The first that is there, for the directory or one above it; NULL: none. */
static char *clearance_upwards(struct arena *a, const char *folder, const char *marks)
{
	for (char *path = path_real(a, folder);; path = arena_dup(a, path_dir(path))) {
		char *name = clearance_name_in(a, path, marks);

		if (is_there(name))
			return name;
		if (!path[1])
			return NULL;
	}
}

/* A worktree somewhere else has the file of the repository that it belongs to. */
char *clearance_find(struct arena *a, const char *folder)
{
	char *file = clearance_upwards(a, folder, NULL), *own;
	struct root root;
	struct error ignored = {0};

	if (file || root_find(a, folder, &own, &ignored) < 0 ||
		root_open(a, own, &root, &ignored) < 0 || !root.common_dir)
		return file;
	return clearance_upwards(a, arena_dup(a, path_dir(root.common_dir)), NULL);
}

static char *marks_folder(struct arena *a)
{
	struct error ignored = {0};
	char *state;

	return context_state_directory(a, &state, &ignored) < 0 ? NULL
								: path_join(a, state, "clearances");
}

void clearance_mark(struct arena *a, const char *folder)
{
	char *marks = marks_folder(a), *mark;
	CLEANUP(base_close) int fd = -1;
	struct error ignored = {0};

	if (!marks)
		return;
	mark = clearance_name_in(a, folder, marks);
	if (path_exists(mark) || path_mkdirs(marks, &ignored) < 0)
		return;
	fd = open(mark, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0)
		(void)sys_write_all(fd, str_of(arena_printf(a, "%s\n", folder)), mark, &ignored);
}

char *clearance_marked(struct arena *a, const char *folder)
{
	char *marks = marks_folder(a);

	return marks && path_exists(marks) ? clearance_upwards(a, folder, marks) : NULL;
}

/* ---- a question ---- */

static int clearance_open(
	struct arena *a, struct policy_question *q, const char *name, struct error *err)
{
	char *file = path_join(a, q->root.path, ".dev-team/clearance.yaml");
	const struct persona *persona;
	struct clearance c;
	bool there;

	if (clearance_load(a, file, &c, &there, err) < 0)
		return -1;
	if (!there)
		return error_set(err, ERR_INPUT, "'%s' does not exist", file);
	if (clearance_persona(&c, str_of(name), &persona, &q->verdict) < 0 ||
		clearance_tool(persona, STR("Bash"), &q->verdict) < 0)
		return 0;
	return policy_load(a, persona->policy, &q->policy, err);
}

int policy_question_open(struct arena *a, struct policy_question *q, const char *root,
	const char *policy, const char *persona, struct error *err)
{
	char *around = (char *)root;

	if ((!around && root_find(a, q->cwd, &around, err) < 0) ||
		root_open(a, around, &q->root, err) < 0)
		return -1;
	if (policy && persona)
		return error_set(err, ERR_USAGE, "give --policy or --persona, not both");
	if (persona)
		return clearance_open(a, q, persona, err);
	return policy_load(a, policy ? policy : "readonly", &q->policy, err);
}

void policy_question_check(struct arena *a, struct policy_question *q)
{
	if (!q->verdict.denied)
		(void)policy_check(a, &q->policy, &q->root, q->cwd, q->command, &q->verdict);
}
