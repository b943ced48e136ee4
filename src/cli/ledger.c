#include "context/file.h"
#include "src/base/clock.h"
#include "src/base/number.h"
#include "src/cli/cli.h"
#include "src/event/event.h"
#include "src/harness/pipeline.h"
#include "src/quota/quota.h"
#include "src/run/locate.h"
#include "src/run/run.h"
#include "src/sys/process.h"

struct ledger_options {
	const char *pipeline, *resources, *artifacts, *harness, *action, *queue, *at, *limit;
	double score;
	const char *account, *resets_at, *transcript;
	int64_t input, output, seat, used, tasks, days, seed;
	bool json;
};

static const struct option common_options[] = {
	CLI_RESOURCES(struct ledger_options),
	CLI_JSON(struct ledger_options),
	OPTION_END,
};
static const struct option stage_options[] = {
	OPTION_REQUIRED(struct ledger_options, pipeline, "pipeline", "NAME", "the pipeline"),
	OPTION_TEXT(struct ledger_options, harness, "harness", "NAME",
		"the harness that runs the stage; default: the stage's own"),
	CLI_ARTIFACTS(struct ledger_options),
	OPTION_END,
};
static const struct option admit_options[] = {
	OPTION_REQUIRED(struct ledger_options, action, "action", "ID",
		"the action; the reservation gets its name, and repeating it changes nothing"),
	OPTION_DECIMAL(struct ledger_options, score, "score", "N", 0, 1e9,
		"the score of the issue in the queue"),
	OPTION_TEXT(struct ledger_options, queue, "queue", "N,N,...",
		"the scores of all issues in the queue"),
	OPTION_END,
};
static const struct option record_options[] = {
	OPTION_REQUIRED(struct ledger_options, action, "action", "ID", "the action"),
	OPTION_NUMBER(struct ledger_options, input, "input", "N", 0, 1e12,
		"input tokens that it used; without --input and --output the estimate counts"),
	OPTION_NUMBER(struct ledger_options, output, "output", "N", 0, 1e12,
		"output tokens that it used"),
	OPTION_TEXT(struct ledger_options, transcript, "transcript", "FILE",
		"a transcript of Claude Code that has these figures"),
	OPTION_TEXT(struct ledger_options, at, "at", "TIME",
		"when it used them, such as 2026-11-21T01:34:55Z; default: now"),
	OPTION_TEXT(struct ledger_options, limit, "limit-until", "TIME",
		"the account has reached its usage limit, which is reset at TIME"),
	OPTION_END,
};
static const struct option window_options[] = {
	OPTION_TEXT(struct ledger_options, account, "account", "NAME",
		"the account, if the plan is used on several"),
	OPTION_NUMBER(struct ledger_options, seat, "seat", "N", 1, 100,
		"the seat, if the plan has several"),
	OPTION_END,
};
static const struct option reconcile_options[] = {
	OPTION_NUMBER(struct ledger_options, used, "used", "N", 0, 1e12,
		"tokens that the vendor shows as used of the window; required"),
	OPTION_TEXT(struct ledger_options, resets_at, "resets-at", "TIME",
		"when the window ends; default: as the ledger has it"),
	CLI_ARTIFACTS(struct ledger_options),
	OPTION_END,
};
static const struct option simulate_options[] = {
	OPTION_NUMBER(
		struct ledger_options, tasks, "tasks", "N", 1, 5000, "tasks in all; default: 500"),
	OPTION_NUMBER(struct ledger_options, days, "days", "N", 7, 366, "default: 30"),
	OPTION_NUMBER(struct ledger_options, seed, "seed", "N", 0, 1e9,
		"of the tasks' times and sizes; default: 1"),
	OPTION_END,
};
static const struct ledger_options defaults = {
	.used = -1, .tasks = 500, .days = 30, .seed = 1, .input = -1, .output = -1, .score = -1};

/* What a subcommand works with. */
struct ledger_call {
	struct resources resources;
	const struct pipeline *pipeline;
	const char *artifacts; /* NULL: there are none, outside of a repository */
	struct quota quota;
};

static void close_call(struct ledger_call *c)
{
	quota_close(&c->quota);
}

