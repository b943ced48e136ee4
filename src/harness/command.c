#include "src/harness/adapter.h"

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

/* `Bash(git log:*)` is Bash too. */
static bool is_tool(const char *name, const char *tool)
{
	size_t n = strlen(tool);

	return strncmp(name, tool, n) == 0 && (name[n] == '\0' || name[n] == '(');
}

bool input_may_write(const struct harness_input *input)
{
	static const char *const writers[] = {"Bash", "Edit", "Write", "MultiEdit", "NotebookEdit"};

	if (!input->tools)
		return true;
	for (const char *const *t = input->tools; *t; t++)
		for (size_t i = 0; i < COUNT(writers); i++)
			if (is_tool(*t, writers[i]))
				return true;
	return false;
}
