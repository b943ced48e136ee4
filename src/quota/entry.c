#include "src/base/number.h"
#include "src/quota/quota_internal.h"
#include "src/sys/digest.h"
#include "src/sys/process.h"

/* An entry of the ledger: as JSON, its roll-over, and the transaction that changes it. */

enum {
	STORE_WAIT_MS = 30000,
	PAGE = 60,
	KEPT = 1000, /* commits of history, at most */
	DAY_S = 86400,
	DONE_KEPT_S = 45 * DAY_S, /* how long settled actions are known */
	WAIT_KEPT_S = DAY_S,
	MILLION = 1000000,
	MULTIPLIER_MAX = 1000000,
	PARTS = 1000000000,
};

#define STORE_NAME   "ledger"
#define ENTRY_PREFIX "entry/"
#define DONE_PREFIX  "done/"

/* ---- sums ---- */

int64_t quota_part(int64_t quota, double fraction)
{
	int64_t parts = (int64_t)(fraction * PARTS + 0.5);

	return quota / PARTS * parts + quota % PARTS * parts / PARTS;
}

int64_t quota_charge(int64_t tokens, int64_t multiplier)
{
	int64_t whole = tokens / multiplier, rest = tokens % multiplier;

	return whole * MILLION + (rest * MILLION + multiplier - 1) / multiplier;
}

int64_t quota_multiplier(const struct subscription_plan *p, int64_t t)
{
	double m = p->multiplier < MULTIPLIER_MAX ? p->multiplier : MULTIPLIER_MAX;

	return quota_off_peak(p, t) ? (int64_t)(m * MILLION + 0.5) : MILLION;
}

static bool is_seat(const char *plan, unsigned seat, const struct quota_window *w)
{
	return seat == w->seat && strcmp(plan, w->plan) == 0;
}

struct quota_window *entry_window(const struct quota_entry *e, const char *plan, unsigned seat)
{
	for (size_t i = 0; i < e->windows.n; i++)
		if (is_seat(plan, seat, &e->windows.items[i]))
			return &e->windows.items[i];
	return NULL;
}

int64_t quota_reserved(const struct quota_entry *e, const struct quota_window *w)
{
	int64_t sum = 0;

	for (size_t i = 0; i < e->holds.n; i++)
		if (is_seat(e->holds.items[i].plan, e->holds.items[i].seat, w))
			sum += e->holds.items[i].charge;
	return sum;
}

/* Who knows only the name means the action of whichever item has it. */
size_t entry_hold(const struct quota_entry *e, const struct quota_request *r)
{
	size_t i = 0;

	while (i < e->holds.n && (strcmp(e->holds.items[i].action, r->action) != 0 ||
					 (r->begun && e->holds.items[i].begun != r->begun)))
		i++;
	return i;
}

void entry_forget_wait(struct quota_entry *e, const char *action)
{
	for (size_t i = e->waits.n; i-- > 0;)
		if (strcmp(e->waits.items[i].action, action) == 0)
			vec_remove(&e->waits, i);
}

json *ledger_key_json(const struct quota_request *r)
{
	return JSON_OBJECT(JSON_TEXT("harness", r->harness), JSON_TEXT("accountId", r->account),
		JSON_TEXT("tenant", r->tenant));
}

/* ---- keys ---- */

static char *entry_digest(struct arena *a, const struct quota_request *r)
{
	char digest[DIGEST_TEXT];

	digest_text(
		str_of(arena_printf(a, "%s\n%s\n%s", r->harness, r->account, r->tenant)), digest);
	return arena_dup(a, str_of(digest));
}

char *entry_key(struct arena *a, const struct quota_request *r)
{
	return arena_printf(a, ENTRY_PREFIX "%s", entry_digest(a, r));
}

char *done_prefix(struct arena *a, const struct quota_entry *e)
{
	const struct quota_request r = {
		.harness = e->harness, .account = e->account, .tenant = e->tenant};

	return arena_printf(a, DONE_PREFIX "%s/", entry_digest(a, &r));
}

