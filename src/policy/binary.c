/* The rows of programs, and how one is asked. */
#include "src/policy/bin.h"

static const struct binary *const tables[] = {binaries_text, binaries_system, binaries_files,
	binaries_build, binaries_wrap, binaries_shell, binaries_git, binaries_gh};

static const struct binary *own(struct arena *a, const struct program *p)
{
	struct binary *b = arena_alloc(a, sizeof(*b));

	b->name = p->name;
	b->options = p->options;
	b->operands = p->operands;
	b->flags = BINARY_OWN | (p->runs_code ? BINARY_RUNS_CODE : 0);
	return b;
}

const struct binary *binary_find(struct arena *a, const struct policy *p, struct str name)
{
	for (size_t i = 0; i < p->n_programs; i++)
		if (str_is(name, p->programs[i].name))
			return own(a, &p->programs[i]);
	for (size_t i = 0; i < COUNT(tables); i++)
		for (const struct binary *b = tables[i]; b->name; b++)
			if (str_is(name, b->name))
				return b;
	return NULL;
}

/* Every program tells its version and its usage. git shows a manual page, by another program. */
static bool only_help(const struct call *call)
{
	return call->n == 2 && call->args[1].origin == ARG_KNOWN &&
	       (str_is(call->args[1].text, "--help") || str_is(call->args[1].text, "--version")) &&
	       !str_is(call->args[0].text, "git");
}

int check_binary(struct check *c, const struct call *call, const struct binary *b)
{
	struct parsed p;

	if (!(b->flags & BINARY_BUILTIN) && only_help(call))
		return asked(c, RULE_OPTION, call->args[1].at, call->args[1].text, STR(""), 0);
	if (b->flags & BINARY_RUNS_CODE && !(b->flags & BINARY_OWN) && !c->policy->write &&
		b->check != check_cc)
		return bin_refuse(c, RULE_WRITE, &call->args[0],
			"the policy does not allow writing, and what this runs may write");
	if (b->check)
		return b->check(c, call);
	if (check_options(c, call, 1, b->options, &p) < 0)
		return -1;
	return check_operands(c, call, &p, b->operands);
}
