#include "src/sys/path.h"
#include "src/store/sim_internal.h"

/* The system writes names back by itself after a while. */
enum { CHANGES_MAX = 64 };

struct str sim_media_name(const struct sim_entry *e)
{
	return (struct str){e->name->s, e->name->n};
}

size_t sim_media_find(const struct sim_media *m, const char *path)
{
	size_t i = sim_table_find(&m->now, str_of(path));

	return i < m->now.n ? m->now.v[i].file : SIM_NO_FILE;
}

bool sim_media_folder(const struct sim_media *m, struct str path)
{
	return !path.n || str_is(path, "/") || str_is(path, ".") ||
	       sim_table_find(&m->folders, path) < m->folders.n;
}

void sim_media_make_folder(struct sim_media *m, struct str path)
{
	for (size_t end = 1; end <= path.n; end++) {
		struct str part = str_sub(path, 0, end);

		if ((end == path.n || path.p[end] == '/') && !sim_media_folder(m, part))
			sim_table_put(m, &m->folders, sim_name_new(part), SIM_NO_FILE);
	}
}

static void apply(struct sim_media *m, struct sim_table *t, const struct sim_change *c)
{
	if (c->to || c->file == SIM_NO_FILE)
		sim_table_remove(m, t, c->name);
	if (c->file != SIM_NO_FILE)
		sim_table_put(m, t, c->to ? c->to : c->name, c->file);
}

static void drop_change(struct sim_media *m, const struct sim_change *c)
{
	sim_unlink_file(m, c->file);
	sim_name_drop(c->name);
	sim_name_drop(c->to);
}

static bool is_in(const struct sim_name *name, struct str dir)
{
	return name && str_eq(path_dir(name->s), dir);
}

/* Makes durable: what is in `dir`; without one, what is of `path`; without either, the oldest. */
static void settle(struct sim_media *m, const struct str *dir, const char *path)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->n_changes; i++) {
		struct sim_change c = m->changes[i];
		bool now = dir    ? is_in(c.name, *dir) || is_in(c.to, *dir)
			   : path ? strcmp(c.name->s, path) == 0 ||
					    (c.to && strcmp(c.to->s, path) == 0)
				  : i == 0;

		if (!now) {
			m->changes[kept++] = c;
			continue;
		}
		apply(m, &m->kept, &c);
		drop_change(m, &c);
	}
	m->n_changes = kept;
}

static struct sim_name *name_at(struct sim_media *m, const char *path)
{
	size_t i = sim_table_find(&m->now, str_of(path));

	return i < m->now.n ? m->now.v[i].name : sim_name_new(str_of(path));
}

static void change(struct sim_media *m, struct sim_name *name, struct sim_name *to, size_t file)
{
	struct sim_change c = {sim_name_hold(name), sim_name_hold(to), file};

	sim_link_file(m, file);
	apply(m, &m->now, &c);
	if (m->n_changes == CHANGES_MAX)
		settle(m, NULL, NULL);
	m->changes = sim_grow(m->changes, m->n_changes, &m->cap_changes, sizeof(*m->changes));
	m->changes[m->n_changes++] = c;
}

size_t sim_media_make(struct sim_media *m, const char *path)
{
	size_t file = sim_new_file(m);

	change(m, name_at(m, path), NULL, file);
	return file;
}

void sim_media_remove(struct sim_media *m, const char *path)
{
	if (sim_media_find(m, path) != SIM_NO_FILE)
		change(m, name_at(m, path), NULL, SIM_NO_FILE);
}

void sim_media_rename(struct sim_media *m, const char *from, const char *to)
{
	size_t file = sim_media_find(m, from);

	if (file != SIM_NO_FILE && strcmp(from, to) != 0)
		change(m, name_at(m, from), name_at(m, to), file);
}

void sim_media_sync_folder(struct sim_media *m, struct str dir)
{
	if (m->n_changes)
		settle(m, &dir, NULL);
}

void sim_media_settle(struct sim_media *m, const char *path)
{
	size_t file = sim_media_find(m, path);

	settle(m, NULL, path);
	if (file == SIM_NO_FILE)
		return;
	sim_media_sync(m, file);
	m->files[file].unsafe = m->files[file].unsafe_to = 0;
}

void sim_clear_changes(struct sim_media *m)
{
	for (size_t i = 0; i < m->n_changes; i++)
		drop_change(m, &m->changes[i]);
	m->n_changes = 0;
}

void sim_copy_changes(struct sim_media *to, const struct sim_media *from)
{
	to->n_changes = to->cap_changes = from->n_changes;
	to->changes = xmalloc(to->n_changes * sizeof(*to->changes));
	for (size_t i = 0; i < to->n_changes; i++) {
		to->changes[i] = from->changes[i];
		(void)sim_name_hold(to->changes[i].name);
		(void)sim_name_hold(to->changes[i].to);
		sim_link_file(to, to->changes[i].file);
	}
}

void sim_lose_names(struct sim_media *m)
{
	size_t first = sim_media_random(m, m->n_changes + 1);

	for (size_t i = 0; i < m->n_changes; i++)
		if (m->unordered ? sim_media_random(m, 2) : i < first)
			apply(m, &m->kept, &m->changes[i]);
	sim_clear_changes(m);
	sim_table_clear(m, &m->now);
	for (size_t i = 0; i < m->kept.n; i++)
		sim_table_put(m, &m->now, m->kept.v[i].name, m->kept.v[i].file);
}

static int by_name(const void *a, const void *b)
{
	const struct sim_entry *x = a, *y = b;

	return strcmp(x->name->s, y->name->s);
}

void sim_media_list(const struct sim_media *m, struct buf *out)
{
	CLEANUP(free_ptr) struct sim_entry *all = xmalloc(m->now.n * sizeof(*all));

	if (m->now.n)
		memcpy(all, m->now.v, m->now.n * sizeof(*all));
	qsort(all, m->now.n, sizeof(*all), by_name);
	for (size_t i = 0; i < m->now.n; i++) {
		buf_add(out, sim_media_name(&all[i]));
		buf_addc(out, '\n');
	}
}
