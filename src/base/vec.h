/*
 * vec.h: growable arrays. A vector is any struct with the members `items` (a pointer), `n` and
 * `cap` (both size_t); all zero is an empty one. VEC(type) declares one without a name:
 *
 *     VEC(const char *) names = {0};
 *
 *     vec_push(&names, "a");
 *     for (size_t i = 0; i < names.n; i++) ...
 *     vec_release(&names);
 *
 * A vector lives on the heap (vec_push(), vec_release()) or, with the `_in` form, in an arena; do
 * not mix the two on one vector. Growing moves the items: keep indices, not pointers. The macros
 * evaluate their arguments more than once. Running out of memory ends the process.
 */
#ifndef DT_VEC_H
#define DT_VEC_H

#include "src/base/buf.h"

#define VEC(type)                                                                                  \
	struct {                                                                                   \
		type *items;                                                                       \
		size_t n, cap;                                                                     \
	}

/* Makes room for `more` further items. */
#define vec_reserve(v, more) vec_reserve_in(NULL, v, more)
#define vec_reserve_in(arena, v, more)                                                             \
	((v)->items = vec_grow(arena, (v)->items, (v)->n, &(v)->cap, (more), sizeof(*(v)->items)))

/* Appends one item; it may be a compound literal. */
#define vec_push(v, ...) vec_push_in(NULL, v, __VA_ARGS__)
#define vec_push_in(arena, v, ...)                                                                 \
	(vec_reserve_in(arena, v, 1), (v)->items[(v)->n++] = (__VA_ARGS__))

/* Inserts one item before index `at`, at most n. */
#define vec_insert(v, at, ...)                                                                     \
	(vec_reserve(v, 1),                                                                        \
		memmove((v)->items + (at) + 1, (v)->items + (at),                                  \
			((v)->n++ - (at)) * sizeof(*(v)->items)),                                  \
		(v)->items[at] = (__VA_ARGS__))

/* Removes the item at index `at`, keeping the order of the others. */
#define vec_remove(v, at)                                                                          \
	((v)->n--, memmove((v)->items + (at), (v)->items + (at) + 1,                               \
			   ((v)->n - (at)) * sizeof(*(v)->items)))

/* `compare` as for qsort(): it gets pointers to two items. */
#define vec_sort(v, compare) vec_sort_items((v)->items, (v)->n, sizeof(*(v)->items), compare)

/* Frees a vector on the heap and empties it. */
#define vec_release(v) (free((v)->items), (v)->items = NULL, (v)->n = (v)->cap = 0)

/* For vec_sort(): compares two `const char *` or `char *` items by bytes. */
int vec_by_text(const void *a, const void *b);

/* Behind the macros. `arena` NULL: the heap. */
void *vec_grow(
	struct arena *arena, void *items, size_t n, size_t *cap, size_t more, size_t item_size);
void vec_sort_items(
	void *items, size_t n, size_t item_size, int (*compare)(const void *, const void *));

#endif
