/*
 * find: where it starts, then an expression. What follows links, writes a file, or works in a
 * directory that is not known is not in the tables.
 */
#include "src/policy/found.h"

static const struct find_predicate predicates[] = {
	{"!", NOTHING},
	{"(", NOTHING},
	{")", NOTHING},
	{",", NOTHING},
	{"-a", NOTHING},
	{"-amin", A_NUMBER},
	{"-and", NOTHING},
	{"-anewer", A_FILE},
	{"-atime", A_NUMBER},
	{"-cmin", A_NUMBER},
	{"-cnewer", A_FILE},
	{"-ctime", A_NUMBER},
	{"-d", NOTHING},
	{"-daystart", NOTHING},
	{"-depth", NOTHING},
	{"-empty", NOTHING},
	{"-executable", NOTHING},
	{"-false", NOTHING},
	{"-fstype", A_TEXT},
	{"-gid", A_NUMBER},
	{"-group", A_TEXT},
	{"-ignore_readdir_race", NOTHING},
	{"-ilname", A_TEXT},
	{"-iname", A_TEXT},
	{"-inum", A_NUMBER},
	{"-ipath", A_TEXT},
	{"-iregex", A_TEXT},
	{"-iwholename", A_TEXT},
	{"-links", A_NUMBER},
	{"-lname", A_TEXT},
	{"-ls", NOTHING},
	{"-maxdepth", A_NUMBER},
	{"-mindepth", A_NUMBER},
	{"-mmin", A_NUMBER},
	{"-mount", NOTHING},
	{"-mtime", A_NUMBER},
	{"-name", A_TEXT},
	{"-newer", A_FILE},
	{"-nogroup", NOTHING},
	{"-noignore_readdir_race", NOTHING},
	{"-noleaf", NOTHING},
	{"-not", NOTHING},
	{"-nouser", NOTHING},
	{"-nowarn", NOTHING},
	{"-o", NOTHING},
	{"-or", NOTHING},
	{"-path", A_TEXT},
	{"-perm", A_TEXT},
	{"-print", NOTHING},
	{"-print0", NOTHING},
	{"-printf", A_TEXT},
	{"-prune", NOTHING},
	{"-quit", NOTHING},
	{"-readable", NOTHING},
	{"-regex", A_TEXT},
	{"-regextype", A_TEXT},
	{"-samefile", A_FILE},
	{"-size", A_TEXT},
	{"-true", NOTHING},
	{"-type", A_TEXT},
	{"-uid", A_NUMBER},
	{"-used", A_NUMBER},
	{"-user", A_TEXT},
	{"-warn", NOTHING},
	{"-wholename", A_TEXT},
	{"-writable", NOTHING},
	{"-xdev", NOTHING},
	{"-xtype", A_TEXT},
};

const struct find_predicate *find_predicate(struct str name)
{
	for (size_t i = 0; i < COUNT(predicates); i++)
		if (str_is(name, predicates[i].name))
			return &predicates[i];
	return NULL;
}

bool find_begins(const struct arg *arg)
{
	return (arg->text.n > 1 && arg->text.p[0] == '-') || str_is(arg->text, "(") ||
	       str_is(arg->text, "!") || str_is(arg->text, ")") || str_is(arg->text, ",");
}

static int check_starts(struct check *c, const struct call *call, size_t *i)
{
	while (*i < call->n &&
		(bin_is(&call->args[*i], "-P") || bin_is(&call->args[*i], "-O1") ||
			bin_is(&call->args[*i], "-O2") || bin_is(&call->args[*i], "-O3")))
		++*i;
	for (; *i < call->n && !find_begins(&call->args[*i]); ++*i)
		if (check_value(c, call, &call->args[*i], STR("read")) < 0)
			return -1;
	return 0;
}

const char *find_newer(struct str name)
{
	if (name.n != strlen("-newerXY") || !str_starts(name, "-newer") ||
		!strchr("aBcm", name.p[6]) || !strchr("aBcmt", name.p[7]))
		return NULL;
	return name.p[7] == 't' ? "text" : "read";
}

static int check_argument(struct check *c, const struct call *call, size_t i, const char *kind)
{
	if (i >= call->n)
		return bin_refuse(c, RULE_OPTION, &call->args[i - 1], "no value for this test");
	if (call->args[i].split)
		return bin_refuse(c, RULE_VALUE_DYNAMIC, &call->args[i],
			"may become several words: put it in double quotes");
	return check_value(c, call, &call->args[i], str_of(kind));
}

/* -exec COMMAND ; or -exec COMMAND {} +. *i: the first word of COMMAND, then the last argument. */
static int check_exec(struct check *c, const struct call *call, size_t *i)
{
	struct call inner = *call;
	bool several = false;
	size_t from = *i, end = from;

	for (; end < call->n && !bin_is(&call->args[end], ";"); end++) {
		several = end > from && bin_is(&call->args[end], "+") &&
			  bin_is(&call->args[end - 1], "{}");
		if (several)
			break;
	}
	*i = end;
	if (end == call->n || end == from)
		return bin_refuse(c, RULE_WRAPPER, &call->args[from - 1],
			"a command without its end (';' or '{} +')");
	inner.n = end - from;
	inner.feeds = NULL;
	inner.args = arena_alloc(c->arena, inner.n * sizeof(*inner.args));
	for (size_t k = 0; k < inner.n; k++) {
		inner.args[k] = found_in(&call->args[from + k], "{}", several);
		if (inner.args[k].split && inner.args[k].origin == ARG_DYNAMIC)
			return bin_refuse(
				c, RULE_VALUE_DYNAMIC, &inner.args[k], "may become several words");
	}
	return check_found(c, &inner, call);
}

static int check_delete(struct check *c, const struct call *call, const struct arg *arg)
{
	struct check inside = *c;

	inside.finder = call;
	return check_found_write(&inside, arg);
}

static int check_predicate(struct check *c, const struct call *call, size_t *i)
{
	static const char *const kinds[] = {
		[A_TEXT] = "text", [A_NUMBER] = "number", [A_FILE] = "read"};
	const struct arg *arg = &call->args[*i];
	const struct find_predicate *p;
	const char *newer;

	if (arg->origin != ARG_KNOWN)
		return bin_refuse(c, RULE_VALUE_DYNAMIC, arg,
			"an expression that is not known from the text");
	if (str_is(arg->text, "-exec")) {
		++*i;
		return check_exec(c, call, i);
	}
	if (str_is(arg->text, "-delete"))
		return check_delete(c, call, arg);
	p = find_predicate(arg->text);
	newer = find_newer(arg->text);
	if (newer || (p && p->takes != NOTHING))
		return check_argument(c, call, ++*i, newer ? newer : kinds[p->takes]);
	return p ? 0 : bin_refuse(c, RULE_OPTION, arg, "not known or not allowed in find");
}

int check_find(struct check *c, const struct call *call)
{
	size_t i = 1;

	if (check_starts(c, call, &i) < 0)
		return -1;
	for (; i < call->n; i++)
		if (check_predicate(c, call, &i) < 0)
			return -1;
	return asked(c, RULE_SCRIPT, call->at, call->args[0].text, STR(""), 0);
}
