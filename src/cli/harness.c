#include "src/cli/harness.h"
#include "src/cli/common.h"
#include "src/cli/subcommands.h"

static const struct option_spec options[] = {
	ARTIFACTS_OPTION,
	RESOURCES_OPTION,
	[WITH_PROMPT_FILE] = {"prompt-file", "FILE",
		"for 'run': the prompt; default: standard input", false},
	[WITH_MODEL] = {"model", "MODEL",
		"for 'run': an alias or an id; default: the harness's own", false},
	[WITH_CWD] = {"cwd", "DIR", "for 'run': where it works; default: here", false},
	[WITH_TOOLS] = {"tools", "NAME,...",
		"for 'run': what it may use, of Bash, Read, Edit, Write, Agent, Skill; default: "
		"all",
		false},
	[WITH_ENV] = {"env", "NAME", "for 'run': give it this variable of the caller's, too", true},
	[WITH_TIMEOUT] = {"timeout", "SECONDS", "for 'run': default: 300", false},
	[WITH_MAX_BUDGET] = {"max-budget", "USD", "for 'run': what it may cost", false},
	[WITH_JSON] = {"json", NULL, "the result as JSON", false},
	{0},
};

void harness_put(struct invocation *in, const json *j)
{
	json_print(in->out, j);
	buf_addc(in->out, '\n');
}

void harness_put_text(json *object, const char *key, const char *text)
{
	if (text)
		json_put_str(object, key, str_of(text));
	else
		json_put_null(object, key);
}

static json *names_json(const char *const *names)
{
	json *list = json_array();

	for (; *names; names++)
		json_push_str(list, str_of(*names));
	return list;
}

static json *facts_json(const struct harness *h)
{
	struct harness_facts f = harness_facts(h);
	json *j = json_object(), *can = json_object();

	json_put_str(j, "name", str_of(harness_name(h)));
	harness_put_text(j, "binary", f.binary);
	json_put_str(j, "versionRange", str_of(f.range));
	for (int c = 0; c < CAPABILITIES; c++)
		json_put_str(can, capability_name((enum capability)c),
			str_of(capability_word(harness_can(h, (enum capability)c))));
	json_put(j, "capabilities", can);
	if (harness_context_tokens(h))
		json_put_int(j, "maxContextTokens", harness_context_tokens(h));
	else
		json_put_null(j, "maxContextTokens");
	json_put(j, "models", names_json(f.models));
	json_put_bool(j, "anyModel", f.models_open);
	json_put(j, "credentials", names_json(f.credentials));
	return j;
}

/* Of a column: its title, or the longest word in it. */
static int width_of(int capability)
{
	size_t title = strlen(capability_name((enum capability)capability));
	size_t word = strlen(capability_word(CAPABLE_PARTIAL));

	return (int)(title > word ? title : word);
}

static void put_facts(struct invocation *in, const struct harness *h)
{
	struct harness_facts f = harness_facts(h);
	int64_t tokens = harness_context_tokens(h);

	buf_addf(in->out, "%-12s %-10s %-10s ", harness_name(h), f.binary ? f.binary : "-",
		*f.range ? f.range : "any");
	if (tokens)
		buf_addf(in->out, "%-8lld", (long long)tokens);
	else
		buf_addf(in->out, "%-8s", "varies");
	for (int c = 0; c < CAPABILITIES; c++)
		buf_addf(in->out, " %-*s", width_of(c),
			capability_word(harness_can(h, (enum capability)c)));
	while (in->out->len && in->out->s[in->out->len - 1] == ' ')
		buf_cut(in->out, in->out->len - 1);
	buf_addc(in->out, '\n');
}

static int run_list(struct invocation *in, struct error *err)
{
	(void)err;
	if (in->args->value[WITH_JSON]) {
		CLEANUP(json_free) json *list = json_array();

		for (size_t i = 0; harnesses[i]; i++)
			json_push(list, facts_json(harnesses[i]));
		harness_put(in, list);
		return 0;
	}
	buf_addf(in->out, "%-12s %-10s %-10s %-8s", "harness", "program", "versions", "context");
	for (int c = 0; c < CAPABILITIES; c++)
		buf_addf(in->out, " %-*s", width_of(c), capability_name((enum capability)c));
	buf_addc(in->out, '\n');
	for (size_t i = 0; harnesses[i]; i++)
		put_facts(in, harnesses[i]);
	return 0;
}

