/*
 * unrecorded.c: ports of worktrees without a record: it was lost, or is in the state directory of
 * another user. The mark in their git directory has the ports.
 */
#include "src/worktree/pool_internal.h"

enum { PAGE = 256 };

struct keys {
	const char **key; /* sorted */
	size_t n, cap;
};

static void add_key(struct arena *a, struct keys *k, struct str key)
{
	if (k->n == k->cap) {
		const char **more = arena_alloc(a, (k->cap = 2 * k->cap + PAGE) * sizeof(*more));

		if (k->n)
			memcpy(more, k->key, k->n * sizeof(*more));
		k->key = more;
	}
	k->key[k->n++] = arena_dup(a, key);
}

static int read_keys(struct arena *a, struct pool *p, struct keys *k, struct error *err)
{
	const char *after = NULL;
	size_t got;

	do {
		struct store_kv *kv;
		int64_t at;

		if (store_list(p->store, a, "at/", after, PAGE, &kv, &got, &at, err) != STORE_OK)
			return -1;
		for (size_t i = 0; i < got; i++)
			add_key(a, k, kv[i].key);
		after = k->n ? k->key[k->n - 1] : NULL;
	} while (got == PAGE);
	return 0;
}

static int by_text(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static bool has_record(struct arena *a, const struct keys *k, const char *path)
{
	const char *key = key_at(a, path);

	return k->n && bsearch(&key, k->key, k->n, sizeof(key), by_text);
}

int unrecorded_ports(struct arena *a, struct pool *p, const char *but, struct unrecorded **out,
	size_t *n, struct error *err)
{
	struct keys keys = {0};
	struct place *list;
	size_t n_places;

	*n = 0;
	if (places_read(a, p->common, &list, &n_places, err) < 0)
		return -1;
	*out = arena_alloc(a, (n_places + 1) * sizeof(**out));
	if (n_places && read_keys(a, p, &keys, err) < 0)
		return -1;
	for (size_t i = 0; i < n_places; i++) {
		struct unrecorded *u = &(*out)[*n];

		u->path = list[i].path;
		if (u->path && list[i].there && strcmp(u->path, but) != 0 &&
			!has_record(a, &keys, u->path) &&
			mark_ports(a, u->path, &u->first, &u->count))
			++*n;
	}
	return 0;
}

const char *unrecorded_owner(const struct unrecorded *list, size_t n, unsigned port)
{
	for (size_t i = 0; i < n; i++)
		if (port >= list[i].first && port - list[i].first < list[i].count)
			return list[i].path;
	return NULL;
}
