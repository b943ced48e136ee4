#include "src/harness/environment.h"

void command_add(struct command *c, const char *word)
{
	if (c->n + 1 >= c->cap) {
		const char **more = arena_alloc(c->arena, (2 * c->cap + 16) * sizeof(*more));

		for (size_t i = 0; i < c->n; i++)
			more[i] = c->argv[i];
		c->argv = more;
		c->cap = 2 * c->cap + 16;
	}
	c->argv[c->n++] = arena_dup(c->arena, str_of(word));
	c->argv[c->n] = NULL;
}

void command_option(struct command *c, const char *option, const char *value)
{
	if (!value)
		return;
	command_add(c, option);
	command_add(c, value);
}

void command_list(struct command *c, const char *option, const char *const *names)
{
	CLEANUP(buf_release) struct buf joined = BUF_INIT;

	for (size_t i = 0; names && names[i]; i++)
		buf_addf(&joined, "%s%s", i ? "," : "", names[i]);
	if (joined.len)
		command_option(c, option, joined.s);
}

void command_set(struct command *c, const struct harness_input *input, const char *entry)
{
	struct str name = {entry, strcspn(entry, "=")};
	const char **env;
	size_t n = 0, kept = 1;

	if (environment_get(input->env, arena_dup(c->arena, name)))
		return;
	while (c->env && c->env[n])
		n++;
	env = arena_alloc(c->arena, (n + 2) * sizeof(*env));
	env[0] = entry;
	for (size_t i = 0; i < n; i++)
		if (strncmp(c->env[i], entry, name.n + 1) != 0)
			env[kept++] = c->env[i];
	c->env = env;
}

/* `Bash(git log:*)` is Bash too. */
static bool is_tool(const char *name, const char *tool)
{
	size_t n = strlen(tool);

	return strncmp(name, tool, n) == 0 && (name[n] == '\0' || name[n] == '(');
}

bool input_allows(const struct harness_input *input, const char *tool)
{
	if (!input->tools)
		return true;
	for (const char *const *t = input->tools; *t; t++)
		if (is_tool(*t, tool))
			return true;
	return false;
}

bool input_may_write(const struct harness_input *input)
{
	static const char *const writers[] = {"Bash", "Edit", "Write", "MultiEdit", "NotebookEdit"};

	for (size_t i = 0; i < COUNT(writers); i++)
		if (input_allows(input, writers[i]))
			return true;
	return false;
}
