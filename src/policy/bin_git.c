/* git: its own options, the command, what the policy says of it; then the command's row. */
#include "src/policy/bin_git.h"

/* Others move the repository elsewhere (--git-dir), bring settings (--config-env) or programs
 * (--exec-path), or start a pager (-p). */
static const char global_options[] =
	"-C:text -c:text --no-pager,-P --no-replace-objects --no-optional-locks --no-lazy-fetch "
	"--literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --version,-v "
	"--help,-h +";

static const struct git_command *const tables[] = {git_rows_history, git_rows_look, git_rows_change,
	git_rows_refs, git_rows_remotes, git_rows_places};

int git_no(struct git_use *u, enum rule rule, const struct arg *arg, const char *why)
{
	(void)deny_word(u->c->v, rule, arg->at, arg->text, STR(""), "%s", why);
	return asked(u->c, rule, arg->at, arg->text, STR(""), -1);
}

bool git_any(const struct git_use *u, const char *const *names)
{
	for (; *names; names++)
		if (given_any(&u->p, *names))
			return true;
	return false;
}

int git_writes(struct git_use *u)
{
	if (!u->c->policy->write)
		return git_no(u, RULE_WRITE, &u->call.args[u->at],
			"the policy does not allow writing, and git does here");
	return 0;
}

int git_networks(struct git_use *u)
{
	if (!u->c->policy->network)
		return git_no(u, RULE_NETWORK, &u->call.args[u->at],
			"the policy does not allow the network, and git uses it here");
	return 0;
}

static const struct git_command *find(const char *name, size_t n)
{
	for (size_t t = 0; t < COUNT(tables); t++)
		for (const struct git_command *g = tables[t]; g->name; g++)
			if (strlen(g->name) == n && !memcmp(g->name, name, n))
				return g;
	return NULL;
}

static const struct git_command *find_sub(struct str group, struct str name)
{
	char both[48];
	int n = snprintf(both, sizeof(both), "%.*s %.*s", (int)(group.n < 20 ? group.n : 20),
		group.p, (int)(name.n < 24 ? name.n : 24), name.p);

	return find(both, (size_t)n);
}

/* The subcommand of a group, behind the group's own options: u->at moves to it. */
static int enter_group(struct git_use *u)
{
	size_t i = u->at + 1;
	const struct git_command *sub;

	while (u->command->lead && i < u->call.n && u->call.args[i].text.n > 1 &&
		u->call.args[i].text.p[0] == '-')
		i++;
	if (i >= u->call.n || u->call.args[i].origin != ARG_KNOWN)
		return 0;
	sub = find_sub(u->call.args[u->at].text, u->call.args[i].text);
	if (!sub && !*u->command->operands && !str_starts(u->call.args[i].text, "-"))
		return git_no(u, RULE_GIT_COMMAND, &u->call.args[i],
			"no subcommand that is known to be harmless");
	if (!sub)
		return 0;
	u->command = sub;
	u->at = i;
	return 0;
}

static bool listed(const struct git_use *u, struct str name)
{
	return texts_have(&u->c->policy->git, str_of(u->command->name)) ||
	       texts_have(&u->c->policy->git, name);
}

static int find_command(struct git_use *u)
{
	const struct arg *arg = &u->call.args[u->at];
	const struct git_command *group;

	if (arg->origin != ARG_KNOWN)
		return git_no(u, RULE_GIT_COMMAND, arg, "git's command is not known from the text");
	group = u->command = find(arg->text.p, arg->text.n);
	if (!group || memchr(arg->text.p, ' ', arg->text.n))
		return git_no(u, RULE_GIT_COMMAND, arg,
			"no git command that is known to be harmless (aliases are none)");
	if (group->flags & GIT_GROUP && enter_group(u) < 0)
		return -1;
	if (u->c->policy->git_listed && !listed(u, arg->text))
		return git_no(
			u, RULE_GIT_COMMAND, arg, "the policy does not list this git command");
	return asked(u->c, RULE_GIT_COMMAND, arg->at, str_of(u->command->name), STR(""), 0);
}

/* Options of the notation are git's here. */
static int check_git_options(
	struct git_use *u, struct call *call, size_t from, const char *options, struct parsed *out)
{
	if (check_options(u->c, call, from, options, out) == 0)
		return asked(u->c, RULE_GIT_OPTION, call->at, str_of(u->command->name), STR(""), 0);
	if (u->c->v->rule == RULE_OPTION)
		u->c->v->rule = RULE_GIT_OPTION;
	return -1;
}

/* What stands between a group's name and its subcommand. */
static int check_lead(struct git_use *u, size_t group)
{
	struct call lead = u->call;
	struct parsed p;

	lead.n = u->at;
	if (u->at == group)
		return 0;
	return check_git_options(u, &lead, group + 1,
		find(lead.args[group].text.p, lead.args[group].text.n)->lead, &p);
}

static bool asks_usage(const struct git_use *u)
{
	return u->call.n == u->at + 2 && bin_is(&u->call.args[u->at + 1], "-h");
}

/* A new branch where one stands changes no file; neither does a reset of the index. */
static bool brings_files(const struct git_use *u)
{
	static const char *const branches[] = {"-b", "-B", "-c", "-C", "--orphan", NULL};
	static const char *const hard[] = {"--hard", "--merge", "--keep", NULL};

	if (strcmp(u->command->name, "reset") == 0)
		return git_any(u, hard);
	return u->p.n_operands || !git_any(u, branches);
}

static int check_command(struct git_use *u)
{
	size_t group = u->at;

	if (find_command(u) < 0 || check_lead(u, group) < 0)
		return -1;
	if (asks_usage(u))
		return 0;
	if ((u->command->flags & GIT_WRITES && git_writes(u) < 0) ||
		(u->command->flags & GIT_NETWORK && git_networks(u) < 0) ||
		check_git_options(u, &u->call, u->at + 1, u->command->options, &u->p) < 0)
		return -1;
	u->operands = u->command->operands;
	if (git_check_shown(u) < 0 || (u->command->check && u->command->check(u) < 0))
		return -1;
	if (git_operands(u, u->operands) < 0)
		return -1;
	u->c->unforeseen |= (u->command->flags & GIT_FILES) && brings_files(u);
	return 0;
}

/* git's options before the command: -C and -c in their order. */
static int check_globals(struct git_use *u, const struct parsed *p)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct given *g = &p->options[i];
		struct call from = u->call;

		if (str_is(g->name, "-C") && (g->value.text.n || g->value.origin != ARG_KNOWN) &&
			bin_enter(u->c, &from, &g->value, &u->call) < 0)
			return -1;
		if (str_is(g->name, "-c") && git_setting(u->c, &g->value) < 0)
			return -1;
	}
	return 0;
}

static int check_git(struct check *c, const struct call *call)
{
	static const struct git_command self = {.name = "git"};
	struct git_use u = {.c = c, .call = *call, .command = &self};
	struct parsed p;

	if (check_git_options(&u, &u.call, 1, global_options, &p) < 0 || check_globals(&u, &p) < 0)
		return -1;
	if (given_any(&p, "--help") && p.n_operands)
		return git_no(&u, RULE_GIT_COMMAND, &p.operands[0],
			"manual pages are shown by another program");
	if (!p.n_operands || given_any(&p, "--version"))
		return 0;
	u.at = p.first_operand;
	return git_repository(&u) < 0 ? -1 : check_command(&u);
}

const struct binary binaries_git[] = {
	{.name = "git", .options = "", .operands = "", .check = check_git},
	{0},
};
