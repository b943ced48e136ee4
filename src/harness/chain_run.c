#include "src/harness/adapter.h"
#include "src/harness/chain_tell.h"

struct attempt {
	const struct chain_call *call;
	const char *from;            /* the one before; NULL: none */
	const char *reason, *detail; /* why it is not the one before */
};

static void unused(struct harness_result *r, const char *detail)
{
	*r = (struct harness_result){.status = HARNESS_UNAVAILABLE,
		.exit_code = -1,
		.usage = USAGE_NONE,
		.text = "",
		.detail = detail};
}

/* Whether it can be used; why not is left in *t and *r. -1: faults of our own side. */
static int look(struct arena *a, struct attempt *t, const struct harness *h, bool *usable,
	struct harness_result *r, struct error *err)
{
	const struct chain_call *c = t->call;
	const struct availability *v = c->available ? c->available(h) : harness_available(h);

	*usable = v->available;
	if (v->available && v->reason == PROBE_FAILED)
		return tell_probe_failed(c, h->name, v->detail, err);
	if (v->available)
		return 0;
	t->reason = unavailable_word(v->reason);
	t->detail = v->detail;
	unused(r, arena_printf(a, "%s: %s", t->reason, v->detail ? v->detail : h->name));
	return 0;
}

static int invoke(struct arena *a, struct attempt *t, const struct harness *h,
	const struct harness_input *input, struct harness_result *r, struct error *err)
{
	const struct chain_call *c = t->call;
	struct harness_input own = *input;

	own.model = c->model_for ? c->model_for(c->data, h->name) : input->model;
	if (harness_invoke(a, h, &own, c->listener, c->data, r, err) < 0)
		return -1;
	if (r->status != HARNESS_UNAVAILABLE)
		return tell_result(c, h->name, input, r, err);
	t->reason = r->rate_limited ? "rate-limited" : "unavailable";
	t->detail = r->detail;
	return r->worked ? note_worked(c, h->name, err) : 0;
}

/* One of the chain: *done when its result is the one that stands. */
static int try_one(struct arena *a, struct attempt *t, const char *name,
	const struct harness_input *input, struct harness_result *r, const struct harness **used,
	struct error *err)
{
	const struct harness *h;
	bool usable;

	if (harness_find(name, &h, err) < 0)
		return -1;
	if (t->from && tell_fallback(t->call, t->from, name, t->reason, t->detail, err) < 0)
		return -1;
	t->from = name;
	if (look(a, t, h, &usable, r, err) < 0)
		return -1;
	if (!usable)
		return 0;
	if (invoke(a, t, h, input, r, err) < 0)
		return -1;
	if (r->status != HARNESS_UNAVAILABLE)
		*used = h;
	return 0;
}

int chain_run(struct arena *a, const struct chain_call *c, const struct harness_input *input,
	struct harness_result *result, const struct harness **used, struct error *err)
{
	struct attempt t = {.call = c};

	*used = NULL;
	unused(result, "no harness is left to run on");
	for (size_t i = 0; i < c->effective.n && !*used; i++)
		if (try_one(a, &t, c->effective.list[i], input, result, used, err) < 0)
			return -1;
	if (*used || !t.from)
		return 0;
	return tell_unavailable(c, t.from, t.reason, t.detail, err);
}
