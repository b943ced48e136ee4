#include "src/base/number.h"
#include "src/sys/digest.h"
#include "src/harness/adapter.h"

enum { ACCOUNT_DIGITS = 16, PROBE_MAX_S = 9999 };

/* In the order of the table in docs/harness.md. */
const struct harness *const harness_all[] = {&harness_claude_code, &harness_codex,
	&harness_gemini_cli, &harness_opencode, &harness_aider, &harness_generic_api, NULL};

const char *const harness_capability_names[] = {
	[HARNESS_FRESH_CONTEXT] = "freshContext",
	[HARNESS_CUSTOM_TOOLS] = "customTools",
	[HARNESS_STREAMING] = "streaming",
	[HARNESS_WORKTREE_CWD] = "worktreeAwareCwd",
	[HARNESS_SKILLS] = "skills",
	[HARNESS_ARTIFACT_WRITES] = "artifactWrites",
	NULL,
};

const char *const harness_level_names[] = {
	[HARNESS_NO] = "no",
	[HARNESS_PARTIAL] = "partial",
	[HARNESS_YES] = "yes",
	[HARNESS_DEPENDS] = "depends",
};

const char *const harness_reason_names[] = {
	[HARNESS_REASON_NONE] = NULL,
	[HARNESS_BINARY_MISSING] = "binary-missing",
	[HARNESS_VERSION_OUT_OF_RANGE] = "version-out-of-range",
	[HARNESS_PROBE_FAILED] = "probe-failed",
	[HARNESS_HEALTH_CHECK_FAILED] = "health-check-failed",
	[HARNESS_NOT_LOGGED_IN] = "not-logged-in",
};

const char *const harness_status_names[] = {
	[HARNESS_SUCCESS] = "success",
	[HARNESS_FAILURE] = "failure",
	[HARNESS_TIMEOUT] = "timeout",
	[HARNESS_BUDGET] = "budget-exceeded",
	[HARNESS_UNAVAILABLE] = "unavailable",
};

bool harness_capability_find(const char *name, enum harness_capability *out)
{
	unsigned at;

	if (!str_index(str_of(name), harness_capability_names, &at))
		return false;
	*out = (enum harness_capability)at;
	return true;
}

int harness_find(const char *name, const struct harness **out, struct error *err)
{
	CLEANUP(buf_release) struct buf names = BUF_INIT;

	for (size_t i = 0; harness_all[i]; i++) {
		if (strcmp(harness_all[i]->name, name) == 0) {
			*out = harness_all[i];
			return 0;
		}
		buf_addf(&names, "%s%s", i ? ", " : "", harness_all[i]->name);
	}
	return error_set(err, ERR_INPUT, "unknown harness '%.100s': one of %s", name, names.s);
}

const struct harness_availability *harness_available(const struct harness *h)
{
	static struct arena arena; /* never released */
	static struct harness_availability known[COUNT(harness_all)];
	static bool probed[COUNT(harness_all)];
	size_t i = 0;

	while (harness_all[i] != h)
		i++;
	if (!probed[i])
		harness_probe(&arena, h,
			(unsigned)number_env("DEV_TEAM_PROBE_SECONDS", PROBE_MAX_S, PROBE_S),
			&known[i]);
	probed[i] = true;
	return &known[i];
}

bool harness_lists_model(const struct harness *h, const char *id)
{
	for (const char *const *f = h->families; f && *f; f++)
		if (str_starts(str_of(id), *f))
			return true;
	return str_in(str_of(id), h->models);
}

bool harness_takes_model(const struct harness *h, const char *id)
{
	return h->models_open || harness_lists_model(h, id);
}

int harness_account(struct arena *a, const struct harness *h, const char **id, struct error *err)
{
	const char *secret = NULL;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char digest[SHA256_TEXT];
	int rc;

	*id = NULL;
	for (const char *const *c = h->credentials; c && *c && !(secret && *secret); c++)
		secret = getenv(*c);
	if ((!secret || !*secret) && h->login_id)
		secret = h->login_id(a);
	if (!secret || !*secret)
		return 0;
	buf_addf(&text, "%s:%s", h->name, secret);
	rc = digest_sha256(buf_str(&text), digest, err);
	explicit_bzero(text.s, text.len);
	if (rc == 0)
		*id = arena_dup(a, (struct str){digest, ACCOUNT_DIGITS});
	return rc;
}

/* A token of a login is none. */
static bool harness_is_key(const char *name)
{
	return !str_ends(str_of(name), "_OAUTH_TOKEN");
}

const char *harness_key(const struct harness *h)
{
	for (const char *const *n = h->credentials; n && *n; n++)
		if (harness_is_key(*n) && getenv(*n) && *getenv(*n))
			return *n;
	return NULL;
}

void harness_remove_keys(struct buf *removed)
{
	for (size_t i = 0; harness_all[i]; i++)
		for (const char *const *n = harness_all[i]->credentials; n && *n; n++) {
			if (!harness_is_key(*n) || !getenv(*n))
				continue;
			buf_addf(removed, "%s%s", removed->len ? ", " : "", *n);
			(void)unsetenv(*n);
		}
}

const struct usage_member harness_usage_members[] = {{USAGE_COST, "costUsd"},
	{USAGE_INPUT, "inputTokens"}, {USAGE_OUTPUT, "outputTokens"}, {USAGE_CACHE, "cacheTokens"},
	{USAGE_MS, "durationMs"}, {0}};

void harness_set_unavailable(struct harness_result *r, const char *detail)
{
	*r = (struct harness_result){.status = HARNESS_UNAVAILABLE,
		.exit_code = -1,
		.usage = USAGE_NONE,
		.text = "",
		.detail = detail};
}