static int probe_json(struct invocation *in, const struct harness *h, json *list, struct error *err)
{
	const struct availability *v = harness_available(h);
	const char *account;
	json *j;

	if (harness_account(in->arena, h, &account, err) < 0)
		return -1;
	j = json_object();
	json_put_str(j, "name", str_of(harness_name(h)));
	json_put_bool(j, "available", v->available);
	harness_put_text(j, "reason", unavailable_word(v->reason));
	harness_put_text(j, "detail", v->detail);
	harness_put_text(j, "installedVersion", v->version);
	harness_put_text(j, "accountId", account);
	json_push(list, j);
	return 0;
}

static void put_probe(struct invocation *in, const struct harness *h)
{
	const struct availability *v = harness_available(h);

	buf_addf(in->out, "%-12s %s", harness_name(h), v->available ? "available" : "unavailable");
	if (v->version)
		buf_addf(in->out, " %s", v->version);
	if (v->reason != REASON_NONE)
		buf_addf(in->out, " %s: %s", unavailable_word(v->reason),
			v->detail ? v->detail : "nothing more is known");
	buf_addc(in->out, '\n');
}

/* Those that were named, else all. NULL-ended. */
static int wanted(struct invocation *in, const struct harness *const **out, struct error *err)
{
	const struct args *args = in->args;
	const struct harness **list = arena_alloc(in->arena, (args->n + 1) * sizeof(*list));

	*out = args->n > 1 ? list : harnesses;
	for (size_t i = 1; i < args->n; i++)
		if (harness_find(args->words[i], &list[i - 1], err) < 0)
			return -1;
	return 0;
}

static int run_probe(struct invocation *in, struct error *err)
{
	CLEANUP(json_free) json *list = json_array();
	const struct harness *const *h;
	size_t n = 0, good = 0;

	if (wanted(in, &h, err) < 0)
		return -1;
	for (; h[n]; n++) {
		good += harness_available(h[n])->available;
		if (!in->args->value[WITH_JSON])
			put_probe(in, h[n]);
		else if (probe_json(in, h[n], list, err) < 0)
			return -1;
	}
	if (in->args->value[WITH_JSON])
		harness_put(in, list);
	return good < (in->args->n > 1 ? n : 1) ? ERR_CHECK : 0;
}

static const struct subcommand parts[] = {
	{"list", run_list, OPTION(WITH_JSON), 0, 0},
	{"probe", run_probe, OPTION(WITH_JSON), 0, MAX_WORDS},
	{"run", harness_run,
		OPTION(ARTIFACTS) | OPTION(WITH_PROMPT_FILE) | OPTION(WITH_MODEL) |
			OPTION(WITH_CWD) | OPTION(WITH_TOOLS) | OPTION(WITH_ENV) |
			OPTION(WITH_TIMEOUT) | OPTION(WITH_MAX_BUDGET) | OPTION(WITH_JSON),
		1, 1},
	{"check", harness_check, OPTION(ARTIFACTS) | OPTION(RESOURCES) | OPTION(WITH_JSON), 1, 1},
	{0},
};

static int run(struct invocation *in, struct error *err)
{
	return subcommand_run(&verb_harness, parts, in, err);
}

const struct verb verb_harness = {
	.name = "harness",
	.synopsis = "list|probe|run|check [OPTION...] [NAME...]",
	.about = "list, probe and run the programs that run an agent",
	.details =
		"  list              what each harness is and can do\n"
		"  probe [NAME...]   whether it is installed, in a version that will do, and "
		"ready\n"
		"  run NAME          give it the prompt on standard input; prints its last "
		"message\n"
		"  check PIPELINE    whether the stages of a pipeline can run on the harnesses "
		"they name\n"
		"\n"
		"A harness gets PATH, HOME, TERM, the language, TMPDIR, proxies and certificates, "
		"and the keys\n"
		"of its own vendor; never those of another one. It asks nobody: what --tools does "
		"not name is\n"
		"refused to it. PIPELINE is a name in the folder of resources, or a file.\n"
		"\n"
		"Exit status of 'probe': 1 when one of those named is unavailable; without a name, "
		"when all are.\n"
		"Of 'run': 1 after a failure, at the time limit, over the budget; 5 when the "
		"harness cannot be\n"
		"used (not there, no login, at its limit). Of 'check': 1 with a line for each "
		"fault.",
	.options = options,
	.min_words = 1,
	.max_words = MAX_WORDS,
	.run = run,
};