static int load_call(struct invocation *in, struct ledger_call *c, struct error *err)
{
	const struct ledger_options *o = in->values;
	const struct pipeline_choice choice = {
		.name = o->pipeline, .resources = o->resources, .missing = ERR_INPUT};

	/* With resources of its own a command needs no repository. */
	if (locate_artifacts(in->arena, o->artifacts, NULL, &c->artifacts, err) < 0 &&
		!o->resources)
		return -1;
	return locate_pipeline(in->arena, &choice, &c->resources, &c->pipeline, err) < 0
		       ? -1
		       : quota_check(in->arena, &c->resources, c->pipeline, c->artifacts,
				 clock_now(), err);
}

static int open_call(struct invocation *in, struct ledger_call *c, bool write, struct error *err)
{
	return load_call(in, c, err) < 0 ? -1 : run_quota_open(in->arena, &c->quota, write, err);
}

static int ask_for(struct invocation *in, const struct ledger_call *c,
	const struct stage_spec *stage, struct quota_request *out, struct error *err)
{
	const struct ledger_options *o = in->values;

	if (run_quota_request(in->arena, &c->resources, c->pipeline, stage,
		    o->harness ? o->harness : stage->harness, out, err) < 0)
		return -1;
	out->action = o->action;
	out->owner = process_client_name(in->arena);
	return 0;
}

static int ask_for_word(struct invocation *in, const struct ledger_call *c,
	struct quota_request *out, struct error *err)
{
	const struct stage_spec *stage = pipeline_stage(c->pipeline, in->words[0]);

	if (!stage)
		return error_set(err, ERR_INPUT, "there is no stage '%.100s' in pipeline '%s'",
			in->words[0], c->pipeline->name);
	if (ask_for(in, c, stage, out, err) < 0)
		return -1;
	if (!out->n_seats)
		return error_set(err, ERR_INPUT,
			"no SubscriptionPlan of pipeline '%s' is for the harness '%s'",
			c->pipeline->name, out->harness);
	return 0;
}

static const char *time_text(struct arena *a, int64_t t)
{
	char text[CLOCK_TEXT];

	clock_text(t, text);
	return arena_dup(a, str_of(text));
}

static int option_time(const char *name, const char *text, int64_t *out, struct error *err)
{
	if (!text || clock_parse_rfc3339(str_of(text), out))
		return 0;
	return error_set(err, ERR_USAGE,
		"'%s' must be a time such as 2026-11-21T01:34:55Z, not '%.60s'", name, text);
}

/* ---- admit ---- */

static int parse_queue(
	struct arena *a, const char *text, struct quota_request *r, struct error *err)
{
	const char *const *items = arena_items(a, str_of(text));
	double *scores;
	size_t n = 0;

	while (items[n])
		n++;
	scores = arena_alloc(a, (n + 1) * sizeof(*scores));
	for (size_t i = 0; i < n; i++)
		if (!number_double(str_of(items[i]), 0, 1e9, &scores[i]))
			return error_set(err, ERR_USAGE,
				"'--queue' must be numbers with commas between, not '%.60s'", text);
	r->queue = scores;
	r->n_queue = n;
	return 0;
}

static json *ledger_events_json(const struct quota_events *e)
{
	json *list = json_array();

	for (size_t i = 0; i < e->n; i++)
		json_push(list,
			JSON_OBJECT(
				JSON_TEXT("type", event_type((enum event_id)e->items[i].id)->name),
				JSON_VALUE("fields", json_copy(e->items[i].fields))));
	return list;
}

static const char *const verdicts[] = {
	[QUOTA_GRANTED] = "granted", [QUOTA_WAIT] = "wait", [QUOTA_DENIED] = "denied"};

static json *decision_json(const struct quota_request *r, const struct quota_decision *d)
{
	return JSON_OBJECT(JSON_TEXT("verdict", verdicts[d->verdict]), JSON_TEXT("stage", r->stage),
		JSON_IF(r->action, JSON_TEXT("action", r->action)), JSON_TIME("until", d->until),
		JSON_TEXT("blockedBy", d->blocked_by), JSON_TEXT("why", d->why),
		JSON_TEXT("plan", d->plan), JSON_IF(d->plan, JSON_INT("seat", d->seat)),
		JSON_INT("input", d->input), JSON_INT("output", d->output),
		JSON_INT("reservedTokens", d->charge),
		JSON_NUMBER("reservedUsd", (double)d->cost / 1e6),
		JSON_BOOL("repeated", d->repeated),
		JSON_VALUE("events", ledger_events_json(&d->events)));
}