char *done_key(struct arena *a, const struct quota_request *r, const char *action, int64_t begun)
{
	char digest[DIGEST_TEXT];

	digest_text(str_of(arena_printf(a, "%s\n%lld", action, (long long)begun)), digest);
	return arena_printf(a, DONE_PREFIX "%s/%s", entry_digest(a, r), digest);
}

/* ---- as JSON ---- */

static const char *const billings[] = {"session-window", "monthly-cap", "pay-per-token", NULL};

static json *window_json(const struct quota_window *w)
{
	return JSON_OBJECT(JSON_TEXT("plan", w->plan), JSON_INT("seat", w->seat),
		JSON_TEXT("billingMode", billings[w->billing]), JSON_INT("start", w->start),
		JSON_INT("end", w->end), JSON_INT("length", w->length),
		JSON_INT("consumed", w->consumed), JSON_INT("quota", w->quota),
		JSON_INT("cap", w->cap), JSON_NUMBER("pacing", w->pacing),
		JSON_BOOL("vendor", w->vendor));
}

static json *hold_json(const struct quota_hold *h)
{
	return JSON_OBJECT(JSON_TEXT("action", h->action), JSON_TEXT("pipeline", h->pipeline),
		JSON_TEXT("stage", h->stage), JSON_TEXT("owner", h->owner),
		JSON_TEXT("plan", h->plan), JSON_INT("seat", h->seat), JSON_INT("input", h->input),
		JSON_INT("output", h->output), JSON_INT("charge", h->charge),
		JSON_INT("multiplier", h->multiplier), JSON_INT("since", h->since),
		JSON_INT("begun", h->begun), JSON_INT("cost", h->cost));
}

static json *wait_json(const struct quota_wait *w)
{
	return JSON_OBJECT(JSON_TEXT("action", w->action), JSON_TEXT("pipeline", w->pipeline),
		JSON_TEXT("stage", w->stage), JSON_TEXT("why", w->why), JSON_INT("since", w->since),
		JSON_INT("until", w->until));
}

json *entry_pipelines_json(const struct quota_entry *e)
{
	json *names = json_array();

	for (size_t i = 0; i < e->pipelines.n; i++)
		json_push_str(names, str_of(e->pipelines.items[i]));
	return names;
}

struct str entry_text(struct arena *a, const struct quota_entry *e)
{
	json *windows = json_array(), *holds = json_array(), *waits = json_array();

	for (size_t i = 0; i < e->windows.n; i++)
		json_push(windows, window_json(&e->windows.items[i]));
	for (size_t i = 0; i < e->holds.n; i++)
		json_push(holds, hold_json(&e->holds.items[i]));
	for (size_t i = 0; i < e->waits.n; i++)
		json_push(waits, wait_json(&e->waits.items[i]));
	return json_print_in(
		a, JSON_OBJECT(JSON_TEXT("harness", e->harness), JSON_TEXT("account", e->account),
			   JSON_TEXT("tenant", e->tenant), JSON_INT("limitUntil", e->limit_until),
			   JSON_TEXT("probe", e->probe), JSON_VALUE("windows", windows),
			   JSON_VALUE("holds", holds), JSON_VALUE("waits", waits),
			   JSON_VALUE("pipelines", entry_pipelines_json(e))));
}

static bool parse_window(struct arena *a, const json *j, struct quota_window *w)
{
	unsigned billing;

	*w = (struct quota_window){.plan = json_dup(a, j, "plan"),
		.seat = (unsigned)json_get_int(j, "seat", 0),
		.start = json_get_int(j, "start", 0),
		.end = json_get_int(j, "end", 0),
		.length = json_get_int(j, "length", 0),
		.consumed = json_get_int(j, "consumed", -1),
		.quota = json_get_int(j, "quota", 0),
		.cap = json_get_int(j, "cap", 0),
		.pacing = json_number(json_get(j, "pacing"), 0),
		.vendor = json_is_true(json_get(j, "vendor"))};
	if (str_index(str_of(json_get_str(j, "billingMode")), billings, &billing))
		w->billing = (enum billing)billing;
	return w->plan && w->seat && w->consumed >= 0;
}

