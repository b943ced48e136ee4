#include "src/sys/crypto.h"
#include "src/harness/adapter.h"

enum { ACCOUNT_DIGITS = 16 };

#define HARNESS(id) &harness_##id,
const struct harness *const harnesses[] = {
#include "src/harness/list.h"
	NULL};
#undef HARNESS

#define HARNESS(id) +1
enum {
	N_HARNESSES = 0
#include "src/harness/list.h"
};
#undef HARNESS

static const char *const capabilities[] = {
	[FRESH_CONTEXT] = "freshContext",
	[CUSTOM_TOOLS] = "customTools",
	[STREAMING] = "streaming",
	[WORKTREE_CWD] = "worktreeAwareCwd",
	[SKILLS] = "skills",
	[ARTIFACT_WRITES] = "artifactWrites",
};

const char *capability_name(enum capability c)
{
	return capabilities[c];
}

bool capability_find(const char *name, enum capability *out)
{
	for (size_t i = 0; i < COUNT(capabilities); i++)
		if (strcmp(capabilities[i], name) == 0) {
			*out = (enum capability)i;
			return true;
		}
	return false;
}

const char *capability_word(enum capability_level level)
{
	static const char *const words[] = {
		[CAPABLE_NO] = "no",
		[CAPABLE_PARTIAL] = "partial",
		[CAPABLE_YES] = "yes",
		[CAPABLE_DEPENDS] = "depends",
	};

	return words[level];
}

const char *unavailable_word(enum unavailable_reason r)
{
	static const char *const words[] = {
		[REASON_NONE] = NULL,
		[BINARY_MISSING] = "binary-missing",
		[VERSION_OUT_OF_RANGE] = "version-out-of-range",
		[PROBE_FAILED] = "probe-failed",
		[HEALTH_CHECK_FAILED] = "health-check-failed",
	};

	return words[r];
}

const char *harness_status_word(enum harness_status s)
{
	static const char *const words[] = {
		[HARNESS_SUCCESS] = "success",
		[HARNESS_FAILURE] = "failure",
		[HARNESS_TIMEOUT] = "timeout",
		[HARNESS_BUDGET] = "budget-exceeded",
		[HARNESS_UNAVAILABLE] = "unavailable",
	};

	return words[s];
}

int harness_find(const char *name, const struct harness **out, struct error *err)
{
	CLEANUP(buf_release) struct buf names = BUF_INIT;

	for (size_t i = 0; harnesses[i]; i++) {
		if (strcmp(harnesses[i]->name, name) == 0) {
			*out = harnesses[i];
			return 0;
		}
		buf_addf(&names, "%s%s", i ? ", " : "", harnesses[i]->name);
	}
	return error_set(err, ERR_INPUT, "unknown harness '%.100s': one of %s", name, names.s);
}

const char *harness_name(const struct harness *h)
{
	return h->name;
}

enum capability_level harness_can(const struct harness *h, enum capability c)
{
	return h->can[c];
}

int64_t harness_context_tokens(const struct harness *h)
{
	return h->context_tokens;
}

struct harness_facts harness_facts(const struct harness *h)
{
	static const char *const none[] = {NULL};

	return (struct harness_facts){
		.binary = h->binary,
		.range = h->range ? h->range : "",
		.install = h->install,
		.credentials = h->credentials ? h->credentials : none,
		.models = h->models ? h->models : none,
		.models_open = h->models_open,
	};
}

/* A machine that is busy with something else may need longer. */
static unsigned probe_seconds(void)
{
	const char *set = getenv("DEV_TEAM_PROBE_SECONDS");
	size_t n = set ? strspn(set, "0123456789") : 0;
	unsigned long seconds = n && n <= 4 && !set[n] ? strtoul(set, NULL, 10) : 0;

	return seconds ? (unsigned)seconds : PROBE_S;
}

const struct availability *harness_available(const struct harness *h)
{
	static struct arena arena; /* as long as the process */
	static struct availability known[N_HARNESSES];
	static bool asked[N_HARNESSES];
	size_t i = 0;

	while (harnesses[i] != h)
		i++;
	if (!asked[i])
		harness_probe(&arena, h, probe_seconds(), &known[i]);
	asked[i] = true;
	return &known[i];
}

int harness_models(struct arena *a, const struct harness *h, const char *const **out, bool *open,
	struct error *err)
{
	static const char *const none[] = {NULL};

	*out = h->models ? h->models : none;
	*open = h->models_open;
	return h->list_models ? h->list_models(a, out, err) : 0;
}

bool harness_lists(const struct harness *h, const char *id)
{
	for (const char *const *m = h->models; m && *m; m++)
		if (strcmp(*m, id) == 0)
			return true;
	for (const char *const *f = h->families; f && *f; f++)
		if (str_starts(str_of(id), *f))
			return true;
	return false;
}

bool harness_drives(const struct harness *h, const char *id)
{
	return h->models_open || harness_lists(h, id);
}

static const char *credential(const struct harness *h)
{
	for (const char *const *c = h->credentials; c && *c; c++) {
		const char *value = getenv(*c);

		if (value && *value)
			return value;
	}
	return NULL;
}

int harness_account(struct arena *a, const struct harness *h, const char **id, struct error *err)
{
	const char *secret = h->account ? h->account(a, h) : credential(h);
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char digest[SHA256_TEXT];
	int rc;

	*id = NULL;
	if (!secret)
		return 0;
	buf_addf(&text, "%s:%s", h->name, secret);
	rc = sha256_text(buf_str(&text), digest, err);
	explicit_bzero(text.s, text.len);
	if (rc == 0)
		*id = arena_dup(a, (struct str){digest, ACCOUNT_DIGITS});
	return rc;
}
