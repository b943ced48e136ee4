/* quota_source.c: what a vendor says is used of a plan, by a command of the user. docs/quota.md. */
#include "src/base/clock.h"
#include "src/event/event.h"
#include "src/run/run.h"
#include "src/setup/setup.h"
#include "src/sys/process.h"

enum { COMMAND_S = 30, OUTPUT_MAX = 64 << 10, SHOWN = 300 };

#define TOKENS_MAX 1e12

/* ---- the answer of the command ---- */

/* One of `used`, tokens, and `utilization`, a part of the quota; `resetsAt`. */
static int parse_answer(const struct subscription_plan *p, const json *j, struct quota_reading *out,
	struct error *err)
{
	const json *used = json_get(j, "used"), *part = json_get(j, "utilization"),
		   *resets = json_get(j, "resetsAt");
	double tokens =
		used ? json_number(used, -1) : json_number(part, -1) * (double)p->quota_tokens;

	for (const json *m = json_is_object(j) ? json_first(j) : NULL; m; m = json_next(m))
		if (m != used && m != part && m != resets)
			return error_set(err, ERR_SYSTEM, "it has a member '%.60s'", json_key(m));
	if (!json_is_object(j) || !used == !part || !(tokens >= 0 && tokens <= TOKENS_MAX))
		return error_set(err, ERR_SYSTEM,
			"it must be an object with 'used', tokens, or 'utilization', a part of the "
			"quota");
	if (resets && (!json_text(resets) ||
			      !clock_parse_rfc3339(str_of(json_text(resets)), &out->resets_at)))
		return error_set(err, ERR_SYSTEM, "'resetsAt' must be a time");
	out->used = (int64_t)tokens + (tokens > (double)(int64_t)tokens);
	return 0;
}

static int quota_source_run_command(struct arena *a, const struct user_plan *u,
	const struct subscription_plan *p, struct quota_reading *out, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(json_free) json *j = NULL;
	VEC(const char *) argv = {0};
	struct process run = {
		.output = -1, .out = &text, .out_max = OUTPUT_MAX, .timeout_s = COMMAND_S};
	struct process_end end;
	struct error why;

	for (size_t i = 0; i < u->command.n; i++)
		vec_push_in(a, &argv, u->command.list[i]);
	vec_push_in(a, &argv, p->name);
	vec_push_in(a, &argv, arena_printf(a, "%u", out->seat));
	vec_push_in(a, &argv, NULL);
	run.argv = argv.items;
	if (process_run(&run, &end, err) < 0 ||
		process_check(&run, &end, u->command.list[0], buf_str(&text), err) < 0)
		return -1;
	if (json_parse(&j, str_trim(buf_str(&text)), &why) < 0)
		return error_set(err, ERR_SYSTEM, "the output of '%.200s' is no JSON: %.300s",
			u->command.list[0], why.text);
	return parse_answer(p, j, out, err) < 0
		       ? error_prefix(err, "the output of '%.200s'", u->command.list[0])
		       : 0;
}

/* ---- the seats of a request ---- */

static int read_seat(struct arena *a, const struct quota_request *r, const struct user_settings *s,
	struct quota_reading *out, struct error *err)
{
	const struct user_plan *u = user_plan_find(s, out->plan->name);

	if (strcmp(r->tenant, QUOTA_TENANT) != 0)
		return error_set(err, ERR_STATE,
			"a vendor does not know what the tenant '%s' has used", r->tenant);
	if (!u || !u->command.n)
		return error_set(err, ERR_STATE, "'%s' has no 'quotaCommand' for it", s->file);
	return quota_source_run_command(a, u, out->plan, out, err);
}

static int quota_source_refuse(const struct quota_reading *g, struct error *err)
{
	err->code = err->code == ERR_STATE ? ERR_STATE : ERR_SYSTEM;
	return error_prefix(err,
		"what is used of the plan '%s' is not known, and its 'quotaSource' is "
		"'authoritative-api'",
		g->plan->name);
}

int quota_source_read(struct arena *a, const struct quota_request *r, struct quota_readings *out,
	struct error *err)
{
	struct user_settings settings = {0};
	struct error why = {0};
	char *state;