static bool parse_hold(struct arena *a, const json *j, struct quota_hold *h)
{
	*h = (struct quota_hold){.action = json_dup(a, j, "action"),
		.pipeline = json_dup(a, j, "pipeline"),
		.stage = json_dup(a, j, "stage"),
		.owner = json_dup(a, j, "owner"),
		.plan = json_dup(a, j, "plan"),
		.seat = (unsigned)json_get_int(j, "seat", 0),
		.input = json_get_int(j, "input", 0),
		.output = json_get_int(j, "output", 0),
		.charge = json_get_int(j, "charge", -1),
		.multiplier = json_get_int(j, "multiplier", MILLION),
		.since = json_get_int(j, "since", 0),
		.begun = json_get_int(j, "begun", 0),
		.cost = json_get_int(j, "cost", 0)};
	return h->action && h->plan && h->charge >= 0 && h->multiplier >= MILLION;
}

static bool parse_wait(struct arena *a, const json *j, struct quota_wait *w)
{
	*w = (struct quota_wait){.action = json_dup(a, j, "action"),
		.pipeline = json_dup(a, j, "pipeline"),
		.stage = json_dup(a, j, "stage"),
		.why = json_dup(a, j, "why"),
		.since = json_get_int(j, "since", 0),
		.until = json_get_int(j, "until", 0)};
	return w->action != NULL;
}

/* The lists, with room for what a transaction adds. */
static bool parse_lists(struct arena *a, const json *j, struct quota_entry *e)
{
	const json *i;
	bool good = true;

	for (i = json_first(json_get(j, "windows")); i; i = json_next(i)) {
		vec_push_in(a, &e->windows, (struct quota_window){0});
		good &= parse_window(a, i, &e->windows.items[e->windows.n - 1]);
	}
	for (i = json_first(json_get(j, "holds")); i; i = json_next(i)) {
		vec_push_in(a, &e->holds, (struct quota_hold){0});
		good &= parse_hold(a, i, &e->holds.items[e->holds.n - 1]);
	}
	for (i = json_first(json_get(j, "waits")); i; i = json_next(i)) {
		vec_push_in(a, &e->waits, (struct quota_wait){0});
		good &= parse_wait(a, i, &e->waits.items[e->waits.n - 1]);
	}
	for (i = json_first(json_get(j, "pipelines")); i; i = json_next(i))
		if (json_text(i))
			vec_push_in(a, &e->pipelines, arena_dup(a, str_of(json_text(i))));
	return good;
}

static int parse_entry(
	struct arena *a, const struct store_kv *kv, struct quota_entry *e, struct error *err)
{
	CLEANUP(json_free) json *j = NULL;

	*e = (struct quota_entry){.mod = kv->mod};
	if (json_parse(&j, kv->value, err) < 0)
		return error_prefix(err, "the ledger's '%.*s'", (int)kv->key.n, kv->key.p);
	e->harness = json_dup(a, j, "harness");
	e->account = json_dup(a, j, "account");
	e->tenant = json_dup(a, j, "tenant");
	e->probe = json_dup(a, j, "probe");
	e->limit_until = json_get_int(j, "limitUntil", 0);
	if (!parse_lists(a, j, e) || !e->harness || !e->account || !e->tenant)
		return error_set(err, ERR_INPUT, "the ledger's '%.*s' is not an account",
			(int)kv->key.n, kv->key.p);
	return 0;
}

/* ---- roll-over ---- */

