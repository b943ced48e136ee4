#include <strings.h>
#include "src/config/resource.h"

#define HOST_CAP "pay-per-token" /* not a seat but a limit of the machine */

static const struct {
	const char *plan;
	unsigned seats;
} table[] = {
	{"claude-code-pro", 3},
	{"claude-code-max-5x", 5},
	{"claude-code-max-20x", 10},
	{"codex-plus", 2},
	{"codex-pro", 5},
	{HOST_CAP, 5},
};

unsigned subscription_plan_seats(const char *name)
{
	for (size_t i = 0; i < COUNT(table); i++)
		if (strcmp(table[i].plan, name) == 0)
			return table[i].seats;
	return 1;
}

enum parallelism_mode parallelism_mode(void)
{
	static const struct {
		const char *word;
		enum parallelism_mode mode;
	} words[] = {{"off", PARALLELISM_OFF}, {"disabled", PARALLELISM_OFF},
		{"false", PARALLELISM_OFF}, {"0", PARALLELISM_OFF},
		{"experimental", PARALLELISM_EXPERIMENTAL}};
	struct str s = str_trim(str_of(getenv(PARALLELISM_VARIABLE)));

	for (size_t i = 0; i < COUNT(words); i++)
		if (s.n == strlen(words[i].word) && strncasecmp(s.p, words[i].word, s.n) == 0)
			return words[i].mode;
	return PARALLELISM_ON;
}

const char *parallelism_word(enum parallelism_source s)
{
	static const char *const words[] = {
		[PARALLELISM_SERIAL] = "serial",
		[PARALLELISM_DECLARED] = "declared",
		[PARALLELISM_PLANS] = "plans",
		[PARALLELISM_NO_PLAN] = "no-plan",
		[PARALLELISM_DISABLED] = "disabled",
	};

	return words[s];
}

static size_t times(const struct text_list *w, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++)
		n += strcmp(w->list[i], name) == 0;
	return n;
}

/* A plan that the pipeline and its pool both name counts once: the greater of the two counts. */
static struct text_list seats(struct arena *a, const struct text_list *x, const struct text_list *y)
{
	const char **list = arena_alloc(a, (x->n + y->n + 1) * sizeof(*list));
	struct text_list all = {list, 0};

	for (size_t i = 0; i < x->n; i++)
		list[all.n++] = x->list[i];
	for (size_t i = 0; i < y->n; i++)
		if (times(&all, y->list[i]) < times(y, y->list[i]))
			list[all.n++] = y->list[i];
	return all;
}

static bool uses(const struct pipeline *p, const char *harness)
{
	for (size_t i = 0; i < p->n_stages; i++)
		if (p->stages[i].harness && strcmp(p->stages[i].harness, harness) == 0)
			return true;
	return false;
}

static struct harness_share *share_of(struct parallelism *out, const char *harness)
{
	for (size_t i = 0; i < out->n_shares; i++)
		if (strcmp(out->shares[i].harness, harness) == 0)
			return &out->shares[i];
	out->shares[out->n_shares] = (struct harness_share){.harness = harness};
	return &out->shares[out->n_shares++];
}

/* Seats add up. The limit of the machine is not added to them: the greater of the two counts. */
static void count(const struct resources *r, const struct pipeline *p, struct text_list all,
	struct parallelism *out, const char **counted)
{
	struct harness_share *host = NULL;

	for (size_t i = 0; i < all.n; i++) {
		const struct subscription_plan *plan = resources_plan(r, all.list[i]);
		struct harness_share *share;

		if (!plan || !plan->harness || !uses(p, plan->harness))
			continue;
		counted[out->plans.n++] = plan->name;
		share = share_of(out, plan->harness);
		if (strcmp(plan->name, HOST_CAP) == 0)
			host = share;
		else
			share->value += subscription_plan_seats(plan->name);
	}
	if (host && host->value < subscription_plan_seats(HOST_CAP))
		host->value = subscription_plan_seats(HOST_CAP);
}

struct text_list pipeline_plans(
	struct arena *a, const struct resources *r, const struct pipeline *p)
{
	static const struct text_list none;
	const struct worktree_pool_spec *pool =
		p->worktree_pool ? resources_pool(r, p->worktree_pool) : NULL;

	return seats(a, &p->plans, pool ? &pool->plans : &none);
}

static void from_plans(struct arena *a, const struct resources *r, const struct pipeline *p,
	struct parallelism *out)
{
	struct text_list all = pipeline_plans(a, r, p);
	const char **counted = arena_alloc(a, (all.n + 1) * sizeof(*counted));

	out->plans.list = counted;
	out->shares = arena_alloc(a, (all.n + 1) * sizeof(*out->shares));
	count(r, p, all, out, counted);
	out->source = out->plans.n ? PARALLELISM_PLANS : PARALLELISM_NO_PLAN;
	for (size_t i = 0; i < out->n_shares; i++)
		if (out->shares[i].value > out->before)
			out->before = out->shares[i].value;
}

void parallelism_resolve(struct arena *a, const struct resources *r, const struct pipeline *p,
	enum parallelism_mode mode, struct parallelism *out)
{
	*out = (struct parallelism){.before = 1};
	if (!p->parallel) {
		out->source = PARALLELISM_SERIAL;
	} else if (mode == PARALLELISM_OFF) {
		out->source = PARALLELISM_DISABLED;
	} else if (p->max_concurrent) {
		out->source = PARALLELISM_DECLARED;
		out->before = p->max_concurrent;
	} else {
		from_plans(a, r, p, out);
	}
	out->max = out->before < CONCURRENT_MAX ? out->before : CONCURRENT_MAX;
}
