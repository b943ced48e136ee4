/*
 * graph.c: what the dependencies of tasks mean: which task can be started, in which order, what a
 * task waits for, and what waits for it.
 */
#include "src/backlog/backlog.h"
#include "src/base/number.h"

static const char *const state_words[] = {[TASK_READY] = "ready",
	[TASK_STACKED] = "stacked",
	[TASK_WAITING] = "waiting",
	[TASK_STARTED] = "in progress",
	[TASK_HELD] = "held",
	[TASK_DONE] = "done",
	[TASK_BROKEN] = "broken"};

const char *task_state_word(enum task_state s)
{
	return state_words[s];
}

static bool is_open(const struct task *t)
{
	return t->state != TASK_DONE && !t->hidden;
}

/* ---- edges ---- */

/* The edges of both directions, and where each dependency leads. */
static void link_tasks(struct backlog *b)
{
	size_t *first = arena_alloc(b->arena, (b->n + 1) * sizeof(*first));
	VEC(size_t) to = {0};

	for (size_t i = 0; i < b->n; i++) {
		for (size_t k = 0; k < b->tasks[i].n_dependencies; k++) {
			struct task_dependency *d = &b->tasks[i].dependencies[k];
			const struct task *t = d->id ? backlog_find(b, d->id) : NULL;

			d->task = t ? t - b->tasks : TASK_NONE;
			if (t)
				vec_push_in(b->arena, &to, (size_t)d->task);
		}
		first[i + 1] = to.n;
	}
	b->needs = (struct graph){b->n, first, to.items};
	graph_reverse(b->arena, &b->needs, &b->needed_by);
}

/* ---- states ---- */

/* The dependencies that are not done; *one: the last of them, NULL if there is no such task. */
static size_t count_open(const struct backlog *b, const struct task *t, const struct task **one)
{
	size_t n = 0;

	for (size_t k = 0; k < t->n_dependencies; k++) {
		ptrdiff_t at = t->dependencies[k].task;

		if (at != TASK_NONE && b->tasks[at].state == TASK_DONE)
			continue;
		if (!n || at == TASK_NONE || *one != &b->tasks[at])
			n++;
		*one = at == TASK_NONE ? NULL : &b->tasks[at];
	}
	return n;
}

const struct task *backlog_base(const struct backlog *b, const struct task *t)
{
	const struct task *one = NULL;

	return t->stacked && count_open(b, t, &one) == 1 ? one : NULL;
}

static enum task_state backlog_graph_state_of(const struct backlog *b, const struct task *t)
{
	static const enum task_state of_status[] = {[STATUS_STARTED] = TASK_STARTED,
		[STATUS_DRAFT] = TASK_HELD,
		[STATUS_UNCLEAR] = TASK_HELD,
		[STATUS_OTHER] = TASK_HELD};
	const struct task *one;

	if (t->status != STATUS_TODO)
		return of_status[t->status];
	if (count_open(b, t, &one) == 0)
		return TASK_READY;
	return backlog_base(b, t) ? TASK_STACKED : TASK_WAITING;
}

static void set_states(struct backlog *b)
{
	for (size_t i = 0; i < b->n; i++) {
		struct task *t = &b->tasks[i];

		t->state = t->faults.n                                ? TASK_BROKEN
			   : t->completed || t->status == STATUS_DONE ? TASK_DONE
								      : TASK_WAITING;
	}
	for (size_t i = 0; i < b->n; i++)
		if (b->tasks[i].state == TASK_WAITING)
			b->tasks[i].state = backlog_graph_state_of(b, &b->tasks[i]);
}

/* ---- priorities ---- */

/*
 * A task is at least as urgent as the open tasks that need it. Dependants come first in the reverse
 * order of the walk; the tasks of a cycle share both numbers.
 */
static void set_priorities(struct backlog *b)
{
	unsigned *priority = arena_alloc(b->arena, 2 * (b->n + 1) * sizeof(*priority));
	unsigned *length = priority + b->n;

	for (size_t i = 0; i < b->n; i++) {
		unsigned *p = &priority[b->order.component[i]];

		if (is_open(&b->tasks[i]) && b->tasks[i].weight > *p)
			*p = b->tasks[i].weight;
	}
	for (size_t o = b->n; o-- > 0;) {
		size_t i = b->order.order[o], from = b->order.component[i];

		for (size_t e = b->needs.first[i];
			is_open(&b->tasks[i]) && e < b->needs.first[i + 1]; e++) {
			size_t to = b->order.component[b->needs.to[e]];

			if (priority[from] > priority[to])
				priority[to] = priority[from];
			if (from != to && length[from] + 1 > length[to])
				length[to] = length[from] + 1;
		}
	}
	for (size_t i = 0; i < b->n; i++) {
		struct task *t = &b->tasks[i];
		unsigned shared = priority[b->order.component[i]];

		t->priority = shared > t->weight ? shared : t->weight;
		t->critical_path = length[b->order.component[i]];
	}
}

void backlog_link(struct backlog *b)
{
	link_tasks(b);
	set_states(b);
	graph_walk(b->arena, &b->needs, NULL, NULL, &b->order);
	set_priorities(b);
}

/* ---- the frontier ---- */

