/*
 * Programs that start another one. Each has a table of its options, so that there is no doubt where
 * the inner command begins; the inner command is then asked about as if it stood alone.
 */
#include "src/policy/bin.h"

/* Options, then the command. */
static int check_plain(struct check *c, const struct call *call, const char *options, bool alone)
{
	struct parsed p;

	if (check_options(c, call, 1, options, &p) < 0)
		return -1;
	if (!p.n_operands && alone)
		return asked(c, RULE_WRAPPER, call->at, call->args[0].text, STR(""), 0);
	return check_inner(c, call, p.first_operand, call->n - p.first_operand);
}

static int check_timeout(struct check *c, const struct call *call)
{
	struct parsed p;

	if (check_options(c, call, 1,
		    "+ --preserve-status --foreground -k,--kill-after:number -s,--signal:name "
		    "-v,--verbose",
		    &p) < 0)
		return -1;
	if (p.n_operands < 2)
		return bin_refuse(c, RULE_WRAPPER, &call->args[0], "no time and no command");
	if (p.operands[0].split || check_value(c, call, &p.operands[0], STR("number")) < 0)
		return bin_refuse(c, RULE_WRAPPER, &p.operands[0], "not a time");
	return check_inner(c, call, p.first_operand + 1, call->n - p.first_operand - 1);
}

static int check_nice(struct check *c, const struct call *call)
{
	return check_plain(c, call, "+ -n,--adjustment:number -#", true);
}

static int check_nohup(struct check *c, const struct call *call)
{
	if (!c->policy->write)
		return bin_refuse(c, RULE_WRITE, &call->args[0],
			"the policy does not allow writing, and nohup may write nohup.out");
	return check_plain(c, call, "+", false);
}

static int check_stdbuf(struct check *c, const struct call *call)
{
	return check_plain(c, call, "+ -i,--input:name -o,--output:name -e,--error:name", false);
}

static int check_time(struct check *c, const struct call *call)
{
	return check_plain(c, call,
		"+ -a,--append -f,--format:text -o,--output:write -p,--portability -q,--quiet "
		"-v,--verbose",
		false);
}

/* What a run is given for its own safety stays: neither `-i` nor `-u` of just any name. */
static int check_unset(struct check *c, const struct parsed *p)
{
	static const char *const names[] = {"AR", "CC", "CFLAGS", "CI", "CPPFLAGS", "CXX",
		"CXXFLAGS", "DEBUG", "DISPLAY", "LDFLAGS", "MAKEFLAGS", "MFLAGS", "NODE_ENV",
		"VERBOSE", "VIRTUAL_ENV"};

	for (size_t i = 0; i < p->n; i++) {
		bool known = !str_is(p->options[i].name, "-u");

		for (size_t k = 0; k < COUNT(names) && !known; k++)
			known = bin_is(&p->options[i].value, names[k]);
		if (!known)
			return bin_refuse(
				c, RULE_WRAPPER, &p->options[i].value, "a variable that must stay");
	}
	return 0;
}

static int enter_all(struct check *c, struct call *call, const struct parsed *p)
{
	for (size_t i = 0; i < p->n; i++) {
		struct call from = *call;

		if (str_is(p->options[i].name, "-C") &&
			bin_enter(c, &from, &p->options[i].value, call) < 0)
			return -1;
	}
	return 0;
}

static int check_env(struct check *c, const struct call *call)
{
	struct call inside = *call;
	struct parsed p;
	size_t i, first;

	if (check_options(
		    c, call, 1, "+ -0,--null -u,--unset:name -C,--chdir:text -v,--debug", &p) < 0 ||
		check_unset(c, &p) < 0 || enter_all(c, &inside, &p) < 0)
		return -1;
	for (i = 0; i < p.n_operands; i++) {
		const struct arg *arg = &p.operands[i];
		size_t equals = str_find(arg->text, STR("="));
		struct arg value = bin_part(arg, equals + (equals < arg->text.n), arg->text.n);

		if (equals == arg->text.n)
			break;
		if (check_assignment(c, inside.cwd, str_sub(arg->text, 0, equals), &value) < 0)
			return -1;
	}
	/* Without a command it shows the variables, and so what is secret among them. */
	if (i == p.n_operands)
		return bin_refuse(c, RULE_WRAPPER, &call->args[0], "no command to start");
	first = p.first_operand + i;
	return check_inner(c, &inside, first, call->n - first);
}

const struct binary binaries_wrap[] = {
	{"env", NULL, NULL, 0, check_env},
	{"timeout", NULL, NULL, 0, check_timeout},
	{"nice", NULL, NULL, 0, check_nice},
	{"nohup", NULL, NULL, 0, check_nohup},
	{"stdbuf", NULL, NULL, 0, check_stdbuf},
	{"time", NULL, NULL, 0, check_time},
	{"xargs", NULL, NULL, 0, check_xargs},
	{NULL, NULL, NULL, 0, NULL},
};
