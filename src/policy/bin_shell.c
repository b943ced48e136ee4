/*
 * What the shell does itself. There is no row for what changes the meaning of later commands or
 * runs a text: source . eval exec trap alias unalias enable hash builtin unset shopt declare.
 */
#include "src/policy/bin.h"

static int check_change(struct check *c, const struct call *call)
{
	struct str to;

	return check_cd(c, call, &to);
}

static int check_read(struct check *c, const struct call *call)
{
	struct parsed p;

	if (check_options(c, call, 1, "+ -r -s -d:text -n:number -N:number -p:text -t:number", &p) <
		0)
		return -1;
	for (size_t i = 0; i < p.n_operands; i++)
		if (p.operands[i].origin != ARG_KNOWN)
			return bin_refuse(c, RULE_VALUE_DYNAMIC, &p.operands[i],
				"the name of a variable that is not known");
		else if (!bin_is_variable(p.operands[i].text))
			return bin_refuse(
				c, RULE_OPERAND, &p.operands[i], "not the name of a variable");
		else if (check_variable(c, p.operands[i].text, p.operands[i].at) < 0)
			return -1;
	return 0;
}

/* Only with a value: what a variable has become elsewhere is no business of programs. */
static int check_export(struct check *c, const struct call *call)
{
	struct parsed p;

	if (check_options(c, call, 1, "+", &p) < 0)
		return -1;
	/* Alone it shows the variables, and so what is secret among them. */
	if (!p.n_operands)
		return bin_refuse(c, RULE_OPERAND, &call->args[0], "no NAME=VALUE");
	for (size_t i = 0; i < p.n_operands; i++) {
		const struct arg *arg = &p.operands[i];
		size_t equals = str_find(arg->text, STR("="));
		struct arg value = bin_part(arg, equals + (equals < arg->text.n), arg->text.n);

		if (arg->split || !bin_is_variable(str_sub(arg->text, 0, equals)))
			return bin_refuse(c, RULE_ASSIGN_NAME, arg, "not one NAME=VALUE");
		if (equals == arg->text.n)
			return bin_refuse(c, RULE_ASSIGN_VALUE, arg, "no value with the name");
		if (check_assignment(c, call->cwd, str_sub(arg->text, 0, equals), &value) < 0)
			return -1;
	}
	return 0;
}

/* -e -u -o pipefail and their opposites, joined as in -euo. */
static int check_set(struct check *c, const struct call *call)
{
	for (size_t i = 1; i < call->n; i++) {
		const struct arg *arg = &call->args[i];
		bool ok =
			arg->origin == ARG_KNOWN && arg->text.n > 1 && strchr("-+", arg->text.p[0]);

		for (size_t k = 1; ok && k < arg->text.n; k++)
			ok = strchr("eu", arg->text.p[k]) ||
			     (arg->text.p[k] == 'o' && k + 1 == arg->text.n);
		if (ok && str_ends(arg->text, "o"))
			ok = i + 1 < call->n && bin_is(&call->args[++i], "pipefail");
		if (!ok)
			return bin_refuse(
				c, RULE_OPTION, arg, "only -e, -u and -o pipefail can be set");
	}
	if (call->n == 1)
		return bin_refuse(c, RULE_OPTION, &call->args[0], "it would show all variables");
	return asked(c, RULE_OPTION, call->at, call->args[0].text, STR(""), 0);
}

static int check_nothing(struct check *c, const struct call *call)
{
	return asked(c, RULE_OPERAND, call->at, call->args[0].text, STR(""), 0);
}

/* `command -v NAME` tells where a program is; all else of it runs one. */
static int check_command(struct check *c, const struct call *call)
{
	struct parsed p;

	if (check_options(c, call, 1, "+ -v", &p) < 0)
		return -1;
	if (!given_any(&p, "-v"))
		return bin_refuse(c, RULE_WRAPPER, &call->args[0],
			"of 'command' only 'command -v NAME' is understood");
	return check_operands(c, call, &p, "name*");
}

const struct binary binaries_shell[] = {
	{"cd", NULL, NULL, BINARY_BUILTIN, check_change},
	{"read", NULL, NULL, BINARY_BUILTIN, check_read},
	{"export", NULL, NULL, BINARY_BUILTIN, check_export},
	{"set", NULL, NULL, BINARY_BUILTIN, check_set},
	{":", NULL, NULL, BINARY_BUILTIN, check_nothing},
	{"exit", "+", "number", BINARY_BUILTIN, NULL},
	{"break", "+", "number", BINARY_BUILTIN, NULL},
	{"continue", "+", "number", BINARY_BUILTIN, NULL},
	{"wait", "+", "", BINARY_BUILTIN, NULL},
	{"command", NULL, NULL, BINARY_BUILTIN, check_command},
	{NULL, NULL, NULL, 0, NULL},
};
