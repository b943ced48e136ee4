#include "src/policy/bin.h"

enum { WRAPPERS_MAX = 8 };

int bin_refuse(struct check *c, enum rule rule, const struct arg *arg, const char *why)
{
	deny_word(c->v, rule, arg->at, arg->text, STR(""), "%s", why);
	return asked(c, rule, arg->at, arg->text, STR(""), -1);
}

bool bin_is(const struct arg *arg, const char *text)
{
	return arg->origin == ARG_KNOWN && str_is(arg->text, text);
}

int bin_place(struct check *c, const struct call *call, const struct arg *arg, struct place *out)
{
	struct verdict unused = {0};

	if (arg->origin != ARG_KNOWN)
		return -1;
	return where(c->arena, c->root, c->policy, call->cwd, arg->text, ACCESS_READ, false,
		arg->at, out, &unused);
}

int bin_enter(struct check *c, const struct call *call, const struct arg *folder, struct call *out)
{
	struct place place;

	if (check_path(c, call, folder, ACCESS_ENTER, false) < 0)
		return -1;
	if (bin_place(c, call, folder, &place) < 0)
		return bin_refuse(c, RULE_CWD, folder, "a directory that cannot be followed");
	*out = *call;
	out->cwd = place.path;
	return 0;
}

struct str bin_base(struct str path)
{
	size_t from;

	while (path.n > 1 && path.p[path.n - 1] == '/')
		path.n--;
	for (from = path.n; from > 0 && path.p[from - 1] != '/';)
		from--;
	return str_sub(path, from, path.n);
}

int bin_links(struct check *c, const struct arg *arg, bool made)
{
	if (made)
		c->links = true;
	else
		c->moves = true;
	if (c->live || !c->links || !c->moves)
		return 0;
	return bin_refuse(c, RULE_PATH_OUTSIDE, arg,
		"a line makes a link with '..' and moves files: its target is then unknown");
}

bool bin_is_variable(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char ch = s.p[i];

		if (!(ch == '_' || (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
			    (i && ch >= '0' && ch <= '9')))
			return false;
	}
	return s.n > 0;
}

struct arg bin_part(const struct arg *arg, size_t from, size_t to)
{
	struct arg part = *arg;

	part.text = str_sub(arg->text, from, to);
	return part;
}

int check_inner(struct check *c, const struct call *call, size_t first, size_t n)
{
	struct call inner = *call;
	const struct binary *row;
	struct str program;

	if (!n || first >= call->n)
		return bin_refuse(c, RULE_WRAPPER, &call->args[0], "no command to start");
	if (call->depth >= WRAPPERS_MAX)
		return bin_refuse(c, RULE_LIMIT, &call->args[0], "too many wrappers");
	inner.args = call->args + first;
	inner.n = n;
	inner.depth++;
	row = binary_find(c->arena, c->policy, inner.args[0].text);
	if (row && row->flags & BINARY_BUILTIN)
		return bin_refuse(
			c, RULE_WRAPPER, &inner.args[0], "a builtin, which no program can start");
	if (check_call(c, &inner, &program) < 0)
		return -1;
	return asked(c, RULE_WRAPPER, call->args[0].at, inner.args[0].text, program, 0);
}

bool bin_has_only(struct str s, const char *more)
{
	for (size_t i = 0; i < s.n; i++) {
		char ch = s.p[i];

		if (!((ch >= '0' && ch <= '9') || (ch >= 'a' && ch <= 'z') ||
			    (ch >= 'A' && ch <= 'Z') || (ch && strchr(more, ch))))
			return false;
	}
	return true;
}
