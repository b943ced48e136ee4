/* What git shows of settings, and by programs of its own: gpg. */
#include <strings.h>
#include "src/policy/bin_git.h"

static bool has_dot(struct str key)
{
	return str_find(key, STR(".")) < key.n;
}

/* Settings of the user can hold passwords; those of the repository are files of the tree. */
static int check_users(struct git_use *u)
{
	static const char *const outside[] = {"--global", "--system", NULL};
	static const char *const all[] = {"--list", "--get-regexp", "--get-urlmatch", NULL};
	static const char *const own[] = {"--local", "--worktree", "-f", "--blob", NULL};
	static const char *const secret[] = {"http.", "credential.", "url.", "sendemail.", NULL};
	const struct arg *arg = &u->call.args[u->at];

	if (u->c->policy->write)
		return 0;
	if (git_any(u, outside) || (git_any(u, all) && !git_any(u, own)))
		return git_no(u, RULE_GIT_CONFIG, arg,
			"settings of the user may hold passwords: ask for '--local' or for one");
	for (size_t i = 0; !git_any(u, own) && i < u->p.n_operands; i++) {
		struct str key = u->p.operands[i].text;

		for (const char *const *name = secret; *name; name++)
			if ((key.n >= strlen(*name) && !strncasecmp(key.p, *name, strlen(*name))) ||
				str_is(key, "list"))
				return git_no(u, RULE_GIT_CONFIG, &u->p.operands[i],
					"settings of the user may hold passwords");
	}
	return 0;
}

/*
 * Looking at settings, never changing them: they can name programs. One operand is read, two are
 * written; later versions of git take `list` and `get KEY`.
 */
int git_check_config(struct git_use *u)
{
	static const char *const looks[] = {"--get", "--get-all", "--get-regexp", "--get-urlmatch",
		"--list", "--get-color", "--get-colorbool", NULL};
	const struct arg *first = u->p.n_operands ? &u->p.operands[0] : NULL;

	u->operands = "text text";
	for (size_t i = 0; i < u->p.n_operands; i++)
		if (u->p.operands[i].origin != ARG_KNOWN)
			return git_no(u, RULE_VALUE_DYNAMIC, &u->p.operands[i],
				"the name of the setting is not known from the text");
	if (check_users(u) < 0)
		return -1;
	if (git_any(u, looks))
		return 0;
	if (u->p.n_operands == 1 && (has_dot(first->text) || bin_is(first, "list")))
		return 0;
	if (u->p.n_operands == 2 && bin_is(first, "get") && has_dot(u->p.operands[1].text))
		return 0;
	return git_no(u, RULE_GIT_CONFIG, first ? first : &u->call.args[u->at],
		"git's settings are not changed: give them with 'git -c KEY=VALUE'");
}

static bool asks_gpg(const struct git_use *u)
{
	if (str_starts(str_of(u->command->name), "verify-") || given_any(&u->p, "--show-signature"))
		return true;
	if (strcmp(u->command->name, "tag") == 0 && given_any(&u->p, "--verify"))
		return true;
	for (size_t i = 0; i < u->p.n; i++) {
		const struct given *g = &u->p.options[i];
		bool format = str_is(g->name, "--format") || str_is(g->name, "--pretty");

		if (format && (g->value.origin != ARG_KNOWN ||
				      str_find(g->value.text, STR("%G")) < g->value.text.n ||
				      str_find(g->value.text, STR("(signature")) < g->value.text.n))
			return true;
	}
	return false;
}

int git_check_shown(struct git_use *u)
{
	if (!u->c->policy->write && !texts_have(&u->c->policy->allow, STR("gpg")) && asks_gpg(u))
		return git_no(u, RULE_GIT_OPTION, &u->call.args[u->at],
			"checks signatures by gpg, which the policy does not allow");
	if (!u->c->policy->write && strcmp(u->command->name, "var") == 0 && given_any(&u->p, "-l"))
		return git_no(u, RULE_GIT_CONFIG, &u->call.args[u->at],
			"settings of the user may hold passwords");
	return 0;
}