/* The first second of the month of t; UTC. */
static int64_t month_start(int64_t t)
{
	char text[CLOCK_TEXT];
	int64_t first = 0;

	clock_text(t, text);
	text[8] = '0';
	text[9] = '1';
	(void)clock_parse_date((struct str){text, 10}, &first);
	return first;
}

void window_start(struct quota_window *w, int64_t t)
{
	if (w->start)
		return;
	w->start = t;
	if (w->billing == BILLING_WINDOW)
		w->end = t + w->length;
	if (w->billing == BILLING_MONTHLY) {
		w->start = month_start(t);
		w->end = month_start(w->start + 31 * DAY_S);
	}
}

/* What a reservation's dead owner used is unknown: it counts until here. */
static void end_window(struct arena *a, struct quota_entry *e, struct quota_window *w)
{
	w->start = w->end = w->consumed = 0;
	for (size_t i = e->holds.n; i-- > 0;) {
		const struct quota_hold *h = &e->holds.items[i];

		if (is_seat(h->plan, h->seat, w) && (!h->owner || process_name_ended(a, h->owner)))
			vec_remove(&e->holds, i);
	}
}

/* After the clock was put back, a window ends when one would that had begun now. */
static void follow_clock(struct quota_window *w, int64_t now)
{
	if (w->billing == BILLING_WINDOW)
		w->end -= w->start - now;
	if (w->billing == BILLING_MONTHLY)
		w->end = month_start(month_start(now) + 31 * DAY_S);
	w->start = w->billing == BILLING_MONTHLY ? month_start(now) : now;
}

void entry_roll_over(struct arena *a, struct quota_entry *e, int64_t now)
{
	for (size_t i = 0; i < e->windows.n; i++) {
		struct quota_window *w = &e->windows.items[i];

		if (w->end && now >= w->end)
			end_window(a, e, w);
		else if (w->start > now)
			follow_clock(w, now);
	}
	for (size_t i = e->waits.n; i-- > 0;)
		if (now > e->waits.items[i].until + WAIT_KEPT_S)
			vec_remove(&e->waits, i);
}

/* ---- reading ---- */

int entry_read(struct arena *a, struct quota *q, const struct quota_request *r,
	struct quota_entry *out, struct error *err)
{
	struct store_kv kv;

	if (store_get(q->store, a, entry_key(a, r), &kv, err) != STORE_OK)
		return -1;
	if (kv.mod && parse_entry(a, &kv, out, err) < 0)
		return -1;
	if (!kv.mod)
		*out = (struct quota_entry){
			.harness = r->harness, .account = r->account, .tenant = r->tenant};
	entry_roll_over(a, out, r->now);
	return 0;
}

int quota_look(struct arena *a, struct quota *q, const struct quota_request *r,
	struct quota_entry *out, struct error *err)
{
	if (entry_read(a, q, r, out, err) < 0)
		return -1;
	entry_seats(a, out, r);
	return 0;
}

int quota_list(struct arena *a, struct quota *q, int64_t now, struct quota_entry **out, size_t *n,
	struct error *err)
{
	VEC(struct quota_entry) all = {0};
	const char *after = NULL;
	size_t got = PAGE;
	int64_t at;

	while (got == PAGE) {
		struct store_kv *kv;

		if (store_list(q->store, a, ENTRY_PREFIX, after, PAGE, &kv, &got, &at, err) !=
			STORE_OK)
			return -1;
		for (size_t i = 0; i < got; i++) {
			vec_push_in(a, &all, (struct quota_entry){0});
			if (parse_entry(a, &kv[i], &all.items[all.n - 1], err) < 0)
				return -1;
			entry_roll_over(a, &all.items[all.n - 1], now);
		}
		after = got ? arena_dup(a, kv[got - 1].key) : NULL;
	}
	*out = all.items;
	*n = all.n;
	return 0;
}

static unsigned seat_number(const struct quota_request *r, size_t i)
{
	unsigned n = 1;

	for (size_t k = 0; k < i; k++)
		n += strcmp(r->seats[k]->name, r->seats[i]->name) == 0;
	return n;
}

