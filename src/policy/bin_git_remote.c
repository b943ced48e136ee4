/* Where git fetches from and pushes to. */
#include "src/policy/bin_git.h"

static bool one_of(char ch, const char *more)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
	       (ch && strchr(more, ch));
}

/* What ssh gets as the machine: nothing that it could take for an option. */
static bool host_fits(struct str host)
{
	size_t at = str_find(host, STR("@"));
	struct str machine = at < host.n ? str_sub(host, at + 1, host.n) : host;

	for (size_t i = 0; i < host.n; i++)
		if (!one_of(host.p[i], "._-@:[]%~+"))
			return false;
	return host.n && machine.n && host.p[0] != '-' && machine.p[0] != '-';
}

static bool address_plain(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] <= ' ' || s.p[i] == 0x7f)
			return false;
	return true;
}

static int check_url(struct git_use *u, const struct arg *arg, size_t scheme)
{
	static const char *const known[] = {"https", "http", "ssh", "git", "git+ssh", "ssh+git"};
	struct str name = str_sub(arg->text, 0, scheme);
	struct str rest = str_sub(arg->text, scheme + 3, arg->text.n);

	for (size_t i = 0; i < COUNT(known); i++) {
		if (!str_is(name, known[i]))
			continue;
		if (!host_fits(str_sub(rest, 0, str_find(rest, STR("/")))))
			return git_no(u, RULE_GIT_REMOTE, arg, "no name of a machine");
		return 0;
	}
	return git_no(
		u, RULE_GIT_REMOTE, arg, "a transport that could run a program or read files");
}

static int check_folder(struct git_use *u, const struct arg *arg, bool hooks, bool *here)
{
	struct place place;

	if (check_path(u->c, &u->call, arg, ACCESS_READ, false) < 0)
		return -1;
	if (where(u->c->arena, u->c->root, u->c->policy, u->call.cwd, arg->text, ACCESS_READ, false,
		    arg->at, &place, u->c->v) < 0)
		return -1;
	*here = place.exists;
	if (hooks && place.exists && !str_is(arg->text, "."))
		return git_no(u, RULE_GIT_REMOTE, arg,
			"a push to a directory runs the programs in its hooks");
	return 0;
}

int git_remote(struct git_use *u, const struct arg *arg, bool hooks, bool *here)
{
	struct str text = arg->text;
	size_t colon = str_find(text, STR(":")), slash = str_find(text, STR("/"));

	*here = false;
	if (arg->origin != ARG_KNOWN)
		return git_no(u, RULE_GIT_REMOTE, arg, "the remote is not known from the text");
	if (!text.n || text.p[0] == '-' || !address_plain(text))
		return git_no(u, RULE_GIT_REMOTE, arg, "neither a name nor an address");
	if (str_find(text, STR("::")) < text.n && !str_starts(str_sub(text, colon, text.n), "://"))
		return git_no(u, RULE_GIT_REMOTE, arg, "'::' names a program to talk through");
	if (colon < text.n && str_starts(str_sub(text, colon, text.n), "://"))
		return check_url(u, arg, colon);
	if (colon < slash)
		return host_fits(str_sub(text, 0, colon))
			       ? 0
			       : git_no(u, RULE_GIT_REMOTE, arg, "no name of a machine");
	return check_folder(u, arg, hooks, here);
}

/* The remote, which is the first operand, then refspecs. */
static int remote_first(struct git_use *u, bool hooks, bool *here)
{
	*here = false;
	if (u->p.n_operands && git_remote(u, &u->p.operands[0], hooks, here) < 0)
		return -1;
	for (size_t i = 0; i < u->p.n; i++)
		if (str_is(u->p.options[i].name, "--repo") &&
			git_remote(u, &u->p.options[i].value, hooks, here) < 0)
			return -1;
	u->operands = "text refspec*";
	return 0;
}

int git_check_fetch(struct git_use *u)
{
	bool here;

	if (given_any(&u->p, "--multiple")) {
		for (size_t i = 0; i < u->p.n_operands; i++)
			if (git_remote(u, &u->p.operands[i], false, &here) < 0)
				return -1;
		u->operands = "text*";
		return git_networks(u);
	}
	if (remote_first(u, false, &here) < 0)
		return -1;
	return here ? 0 : git_networks(u);
}

/* What rewrites or removes what others have: asked about by itself where commands are listed. */
static const struct arg *forced(const struct git_use *u)
{
	static const char *const names[] = {
		"--force", "--force-with-lease", "--delete", "--prune", NULL};

	for (size_t i = 1; i < u->p.n_operands; i++)
		if (u->p.operands[i].text.n && strchr("+:", u->p.operands[i].text.p[0]))
			return &u->p.operands[i];
	for (size_t i = 0; i < u->p.n; i++)
		for (const char *const *name = names; *name; name++)
			if (str_is(u->p.options[i].name, *name))
				return &u->call.args[u->p.options[i].arg];
	return NULL;
}

int git_check_push(struct git_use *u)
{
	const struct arg *force = forced(u);
	bool here;

	if (force && u->c->policy->git_listed &&
		!texts_have(&u->c->policy->git, STR("push --force")))
		return git_no(u, RULE_GIT_COMMAND, force,
			"the policy lists no 'push --force', which this is");
	if (remote_first(u, true, &here) < 0)
		return -1;
	return here ? 0 : git_networks(u);
}

int git_check_clone(struct git_use *u)
{
	bool here = false;

	if (u->p.n_operands && git_remote(u, &u->p.operands[0], false, &here) < 0)
		return -1;
	for (size_t i = 0; i < u->p.n; i++)
		if (str_is(u->p.options[i].name, "--config") &&
			git_setting(u->c, &u->p.options[i].value) < 0)
			return -1;
	if (!here && git_networks(u) < 0)
		return -1;
	if (u->p.n_operands > 1 &&
		check_path(u->c, &u->call, &u->p.operands[1], ACCESS_WRITE, false) < 0)
		return -1;
	u->operands = "text text";
	return 0;
}
