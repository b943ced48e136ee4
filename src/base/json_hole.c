#include "src/base/json_internal.h"

enum { FEW_KEYS = 20 };

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted, because a text of many keys comes from outside. */
static bool duplicate_of_many(const json *object, size_t n)
{
	CLEANUP(free_ptr) const char **keys = xmalloc(n * sizeof(*keys));
	bool found = false;
	size_t i = 0;

	for (const json *c = json_first(object); c; c = json_next(c))
		keys[i++] = json_key(c);
	qsort(keys, n, sizeof(*keys), by_text);
	for (i = 1; i < n && !found; i++)
		found = strcmp(keys[i - 1], keys[i]) == 0;
	return found;
}

/* A few are compared by pairs, which needs no memory. */
static bool duplicate_key(const json *object)
{
	size_t n = 0;

	for (const json *c = json_first(object); c; c = json_next(c))
		n++;
	if (n > FEW_KEYS)
		return duplicate_of_many(object, n);
	for (const json *c = json_first(object); c; c = json_next(c))
		for (const json *d = json_next(c); d; d = json_next(d))
			if (json_key(c)[0] == json_key(d)[0] &&
				strcmp(json_key(c), json_key(d)) == 0)
				return true;
	return false;
}

const char *json_hole(const json *j)
{
	const char *what = NULL;
	double n = json_number(j, 0);

	if (!(n <= (double)JSON_MAX_INT && n >= -(double)JSON_MAX_INT))
		return "a number is too large";
	if (json_is_object(j) && duplicate_key(j))
		return "duplicate key";
	for (const json *c = json_first(j); c && !what; c = json_next(c))
		what = json_hole(c);
	return what;
}