struct quota_window *entry_seat(
	struct arena *a, struct quota_entry *e, const struct quota_request *r, size_t i)
{
	const struct subscription_plan *p = r->seats[i];
	unsigned seat = seat_number(r, i);
	struct quota_window *w = entry_window(e, p->name, seat);

	if (!w) {
		vec_push_in(a, &e->windows, (struct quota_window){.plan = p->name, .seat = seat});
		w = &e->windows.items[e->windows.n - 1];
	}
	w->billing = p->billing;
	w->length = p->window_s;
	w->quota = p->billing == BILLING_PER_TOKEN ? 0 : quota_part(p->quota_tokens, r->share);
	w->cap = quota_part(w->quota, p->hard_cap);
	w->pacing = p->pacing;
	return w;
}

void entry_seats(struct arena *a, struct quota_entry *e, const struct quota_request *r)
{
	for (size_t i = 0; i < r->n_seats; i++)
		(void)entry_seat(a, e, r, i);
}

/* ---- writing ---- */

/* Compacts the history, which no reader needs, and drops actions that were settled long ago. Both
 * may fail: a later process tries again. */
static void tidy(struct arena *a, struct quota *q, int64_t rev, int64_t now)
{
	struct store_op ops[PAGE];
	struct error ignored;
	struct store_kv *kv;
	size_t got, n = 0;
	int64_t at;

	(void)store_compact(q->store, rev, &ignored);
	if (store_list(q->store, a, DONE_PREFIX, NULL, SIZE_MAX, &kv, &got, &at, &ignored) !=
		STORE_OK)
		return;
	for (size_t i = 0; i < got && n < PAGE; i++) {
		CLEANUP(json_free) json *j = NULL;

		if (json_parse(&j, kv[i].value, &ignored) == 0 &&
			json_get_int(j, "settled", now) < now - DONE_KEPT_S)
			ops[n++] = (struct store_op){
				.what = STORE_DEL, .key = arena_dup(a, kv[i].key)};
	}
	if (n)
		(void)store_txn(q->store, a, &(struct store_txn){.ops = ops, .n_ops = n},
			&(struct store_result){0}, &ignored);
}

int entry_commit(struct arena *a, struct quota *q, const struct quota_request *r,
	const struct quota_entry *e, const struct quota_change *c, struct error *err)
{
	struct store_op ops[COUNT(c->ops) + 1];
	struct store_guard guard = {entry_key(a, r), STORE_MOD_IS, e->mod};
	struct store_txn t = {.guards = &guard, .n_guards = 1, .ops = ops, .n_ops = c->n_ops + 1};
	struct store_result result = {0};
	enum store_status got;

	memcpy(ops, c->ops, c->n_ops * sizeof(*ops));
	ops[c->n_ops] =
		(struct store_op){.what = STORE_PUT, .key = guard.key, .value = entry_text(a, e)};
	got = store_txn(q->store, a, &t, &result, err);
	if (got == STORE_REFUSED)
		return error_set(err, ERR_STATE,
			"the quota ledger was changed meanwhile: run the same command again");
	if (got == STORE_OK && result.rev % KEPT == 0)
		tidy(a, q, result.rev, r->now);
	return got == STORE_OK ? 0 : -1;
}

int quota_open(struct quota *q, const char *state, bool write, struct error *err)
{
	*q = (struct quota){0};
	return store_open(&q->store, store_backend(), state, STORE_NAME,
		(write ? STORE_HOLD : STORE_READ) | STORE_MARKED,
		(unsigned)number_env("DEV_TEAM_LOCK_WAIT_MS", 3600000, STORE_WAIT_MS), err);
}

int quota_exists(const char *state, bool *there, struct error *err)
{
	return store_exists(store_backend(), state, STORE_NAME, STORE_NAME, there, err);
}

void quota_close(struct quota *q)
{
	store_close(&q->store);
}
