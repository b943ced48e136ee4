/* budget.c: what the agents of a work item and its children may cost. The journals have what they
 * have cost. */
#include "src/base/clock.h"
#include "src/run/run_internal.h"

enum { DAY_S = 24 * 60 * 60 };

struct day_search {
	int64_t midnight; /* at which the day began */
	double total, before;
	bool known;
};

/* A context_visit: the last calls first. Each has the sum of all so far. */
static bool add_call(const json *event, void *data)
{
	struct day_search *s = data;
	double total = json_number(json_get(json_get(event, "total"), "cost_usd"), 0);
	int64_t at;

	if (!json_str_is(event, "type", AGENT_RUN))
		return true;
	if (!s->known)
		s->total = total;
	s->known = true;
	if (clock_parse(json_get_str(event, "ts"), &at) == 0 && at >= s->midnight)
		return true;
	s->before = total;
	return false;
}

struct cost_walk {
	struct arena *arena;
	struct run_entry *entry;
	const struct context_file *own; /* that the step has open */
};

static int budget_add_child(
	void *data, const char *id, const char *action, const char *document, struct error *err);

static void budget_add_item(struct cost_walk *w, const struct context_file *f)
{
	struct day_search s = {.midnight = w->own->now - w->own->now % DAY_S};
	struct error ignored;

	context_each_event(f, "\"" AGENT_RUN "\"", add_call, &s);
	w->entry->cost_usd += s.total;
	w->entry->cost_today_usd += s.total - s.before;
	(void)run_each_child(w->arena, f, budget_add_child, w, &ignored);
}

static void add_document(struct cost_walk *w, const char *document)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct error ignored;

	if (strcmp(document, w->entry->document) == 0)
		budget_add_item(w, w->own);
	else if (context_open(&f, document, CONTEXT_READ_ONLY, &ignored) == 0)
		budget_add_item(w, &f);
}

/* A run_child_visit. */
static int budget_add_child(
	void *data, const char *id, const char *action, const char *document, struct error *err)
{
	(void)id;
	(void)action;
	(void)err;
	add_document(data, document);
	return 0;
}

/* Of the item at the top, and of all below it. */
static void read_costs(struct arena *a, struct run_entry *e, const struct context_file *f)
{
	struct cost_walk w = {.arena = a, .entry = e, .own = f};

	if (!e->costs_known)
		add_document(&w, run_top_document(a, f));
	e->costs_known = true;
}

static const char *spent(struct arena *a, const struct run_entry *e, double cost, double limit,
	const char *field, const char *today)
{
	return arena_printf(a, "the agents have cost $%.2f%s, '%s' of pipeline '%s' is $%.2f", cost,
		today, field, e->run->pipeline->name, limit);
}

static void ask_budget(
	struct run_entry *e, struct arena *a, const struct context_file *f, struct admission *out)
{
	const struct pipeline *p = e->run->pipeline;
	double limit = p->cost_budget_usd, day = p->cost_budget_day_usd;

	if (limit <= 0 && day <= 0)
		return;
	read_costs(a, e, f);
	out->answer = ADMISSION_YES;
	if (limit > 0 && e->cost_usd >= limit) {
		out->answer = ADMISSION_NO;
		out->reason = arena_printf(a, "%s: raise it, then run the same command again",
			spent(a, e, e->cost_usd, limit, "costBudget", ""));
	} else if (day > 0 && e->cost_today_usd >= day) {
		out->answer = ADMISSION_WAIT;
		out->reason = spent(a, e, e->cost_today_usd, day, "costBudgetPerDay", " today");
		out->until = f->now - f->now % DAY_S + DAY_S;
	}
}

double run_budget_left(struct arena *a, struct run_entry *e, const struct context_file *f)
{
	const struct pipeline *p = e->run->pipeline;
	double all = p->cost_budget_usd, day = p->cost_budget_day_usd;

	if (all <= 0 && day <= 0)
		return -1;
	read_costs(a, e, f);
	all = all > 0 ? all - e->cost_usd : day - e->cost_today_usd;
	day = day > 0 ? day - e->cost_today_usd : all;
	return all < day ? (all > 0 ? all : 0) : day > 0 ? day : 0;
}

void run_may_dispatch(void *data, struct arena *a, const struct context_file *f, const char *id,
	const struct step_request *request, struct admission *out)
{
	struct run_entry *e = data;

	if (!request->agent)
		return;
	if (e->run)
		ask_budget(e, a, f, out);
	if (e->run && out->answer != ADMISSION_WAIT && out->answer != ADMISSION_NO)
		run_quota_admit(e, a, f, id, request, out);
	if (out->answer != ADMISSION_FAILED)
		run_clearance_admit(e, a, request, out);
}
