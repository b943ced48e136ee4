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
}

void usage_add(struct usage *u, const struct usage *more)
{
	usage_add_tokens(u, more->input_tokens, more->output_tokens, more->cache_tokens);
	if (more->cost_usd >= 0)
		u->cost_usd = more->cost_usd + (u->cost_usd < 0 ? 0 : u->cost_usd);
	u->ms += more->ms;
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