static void put_decision(
	struct arena *a, struct buf *out, const char *who, const struct quota_decision *d)
{
	if (d->verdict == QUOTA_GRANTED)
		buf_addf(out, "%s: granted, %lld tokens of '%s'%s%s%s", who, (long long)d->charge,
			d->plan ? d->plan : "no plan", d->repeated ? ", as before" : "",
			d->why ? "; " : "", d->why ? d->why : "");
	else if (d->verdict == QUOTA_WAIT)
		buf_addf(out, "%s: wait until %s: %s", who, time_text(a, d->until), d->why);
	else
		buf_addf(out, "%s: denied (AdmissionDenied, %s): %s", who, d->blocked_by, d->why);
	buf_addc(out, '\n');
}

static int run_admit(struct invocation *in, struct error *err)
{
	CLEANUP(close_call) struct ledger_call c = {.artifacts = NULL};
	CLEANUP(quota_release_decision) struct quota_decision d = {.verdict = QUOTA_GRANTED};
	const struct ledger_options *o = in->values;
	struct quota_readings readings;
	struct quota_request r;

	if (load_call(in, &c, err) < 0 || ask_for_word(in, &c, &r, err) < 0 ||
		(o->queue && parse_queue(in->arena, o->queue, &r, err) < 0) ||
		quota_source_read(in->arena, &r, &readings, err) < 0)
		return -1;
	r.scored = o->score >= 0;
	r.score = o->score;
	if (run_quota_open(in->arena, &c.quota, true, err) < 0 ||
		quota_source_apply(in->arena, &c.quota, &r, &readings, c.artifacts, err) < 0 ||
		quota_admit(in->arena, &c.quota, &r, &d, err) < 0 ||
		quota_report(c.artifacts, NULL, r.stage, &d.events, err) < 0 ||
		(c.artifacts &&
			quota_write_copies(in->arena, &c.quota, c.artifacts, &r, false, err) < 0))
		return -1;
	put_decision(in->arena, in->out, r.action, &d);
	cli_put_json(in, o->json, decision_json(&r, &d));
	return d.verdict == QUOTA_GRANTED ? 0 : ERR_CHECK;
}

/* ---- record ---- */

static json *settled_json(const struct quota_request *r, const struct quota_settled *s)
{
	return JSON_OBJECT(JSON_TEXT("action", r->action), JSON_TEXT("stage", r->stage),
		JSON_TEXT("plan", s->plan), JSON_IF(s->plan, JSON_INT("seat", s->seat)),
		JSON_INT("input", s->input), JSON_INT("output", s->output),
		JSON_INT("chargedTokens", s->charge), JSON_INT("overrunTokens", s->overrun),
		JSON_BOOL("reserved", s->reserved), JSON_BOOL("repeated", s->repeated),
		JSON_BOOL("past", s->past), JSON_VALUE("events", ledger_events_json(&s->events)));
}

static void put_settled(
	struct buf *out, const struct quota_request *r, const struct quota_settled *s)
{
	buf_addf(out, "%s: %s %lld + %lld tokens", r->action,
		s->repeated ? "had recorded" : "recorded", (long long)s->input,
		(long long)s->output);
	if (s->plan && !s->past)
		buf_addf(out, ", %lld of '%s'", (long long)s->charge, s->plan);
	if (s->past)
		buf_adds(out, " of a window that has ended");
	if (s->overrun)
		buf_addf(out, "; %lld over the estimate", (long long)s->overrun);
	buf_addc(out, '\n');
}

/* Of the two figures one alone would leave the other open. */
static int read_usage(
	struct invocation *in, struct usage *used, struct quota_usage *u, struct error *err)
{
	const struct ledger_options *o = in->values;

	*u = (struct quota_usage){.input = o->input, .output = o->output};
	if ((o->input < 0) != (o->output < 0))
		return error_set(err, ERR_USAGE, "give both --input and --output");
	if (o->transcript && o->input >= 0)
		return error_set(err, ERR_USAGE, "--transcript and --input exclude each other");
	if (option_time("--at", o->at, &u->at, err) < 0)
		return -1;
	if (!o->transcript)
		return 0;
	if (harness_transcript_usage(in->arena, o->transcript, NULL, NULL, NULL, used, err) < 0)
		return -1;
	u->input = used->input_tokens + used->cache_written;
	u->output = used->output_tokens;
	return 0;
}

