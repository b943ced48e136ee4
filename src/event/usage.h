/*
 * usage.h: what a call of a model used: tokens, cost and time. Reported by the coding agent or the
 * API; a figure that was not reported is negative.
 */
#ifndef DT_USAGE_H
#define DT_USAGE_H

#include "src/base/json.h"

struct usage {
	int64_t input_tokens, output_tokens;
	int64_t cache_tokens; /* read from or written to a cache; in neither of the other two */
	double cost_usd;
	int64_t ms;            /* always known */
	int64_t cache_written; /* of cache_tokens; 0: unknown. Not in JSON */
};

/* Nothing reported. */
#define USAGE_NONE                                                                                 \
	{                                                                                          \
		-1, -1, -1, -1, 0, 0                                                               \
	}

/* Adds tokens; negative ones are ignored. Saturates at JSON_MAX_INT. */
void usage_add_tokens(struct usage *u, int64_t input, int64_t output, int64_t cache);
/* Tokens become unknown. */
void usage_clear_tokens(struct usage *u);
/* Adds all of `more`. A figure is unknown only if it is unknown in both. */
void usage_add(struct usage *u, const struct usage *more);

enum usage_figure { USAGE_INPUT, USAGE_OUTPUT, USAGE_CACHE, USAGE_COST, USAGE_MS };

struct usage_member {
	enum usage_figure figure;
	const char *key; /* NULL ends the list */
};
/* Sets the members of `object`, in this order. An unknown figure is left out, or null if `nulls`.
 */
void usage_put(json *object, const struct usage *u, const struct usage_member *members, bool nulls);
/* The figures in events and totals: `ms`, `input_tokens`, `output_tokens`, `cost_usd`,
 * `cache_tokens`. */
extern const struct usage_member usage_members[];
/* Reads these members; one that is missing is unknown. `object` may be NULL. */
void usage_get(const json *object, struct usage *out);
/* Adds `91200 + 7300 tokens, 5000 cached, $0.4100`: input and output, as far as they are known;
 * nothing if none is. */
void usage_describe(struct buf *out, const struct usage *u);
/* Adds `12s`, `1.20s`, `3m 04s` or `2h 05m`. */
void usage_describe_time(struct buf *out, int64_t ms);

#endif
