/*
 * gh: pull requests, issues and runs of the repository's own remote. What is not here could start
 * programs (alias, extension), show secrets (auth), change settings, or is an open end (api). What
 * writes goes to the repository at hand: with -R it could carry text to any other.
 */
#include "src/policy/bin.h"

#define LOOK " --json:text -q,--jq:text -t,--template:text -R,--repo:text"
#define FILTERS                                                                                    \
	" -L,--limit:number -s,--state:name -A,--author:text -a,--assignee:text -l,--label:text "  \
	"-S,--search:text"

static const struct gh_command {
	const char *name, *options, *operands;
	bool writes;
} commands[] = {
	{"pr view", "-c,--comments" LOOK, "text*", false},
	{"pr list", "-B,--base:rev -H,--head:rev -d,--draft --app:text" FILTERS LOOK, "", false},
	{"pr status", "-c,--conflict-status" LOOK, "", false},
	{"pr checks", "--watch --fail-fast -i,--interval:number --required" LOOK, "text*", false},
	{"pr diff", "--color:word{always,never,auto} --name-only --patch -R,--repo:text", "text*",
		false},
	{"pr create",
		"-t,--title:text -b,--body:text -F,--body-file:read -B,--base:rev -H,--head:rev "
		"-d,--draft "
		"-f,--fill --fill-first --fill-verbose --dry-run -a,--assignee:text "
		"-l,--label:text "
		"-m,--milestone:text -p,--project:text -r,--reviewer:text --no-maintainer-edit",
		"", true},
	{"pr edit",
		"-t,--title:text -b,--body:text -F,--body-file:read -B,--base:rev --add-label:text "
		"--remove-label:text --add-reviewer:text --remove-reviewer:text "
		"--add-assignee:text "
		"--remove-assignee:text -m,--milestone:text",
		"text*", true},
	{"pr comment", "-b,--body:text -F,--body-file:read --edit-last", "text*", true},
	{"pr review",
		"-a,--approve -r,--request-changes -c,--comment -b,--body:text -F,--body-file:read",
		"text*", true},
	{"pr ready", "--undo", "text*", true},
	{"issue view", "-c,--comments" LOOK, "text*", false},
	{"issue list", "-m,--milestone:text --mention:text" FILTERS LOOK, "", false},
	{"issue comment", "-b,--body:text -F,--body-file:read --edit-last", "text*", true},
	{"run list",
		"-b,--branch:rev -c,--commit:rev -e,--event:name -u,--user:text -w,--workflow:text "
		"-s,--status:name -L,--limit:number" LOOK,
		"", false},
	{"run view",
		"-v,--verbose --log --log-failed --exit-status -j,--job:number "
		"-a,--attempt:number" LOOK,
		"text*", false},
	{"run watch", "--exit-status --compact -i,--interval:number -R,--repo:text", "text*",
		false},
};

static const struct gh_command *command_of(const struct call *call)
{
	char name[40];

	if (call->n < 3 || call->args[1].origin != ARG_KNOWN || call->args[2].origin != ARG_KNOWN ||
		call->args[1].text.n + call->args[2].text.n > 30)
		return NULL;
	snprintf(name, sizeof(name), "%.*s %.*s", (int)call->args[1].text.n, call->args[1].text.p,
		(int)call->args[2].text.n, call->args[2].text.p);
	for (size_t i = 0; i < COUNT(commands); i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

static int check_gh(struct check *c, const struct call *call)
{
	const struct gh_command *command = command_of(call);
	const struct arg *named = &call->args[call->n > 1 ? 1 : 0];
	struct parsed p;

	if (!command)
		return bin_refuse(
			c, RULE_OPERAND, named, "no command of gh that is known to be harmless");
	if (!c->policy->network)
		return bin_refuse(c, RULE_NETWORK, named, "the policy does not allow the network");
	if (command->writes && !c->policy->write)
		return bin_refuse(c, RULE_WRITE, named,
			"the policy does not allow writing, and this writes to the remote");
	if (check_options(c, call, 3, command->options, &p) < 0)
		return -1;
	return check_operands(c, call, &p, command->operands);
}

const struct binary binaries_gh[] = {
	{"gh", NULL, NULL, 0, check_gh},
	{0},
};
