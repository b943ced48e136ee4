#include "src/store/sim_internal.h"

/* Paths differ at their ends. */
static uint64_t hash_of(struct str path)
{
	uint64_t end = 0;

	memcpy(&end, path.p + (path.n > 8 ? path.n - 8 : 0), path.n > 8 ? 8 : path.n);
	return end ^ (path.n << 56);
}

struct sim_name *sim_name_new(struct str path)
{
	struct sim_name *name = xmalloc(sizeof(*name) + path.n + 1);

	*name = (struct sim_name){.hash = hash_of(path), .n = path.n};
	memcpy(name->s, path.p, path.n);
	name->s[path.n] = '\0';
	return name;
}

struct sim_name *sim_name_hold(struct sim_name *name)
{
	if (name)
		name->refs++;
	return name;
}

void sim_name_drop(struct sim_name *name)
{
	if (name && --name->refs == 0)
		free(name);
}

void *sim_grow(void *array, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return array;
	*cap = *cap ? 2 * *cap : 8;
	return xrealloc(array, *cap * size);
}

size_t sim_table_find(const struct sim_table *t, struct str path)
{
	uint64_t hash = hash_of(path);

	for (size_t i = 0; i < t->n; i++) {
		const struct sim_name *name = t->v[i].name;

		if (name->hash == hash && name->n == path.n && memcmp(name->s, path.p, path.n) == 0)
			return i;
	}
	return t->n;
}

void sim_table_put(struct sim_media *m, struct sim_table *t, struct sim_name *name, size_t file)
{
	size_t i = sim_table_find(t, (struct str){name->s, name->n});

	sim_link_file(m, file);
	if (i < t->n) {
		sim_unlink_file(m, t->v[i].file);
		t->v[i].file = file;
		return;
	}
	t->v = sim_grow(t->v, t->n, &t->cap, sizeof(*t->v));
	t->v[t->n++] = (struct sim_entry){sim_name_hold(name), file};
}

void sim_table_remove(struct sim_media *m, struct sim_table *t, const struct sim_name *name)
{
	size_t i = sim_table_find(t, (struct str){name->s, name->n});
	struct sim_entry gone;

	if (i == t->n)
		return;
	gone = t->v[i];
	t->v[i] = t->v[--t->n];
	sim_unlink_file(m, gone.file);
	sim_name_drop(gone.name);
}

void sim_table_clear(struct sim_media *m, struct sim_table *t)
{
	for (size_t i = 0; i < t->n; i++) {
		sim_unlink_file(m, t->v[i].file);
		sim_name_drop(t->v[i].name);
	}
	t->n = 0;
}

void sim_table_copy(struct sim_media *m, struct sim_table *to, const struct sim_table *from)
{
	*to = (struct sim_table){.cap = from->n, .n = from->n};
	if (!to->n)
		return;
	to->v = xmalloc(to->n * sizeof(*to->v));
	memcpy(to->v, from->v, to->n * sizeof(*to->v));
	for (size_t i = 0; i < to->n; i++) {
		(void)sim_name_hold(to->v[i].name);
		sim_link_file(m, to->v[i].file);
	}
}
