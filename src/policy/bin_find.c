/*
 * find: where it starts, then an expression. What follows links, writes a file, or works in a
 * folder that is not known is not in the tables.
 */
#include "src/policy/found.h"

enum takes { NOTHING, A_TEXT, A_NUMBER, A_FILE };

static const struct predicate {
	const char *name;
	enum takes takes;
} predicates[] = {
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

static const struct predicate *predicate_find(struct str name)
{
	for (size_t i = 0; i < COUNT(predicates); i++)
		if (str_is(name, predicates[i].name))
			return &predicates[i];
	return NULL;
}

/* As find itself tells an expression from a place to start. */
static bool begins_expression(const struct arg *arg)
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
	for (; *i < call->n && !begins_expression(&call->args[*i]); ++*i)
		if (check_value(c, call, &call->args[*i], STR("read")) < 0)
			return -1;
	return 0;
}

/* -newerXY: X is a time of each file, Y one of FILE, or a date. */
static const char *newer_kind(struct str name)
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
	const struct predicate *p;
	const char *newer;

	if (arg->origin != ARG_KNOWN)
		return bin_refuse(c, RULE_VALUE_DYNAMIC, arg,
			"an expression that is not known from the text");
	if (str_is(arg->text, "-exec") || str_is(arg->text, "-ok")) {
		++*i;
		return check_exec(c, call, i);
	}
	if (str_is(arg->text, "-delete"))
		return check_delete(c, call, arg);
	p = predicate_find(arg->text);
	newer = newer_kind(arg->text);
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

/* What narrows the names and may stand beside -name without taking it back. */
static bool narrows(struct str name)
{
	static const char *const names[] = {"-print", "-print0", "-maxdepth", "-mindepth", "-type",
		"-a", "-and", "-xdev", "-mount", "-depth", "-d", "-size", "-mtime", "-newer",
		"-mmin", "-empty", "-user", "-perm", "-path", "-regex", "-iname", "-prune",
		"-links"};

	for (size_t i = 0; i < COUNT(names); i++)
		if (str_is(name, names[i]))
			return true;
	return false;
}

static bool is_at(const struct call *call, size_t i, const char *text)
{
	return i < call->n && bin_is(&call->args[i], text);
}

/* `! -path ./.git/X`: the length of what leaves git's folder out; 0: something else. */
static size_t leaves_git_out(const struct call *call, size_t i, bool from_here)
{
	if (!is_at(call, i, "!") && !is_at(call, i, "-not"))
		return 0;
	if (!is_at(call, i + 1, "-path") && !is_at(call, i + 1, "-wholename"))
		return 0;
	return is_at(call, i + 2, "*/.git/*") || (from_here && is_at(call, i + 2, "./.git/*")) ? 3
											       : 0;
}

/* `-path ./.git -prune -o`, `-name .git -prune -o` in front of all. */
static size_t prunes_git(const struct call *call, size_t i, bool from_here)
{
	size_t at = i + 2;

	if (!(is_at(call, i, "-name") && is_at(call, i + 1, ".git")) &&
		!(is_at(call, i, "-path") && from_here && is_at(call, i + 1, "./.git")))
		return 0;
	at += is_at(call, at, "-a") || is_at(call, at, "-and");
	return is_at(call, at, "-prune") &&
			       (is_at(call, at + 1, "-o") || is_at(call, at + 1, "-or"))
		       ? at + 2 - i
		       : 0;
}

/* What all names have in common for which something is done: all is joined by `and`. */
static void common(const struct call *call, size_t i, bool from_here, struct finding *out)
{
	size_t skip = prunes_git(call, i, from_here);

	out->tracked = skip > 0;
	for (i += skip; i < call->n; i++) {
		struct str text = call->args[i].text;
		const struct predicate *p = predicate_find(text);

		if (str_is(text, "-exec") || str_is(text, "-delete"))
			return;
		skip = leaves_git_out(call, i, from_here);
		if (skip) {
			out->tracked = true;
			i += skip - 1;
			continue;
		}
		if (str_is(text, "!") || str_is(text, "-not")) {
			const struct predicate *not =
				i + 1 < call->n ? predicate_find(call->args[i + 1].text) : NULL;

			if (not &&not ->takes != NOTHING) {
				i += 2;
				continue;
			}
		}
		if (str_is(text, "-name") && i + 1 < call->n &&
			call->args[i + 1].origin == ARG_KNOWN) {
			out->names = call->args[i + 1].text;
		} else if (!narrows(text)) {
			out->names = STR("");
			out->tracked = false;
			return;
		}
		i += p && p->takes != NOTHING;
	}
}

void find_places(const struct call *call, struct finding *out)
{
	size_t i = 1, from;

	while (i < call->n &&
		(bin_is(&call->args[i], "-P") || str_starts(call->args[i].text, "-O")))
		i++;
	for (from = i; i < call->n && !begins_expression(&call->args[i]);)
		i++;
	*out = (struct finding){.starts = call->args + from, .n = i - from};
	common(call, i, !out->n || (out->n == 1 && bin_is(out->starts, ".")), out);
}

bool find_finding(const struct call *call, struct finding *out)
{
	int zero = -1;

	find_places(call, out);
	for (size_t i = (size_t)(out->starts - call->args) + out->n; i < call->n; i++) {
		struct str text = call->args[i].text;
		const struct predicate *p = predicate_find(text);

		if (!p && !newer_kind(text))
			return false;
		if (str_is(text, "-printf") || str_is(text, "-ls"))
			return false;
		if (str_is(text, "-print0") || str_is(text, "-print")) {
			if (zero >= 0 && zero != str_is(text, "-print0"))
				return false;
			zero = str_is(text, "-print0");
		}
		i += !p || p->takes != NOTHING;
	}
	out->zero = zero == 1;
	return true;
}
