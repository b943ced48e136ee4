#include "src/quota/quota_internal.h"
#include "src/sys/process.h"

/*
 * A month of tasks on one plan, decided by the ledger's own rules in memory: what each schedule
 * does with the quota. Pseudo-random, the same on every host for the same seed. `naive` starts
 * every task at once, as without a ledger: what is over the quota meets the vendor's limit, and is
 * begun again at the reset.
 */

enum {
	HOUR_S = 3600,
	DAY_S = 86400,
	BEGIN_HOUR =
		15, /* tasks arrive in nine hours of a weekday, UTC: a working day in California */
	HOURS = 9,
	TOKENS = 160000, /* a task uses half to one and a half times as many; estimated with this */
	TASK_S = 1200,   /* a task takes half to one and a half times as long */
	ASKS_MAX = 2000,
};

enum phase { ARRIVES, WORKS, ENDED };

struct task {
	enum phase phase;
	int64_t arrived, next; /* when it arrives, asks again or ends */
	int64_t tokens, lasts;
	double score;
	unsigned asks;
	bool wasted; /* WORKS until it meets the limit */
	const char *name;
};

struct simulation {
	struct arena *arena;
	const struct quota_simulation *of;
	uint64_t random;
	struct task *tasks;
	double *queue; /* scores of those that wait or work */
	struct quota_request request;
	struct quota_entry entry;
	struct quota_simulated *out;
	int64_t window_end, unused; /* of the window that is open; of all that have ended */
};

