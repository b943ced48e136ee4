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

/* Of the item of this document, and of all below it. `own`: the one that the step has open. */
static void add_document(
	struct arena *a, struct run_entry *e, const struct context_file *own, const char *document)
{
	struct day_search s = {.midnight = own->now - own->now % DAY_S};
	CLEANUP(context_close) struct context_file other = {0};
	const struct context_file *f = own;
	struct run_begun_list begun;
	struct error ignored;

	if (strcmp(document, e->document) != 0) {
		if (context_open(&other, document, CONTEXT_READ_ONLY, &ignored) < 0)
			return;
		f = &other;
	}
	context_each_event(f, "\"" AGENT_RUN "\"", add_call, &s);
	e->cost_usd += s.total;
	e->cost_today_usd += s.total - s.before;
	begun = run_begun_children(a, f);
	for (size_t i = 0; i < begun.n; i++)
		add_document(a, e, own, begun.items[i].document);
}

static void read_costs(struct arena *a, struct run_entry *e, const struct context_file *f)
{
	if (!e->costs_known)
		add_document(a, e, f, run_top_document(a, f));
	e->costs_known = true;
}

static const char *spent(struct arena *a, const struct run_entry *e, double cost, double limit,
	const char *field, const char *today)
{
	return arena_printf(a, "the agents have cost $%.2f%s, '%s' of pipeline '%s' is $%.2f", cost,
		today, field, e->call->run->pipeline->name, limit);
}

static void ask_budget(
	struct run_entry *e, struct arena *a, const struct context_file *f, struct admission *out)
{
	const struct pipeline *p = e->call->run->pipeline;
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
	const struct pipeline *p = e->call->run->pipeline;
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
	if (request->failed && e->call->remedy)
		out->reason = e->call->remedy(e->call->remedy_data, request->failed, &out->until);
	if (out->reason) {
		out->answer = ADMISSION_REMEDY;
		return;
	}
	if (e->call->run)
		ask_budget(e, a, f, out);
	if (e->call->run && out->answer != ADMISSION_WAIT && out->answer != ADMISSION_NO)
		run_quota_admit(e, a, f, id, request, out);
	if (out->answer != ADMISSION_FAILED)
		run_clearance_admit(e, a, request, out);
}