static int run_record(struct invocation *in, struct error *err)
{
	CLEANUP(close_call) struct ledger_call c = {.artifacts = NULL};
	CLEANUP(quota_release_settled) struct quota_settled s = {.reserved = false};
	const struct ledger_options *o = in->values;
	struct quota_request r;
	struct usage used = USAGE_NONE;
	struct quota_usage u;
	int64_t limit = 0;

	if (read_usage(in, &used, &u, err) < 0 ||
		option_time("--limit-until", o->limit, &limit, err) < 0 ||
		open_call(in, &c, true, err) < 0 || ask_for_word(in, &c, &r, err) < 0)
		return -1;
	if (quota_source_add_reads(in->arena, &r, &used, &u, err) < 0 ||
		quota_settle(in->arena, &c.quota, &r, &u, &s, err) < 0 ||
		(limit && quota_limit(in->arena, &c.quota, &r, limit, err) < 0) ||
		quota_report(c.artifacts, NULL, r.stage, &s.events, err) < 0 ||
		(c.artifacts &&
			quota_write_copies(in->arena, &c.quota, c.artifacts, &r, true, err) < 0))
		return -1;
	put_settled(in->out, &r, &s);
	cli_put_json(in, o->json, settled_json(&r, &s));
	return 0;
}

/* ---- status ---- */

enum { BAR = 30 };

/* `#` used, `+` reserved, `.` free, `|` the hard cap. */
static void put_bar(struct buf *out, const struct quota_window *w, int64_t reserved)
{
	char bar[BAR + 2];

	for (int i = 0; i < BAR; i++) {
		int64_t at = quota_part(w->quota, (double)(i + 1) / BAR);

		bar[i] = at <= w->consumed ? '#' : at <= w->consumed + reserved ? '+' : '.';
		if (at >= w->cap && quota_part(w->quota, (double)i / BAR) < w->cap)
			bar[i] = '|';
	}
	bar[BAR] = '\0';
	buf_addf(out, "[%s]", bar);
}

static void put_off_peak(
	struct arena *a, struct buf *out, const struct subscription_plan *p, int64_t now)
{
	int64_t next;

	if (!p || !p->off_peak)
		return;
	next = quota_off_peak_next(p, now, quota_off_peak(p, now));
	if (next)
		buf_addf(out, "    off-peak %s %s\n", quota_off_peak(p, now) ? "until" : "from",
			time_text(a, next));
}

static void put_window(struct arena *a, struct buf *out, const struct quota_entry *e,
	const struct quota_window *w, int64_t now)
{
	int64_t reserved = quota_reserved(e, w);
	double projected = quota_projected(w, now);

	buf_addf(out, "  %s", w->plan);
	if (w->seat > 1)
		buf_addf(out, " (seat %u)", w->seat);
	if (!w->quota) {
		buf_addf(out, "  %lld tokens used, %lld reserved, paid per token\n",
			(long long)w->consumed, (long long)reserved);
		return;
	}
	buf_adds(out, "  ");
	put_bar(out, w, reserved);
	buf_addf(out, "\n    %lld used + %lld reserved of %lld, hard cap %lld\n",
		(long long)w->consumed, (long long)reserved, (long long)w->quota,
		(long long)w->cap);
	if (w->end && quota_too_early(w, now))
		buf_addf(out, "    too early for a forecast; reset at %s, target %.0f %%\n",
			time_text(a, w->end), w->pacing * 100);
	else if (w->end)
		buf_addf(out, "    %s: %.0f %% expected at the reset at %s, target %.0f %%\n",
			quota_pace(projected, w->pacing), projected * 100, time_text(a, w->end),
			w->pacing * 100);
	else
		buf_adds(out, "    not begun\n");
}