enum backlog_order backlog_order(void)
{
	return env_is_off("AI_SDLC_DEPS_COMPOSITION") ? ORDER_BY_ID : ORDER_BY_PRIORITY;
}

static int by_urgency(const void *a, const void *b)
{
	const struct task *x = *(const struct task *const *)a, *y = *(const struct task *const *)b;

	if (x->priority != y->priority)
		return x->priority > y->priority ? -1 : 1;
	if (x->critical_path != y->critical_path)
		return x->critical_path > y->critical_path ? -1 : 1;
	return x < y ? -1 : x > y; /* tasks are sorted by id */
}

void backlog_frontier(
	const struct backlog *b, enum backlog_order order, bool stacked, struct task_list *out)
{
	*out = (struct task_list){0};
	for (size_t i = 0; i < b->n; i++)
		if (b->tasks[i].state == TASK_READY ||
			(stacked && b->tasks[i].state == TASK_STACKED))
			vec_push_in(b->arena, out, &b->tasks[i]);
	if (order == ORDER_BY_PRIORITY)
		vec_sort(out, by_urgency);
}

/* ---- blockers, impact ---- */

/* The open tasks that edges of `g` lead to from `t`, not through tasks that are done. */
static void reach(
	const struct backlog *b, const struct graph *g, const struct task *t, struct task_list *out)
{
	bool *seen = arena_alloc(b->arena, b->n + 1);
	struct task_list open = {0};

	*out = (struct task_list){0};
	seen[t - b->tasks] = true;
	vec_push_in(b->arena, &open, t);
	while (open.n) {
		size_t i = (size_t)(open.items[--open.n] - b->tasks);

		for (size_t e = g->first[i]; e < g->first[i + 1]; e++) {
			const struct task *other = &b->tasks[g->to[e]];

			if (seen[g->to[e]] || !is_open(other))
				continue;
			seen[g->to[e]] = true;
			vec_push_in(b->arena, &open, other);
		}
	}
	for (size_t i = 0; i < b->n; i++)
		if (seen[i] && &b->tasks[i] != t)
			vec_push_in(b->arena, out, &b->tasks[i]);
}

void backlog_blockers(const struct backlog *b, const struct task *t, struct task_list *out)
{
	*out = (struct task_list){0};
	if (is_open(t))
		reach(b, &b->needs, t, out);
}

void backlog_impact(const struct backlog *b, const struct task *t, struct task_list *out)
{
	reach(b, &b->needed_by, t, out);
}

/* ---- faults of the graph ---- */

struct problem_search {
	const struct backlog *backlog;
	struct backlog_problems *out;
};

/* From the smallest id, so that the same cycle always reads the same. */
static void add_cycle(void *data, const size_t *path, size_t n)
{
	struct problem_search *s = data;
	struct backlog_problem p = {0};
	size_t first = 0;

	for (size_t i = 1; i < n; i++)
		if (path[i] < path[first])
			first = i;
	p.task = &s->backlog->tasks[path[first]];
	for (size_t i = 0; i < n; i++)
		vec_push_in(s->backlog->arena, &p.cycle, &s->backlog->tasks[path[(first + i) % n]]);
	vec_push_in(s->backlog->arena, s->out, p);
}

void backlog_validate(const struct backlog *b, struct backlog_problems *out)
{
	struct problem_search s = {b, out};
	struct graph_order ignored;

	*out = (struct backlog_problems){0};
	for (size_t i = 0; i < b->n; i++)
		for (size_t k = 0; k <= b->tasks[i].n_dependencies; k++) {
			const struct task *t = &b->tasks[i];
			const struct task_dependency *d =
				k < t->n_dependencies ? &t->dependencies[k] : &t->parent;

			if (d->id && !backlog_find(b, d->id))
				vec_push_in(b->arena, out,
					((struct backlog_problem){.task = t, .missing = d}));
		}
	graph_walk(b->arena, &b->needs, add_cycle, &s, &ignored);
}

enum { CYCLE_SHOWN = 20 };

/* Where a task names the next one of a cycle. */
static const struct task_dependency *find_step(const struct task *from, const struct task *to)
{
	size_t k = 0;

	while (!from->dependencies[k].id || !task_same_id(from->dependencies[k].id, to->id))
		k++;
	return &from->dependencies[k];
}

void backlog_problem_add(struct buf *out, const struct backlog_problem *p)
{
	const struct task_dependency *at = p->missing;
	size_t n = p->cycle.n;

	if (!at)
		at = find_step(p->task, p->cycle.items[n > 1]);
	buf_addf(out, "%s:%u:%u: ", p->task->file, at->line, at->col);
	if (p->missing) {
		buf_addf(out, "'%s' %s '%s', which does not exist",
			p->task->id ? p->task->id : "the task",
			at == &p->task->parent ? "is a part of" : "needs", at->id);
		return;
	}
	buf_addf(out, "%zu task%s wait%s in a circle: ", n, n == 1 ? "" : "s", n == 1 ? "s" : "");
	for (size_t i = 0; i < n && i < CYCLE_SHOWN; i++)
		buf_addf(out, "%s -> ", p->cycle.items[i]->id);
	buf_addf(out, "%s%s", n > CYCLE_SHOWN ? "... -> " : "", p->task->id);
}
