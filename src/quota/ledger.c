#include "src/quota/quota_internal.h"
#include "src/sys/process.h"

/* What changes the ledger: admit, settle, limit. */

enum { FUTURE_S = 60 };

#define USAGE_MOST ((int64_t)1000000000000)

/* ---- admit ---- */

void quota_change_put(struct quota_change *c, const char *key, struct str value)
{
	c->ops[c->n_ops++] = (struct store_op){.what = STORE_PUT, .key = key, .value = value};
}

/* An action that tried out a limit has come back. */
static void end_probe(struct quota_entry *e, const char *action)
{
	if (e->probe && strcmp(e->probe, action) == 0) {
		e->probe = NULL;
		e->limit_until = 0;
	}
}

static void note_pipeline(struct arena *a, const struct quota_request *r, struct quota_entry *e,
	struct quota_events *events)
{
	for (size_t i = 0; i < e->pipelines.n; i++)
		if (strcmp(e->pipelines.items[i], r->pipeline) == 0)
			return;
	if (e->pipelines.n == PIPELINES_MAX)
		vec_remove(&e->pipelines, 0);
	vec_push_in(a, &e->pipelines, r->pipeline);
	if (e->pipelines.n > 1)
		events_add(a, events, EVENT_LEDGER_POOLED,
			JSON_OBJECT(JSON_VALUE("ledgerKey", ledger_key_json(r)),
				JSON_VALUE("pipelines", entry_pipelines_json(e))));
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
	out->within_quota = w->quota;
	out->cost = w->quota ? 0 : quota_cost(k);
	window_start(w, r->now);
	if (k->entry->limit_until)
		k->entry->probe = r->action;
	vec_push_in(k->arena, &k->entry->holds,
		(struct quota_hold){r->action, r->pipeline, r->stage, r->owner, w->plan, w->seat,
			out->input, out->output, out->charge, multiplier, r->now, r->begun,
			out->cost});
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

/* ---- the ends of actions that nobody reported ---- */

static struct str done_text(struct arena *a, const struct quota_done *d, int64_t now)
{
	return json_print_in(
		a, JSON_OBJECT(JSON_TEXT("action", d->action), JSON_TEXT("pipeline", d->pipeline),
			   JSON_TEXT("stage", d->stage), JSON_TEXT("plan", d->plan),
			   JSON_INT("seat", d->seat), JSON_INT("input", d->input),
			   JSON_INT("output", d->output), JSON_INT("charge", d->charge),
			   JSON_INT("multiplier", d->multiplier), JSON_INT("at", d->at),
			   JSON_INT("window", d->window), JSON_BOOL("estimated", d->estimated),
			   JSON_INT("settled", now)));
}

static bool quota_ledger_is_over(const struct quota_request *r, const struct quota_hold *h)
{
	return r->item && str_starts(str_of(h->action), r->item) &&
	       (!r->action || strcmp(h->action, r->action) != 0 || h->begun != r->begun) &&
	       (h->begun != r->begun || !r->over || r->over(r->over_data, h->action));
}

/* Books what was reserved for actions of the item that nobody will settle. */
static void end_over(struct arena *a, const struct quota_request *r, struct quota_entry *e,
	struct quota_change *c)
{
	for (size_t i = e->holds.n; i-- > 0 && c->n_ops < ENDED_MAX;) {
		const struct quota_hold h = e->holds.items[i];
		struct quota_window *w = entry_window(e, h.plan, h.seat);

		if (!quota_ledger_is_over(r, &h))
			continue;
		vec_remove(&e->holds, i);
		if (w) {
			window_start(w, r->now);
			w->consumed += h.charge;
		}
		quota_change_put(c, done_key(a, r, h.action, h.begun),
			done_text(a,
				&(struct quota_done){h.action, h.pipeline, h.stage, h.plan, h.seat,
					h.input, h.output, h.charge, h.multiplier, r->now,
					w ? w->start : 0, true},
				r->now));
		end_probe(e, h.action);
	}
}

/* ---- an action that has its reservation ---- */

static void describe_hold(
	struct quota_entry *e, const struct quota_hold *h, struct quota_decision *out)
{
	const struct quota_window *w = entry_window(e, h->plan, h->seat);

