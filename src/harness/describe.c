/*
 * What is fixed of a harness and what became of a call, as JSON.
 */
#include "src/harness/harness.h"

static void put_text(json *object, const char *key, const char *text)
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

json *harness_facts_json(const struct harness *h)
{
	struct harness_facts f = harness_facts(h);
	json *j = json_object(), *can = json_object();

	json_put_str(j, "name", str_of(harness_name(h)));
	put_text(j, "binary", f.binary);
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

json *harness_result_json(const struct harness *h, const struct harness_result *r)
{
	static const struct usage_member members[] = {{USAGE_COST, "costUsd"},
		{USAGE_INPUT, "inputTokens"}, {USAGE_OUTPUT, "outputTokens"},
		{USAGE_CACHE, "cacheTokens"}, {USAGE_MS, "durationMs"}, {0}};
	json *j = json_object();

	json_put_str(j, "harness", str_of(harness_name(h)));
	json_put_str(j, "status", str_of(harness_status_word(r->status)));
	if (r->exit_code < 0)
		json_put_null(j, "exitCode");
	else
		json_put_int(j, "exitCode", r->exit_code);
	put_text(j, "model", r->model);
	json_put_str(j, "text", str_of(r->text));
	put_text(j, "detail", r->detail);
	json_put_bool(j, "rateLimited", r->rate_limited);
	usage_put(j, &r->usage, members, true);
	return j;
}

void harness_set_unavailable(struct arena *a, const struct harness *h, struct harness_result *r)
{
	const struct availability *v = harness_available(h);

	*r = (struct harness_result){.status = HARNESS_UNAVAILABLE,
		.exit_code = -1,
		.usage = USAGE_NONE,
		.text = "",
		.detail = arena_printf(a, "%s: %s", unavailable_word(v->reason),
			v->detail ? v->detail : "nothing more is known")};
}
