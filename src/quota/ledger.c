#include "src/quota/quota_internal.h"

/* What changes the ledger: admit, settle, limit. */

enum { FUTURE_S = 60 };

#define USAGE_MOST ((int64_t)1000000000000)

/* ---- admit ---- */

static int too_busy(struct error *err)
{
	return error_set(err, ERR_STATE, "the ledger is changed all the time: try again");
}

static void note_pipeline(struct arena *a, const struct quota_request *r, struct quota_entry *e,
	struct quota_events *events)
{
	json *names;

	for (size_t i = 0; i < e->pipelines.n; i++)
		if (strcmp(e->pipelines.items[i], r->pipeline) == 0)
			return;
	if (e->pipelines.n == PIPELINES_MAX)
		vec_remove(&e->pipelines, 0);
	vec_push_in(a, &e->pipelines, r->pipeline);
	if (e->pipelines.n == 1)
		return;
	names = json_array();
	for (size_t i = 0; i < e->pipelines.n; i++)
		json_push_str(names, str_of(e->pipelines.items[i]));
	events_add(a, events, EVENT_LEDGER_POOLED,
		JSON_OBJECT(JSON_VALUE("ledgerKey", ledger_key_json(r)),
			JSON_VALUE("pipelines", names)));
}

static int reserve(struct ask *k, struct error *err)
{
	const struct quota_request *r = k->r;
	struct quota_decision *out = k->out;
	struct quota_window *w = k->windows[k->seat];
	int64_t multiplier = quota_multiplier(r->seats[k->seat], r->now);

	if (k->entry->holds.n >= HOLDS_MAX && !r->dry)
		return error_set(err, ERR_STATE,
			"the account '%s' has %d open reservations: settle some with 'ledger "
			"record'",
			r->account, HOLDS_MAX);
	out->plan = w->plan;
	out->seat = w->seat;
	out->charge = w->quota ? quota_charge(k->tokens, multiplier) : k->tokens;
	window_start(w, r->seats[k->seat], r->now);
	if (k->entry->limit_until)
		k->entry->probe = r->action;
	vec_push_in(k->arena, &k->entry->holds,
		(struct quota_hold){r->action, r->pipeline, r->stage, r->owner, w->plan, w->seat,
			out->input, out->output, out->charge, multiplier, r->now});
	return 0;
}

static void note_wait(struct ask *k, int64_t since)
{
	const struct quota_request *r = k->r;

	if (k->entry->waits.n == WAITS_MAX)
		vec_remove(&k->entry->waits, 0);
	vec_push_in(k->arena, &k->entry->waits,
		(struct quota_wait){
			r->action, r->pipeline, r->stage, k->out->why, since, k->out->until});
}

/* An action that has its reservation, or used it up. */
static bool had_before(const struct quota_entry *e, const struct quota_request *r,
	const struct store_kv *done, struct quota_decision *out)
{
	size_t i = entry_hold(e, r->action);

	if (i == e->holds.n && !done->mod)
		return false;
	*out = (struct quota_decision){.verdict = QUOTA_GRANTED, .repeated = true};
	if (i < e->holds.n) {
		out->plan = e->holds.items[i].plan;
		out->seat = e->holds.items[i].seat;
		out->input = e->holds.items[i].input;
		out->output = e->holds.items[i].output;
		out->charge = e->holds.items[i].charge;
	}
	return true;
}

/* The decision, with its change of the entry in memory. */
static int decide(struct ask *k, struct error *err)
{
	const struct quota_request *r = k->r;
	int64_t since = r->now;

	for (size_t i = 0; i < r->n_seats; i++)
		(void)entry_seat(k->arena, k->entry, r, i);
	k->windows = arena_alloc(k->arena, r->n_seats * sizeof(struct quota_window *));
	for (size_t i = 0; i < r->n_seats; i++) /* they have moved while some were added */
		k->windows[i] = entry_seat(k->arena, k->entry, r, i);
	for (size_t i = 0; i < k->entry->waits.n; i++)
		if (strcmp(k->entry->waits.items[i].action, r->action) == 0)
			since = k->entry->waits.items[i].since;
	quota_decide(k);
	entry_forget_wait(k->entry, r->action);
	if (k->out->verdict == QUOTA_WAIT)
		note_wait(k, since);
	return k->out->verdict == QUOTA_GRANTED ? reserve(k, err) : 0;
}

static int admit_once(struct arena *a, struct quota *q, const struct quota_request *r,
	struct quota_decision *out, bool *refused, struct error *err)
{
	struct store_guard guards[2] = {{done_key(a, r), STORE_MOD_IS, 0}};
	struct store_op op = {.what = STORE_PUT};
	struct estimate_record record;
	struct quota_entry entry;
	struct quota_estimate estimate;
	struct store_kv done;
	struct ask k = {.arena = a, .r = r, .entry = &entry, .out = out};
	bool changed;

