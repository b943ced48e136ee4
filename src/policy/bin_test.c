/* test and [: which words are files, which are texts, and nothing that looks at variables. */
#include "src/policy/bin.h"

static bool one_of(const struct arg *arg, const char *const *names)
{
	for (; *names; names++)
		if (bin_is(arg, *names))
			return true;
	return false;
}

static bool is_joint(const struct arg *arg)
{
	static const char *const names[] = {"-a", "-o", ")", NULL};

	return one_of(arg, names);
}

static const char *const compares[] = {"=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt",
	"-ge", "-nt", "-ot", "-ef", NULL};
static const char *const of_files[] = {"-nt", "-ot", "-ef", NULL};
static const char *const of_file[] = {"-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-h", "-b",
	"-c", "-p", "-S", "-g", "-u", "-k", "-O", "-G", "-N", NULL};
static const char *const of_text[] = {"-n", "-z", "-t", NULL};

/* One comparison; *i is moved behind it. */
static int check_primary(struct check *c, const struct call *call, size_t *i, size_t end)
{
	const struct arg *arg = &call->args[*i];

	if (*i + 2 < end && one_of(arg + 1, compares)) {
		*i += 3;
		if (!one_of(arg + 1, of_files))
			return 0;
		return check_value(c, call, arg, STR("read")) < 0 ||
				       check_value(c, call, arg + 2, STR("read")) < 0
			       ? -1
			       : 0;
	}
	if (*i + 1 < end && one_of(arg, of_file)) {
		*i += 2;
		return check_value(c, call, arg + 1, STR("read"));
	}
	*i += *i + 1 < end && one_of(arg, of_text) ? 2 : 1;
	return 0;
}

int check_test(struct check *c, const struct call *call)
{
	size_t end = call->n, i = 1;

	if (bin_is(&call->args[0], "[") || str_ends(call->args[0].text, "/[")) {
		if (end < 2 || !bin_is(&call->args[--end], "]"))
			return bin_refuse(c, RULE_OPERAND, &call->args[0], "no ] at the end");
	}
	for (size_t k = 1; k < end; k++)
		if (call->args[k].split && !call->args[k].commits)
			return bin_refuse(c, RULE_VALUE_DYNAMIC, &call->args[k],
				"may become several words: put it in double quotes");
	for (size_t k = 1; end != 4 && k + 2 < end; k++)
		if ((bin_is(&call->args[k], "!") || bin_is(&call->args[k], "(")) &&
			one_of(&call->args[k + 1], compares))
			return bin_refuse(c, RULE_OPERAND, &call->args[k],
				"a test that can be read in two ways");
	while (i < end) {
		while (i + 1 < end &&
			(bin_is(&call->args[i], "!") || bin_is(&call->args[i], "(")) &&
			!(i + 2 < end && one_of(&call->args[i + 1], compares)))
			i++;
		if (check_primary(c, call, &i, end) < 0)
			return -1;
		while (i < end && bin_is(&call->args[i], ")"))
			i++;
		if (i < end && !is_joint(&call->args[i]))
			return bin_refuse(
				c, RULE_OPERAND, &call->args[i], "not a test that is understood");
		i += i < end;
	}
	return asked(c, RULE_OPERAND, call->at, call->args[0].text, STR(""), 0);
}
