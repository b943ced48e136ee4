#include "src/harness/adapter.h"
#include "src/sys/git.h"

/* The program ignores the variable; its option is on the command line, which everyone can see. */
static void add_base_url(struct command *c)
{
	const char *url = harness_env_get(c->env, "OPENAI_BASE_URL");

	if (!url || !*url)
		return;
	if (strpbrk(url, "\"\\@\n\t "))
		c->fault =
			"OPENAI_BASE_URL has a login, a quote or a blank, which cannot be passed "
			"to codex";
	else
		command_option(c, "-c", arena_printf(c->arena, "openai_base_url=\"%s\"", url));
}

/* Its sandbox keeps the repository's directory and that of a linked worktree read-only unless each
 * is named, and has no network: an agent could neither commit nor push. */
static void add_workspace(struct command *c, const char *cwd)
{
	char *root, *dirs[2]; /* the common one is named first */
	struct error ignored;

	command_option(c, "-s", "workspace-write");
	command_option(c, "-c", "sandbox_workspace_write.network_access=true");
	if (git_root(c->arena, cwd ? cwd : ".", &root, &ignored) < 0 ||
		!git_directories(c->arena, root, &dirs[1], &dirs[0]))
		return;
	for (size_t i = 0; i < COUNT(dirs) && (i == 0 || strcmp(dirs[0], dirs[1]) != 0); i++) {
		CLEANUP(base_free) char *real = realpath(dirs[i], NULL);

		command_option(c, "--add-dir", real);
	}
}

static void codex_command(struct command *c, const struct harness_input *input)
{
	command_add(c, "exec");
	command_add(c, "--json");
	command_add(c, "--skip-git-repo-check");
	command_option(c, "-m", input->model);
	/* Its own sandbox cannot be in another one. */
	if (input->contained)
		command_add(c, "--dangerously-bypass-approvals-and-sandbox");
	else if (harness_input_allows_writes(input))
		add_workspace(c, input->cwd);
	else
		command_option(c, "-s", "read-only");
	command_option(c, "-c", "check_for_update_on_startup=false");
	add_base_url(c);
	command_add(c, "-");
}

/* The reason in `Reconnecting... 2/5 (REASON)`; empty for any other text. */
static struct str reconnect_reason(struct str text)
{
	static const char start[] = "Reconnecting... ";
	size_t i = strlen(start);

	if (!str_starts(text, start) || !str_ends(text, ")"))
		return (struct str){NULL, 0};
	while (i < text.n && strchr("0123456789/", text.p[i]))
		i++;
	text = str_sub(text, i, text.n - 1);
	return str_starts(text, " (") ? str_sub(text, 2, text.n) : (struct str){NULL, 0};
}

/* Codex reports the status of the API as text only: `unexpected status 503 Service Unavailable`.
 * -1: any other text. */
static long codex_status_of(struct str text)
{
	static const char *const before[] = {"unexpected status ",
		"exceeded retry limit, last status: ", "stream error: unexpected status ",
		"stream error: exceeded retry limit, last status: "};

	for (size_t i = 0; i < COUNT(before); i++) {
		struct str rest = str_sub(text, strlen(before[i]), text.n);

		if (!str_starts(text, before[i]))
			continue;
		return rest.n > 4 && rest.p[3] == ' ' && rest.p[4] >= 'A' && rest.p[4] <= 'Z'
			       ? harness_api_status_parse(rest)
			       : -1;
	}
	return -1;
}

#define CUT_OFF "stream disconnected before completion: "

static bool codex_is_limit(struct str text)
{
	return codex_status_of(text) == API_LIMIT ||
	       harness_api_text_starts(text, "Quota exceeded. ", "You've hit your usage limit",
		       "You\u2019ve hit your usage limit", CUT_OFF "Rate limit reached for ",
		       CUT_OFF "You exceeded your current quota");
}

/* An answer that the API itself cut off, as a filter does, is a failure of content. */
static bool codex_is_unavailable(struct str text)
{
	long status = codex_status_of(text);

	if (status > 0)
		return harness_api_status_unavailable(status);
	return codex_is_limit(text) ||
	       (harness_api_text_starts(text, "We're currently experiencing high demand",
			"We\u2019re currently experiencing high demand",
			"Selected model is at capacity.",
			"Connection failed: error sending request",
			"error sending request for url (", CUT_OFF, "Not logged in",
			"Failed to refresh token: ",
			"Your access token could not be refreshed because ") &&
		       !harness_api_text_starts(text, CUT_OFF "Incomplete response returned"));
}

static void take_item(struct session *s, const json *value)
{
	const json *item = json_get(value, "item");
	struct str type = harness_member(item, "type"), text = harness_member(item, "text");

	session_resumed(s);
	if (str_is(type, "agent_message") && text.p)
		session_text(s, text);
	if (!str_is(type, "error")) /* only a warning */
		session_progress(s, 0, type.p);
}

static void take_turn(struct session *s, const json *value)
{
	static const struct usage_form form = {.input = "input_tokens",
		.output = "output_tokens",
		.cache_read = "cached_input_tokens",
		.input_has_cached = true};

	session_progress(s, session_usage(s, json_get(value, "usage"), &form), NULL);
	s->finished = true;
}

/* The program retries; without a network it does so for ever. */
static void codex_take_error(struct session *s, const json *value)
{
	struct str text = harness_member(value, "message"), reason = reconnect_reason(text);

	if (str_starts(text, "Reconnecting... waiting for network"))
		session_abort(s, false, text);
	else if (reason.n && codex_is_unavailable(reason))
		session_retrying(s, codex_is_limit(reason), text);
}

static void codex_take_failure(struct session *s, const json *value)
{
	struct str text = harness_member(json_get(value, "error"), "message");
	bool unavailable = codex_is_unavailable(text);

	session_verdict(s, unavailable ? HARNESS_UNAVAILABLE : HARNESS_FAILURE,
		text.n ? text : STR("the turn failed"));
	s->rate_limited = unavailable && codex_is_limit(text);
}

static const struct harness_handler handlers[] = {
	{"item.completed", take_item},
	{"turn.completed", take_turn},
	{"error", codex_take_error},
	{"turn.failed", codex_take_failure},
	{0},
};

const struct harness harness_codex = {
	.name = "codex",
	.binary = "codex",
	.range = ">=0.72.0", /* older ones have no --add-dir */
	.install = "npm install -g @openai/codex",
	.can = {HARNESS_YES, HARNESS_PARTIAL, HARNESS_YES, HARNESS_YES, HARNESS_NO, HARNESS_YES},
	.context_tokens = 200000,
	.models = HARNESS_NAMES("gpt-5", "gpt-5-mini", "o3", "o3-mini"),
	.families = HARNESS_NAMES("gpt-", "o1", "o3", "o4", "codex-"),
	.credentials = HARNESS_NAMES("OPENAI_API_KEY", "CODEX_API_KEY"),
	.logins = HARNESS_NAMES("$CODEX_HOME/auth.json", ".codex/auth.json"),
	.login = "run 'codex login'",
	.variables = HARNESS_NAMES("OPENAI_BASE_URL", "OPENAI_ORGANIZATION", "OPENAI_PROJECT",
		"CODEX_HOME", "CODEX_CA_CERTIFICATE"),
	/* Without a terminal the program reads no other variable. */
	.aliases = HARNESS_NAMES("CODEX_API_KEY=OPENAI_API_KEY"),
	.needs_finish = true,
	.command = codex_command,
	.handlers = handlers,
};