static void ledger_put_entry(struct arena *a, struct buf *out, const struct resources *r,
	const struct quota_entry *e, int64_t now)
{
	buf_addf(out, "%s, account %s%s%s\n", e->harness, e->account,
		strcmp(e->tenant, QUOTA_TENANT) == 0 ? "" : ", tenant ",
		strcmp(e->tenant, QUOTA_TENANT) == 0 ? "" : e->tenant);
	if (e->limit_until)
		buf_addf(out, "  usage limit reached, reset at %s\n", time_text(a, e->limit_until));
	for (size_t i = 0; i < e->windows.n; i++) {
		put_window(a, out, e, &e->windows.items[i], now);
		put_off_peak(a, out, resources_plan(r, e->windows.items[i].plan), now);
	}
	for (size_t i = 0; i < e->holds.n; i++) {
		const struct quota_hold *h = &e->holds.items[i];

		buf_addf(out, "  %s holds %lld of '%s' since %s%s\n", h->action,
			(long long)h->charge, h->plan, time_text(a, h->since),
			h->owner && process_name_ended(a, h->owner) ? "; its owner has ended" : "");
	}
	for (size_t i = 0; i < e->waits.n; i++)
		buf_addf(out, "  %s waits until %s: %s\n", e->waits.items[i].action,
			time_text(a, e->waits.items[i].until), e->waits.items[i].why);
}

/* The off-peak hours are those of the repository's plans, where there is one. */
static void load_plans(struct invocation *in, struct resources *r)
{
	const struct ledger_options *o = in->values;
	const char *dir = NULL;
	struct error ignored;

	*r = (struct resources){0};
	if (locate_resources(in->arena, o->resources, NULL, &dir, &ignored) < 0 || !dir ||
		resources_need(in->arena, dir, r, &ignored) < 0)
		*r = (struct resources){0};
}

static int ledger_run_status(struct invocation *in, struct error *err)
{
	CLEANUP(quota_close) struct quota q = {0};
	const struct ledger_options *o = in->values;
	int64_t now = clock_now();
	struct quota_entry *list;
	struct resources r;
	json *all;
	size_t n;

	load_plans(in, &r);
	if (run_quota_open(in->arena, &q, false, err) < 0 ||
		quota_list(in->arena, &q, now, &list, &n, err) < 0)
		return -1;
	all = json_array();
	for (size_t i = 0; i < n; i++) {
		json_push(all, quota_entry_json(&list[i], now));
		ledger_put_entry(in->arena, in->out, &r, &list[i], now);
	}
	if (!n)
		buf_adds(in->out, "the ledger is empty\n");
	cli_put_json(in, o->json, all);
	return 0;
}

/* ---- chart ---- */