	out->within_quota = w && w->quota;
	out->plan = h->plan;
	out->seat = h->seat;
	out->input = h->input;
	out->output = h->output;
	out->charge = h->charge;
	out->cost = h->cost;
}

/* It begins, perhaps again, perhaps in another process. True: the entry has changed. */
static bool begin_again(struct ask *k, struct quota_hold *h)
{
	const struct quota_request *r = k->r;
	bool moved = r->owner && (!h->owner || process_name_ended(k->arena, h->owner));

	if (quota_decide_limit(k)) {
		entry_forget_wait(k->entry, r->action);
		note_wait(k, r->now);
		return true;
	}
	*k->out = (struct quota_decision){.verdict = QUOTA_GRANTED, .repeated = true};
	describe_hold(k->entry, h, k->out);
	if (moved)
		h->owner = r->owner;
	if (!k->entry->limit_until)
		return moved;
	k->entry->probe = r->action;
	entry_forget_wait(k->entry, r->action);
	return true;
}

/* The decision, with its change of the entry in memory. */
static int quota_ledger_decide(struct ask *k, struct error *err)
{
	const struct quota_request *r = k->r;
	int64_t since = r->now;

	entry_seats(k->arena, k->entry, r);
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

static int decide_new(
	struct ask *k, struct estimate_record *record, struct quota_change *c, struct error *err)
{
	const struct quota_request *r = k->r;
	struct quota_estimate estimate;
	bool changed;

	estimate = estimate_resolve(k->arena, r, record, &k->out->events, &changed);
	k->out->input = estimate.input;
	k->out->output = estimate.output;
	k->tokens = estimate.input + estimate.output;
	note_pipeline(k->arena, r, k->entry, &k->out->events);
	if (quota_ledger_decide(k, err) < 0)
		return -1;
	if (changed)
		quota_change_put(c, record->key, estimate_text(k->arena, r, record));
	return 0;
}

static int quota_ledger_admit(struct arena *a, struct quota *q, const struct quota_request *r,
	struct quota_decision *out, struct error *err)
{
	struct estimate_record record;
	struct quota_change change = {0};
	struct quota_entry entry;
	struct store_kv done;
	struct ask k = {.arena = a, .r = r, .entry = &entry, .out = out};
	bool changed = true;
	size_t hold;

	if (entry_read(a, q, r, &entry, err) < 0 || estimate_read(a, q, r, &record, err) < 0 ||
		store_get(q->store, a, done_key(a, r, r->action, r->begun), &done, err) != STORE_OK)
		return -1;
	end_over(a, r, &entry, &change);
	hold = entry_hold(&entry, r);
	if (hold < entry.holds.n) {
		changed = begin_again(&k, &entry.holds.items[hold]) || change.n_ops;
	} else if (done.mod) {
		*out = (struct quota_decision){.verdict = QUOTA_GRANTED, .repeated = true};
		changed = change.n_ops;
	} else if (decide_new(&k, &record, &change, err) < 0)
		return -1;
	return r->dry || !changed ? 0 : entry_commit(a, q, r, &entry, &change, err);
}

int quota_admit(struct arena *a, struct quota *q, const struct quota_request *r,
	struct quota_decision *out, struct error *err)
{
	*out = (struct quota_decision){.verdict = QUOTA_GRANTED};
	if (!r->n_seats)
		return 0;
	if (quota_ledger_admit(a, q, r, out, err) == 0)
		return 0;
	quota_release_events(&out->events);
	return -1;
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

static const struct subscription_plan *plan_of(const struct quota_request *r, const char *name)
{
	for (size_t i = 0; i < r->n_seats; i++)
		if (strcmp(r->seats[i]->name, name) == 0)
			return r->seats[i];
	return NULL;
}

struct booking {
	struct quota_window *window;          /* NULL: none */
	const struct subscription_plan *plan; /* NULL: it was removed */
	struct quota_hold hold;
	int64_t at, multiplier;
};

static void find_booking(struct arena *a, struct quota_entry *e, const struct quota_request *r,
	const struct quota_usage *u, struct quota_settled *out, struct booking *b)
{
	size_t i = entry_hold(e, r);

	*b = (struct booking){.at = u->at ? u->at : r->now};
	entry_seats(a, e, r);
	out->reserved = i < e->holds.n;
	if (out->reserved) {
		b->hold = e->holds.items[i];
		b->window = entry_window(e, b->hold.plan, b->hold.seat);
	} else if (r->n_seats) {
		b->window = entry_seat(a, e, r, seat_with_most(a, e, r));
	}
	if (out->reserved && !u->partial)
		vec_remove(&e->holds, i);
	if (b->window)
		b->plan = plan_of(r, b->window->plan);
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
	b->multiplier = multiplier;
	out->charge = b->window->quota ? quota_charge(tokens, multiplier) : tokens;
	/* Too late to count: it can be of no window that has not ended. */
	out->past = !out->reserved && b->plan &&
		    (b->plan->billing == BILLING_WINDOW ? b->at + b->plan->window_s <= r->now
							: b->at < b->window->start);
	if (out->past)
		return;
	window_start(b->window, out->reserved ? r->now : b->at);
	b->window->consumed += out->charge;
}

int quota_done_parse(
	const struct store_kv *kv, struct arena *a, struct quota_done *d, struct error *err)
{
	CLEANUP(json_free) json *j = NULL;

	if (json_parse(&j, kv->value, err) < 0)
		return error_prefix(err, "the ledger's '%.*s'", (int)kv->key.n, kv->key.p);
	*d = (struct quota_done){json_dup(a, j, "action"), json_dup(a, j, "pipeline"),
		json_dup(a, j, "stage"), json_dup(a, j, "plan"),
		(unsigned)json_get_int(j, "seat", 0), json_get_int(j, "input", 0),
		json_get_int(j, "output", 0), json_get_int(j, "charge", 0),
		json_get_int(j, "multiplier", 0), json_get_int(j, "at", 0),
		json_get_int(j, "window", 0), json_is_true(json_get(j, "estimated"))};
	return 0;
}

static void describe_done(const struct quota_done *d, struct quota_settled *out)
{
	out->input = d->input;
	out->output = d->output;
	out->charge = d->charge;
	out->plan = d->plan;
	out->seat = d->seat;
}

/* What was used unreported teaches the estimate nothing. */
static void quota_ledger_learn(struct arena *a, const struct quota_request *r,
	const struct quota_usage *u, const struct booking *b, struct estimate_record *record,
	struct quota_settled *out)
{
	if (u->input >= 0 && !u->partial)
		estimate_add(a, r, record, &(struct quota_sample){u->input, u->output, b->at},
			&out->events);
}

/* The figures of an action that was booked as estimated. */
static int correct(struct arena *a, struct quota *q, const struct quota_request *r,
	const struct quota_usage *u, struct quota_entry *e, const char *key, struct quota_done *d,
	struct estimate_record *record, struct quota_settled *out, struct error *err)
{
	struct quota_window *w = d->plan ? entry_window(e, d->plan, d->seat) : NULL;
	struct booking b = {.at = u->at ? u->at : r->now};
	struct quota_change change = {0};
	int64_t tokens = u->input + u->output, charge = tokens;

	if (w && w->quota && d->multiplier)
		charge = quota_charge(tokens, d->multiplier);
	out->past = !w || w->start != d->window;
	if (!out->past)
		w->consumed += charge - d->charge;
	if (tokens > d->input + d->output)
		out->overrun = tokens - d->input - d->output;
	d->input = u->input;
	d->output = u->output;
	d->charge = charge;
	d->estimated = false;
	describe_done(d, out);
	quota_ledger_learn(a, r, u, &b, record, out);
	quota_change_put(&change, key, done_text(a, d, r->now));
	quota_change_put(&change, record->key, estimate_text(a, r, record));
	return entry_commit(a, q, r, e, &change, err);
}

static int settle_again(struct arena *a, struct quota *q, const struct quota_request *r,
	const struct quota_usage *u, struct quota_entry *e, const struct store_kv *kv,
	struct estimate_record *record, struct quota_settled *out, struct error *err)
{
	struct quota_done d = {.estimated = false};

	if (quota_done_parse(kv, a, &d, err) < 0)
		return -1;
	if (d.estimated && u->input >= 0)
		return check_usage(r, u, true, err) < 0
			       ? -1
			       : correct(a, q, r, u, e, arena_dup(a, kv->key), &d, record, out,
					 err);
	out->repeated = true;
	describe_done(&d, out);
	return 0;
}

static int quota_ledger_settle(struct arena *a, struct quota *q, const struct quota_request *r,
	const struct quota_usage *u, struct quota_settled *out, struct error *err)
{
	struct estimate_record record;
	struct quota_change change = {0};
	struct quota_entry entry;
	struct store_kv done;
	struct booking b;
	const char *key;
	size_t hold;

	if (entry_read(a, q, r, &entry, err) < 0 || estimate_read(a, q, r, &record, err) < 0)
		return -1;
	hold = entry_hold(&entry, r);
	key = done_key(a, r,
		u->partial ? arena_printf(a, "%s until %lld", r->action, (long long)r->now)
			   : r->action,
		hold < entry.holds.n ? entry.holds.items[hold].begun : r->begun);
	if (store_get(q->store, a, key, &done, err) != STORE_OK)
		return -1;
	if (done.mod)
		return settle_again(a, q, r, u, &entry, &done, &record, out, err);
	if (check_usage(r, u, hold < entry.holds.n, err) < 0)
		return -1;
	find_booking(a, &entry, r, u, out, &b);
	book(r, u, out, &b);
	quota_ledger_learn(a, r, u, &b, &record, out);
	note_pipeline(a, r, &entry, &out->events);
	entry_forget_wait(&entry, r->action);
	if (!u->partial)
		end_probe(&entry, r->action);
	quota_change_put(&change, key,
		done_text(a,
			&(struct quota_done){r->action, r->pipeline, r->stage, out->plan, out->seat,
				out->input, out->output, out->charge, b.multiplier, b.at,
				b.window && !out->past ? b.window->start : 0, u->input < 0},
			r->now));
	quota_change_put(&change, record.key, estimate_text(a, r, &record));
	return entry_commit(a, q, r, &entry, &change, err);
}

int quota_settle(struct arena *a, struct quota *q, const struct quota_request *r,
	const struct quota_usage *u, struct quota_settled *out, struct error *err)
{
	*out = (struct quota_settled){0};
	if (quota_ledger_settle(a, q, r, u, out, err) == 0)
		return 0;
	quota_release_events(&out->events);
	return -1;
}

static bool forget_waits(struct quota_entry *e, const char *item)
{
	size_t before = e->waits.n;

	for (size_t i = e->waits.n; i-- > 0;)
		if (str_starts(str_of(e->waits.items[i].action), item))
			vec_remove(&e->waits, i);
	return e->waits.n < before;
}

int quota_end_item(struct arena *a, struct quota *q, const struct quota_request *r, size_t *n,
	struct error *err)
{
	struct quota_entry *list;
	size_t n_list;

	*n = 0;
	if (quota_list(a, q, r->now, &list, &n_list, err) < 0)
		return -1;
	for (size_t i = 0; i < n_list; i++) {
		struct quota_request of = *r;
		struct quota_change change;
		bool waits = !r->over && forget_waits(&list[i], r->item);

		of.harness = list[i].harness;
		of.account = list[i].account;
		of.tenant = list[i].tenant;
		do {
			change = (struct quota_change){0};
			end_over(a, &of, &list[i], &change);
			*n += change.n_ops;
			if ((change.n_ops || waits) &&
				entry_commit(a, q, &of, &list[i], &change, err) < 0)
				return -1;
			waits = false;
		} while (change.n_ops == ENDED_MAX);
	}
	return 0;
}

int quota_reconcile(struct arena *a, struct quota *q, const struct quota_request *r,
	struct quota_window *of, int64_t used, int64_t resets_at, struct error *err)
{
	struct quota_entry entry;
	struct quota_window *w;

	if (entry_read(a, q, r, &entry, err) < 0)
		return -1;
	entry_seats(a, &entry, r);
	w = entry_window(&entry, of->plan, of->seat);
	if (!w)
		return error_set(err, ERR_STATE, "the window is no longer in the ledger");
	if (resets_at && w->billing != BILLING_WINDOW)
		return error_set(err, ERR_USAGE,
			"'%s' has no session window, whose end could be set", w->plan);
	if (resets_at && (resets_at <= r->now || resets_at > r->now + w->length))
		return error_set(err, ERR_USAGE,
			"the window of '%s' cannot end then: it lasts %lld s", w->plan,
			(long long)w->length);
	*of = *w;
	w->consumed = used;
	w->vendor = true;
	if (resets_at) {
		w->start = resets_at - w->length;
		w->end = resets_at;
	}
	if (used)
		window_start(w, r->now);
	return entry_commit(a, q, r, &entry, &(struct quota_change){0}, err);
}

/* ---- limits ---- */

int quota_limit(struct arena *a, struct quota *q, const struct quota_request *r, int64_t until,
	struct error *err)
{
	struct quota_entry entry;

	if (entry_read(a, q, r, &entry, err) < 0)
		return -1;
	if (entry.limit_until < until)
		entry.limit_until = until;
	entry.probe = NULL;
	return entry_commit(a, q, r, &entry, &(struct quota_change){0}, err);
}