	*out = (struct quota_readings){0};
	for (size_t i = 0; i < r->n_seats; i++) {
		struct quota_reading g = {.plan = r->seats[i], .seat = 1};

		if (g.plan->source == QUOTA_SELF_TRACKED)
			continue;
		if (!settings.file && (context_state_directory(a, &state, err) < 0 ||
					      user_settings_load(a, state, &settings, err) < 0))
			return -1;
		for (size_t k = 0; k < i; k++)
			g.seat += r->seats[k] == g.plan;
		if (read_seat(a, r, &settings, &g, &why) < 0) {
			if (g.plan->source == QUOTA_AUTHORITATIVE) {
				*err = why;
				return quota_source_refuse(&g, err);
			}
			g.fault = arena_printable(a, str_of(why.text), SHOWN);
		}
		vec_push_in(a, out, g);
	}
	return 0;
}

int quota_source_add_reads(struct arena *a, const struct quota_request *r, const struct usage *used,
	struct quota_usage *out, struct error *err)
{
	struct user_settings settings;
	char *state;

	if (out->input < 0 || used->cache_tokens <= used->cache_written)
		return 0;
	if (context_state_directory(a, &state, err) < 0 ||
		user_settings_load(a, state, &settings, err) < 0)
		return -1;
	for (size_t i = 0; i < r->n_seats; i++) {
		const struct user_plan *u = user_plan_find(&settings, r->seats[i]->name);

		if (!u || !u->count_cache_reads)
			continue;
		out->input += used->cache_tokens - used->cache_written;
		break;
	}
	return 0;
}

/* ---- the ledger ---- */

static json *key_json(const struct quota_request *r)
{
	return JSON_OBJECT(JSON_TEXT("harness", r->harness), JSON_TEXT("accountId", r->account),
		JSON_TEXT("tenant", r->tenant));
}

int quota_source_report(const char *artifacts, const struct quota_request *r,
	const struct quota_window *was, int64_t used, struct error *err)
{
	int64_t before = was->consumed, apart = used > before ? used - before : before - used;

	return event_report(artifacts, EVENT_LEDGER_RECONCILIATION, NULL, NULL,
		JSON_OBJECT(JSON_VALUE("ledgerKey", key_json(r)), JSON_TEXT("plan", was->plan),
			JSON_INT("seat", was->seat), JSON_INT("selfTracked", before),
			JSON_INT("authoritative", used), JSON_INT("absoluteDivergence", apart),
			JSON_IF(before,
				JSON_NUMBER("relativeDivergence", (double)apart / (double)before))),
		err);
}

static int fall_back(const char *artifacts, const struct quota_request *r,
	const struct quota_reading *g, struct error *err)
{
	return event_report(artifacts, EVENT_LEDGER_SOURCE_FALLBACK, NULL, NULL,
		JSON_OBJECT(JSON_VALUE("ledgerKey", key_json(r)), JSON_TEXT("plan", g->plan->name),
			JSON_INT("seat", g->seat), JSON_TEXT("detail", g->fault)),
		err);
}

int quota_source_apply(struct arena *a, struct quota *q, const struct quota_request *r,
	const struct quota_readings *readings, const char *artifacts, struct error *err)
{
	for (size_t i = 0; i < readings->n; i++) {
		struct quota_reading *g = &readings->items[i];
		struct quota_window w = {.plan = g->plan->name, .seat = g->seat};

		if (!g->fault && quota_reconcile(a, q, r, &w, g->used, g->resets_at, err) < 0) {
			if (err->code != ERR_USAGE || g->plan->source == QUOTA_AUTHORITATIVE)
				return error_prefix(err, "'quotaCommand' of '%s'", g->plan->name);
			g->fault = arena_dup(a, str_of(err->text));
		}
		if (g->fault ? fall_back(artifacts, r, g, err) < 0
			     : w.consumed && !w.vendor &&
					quota_source_report(artifacts, r, &w, g->used, err) < 0)
			return -1;
	}
	return 0;
}