	*refused = false;
	*out = (struct quota_decision){0};
	if (entry_read(a, q, r, &entry, err) < 0 || estimate_read(a, q, r, &record, err) < 0 ||
		store_get(q->store, a, guards[0].key, &done, err) != STORE_OK)
		return -1;
	if (had_before(&entry, r, &done, out))
		return 0;
	estimate = estimate_resolve(a, r, &record, &out->events, &changed);
	out->input = estimate.input;
	out->output = estimate.output;
	k.tokens = estimate.input + estimate.output;
	note_pipeline(a, r, &entry, &out->events);
	if (decide(&k, err) < 0)
		return -1;
	if (r->dry)
		return 0;
	guards[1] = (struct store_guard){record.key, STORE_MOD_IS, record.mod};
	op.key = record.key;
	op.value = changed ? estimate_text(a, r, &record) : op.value;
	return entry_commit(a, q, r, &entry, guards, 1 + changed, &op, changed, refused, err);
}

int quota_admit(struct arena *a, struct quota *q, const struct quota_request *r,
	struct quota_decision *out, struct error *err)
{
	bool refused;

	if (!r->n_seats)
		return *out = (struct quota_decision){.verdict = QUOTA_GRANTED}, 0;
	for (unsigned tries = 0; tries < TRIES_MAX; tries++) {
		int rc = admit_once(a, q, r, out, &refused, err);

		if (rc == 0 && !refused)
			return 0;
		quota_release_events(&out->events);
		if (rc < 0)
			return -1;
	}
	return too_busy(err);
}

/* ---- settle ---- */

static int check_usage(const struct quota_request *r, const struct quota_usage *u, bool reserved,
	struct error *err)
{
	if (u->input == -1 && u->output == -1) {
		if (reserved)
			return 0;
		return error_set(err, ERR_USAGE,
			"'%s' has no reservation: give the tokens that it used", r->action);
	}
	if (u->input < 0 || u->output < 0 || u->input > USAGE_MOST || u->output > USAGE_MOST)
		return error_set(err, ERR_USAGE, "%lld + %lld tokens are not within 0..%lld",
			(long long)u->input, (long long)u->output, (long long)USAGE_MOST);
	if (u->at > r->now + FUTURE_S)
		return error_set(err, ERR_USAGE, "the usage of '%s' is in the future", r->action);
	return 0;
}

/* Of an action without a reservation: the seat that has most left. */
static size_t seat_with_most(struct arena *a, struct quota_entry *e, const struct quota_request *r)
{
	int64_t most = INT64_MIN;
	size_t best = 0;

	for (size_t i = 0; i < r->n_seats; i++) {
		const struct quota_window *w = entry_seat(a, e, r, i);
		int64_t left = w->quota ? w->cap - w->consumed - quota_reserved(e, w) : INT64_MIN;

		if (left > most) {
			most = left;
			best = i;
		}
	}
	return best;
}

/* The seat of the request that a hold is of; n_seats: its plan was removed. */
static size_t seat_of(struct arena *a, struct quota_entry *e, const struct quota_request *r,
	const struct quota_hold *h)
{
	size_t i = 0;

	for (; i < r->n_seats; i++) {
		const struct quota_window *w = entry_seat(a, e, r, i);

		if (w->seat == h->seat && strcmp(w->plan, h->plan) == 0)
			break;
	}
	return i;
}

static struct quota_window *window_of(struct quota_entry *e, const struct quota_hold *h)
{
	for (size_t i = 0; i < e->windows.n; i++)
		if (e->windows.items[i].seat == h->seat &&
			strcmp(e->windows.items[i].plan, h->plan) == 0)
			return &e->windows.items[i];
	return NULL;
}

struct booking {
	struct quota_window *window;          /* NULL: none */
	const struct subscription_plan *plan; /* NULL: it was removed */
	struct quota_hold hold;
	int64_t at;
};

static void find_booking(struct arena *a, struct quota_entry *e, const struct quota_request *r,
	const struct quota_usage *u, struct quota_settled *out, struct booking *b)
{
	size_t i = entry_hold(e, r->action), seat;

	*b = (struct booking){.at = u->at ? u->at : r->now};
	out->reserved = i < e->holds.n;
	if (out->reserved) {
		b->hold = e->holds.items[i];
		vec_remove(&e->holds, i);
		seat = seat_of(a, e, r, &b->hold);
	} else {
		seat = seat_with_most(a, e, r);
	}
	if (seat < r->n_seats) {
		b->plan = r->seats[seat];
		b->window = entry_seat(a, e, r, seat);
	} else if (out->reserved) {
		b->window = window_of(e, &b->hold);
	}
}

/* With the smaller multiplier of when it was reserved and when it was used. */
static void book(const struct quota_request *r, const struct quota_usage *u,
	struct quota_settled *out, struct booking *b)
{
	int64_t tokens, multiplier = b->hold.multiplier, then;

