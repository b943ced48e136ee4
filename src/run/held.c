/*
 * held.c: actions of several items that have failed, and are started again later. Others go on
 * meanwhile.
 */
#include "src/base/clock.h"
#include "src/run/run_internal.h"

enum { HOLD_MS = 30000, HOLD_MAX_MS = 300000 };

bool run_held_add(struct held_actions *h, struct arena *a, const char *id)
{
	int64_t wait_ms = HOLD_MS;

	for (size_t i = 0; i < h->n; i++)
		if (strcmp(h->items[i].id, id) == 0 && wait_ms < HOLD_MAX_MS)
			wait_ms *= 2;
	vec_push(h, (struct held_action){arena_dup(a, str_of(id)), clock_ticks() + wait_ms});
	return wait_ms == HOLD_MS;
}

bool run_held_has(const struct held_actions *h, const char *id)
{
	for (size_t i = 0; i < h->n; i++)
		if (strcmp(h->items[i].id, id) == 0 && h->items[i].until_ms > clock_ticks())
			return true;
	return false;
}

bool run_held_due(struct held_actions *h)
{
	bool due = false;

	for (size_t i = 0; i < h->n; i++)
		if (h->items[i].until_ms && h->items[i].until_ms <= clock_ticks()) {
			h->items[i].until_ms = 0;
			due = true;
		}
	return due;
}