/* SplitMix64. */
static uint64_t next_random(struct simulation *s)
{
	uint64_t z = s->random += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static int64_t below(struct simulation *s, int64_t n)
{
	return (int64_t)(next_random(s) % (uint64_t)n);
}

/* Half to one and a half times of n. */
static int64_t around(struct simulation *s, int64_t n)
{
	return n / 2 + below(s, n + 1);
}

/* 1 January 1970 was a Thursday. */
static bool weekday(int64_t t)
{
	int64_t day = (t / DAY_S + 4) % 7;

	return day != 0 && day != 6;
}

static void make_tasks(struct simulation *s)
{
	const struct quota_simulation *of = s->of;

	s->queue = arena_alloc(s->arena, of->tasks * sizeof(*s->queue));
	s->tasks = arena_alloc(s->arena, of->tasks * sizeof(*s->tasks));
	for (size_t i = 0; i < of->tasks; i++) {
		int64_t day;

		do
			day = of->from + below(s, of->days) * DAY_S;
		while (!weekday(day));
		s->tasks[i].arrived = day + BEGIN_HOUR * HOUR_S + below(s, HOURS * HOUR_S);
		s->tasks[i].next = s->tasks[i].arrived;
		s->tasks[i].tokens = around(s, TOKENS);
		s->tasks[i].lasts = around(s, TASK_S);
		s->tasks[i].score = (double)below(s, 1000);
		s->tasks[i].name = arena_printf(s->arena, "task-%zu", i);
	}
}

/* ---- the window ---- */

/* What a window leaves at its end is lost. */
static void note_reset(struct simulation *s, int64_t now)
{
	const struct quota_window *w = s->entry.windows.n ? &s->entry.windows.items[0] : NULL;

	if (w && w->end && now >= w->end) {
		s->out->resets++;
		s->unused += w->consumed < w->quota ? w->quota - w->consumed : 0;
	}
	entry_roll_over(s->arena, &s->entry, now);
}

static int64_t in_use(const struct quota_entry *e, const struct quota_window *w)
{
	return w->consumed + quota_reserved(e, w);
}

static void task_book(struct simulation *s, struct task *t, int64_t tokens)
{
	struct quota_window *w = entry_seat(s->arena, &s->entry, &s->request, 0);
	int64_t multiplier = quota_multiplier(s->of->plan, t->next);
	size_t hold;

	s->request.action = t->name;
	hold = entry_hold(&s->entry, &s->request);
	if (hold < s->entry.holds.n) {
		if (s->entry.holds.items[hold].multiplier < multiplier)
			multiplier = s->entry.holds.items[hold].multiplier;
		vec_remove(&s->entry.holds, hold);
	}
	window_start(w, t->next);
	w->consumed += quota_charge(tokens, multiplier);
}

/* ---- what happens to a task ---- */

static void task_begin(struct simulation *s, struct task *t)
{
	s->out->waited_s += t->next - t->arrived;
	t->phase = WORKS;
	t->next += t->lasts;
}

static void task_reserve(struct simulation *s, const struct task *t, struct quota_window *w)
{
	int64_t multiplier = quota_multiplier(s->of->plan, t->next);

	window_start(w, t->next);
	vec_push_in(s->arena, &s->entry.holds,
		(struct quota_hold){.action = t->name,
			.pipeline = "",
			.stage = "",
			.owner = s->request.owner,
			.plan = w->plan,
			.seat = w->seat,
			.input = TOKENS,
			.charge = quota_charge(TOKENS, multiplier),
			.multiplier = multiplier,
			.since = t->next});
	if (in_use(&s->entry, w) > w->cap)
		s->out->violations++;
}

/* Nobody asks. What does not fit into the quota is cut off by the vendor when that is used up. */
static void task_begin_naive(struct simulation *s, struct task *t)
{
	struct quota_window *w = entry_seat(s->arena, &s->entry, &s->request, 0);

	if (w->end && w->consumed >= w->quota) {
		t->next = w->end;
		return;
	}
	task_reserve(s, t, w);
	t->wasted = in_use(&s->entry, w) > w->quota;
	task_begin(s, t);
}

static const double *queue_now(struct simulation *s, int64_t now, size_t *n)
{
	*n = 0;
	for (size_t i = 0; i < s->of->tasks; i++)
		if (s->tasks[i].phase != ENDED && s->tasks[i].arrived <= now)
			s->queue[(*n)++] = s->tasks[i].score;
	return s->queue;
}

static void task_ask(struct simulation *s, struct task *t)
{
	struct quota_window *w = entry_seat(s->arena, &s->entry, &s->request, 0);
	struct quota_decision d = {.input = TOKENS};
	struct ask k = {s->arena, &s->request, &s->entry, &w, TOKENS, &d, 0};

	s->request.action = t->name;
	s->request.now = t->next;
	s->request.score = t->score;
	s->request.queue = queue_now(s, t->next, &s->request.n_queue);
	quota_decide(&k);
	quota_release_events(&d.events);
	entry_forget_wait(&s->entry, t->name);
	if (d.verdict == QUOTA_GRANTED) {
		task_reserve(s, t, w);
		task_begin(s, t);
	} else if (d.verdict == QUOTA_DENIED || ++t->asks == ASKS_MAX) {
		s->out->denied++;
		t->phase = ENDED;
	} else {
		vec_push_in(s->arena, &s->entry.waits,
			(struct quota_wait){
				.action = t->name, .since = t->arrived, .until = d.until});
		t->next = d.until;
	}
}

static void task_end(struct simulation *s, struct task *t)
{
	struct quota_window *w = entry_seat(s->arena, &s->entry, &s->request, 0);

	if (t->wasted && w->end && t->next < w->end) {
		/* It has met the limit half way: that is used, and the work begins again. */
		task_book(s, t, t->tokens / 2);
		s->out->interrupted++;
		t->wasted = false;
		t->phase = ARRIVES;
		t->arrived = t->next;
		t->next = w->end;
		return;
	}
	task_book(s, t, t->tokens);
	s->out->done++;
	t->phase = ENDED;
}

static struct task *first_task(struct simulation *s, int64_t until)
{
	struct task *first = NULL;

	for (size_t i = 0; i < s->of->tasks; i++) {
		struct task *t = &s->tasks[i];

		if (t->phase != ENDED && t->next < until &&
			(!first || t->next < first->next ||
				(t->next == first->next && t->phase > first->phase)))
			first = t;
	}
	return first;
}

void quota_simulate(const struct quota_simulation *of, struct quota_simulated *out)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct simulation s = {.arena = &a, .of = of, .random = of->seed, .out = out};
	const struct subscription_plan *seats[] = {of->plan};
	struct task *t;

	*out = (struct quota_simulated){0};
	s.entry = (struct quota_entry){.harness = "", .account = "", .tenant = ""};
	s.request = (struct quota_request){.harness = "",
		.account = "",
		.tenant = "",
		.share = 1,
		.seats = seats,
		.n_seats = 1,
		.schedule = of->schedule,
		.max_wait_s = of->max_wait_s,
		.owner = process_own_name(&a),
		.max_usd = -1,
		.budget_usd = -1,
		.scored = true};
	make_tasks(&s);
	while ((t = first_task(&s, of->from + (int64_t)of->days * DAY_S))) {
		note_reset(&s, t->next);
		if (t->phase == WORKS)
			task_end(&s, t);
		else if (of->naive)
			task_begin_naive(&s, t);
		else
			task_ask(&s, t);
	}
	if (out->resets)
		out->unused =
			(double)s.unused / (double)out->resets / (double)(of->plan->quota_tokens);
}