	out->input = u->input < 0 ? b->hold.input : u->input;
	out->output = u->input < 0 ? b->hold.output : u->output;
	tokens = out->input + out->output;
	if (out->reserved && tokens > b->hold.input + b->hold.output)
		out->overrun = tokens - b->hold.input - b->hold.output;
	if (!b->window)
		return;
	out->plan = b->window->plan;
	out->seat = b->window->seat;
	then = b->plan ? quota_multiplier(b->plan, b->at) : multiplier;
	if (!out->reserved || then < multiplier)
		multiplier = then;
	out->charge = b->window->quota ? quota_charge(tokens, multiplier) : tokens;
	/* Too late to count: it can be of no window that has not ended. */
	out->past = !out->reserved && b->plan &&
		    (b->plan->billing == BILLING_WINDOW ? b->at + b->plan->window_s <= r->now
							: b->at < b->window->start);
	if (out->past)
		return;
	if (b->plan)
		window_start(b->window, b->plan, out->reserved ? r->now : b->at);
	b->window->consumed += out->charge;
}

static struct str done_text(
	struct arena *a, const struct quota_request *r, const struct quota_settled *out, int64_t at)
{
	return json_print_in(
		a, JSON_OBJECT(JSON_TEXT("action", r->action), JSON_TEXT("pipeline", r->pipeline),
			   JSON_TEXT("stage", r->stage), JSON_TEXT("plan", out->plan),
			   JSON_INT("seat", out->seat), JSON_INT("input", out->input),
			   JSON_INT("output", out->output), JSON_INT("charge", out->charge),
			   JSON_INT("at", at), JSON_INT("settled", r->now)));
}

/* It was settled: with these figures. */
static int settled_before(
	const struct store_kv *done, struct arena *a, struct quota_settled *out, struct error *err)
{
	CLEANUP(json_free) json *j = NULL;

	if (json_parse(&j, done->value, err) < 0)
		return error_prefix(err, "the ledger's '%.*s'", (int)done->key.n, done->key.p);
	*out = (struct quota_settled){.repeated = true,
		.input = json_get_int(j, "input", 0),
		.output = json_get_int(j, "output", 0),
		.charge = json_get_int(j, "charge", 0),
		.plan = json_dup(a, j, "plan"),
		.seat = (unsigned)json_get_int(j, "seat", 0)};
	return 0;
}

/* What was used unreported teaches the estimate nothing. */
static void learn(struct arena *a, const struct quota_request *r, const struct quota_usage *u,
	const struct booking *b, struct estimate_record *record, struct quota_settled *out)
{
	if (u->input >= 0)
		estimate_add(a, r, record, &(struct quota_sample){u->input, u->output, b->at},
			&out->events);
}

static int settle_once(struct arena *a, struct quota *q, const struct quota_request *r,
	const struct quota_usage *u, struct quota_settled *out, bool *refused, struct error *err)
{
	const char *key = done_key(a, r);
	struct estimate_record record;
	struct quota_entry entry;
	struct store_kv done;
	struct booking b;

	*refused = false;
	*out = (struct quota_settled){0};
	if (entry_read(a, q, r, &entry, err) < 0 || estimate_read(a, q, r, &record, err) < 0 ||
		store_get(q->store, a, key, &done, err) != STORE_OK)
		return -1;
	if (done.mod)
		return settled_before(&done, a, out, err);
	if (check_usage(r, u, entry_hold(&entry, r->action) < entry.holds.n, err) < 0)
		return -1;
	find_booking(a, &entry, r, u, out, &b);
	book(r, u, out, &b);
	learn(a, r, u, &b, &record, out);
	note_pipeline(a, r, &entry, &out->events);
	entry_forget_wait(&entry, r->action);
	if (entry.probe && strcmp(entry.probe, r->action) == 0) {
		entry.probe = NULL;
		entry.limit_until = 0;
	}
	return entry_commit(a, q, r, &entry,
		(const struct store_guard[]){
			{key, STORE_MOD_IS, 0}, {record.key, STORE_MOD_IS, record.mod}},
		2,
		(const struct store_op[]){
			{.what = STORE_PUT, .key = key, .value = done_text(a, r, out, b.at)},
			{.what = STORE_PUT,
				.key = record.key,
				.value = estimate_text(a, r, &record)}},
		2, refused, err);
}

int quota_settle(struct arena *a, struct quota *q, const struct quota_request *r,
	const struct quota_usage *u, struct quota_settled *out, struct error *err)
{
	bool refused;

	for (unsigned tries = 0; tries < TRIES_MAX; tries++) {
		int rc = settle_once(a, q, r, u, out, &refused, err);

		if (rc == 0 && !refused)
			return 0;
		quota_release_events(&out->events);
		if (rc < 0)
			return -1;
	}
	return too_busy(err);
}

/* ---- limits ---- */

int quota_limit(struct arena *a, struct quota *q, const struct quota_request *r, int64_t until,
	struct error *err)
{
	for (unsigned tries = 0; tries < TRIES_MAX; tries++) {
		struct quota_entry entry;
		bool refused;

		if (entry_read(a, q, r, &entry, err) < 0)
			return -1;
		if (entry.limit_until < until)
			entry.limit_until = until;
		entry.probe = NULL;
		if (entry_commit(a, q, r, &entry, NULL, 0, NULL, 0, &refused, err) < 0)
			return -1;
		if (!refused)
			return 0;
	}
	return too_busy(err);
}
