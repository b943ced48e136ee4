#include "src/harness/api_status.h"

enum { LIMIT = 429 };

static const char *const models[] = {"gpt-5", "gpt-5-mini", "o3", "o3-mini", NULL};
static const char *const families[] = {"gpt-", "o1", "o3", "o4", "codex-", NULL};
static const char *const credentials[] = {"OPENAI_API_KEY", "CODEX_API_KEY", NULL};
static const char *const variables[] = {"OPENAI_BASE_URL", "OPENAI_ORGANIZATION", "OPENAI_PROJECT",
	"CODEX_HOME", "CODEX_CA_CERTIFICATE", NULL};
/* The program takes no other one than this for a run without a terminal. */
static const char *const stand_ins[] = {"CODEX_API_KEY=OPENAI_API_KEY", NULL};

static const char *env_of(const struct command *c, const char *name)
{
	size_t n = strlen(name);

	for (const char *const *e = c->env; e && *e; e++)
		if (strncmp(*e, name, n) == 0 && (*e)[n] == '=')
			return (*e)[n + 1] ? *e + n + 1 : NULL;
	return NULL;
}

/* The program passes over the variable; its option is on the command line, which all can see. */
static int add_base_url(struct command *c, struct error *err)
{
	const char *url = env_of(c, "OPENAI_BASE_URL");

	if (!url)
		return 0;
	if (strpbrk(url, "\"\\@\n\t "))
		return error_set(err, ERR_USAGE,
			"OPENAI_BASE_URL has a login, a quote or a blank in it, which codex "
			"cannot be given");
	command_option(c, "-c", arena_printf(c->arena, "openai_base_url=\"%s\"", url));
	return 0;
}

static int command(struct command *c, const struct harness_input *input, struct error *err)
{
	command_add(c, "exec");
	command_add(c, "--json");
	command_add(c, "--skip-git-repo-check");
	command_option(c, "-m", input->model);
	command_option(c, "-s", input_may_write(input) ? "workspace-write" : "read-only");
	command_option(c, "-c", "check_for_update_on_startup=false");
	if (add_base_url(c, err) < 0)
		return -1;
	command_add(c, "-");
	return 0;
}

/* The reason in `Reconnecting... 2/5 (REASON)`, which it says while it tries again; empty: it is
 * another text. */
static struct str reason_in(struct str text)
{
	static const char first[] = "Reconnecting... ";
	size_t i = strlen(first);

	if (!str_starts(text, first) || !str_ends(text, ")"))
		return (struct str){NULL, 0};
	while (i < text.n && strchr("0123456789/", text.p[i]))
		i++;
	text = str_sub(text, i, text.n - 1);
	return str_starts(text, " (") ? str_sub(text, 2, text.n) : (struct str){NULL, 0};
}

/* `503 Service Unavailable`; -1: it is another text. */
static long named_status(struct str text)
{
	bool named = text.n > 4 && text.p[3] == ' ' && text.p[4] >= 'A' && text.p[4] <= 'Z';

	return named ? status_at(text) : -1;
}

/* Codex tells the status of the API in words only. -1: it does not. */
static long status_of(struct str text)
{
	static const char *const before[] = {"unexpected status ",
		"exceeded retry limit, last status: ", "stream error: unexpected status ",
		"stream error: exceeded retry limit, last status: ", NULL};

	for (const char *const *b = before; *b; b++)
		if (str_starts(text, *b))
			return named_status(str_sub(text, strlen(*b), text.n));
	return -1;
}

#define BROKEN_OFF "stream disconnected before completion: "

static bool is_limit(struct str text)
{
	static const char *const forms[] = {"Quota exceeded. ", "You've hit your usage limit",
		"You\u2019ve hit your usage limit", BROKEN_OFF "Rate limit reached for ",
		BROKEN_OFF "You exceeded your current quota", NULL};

	return status_of(text) == LIMIT || text_begins(text, forms);
}

/* What the API has cut off itself, as a filter does, is content. */
static bool is_unavailable(struct str text)
{
	static const char *const forms[] = {"We're currently experiencing high demand",
		"We\u2019re currently experiencing high demand", "Selected model is at capacity.",
		"Connection failed: error sending request", "error sending request for url (",
		BROKEN_OFF, "Not logged in",
		"Failed to refresh token: ", "Your access token could not be refreshed because ",
		NULL};
	static const char *const content[] = {BROKEN_OFF "Incomplete response returned", NULL};
	long status = status_of(text);

	if (status > 0)
		return api_status_unavailable(status);
	return is_limit(text) || (text_begins(text, forms) && !text_begins(text, content));
}

static void take_item(struct session *s, const json *item)
{
	struct str type = str_of(json_get_str(item, "type"));
	const char *text = json_get_str(item, "text");

	session_going(s);
	if (str_is(type, "agent_message") && text)
		session_text(s, str_of(text));
	if (!str_is(type, "error")) /* a mere warning */
		session_progress(s, 0, json_get_str(item, "type"));
}

static void take_usage(struct session *s, const json *usage)
{
	int64_t all = json_get_int(usage, "input_tokens", 0);
	int64_t cached = json_get_int(usage, "cached_input_tokens", 0);
	int64_t output = json_get_int(usage, "output_tokens", 0);

	/* Here the cached ones are among the others. */
	usage_add_tokens(&s->usage, all >= cached ? all - cached : 0, output, cached);
	session_progress(s, all + output, NULL);
}

/* While it tries again by itself; without a network it does so for ever. */
static void take_error(struct session *s, struct str text)
{
	struct str why = reason_in(text);

	if (str_starts(text, "Reconnecting... waiting for network"))
		session_give_up(s, false, text);
	else if (why.n && is_unavailable(why))
		session_retrying(s, is_limit(why), text);
}

static void take_failure(struct session *s, struct str text)
{
	bool unavailable = is_unavailable(text);

	session_verdict(s, unavailable ? HARNESS_UNAVAILABLE : HARNESS_FAILURE,
		text.n ? text : STR("the turn failed"));
	s->rate_limited = unavailable && is_limit(text);
}

static void object(struct session *s, const json *value)
{
	struct str type = str_of(json_get_str(value, "type"));

	if (str_is(type, "item.completed")) {
		take_item(s, json_get(value, "item"));
	} else if (str_is(type, "turn.completed")) {
		take_usage(s, json_get(value, "usage"));
		s->finished = true;
	} else if (str_is(type, "error")) {
		take_error(s, str_of(json_get_str(value, "message")));
	} else if (str_is(type, "turn.failed")) {
		take_failure(s, str_of(json_get_str(json_get(value, "error"), "message")));
	}
}

const struct harness harness_codex = {
	.name = "codex",
	.binary = "codex",
	.range = ">=0.1.0",
	.install = "npm install -g @openai/codex",
	.can = {[FRESH_CONTEXT] = CAPABLE_YES,
		[CUSTOM_TOOLS] = CAPABLE_PARTIAL,
		[STREAMING] = CAPABLE_YES,
		[WORKTREE_CWD] = CAPABLE_YES,
		[SKILLS] = CAPABLE_NO,
		[ARTIFACT_WRITES] = CAPABLE_YES},
	.context_tokens = 200000,
	.models = models,
	.families = families,
	.credentials = credentials,
	.variables = variables,
	.stand_ins = stand_ins,
	.needs_finish = true,
	.command = command,
	.object = object,
};
