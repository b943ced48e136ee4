#include "src/base/vec.h"

enum { FIRST_CAPACITY = 8 };

void *vec_grow(
	struct arena *arena, void *items, size_t n, size_t *cap, size_t more, size_t item_size)
{
	size_t want = n + more, bytes;
	void *moved;

	if (want < n)
		base_oom();
	if (want <= *cap)
		return items;
	if (want < *cap * 2)
		want = *cap * 2;
	if (want < FIRST_CAPACITY)
		want = FIRST_CAPACITY;
	if (__builtin_mul_overflow(want, item_size, &bytes))
		base_oom();
	*cap = want;
	if (!arena)
		return xrealloc(items, bytes);
	moved = arena_alloc(arena, bytes);
	if (n)
		memcpy(moved, items, n * item_size);
	return moved;
}

void vec_sort_items(
	void *items, size_t n, size_t item_size, int (*compare)(const void *, const void *))
{
	if (n > 1) /* an empty vector has no items to point at */
		qsort(items, n, item_size, compare);
}

int vec_by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}
