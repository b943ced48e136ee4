#include <assert.h>
#include <math.h>
#include "src/run/worker_pool.h"

/* Whether `a` goes before `b`, which stood behind it. */
static bool first(const struct worker_item *a, const struct worker_item *b)
{
	if (isnan(a->score) || isnan(b->score))
		return isnan(b->score);
	return a->score >= b->score;
}

/* Merges two sorted halves; the left one's items go first among equals. */
static void merge(const struct worker_item **to, const struct worker_item **from, size_t left,
	size_t middle, size_t right)
{
	for (size_t i = left, j = middle, k = left; k < right; k++)
		to[k] = i < middle && (j == right || first(from[i], from[j])) ? from[i++]
									      : from[j++];
}

static void sort(struct arena *a, const struct worker_item **queue, size_t n)
{
	const struct worker_item **other = arena_alloc(a, (n + 1) * sizeof(*other));

	for (size_t width = 1; width < n; width *= 2) {
		memcpy(other, queue, n * sizeof(*queue));
		for (size_t left = 0; left < n; left += 2 * width) {
			size_t middle = left + width < n ? left + width : n;
			size_t right = middle + width < n ? middle + width : n;

			merge(queue, other, left, middle, right);
		}
	}
}

int worker_pool_init(struct arena *a, struct worker_pool *p, const struct worker_item *items,
	size_t n, unsigned max_concurrent, struct error *err)
{
	if (!max_concurrent)
		return error_set(
			err, ERR_USAGE, "at least 1 must be allowed to run at one time, not 0");
	*p = (struct worker_pool){.arena = a, .n = n, .max = max_concurrent};
	p->queue = arena_alloc(a, (n + 1) * sizeof(*p->queue));
	p->running = arena_alloc(a, n + 1);
	for (size_t i = 0; i < n; i++)
		p->queue[i] = &items[i];
	for (int i = 0; i < WORKER_OUTCOMES; i++)
		p->ended[i].list = arena_alloc(a, (n + 1) * sizeof(*p->ended[i].list));
	sort(a, p->queue, n);
	return 0;
}

bool worker_pool_next(struct worker_pool *p, const struct worker_item **item)
{
	*item = NULL;
	if (p->next == p->n || p->in_flight == p->max)
		return false;
	p->running[p->next] = true;
	*item = p->queue[p->next++];
	if (++p->in_flight > p->peak)
		p->peak = p->in_flight;
	return true;
}

void worker_pool_ended(struct worker_pool *p, const struct worker_item *item,
	enum worker_outcome how, const char *why)
{
	struct worker_ends *ends = &p->ended[how];
	size_t i = 0;

	while (i < p->next && p->queue[i] != item)
		i++;
	assert(i < p->next && p->running[i]); /* one that was never given out, or has ended */
	p->running[i] = false;
	p->in_flight--;
	ends->list[ends->n++] =
		(struct worker_end){item, why ? arena_dup(p->arena, str_of(why)) : NULL};
}

bool worker_pool_over(const struct worker_pool *p)
{
	return p->next == p->n && !p->in_flight;
}
