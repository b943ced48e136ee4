#include "src/event/usage.h"

static void add_count(int64_t *sum, int64_t more)
{
	if (more < 0)
		return;
	*sum = *sum < 0 ? more : *sum > JSON_MAX_INT - more ? JSON_MAX_INT : *sum + more;
}

void usage_add_tokens(struct usage *u, int64_t input, int64_t output, int64_t cache)
{
	add_count(&u->input_tokens, input);
	add_count(&u->output_tokens, output);
	add_count(&u->cache_tokens, cache);
}

void usage_clear_tokens(struct usage *u)
{
	u->input_tokens = u->output_tokens = u->cache_tokens = -1;
	u->cache_written = 0;
}

void usage_add(struct usage *u, const struct usage *more)
{
	usage_add_tokens(u, more->input_tokens, more->output_tokens, more->cache_tokens);
	if (more->cost_usd >= 0)
		u->cost_usd = more->cost_usd + (u->cost_usd < 0 ? 0 : u->cost_usd);
	u->ms += more->ms;
	add_count(&u->cache_written, more->cache_written);
}

void usage_put(json *object, const struct usage *u, const struct usage_member *members, bool nulls)
{
	const int64_t counts[] = {[USAGE_INPUT] = u->input_tokens,
		[USAGE_OUTPUT] = u->output_tokens,
		[USAGE_CACHE] = u->cache_tokens,
		[USAGE_MS] = u->ms};

	for (; members->key; members++) {
		bool cost = members->figure == USAGE_COST;

		if (cost && u->cost_usd >= 0)
			json_put_number(object, members->key, u->cost_usd);
		else if (!cost && counts[members->figure] >= 0)
			json_put_int(object, members->key, counts[members->figure]);
		else if (nulls)
			json_put_null(object, members->key);
	}
}

const struct usage_member usage_members[] = {{USAGE_MS, "ms"}, {USAGE_INPUT, "input_tokens"},
	{USAGE_OUTPUT, "output_tokens"}, {USAGE_COST, "cost_usd"}, {USAGE_CACHE, "cache_tokens"},
	{0}};

void usage_get(const json *object, struct usage *out)
{
	*out = (struct usage){.input_tokens = json_get_int(object, "input_tokens", -1),
		.output_tokens = json_get_int(object, "output_tokens", -1),
		.cache_tokens = json_get_int(object, "cache_tokens", -1),
		.cost_usd = json_number(json_get(object, "cost_usd"), -1),
		.ms = json_get_int(object, "ms", 0)};
}

/* ---- for people ---- */

void usage_describe(struct buf *out, const struct usage *u)
{
	size_t from = out->len;

	if (u->input_tokens >= 0 || u->output_tokens >= 0)
		buf_addf(out, "%lld + %lld tokens",
			(long long)(u->input_tokens < 0 ? 0 : u->input_tokens),
			(long long)(u->output_tokens < 0 ? 0 : u->output_tokens));
	if (u->cache_tokens > 0)
		buf_addf(out, "%s%lld cached", out->len > from ? ", " : "",
			(long long)u->cache_tokens);
	if (u->cost_usd >= 0)
		buf_addf(out, "%s$%.4f", out->len > from ? ", " : "", u->cost_usd);
}

void usage_describe_time(struct buf *out, int64_t ms)
{
	long long s = ms / 1000;

	if (s < 60 && ms % 1000 == 0)
		buf_addf(out, "%llds", s);
	else if (s < 60)
		buf_addf(out, "%.2fs", (double)ms / 1000);
	else if (s < 3600)
		buf_addf(out, "%lldm %02llds", s / 60, s % 60);
	else
		buf_addf(out, "%lldh %02lldm", s / 3600, s / 60 % 60);
}
