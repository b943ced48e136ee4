/* Revisions, pathspecs, names, refspecs: what stands behind the options of a git command. */
#include "src/policy/bin_git.h"

int git_revision(struct git_use *u, const struct arg *arg)
{
	bool dash = arg->text.n && arg->text.p[0] == '-';

	if (dash && !(arg->text.n == 1 && arg->origin == ARG_KNOWN))
		return git_no(u, RULE_OPERAND, arg, "a revision does not begin with '-'");
	if (arg->origin == ARG_FOUND)
		return git_no(u, RULE_OPERAND, arg, "file names in place of a revision");
	if (arg->origin == ARG_DYNAMIC && !arg->commits && (arg->split || !arg->text.n))
		return git_no(
			u, RULE_VALUE_DYNAMIC, arg, "it is not known that this is one revision");
	return asked(u->c, RULE_OPERAND, arg->at, arg->text, STR(""), 0);
}

/* The path inside `:(top)x`, `:/x`, `:!x` or `:^x`; *top: it begins at the worktree's top. */
static struct str strip_magic(struct str spec, bool *top)
{
	size_t i = 1;

	*top = false;
	if (!spec.n || spec.p[0] != ':')
		return spec;
	if (spec.n > 1 && spec.p[1] == '(') {
		size_t close = str_find(spec, STR(")"));
		struct str words = str_sub(spec, 0, close);

		*top = str_find(words, STR("top")) < words.n;
		return str_sub(spec, close < spec.n ? close + 1 : close, spec.n);
	}
	for (; i < spec.n && (spec.p[i] == '/' || spec.p[i] == '!' || spec.p[i] == '^'); i++)
		*top |= spec.p[i] == '/';
	return str_sub(spec, i < spec.n && spec.p[i] == ':' ? i + 1 : i, spec.n);
}

/* As it stands and without its magic: some commands take the whole for the name of a file. */
static int check_spec(struct git_use *u, const struct arg *arg, enum access access, bool whole)
{
	struct call from = u->call;
	struct arg path = *arg;
	bool top;

	if (check_path(u->c, &u->call, arg, access, whole) < 0)
		return -1;
	path.text = strip_magic(arg->text, &top);
	if (path.text.n == arg->text.n || !path.text.n)
		return 0;
	if (top)
		from.cwd = STR("");
	return check_path(u->c, &from, &path, access, whole);
}

/* To read, git follows no link for a pathspec: what is not there yet does no harm, and is often a
 * revision. */
int git_pathspec(struct git_use *u, const struct arg *arg, enum access access, bool whole)
{
	bool unforeseen = u->c->unforeseen;
	int rc;

	u->c->unforeseen = unforeseen && access != ACCESS_READ;
	rc = check_spec(u, arg, access, whole);
	u->c->unforeseen = unforeseen;
	return rc;
}

/* Before a `--`: a revision or a file, git finds out which. */
static int mixed(struct git_use *u, const struct arg *arg, enum access access)
{
	if (arg->origin == ARG_DYNAMIC)
		return git_revision(u, arg);
	return git_pathspec(u, arg, access, false);
}

/*
 * Names of refs come out of git again ($(git describe)) and are words of other commands then. git
 * itself makes no branch and no tag that begins with a dash, but takes such a refspec.
 */
static int ref_name(struct git_use *u, const struct arg *arg)
{
	if (str_find(arg->text, STR("/-")) < arg->text.n ||
		str_find(arg->text, STR(":-")) < arg->text.n)
		return git_no(u, RULE_OPERAND, arg, "a part of the name begins with '-'");
	return git_revision(u, arg);
}

static int new_name(struct git_use *u, const struct arg *arg)
{
	if (str_find(arg->text, STR(":")) < arg->text.n)
		return git_no(u, RULE_OPERAND, arg, "a name has no colon");
	return ref_name(u, arg);
}

static int check_one(struct git_use *u, struct str kind, const struct arg *arg, bool behind)
{
	bool here;

	if (str_is(kind, "text"))
		return 0;
	if (str_is(kind, "rev"))
		return git_revision(u, arg);
	if (str_is(kind, "refspec") || str_is(kind, "ref"))
		return ref_name(u, arg);
	if (str_is(kind, "name"))
		return new_name(u, arg);
	if (str_is(kind, "path") || (behind && str_is(kind, "mixed")))
		return git_pathspec(u, arg, ACCESS_READ, false);
	if (str_is(kind, "edit") || (behind && str_is(kind, "change")))
		return git_pathspec(u, arg, ACCESS_ENTRY, false);
	if (str_is(kind, "mixed"))
		return mixed(u, arg, ACCESS_READ);
	if (str_is(kind, "change"))
		return mixed(u, arg, ACCESS_ENTRY);
	if (str_is(kind, "file"))
		return check_path(u->c, &u->call, arg, ACCESS_READ, false);
	if (str_is(kind, "remote"))
		return git_remote(u, arg, false, &here);
	return deny(u->c->v, RULE_INTERNAL, arg->at, "unknown kind of git operand");
}

/* The next kind; the last one stays when it may be repeated. */
static bool next_kind(struct str *rest, struct str *kind)
{
	size_t to;

	while (rest->n && rest->p[0] == ' ')
		*rest = str_sub(*rest, 1, rest->n);
	to = str_find(*rest, STR(" "));
	*kind = str_sub(*rest, 0, to);
	if (kind->n && kind->p[kind->n - 1] == '*')
		kind->n--;
	else
		*rest = str_sub(*rest, to, rest->n);
	return kind->n > 0;
}

int git_operands(struct git_use *u, const char *kinds)
{
	struct str rest = str_of(kinds), kind;

	for (size_t i = 0; i < u->p.n_operands; i++) {
		const struct arg *arg = &u->p.operands[i];

		if (!next_kind(&rest, &kind))
			return git_no(u, RULE_OPERAND, arg, "an operand that is not known here");
		if (check_one(u, kind, arg, i >= u->p.n_before) < 0)
			return -1;
		/* Not surely one word: nothing behind it has a place of its own. */
		if (arg->split && !arg->commits && i + 1 < u->p.n_operands)
			return git_no(u, RULE_VALUE_DYNAMIC, arg,
				"it is not known that this is one word");
	}
	return 0;
}
