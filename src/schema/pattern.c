#include "src/schema/pattern_internal.h"

/* What runs: each state is in the list at most once, so no text makes it slow. */
enum { STATES_MAX = 5000 };

enum op { OP_SET, OP_BEGIN, OP_END, OP_SPLIT, OP_JUMP, OP_MATCH };

struct state {
	enum op op;
	unsigned to, other; /* of OP_SPLIT and OP_JUMP */
	const struct part *set;
};

struct pattern {
	struct state *states;
	unsigned n;
};

static unsigned emit(struct pattern *p, struct state s)
{
	if (p->n < STATES_MAX)
		p->states[p->n] = s;
	return p->n < STATES_MAX ? p->n++ : STATES_MAX;
}

static void generate(struct pattern *p, const struct part *part);

static void generate_either(struct pattern *p, const struct part *part)
{
	unsigned split = emit(p, (struct state){.op = OP_SPLIT}), jump;

	p->states[split].to = p->n;
	generate(p, part->a);
	jump = emit(p, (struct state){.op = OP_JUMP});
	p->states[split].other = p->n;
	generate(p, part->b);
	p->states[jump].to = p->n;
}

/* Again and again, or not at all. */
static void generate_any(struct pattern *p, const struct part *part)
{
	unsigned split = emit(p, (struct state){.op = OP_SPLIT});

	p->states[split].to = p->n;
	generate(p, part);
	emit(p, (struct state){.op = OP_JUMP, .to = split});
	p->states[split].other = p->n;
}

static void generate_repeat(struct pattern *p, const struct part *part)
{
	int n = part->min;

	for (int i = 0; i < n && p->n < STATES_MAX; i++) {
		unsigned before = p->n;

		generate(p, part->a);
		if (p->n == before)
			break; /* nothing, as often as you like */
	}
	if (part->max == REPEAT_ANY)
		generate_any(p, part->a);
	for (int i = n; i < part->max && p->n < STATES_MAX; i++) {
		unsigned split = emit(p, (struct state){.op = OP_SPLIT});

		p->states[split].to = p->n;
		generate(p, part->a);
		p->states[split].other = p->n;
	}
}

static void generate(struct pattern *p, const struct part *part)
{
	switch (part->kind) {
	case PART_SET:
		emit(p, (struct state){.op = OP_SET, .set = part});
		break;
	case PART_BEGIN:
	case PART_END:
		emit(p, (struct state){.op = part->kind == PART_BEGIN ? OP_BEGIN : OP_END});
		break;
	case PART_BOTH:
		generate(p, part->a);
		generate(p, part->b);
		break;
	case PART_EITHER:
		generate_either(p, part);
		break;
	case PART_REPEAT:
		generate_repeat(p, part);
		break;
	case PART_EMPTY:
		break;
	}
}

int pattern_compile(struct arena *a, struct str source, struct pattern **out, struct error *err)
{
	CLEANUP(free_ptr) struct state *states = NULL;
	struct pattern p = {0};
	const struct part *tree;

	if (pattern_parse(a, source, &tree, err) < 0)
		return -1;
	/* One more, which is written to when it does not fit. */
	p.states = states = xmalloc((STATES_MAX + 1) * sizeof(*states));
	generate(&p, tree);
	emit(&p, (struct state){.op = OP_MATCH});
	if (p.n >= STATES_MAX)
		return error_set(err, ERR_INPUT, "a pattern is too large");
	*out = arena_alloc(a, sizeof(**out));
	(*out)->n = p.n;
	(*out)->states = arena_alloc(a, p.n * sizeof(*states));
	memcpy((*out)->states, states, p.n * sizeof(*states));
	return 0;
}

static bool in_set(const struct part *set, uint32_t c)
{
	for (const struct range *r = set->ranges; r; r = r->next)
		if (c >= r->from && c <= r->to)
			return !set->negated;
	return set->negated;
}

/* States to be looked at before the next character. `seen` says at which one last. */
struct run {
	const struct pattern *p;
	unsigned *now, *next, *stack;
	size_t *seen;
	unsigned n_now, n_next;
	size_t step;
	bool begin, end, matched;
};

static void add(struct run *r, unsigned first)
{
	unsigned n = 0;

	r->stack[n++] = first;
	while (n) {
		unsigned at = r->stack[--n];
		const struct state *s = &r->p->states[at];

		if (r->seen[at] == r->step)
			continue;
		r->seen[at] = r->step;
		if (s->op == OP_SPLIT)
			r->stack[n++] = s->other;
		if (s->op == OP_SPLIT || s->op == OP_JUMP)
			r->stack[n++] = s->to;
		else if ((s->op == OP_BEGIN && r->begin) || (s->op == OP_END && r->end))
			r->stack[n++] = at + 1;
		else if (s->op == OP_SET)
			r->next[r->n_next++] = at;
		else if (s->op == OP_MATCH)
			r->matched = true;
	}
}

static void swap(struct run *r)
{
	unsigned *now = r->now;

	r->now = r->next;
	r->n_now = r->n_next;
	r->next = now;
	r->n_next = 0;
	r->step++;
}

static bool match(struct run *r, struct str text)
{
	r->begin = true;
	r->end = !text.n;
	r->step = 1;
	add(r, 0);
	while (!r->matched && text.n) {
		uint32_t c = utf8_next(&text);

		swap(r);
		r->begin = false;
		r->end = !text.n;
		for (unsigned i = 0; i < r->n_now; i++)
			if (in_set(r->p->states[r->now[i]].set, c))
				add(r, r->now[i] + 1);
		add(r, 0);
	}
	return r->matched;
}

bool pattern_match(const struct pattern *p, struct str text)
{
	/* A state is put on the stack once more for each way that leads to it, at most two. */
	CLEANUP(free_ptr) unsigned *lists = xmalloc(4 * ((size_t)p->n + 1) * sizeof(*lists));
	CLEANUP(free_ptr) size_t *seen = xmalloc(p->n * sizeof(*seen));
	struct run r = {.p = p, .now = lists, .next = lists + p->n, .seen = seen};

	memset(seen, 0, p->n * sizeof(*seen));
	r.stack = lists + 2 * (size_t)p->n;
	return match(&r, text);
}