/* The window of a plan; with several accounts or seats --account and --seat say which. */
static int find_window(struct invocation *in, struct quota *q, const char *plan,
	const struct quota_entry **entry, const struct quota_window **window, struct error *err)
{
	const struct ledger_options *o = in->values;
	struct quota_entry *list;
	size_t n, found = 0;

	if (quota_list(in->arena, q, clock_now(), &list, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < list[i].windows.n; k++) {
			struct quota_window *w = &list[i].windows.items[k];

			if (strcmp(w->plan, plan) != 0 || (o->seat && w->seat != o->seat) ||
				(o->account && strcmp(o->account, list[i].account) != 0))
				continue;
			found++;
			*entry = &list[i];
			*window = w;
		}
	if (found > 1)
		return error_set(err, ERR_USAGE,
			"the plan '%.100s' has %zu windows: give --account and --seat", plan,
			found);
	if (!found)
		return error_set(err, ERR_INPUT,
			"the ledger has no such window of the plan '%.100s': 'dev-team ledger "
			"status' shows them",
			plan);
	return 0;
}

static json *points_json(const struct quota_point *p, size_t n)
{
	json *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_push(list, JSON_OBJECT(JSON_TIME("at", p[i].at),
					JSON_INT("consumedTokens", p[i].consumed)));
	return list;
}

static int run_chart(struct invocation *in, struct error *err)
{
	CLEANUP(quota_close) struct quota q = {0};
	const struct ledger_options *o = in->values;
	const struct quota_entry *e = NULL;
	const struct quota_window *w = NULL;
	struct quota_point *points;
	int64_t now = clock_now();
	struct resources r;
	size_t n;

	load_plans(in, &r);
	if (run_quota_open(in->arena, &q, false, err) < 0 ||
		find_window(in, &q, in->words[0], &e, &w, err) < 0 ||
		quota_points(in->arena, &q, e, w, &points, &n, err) < 0)
		return -1;
	if (!w->start || !w->end || !w->quota)
		return error_set(err, ERR_STATE, "%s '%s'",
			w->quota ? "nothing has been used yet in the window of the plan"
				 : "there is no quota in the plan",
			w->plan);
	if (!o->json)
		cli_put_chart(e, w, resources_plan(&r, w->plan), points, n, now, in->out);
	cli_put_json(in, o->json,
		JSON_ADD(quota_window_json(e, w, now),
			JSON_VALUE("points", points_json(points, n))));
	return 0;
}

/* ---- reconcile ---- */

static int run_reconcile(struct invocation *in, struct error *err)
{
	CLEANUP(quota_close) struct quota q = {0};
	const struct ledger_options *o = in->values;
	const struct quota_entry *e = NULL;
	const struct quota_window *w = NULL;
	struct quota_request r = {.now = clock_now()};
	const char *artifacts = NULL;
	struct quota_window was;
	int64_t resets_at = 0;
	struct error ignored;

	if (o->used < 0)
		return error_set(err, ERR_USAGE, "give --used N");
	if (option_time("--resets-at", o->resets_at, &resets_at, err) < 0 ||
		run_quota_open(in->arena, &q, true, err) < 0 ||
		find_window(in, &q, in->words[0], &e, &w, err) < 0)
		return -1;
	r.harness = e->harness;
	r.account = e->account;
	r.tenant = e->tenant;
	(void)locate_artifacts(in->arena, o->artifacts, NULL, &artifacts, &ignored);
	was = *w;
	if (quota_reconcile(in->arena, &q, &r, &was, o->used, resets_at, err) < 0 ||
		quota_source_report(artifacts, &r, &was, o->used, err) < 0)
		return -1;
	buf_addf(in->out, "%s: %lld tokens are used, not %lld\n", w->plan, (long long)o->used,
		(long long)was.consumed);
	cli_put_json(in, o->json,
		JSON_OBJECT(JSON_TEXT("plan", w->plan), JSON_INT("seat", w->seat),
			JSON_INT("consumedTokens", o->used), JSON_INT("counted", was.consumed)));
	return 0;
}

/* ---- simulate ---- */

/* The plan of a name, else that of a five-hour window whose tokens count half at night. */
static int simulated_plan(struct invocation *in, const struct resources *r,
	const struct subscription_plan **out, struct error *err)
{
	static const struct off_peak_window nights[] = {{"America/Los_Angeles", "22-06", NULL}};
	static const struct subscription_plan preset = {.name = "a five-hour window",
		.billing = BILLING_WINDOW,
		.window_s = 5 * 3600,
		.quota_tokens = 1000000,
		.off_peak = true,
		.multiplier = 2,
		.windows = (struct off_peak_window *)nights,
		.n_windows = 1,
		.pacing = 0.85,
		.hard_cap = 0.95};

	*out = in->words[0] ? resources_plan(r, in->words[0]) : &preset;
	if (!*out)
		return error_set(
			err, ERR_INPUT, "there is no plan '%.100s' in the resources", in->words[0]);
	if ((*out)->billing != BILLING_WINDOW)
		return error_set(
			err, ERR_INPUT, "the plan '%s' has no session window", (*out)->name);
	return quota_check_zones(*out, err);
}

static void put_simulated(struct buf *text, json *list, const char *name, size_t tasks,
	const struct quota_simulated *s)
{
	double hours = s->done ? (double)s->waited_s / 3600 / (double)tasks : 0;

	buf_addf(text, "| `%s` | %zu | %zu | %zu | %zu | %zu | %.0f %% | %.1f |\n", name, s->done,
		s->denied, s->interrupted, s->violations, s->resets, s->unused * 100, hours);
	json_push(list,
		JSON_OBJECT(JSON_TEXT("schedule", name), JSON_INT("done", s->done),
			JSON_INT("denied", s->denied), JSON_INT("interrupted", s->interrupted),
			JSON_INT("violations", s->violations), JSON_INT("resets", s->resets),
			JSON_NUMBER("unusedFraction", s->unused),
			JSON_NUMBER("hoursWaited", hours)));
}

static int run_simulate(struct invocation *in, struct error *err)
{
	static const char *const names[] = {
		"naive", "now", "off-peak", "quota-permitting", "defer-if-low-priority"};
	const struct ledger_options *o = in->values;
	struct quota_simulation of = {.max_wait_s = 8 * 3600,
		.tasks = (size_t)o->tasks,
		.days = (size_t)o->days,
		.seed = (uint64_t)o->seed};
	struct resources r;
	json *list;

	load_plans(in, &r);
	if (simulated_plan(in, &r, &of.plan, err) < 0)
		return -1;
	(void)clock_parse_date(STR("2026-06-01"), &of.from);
	list = json_array();
	buf_adds(in->out,
		"| schedule | done | denied | interrupted | over the cap | resets | unused at a "
		"reset | hours waited |\n|---|---|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < COUNT(names); i++) {
		struct quota_simulated s;

		of.naive = i == 0;
		of.schedule = i ? (enum schedule)(i - 1) : SCHEDULE_NOW;
		quota_simulate(&of, &s);
		put_simulated(in->out, list, names[i], of.tasks, &s);
	}
	cli_put_json(in, o->json, list);
	return 0;
}

/* ---- forecast ---- */

static int forecast_stage(struct invocation *in, struct ledger_call *c,
	const struct stage_spec *stage, struct buf *text, json *list, struct error *err)
{
	CLEANUP(quota_release_decision) struct quota_decision d = {.verdict = QUOTA_GRANTED};
	struct quota_request r;

	if (ask_for(in, c, stage, &r, err) < 0)
		return -1;
	r.action = "forecast";
	r.dry = true;
	if (quota_admit(in->arena, &c->quota, &r, &d, err) < 0)
		return -1;
	put_decision(in->arena, text, stage->name, &d);
	json_push(list, decision_json(&r, &d));
	return 0;
}

static int run_forecast(struct invocation *in, struct error *err)
{
	CLEANUP(close_call) struct ledger_call c = {.artifacts = NULL};
	CLEANUP(json_free) json *list = json_array();
	const struct ledger_options *o = in->values;

	if (open_call(in, &c, false, err) < 0)
		return -1;
	for (size_t i = 0; i < c.pipeline->n_stages; i++)
		if (forecast_stage(in, &c, &c.pipeline->stages[i], in->out, list, err) < 0)
			return -1;
	cli_put_json(in, o->json, json_copy(list));
	return 0;
}

static const struct verb *const subcommands[] = {
	CLI_SUBCOMMAND("status", NULL, ledger_run_status,
		"show every account: its windows, reservations, and what waits",
		.details = "In a bar `#` is used, `+` reserved, and `|` the hard cap.",
		.options = {common_options}),
	CLI_SUBCOMMAND("admit", "STAGE", run_admit,
		"ask whether an action may start, and reserve its estimate",
		.details = "Exit status 1: it has to wait, or is denied.",
		.options = {stage_options, admit_options, common_options}),
	CLI_SUBCOMMAND("record", "STAGE", run_record,
		"book what an action used, once, and end its reservation",
		.options = {stage_options, record_options, common_options}),
	CLI_SUBCOMMAND("chart", "PLAN", run_chart,
		"print the burn-down of a plan's window as an SVG image",
		.options = {window_options, common_options}),
	CLI_SUBCOMMAND("reconcile", "PLAN", run_reconcile,
		"set what is used of a plan's window to what the vendor shows",
		.options = {reconcile_options, window_options, common_options}),
	CLI_SUBCOMMAND("simulate", "[PLAN]", run_simulate,
		"print what each schedule makes of a month of tasks on a plan",
		.options = {simulate_options, common_options}),
	CLI_SUBCOMMAND("forecast", NULL, run_forecast,
		"print what each stage of a pipeline would be answered now",
		.options = {stage_options, common_options}),
	NULL,
};

const struct verb verb_ledger = {
	.name = "ledger",
	.group = "Workflows",
	.about = "show and change the quota ledger of subscription plans",
	.details = "Exit status: 3 if a resource is refused; 4 if the account is unknown.",
	.examples = "dev-team ledger status\n"
		    "dev-team ledger forecast --pipeline ship\n"
		    "dev-team ledger admit implement --pipeline ship --action A-1",
	.size = sizeof(struct ledger_options),
	.defaults = &defaults,
	.subcommands = subcommands,
};
