#include "src/sys/path.h"
#include "tests/model/sim_media.h"

/* ---- bytes ---- */

/* Each who shares it sees the first so many bytes, `used` at most. */
struct sim_blob {
	size_t refs, used, cap;
	char data[];
};

struct str sim_bytes_str(const struct sim_bytes *b)
{
	return (struct str){b->n ? b->blob->data : "", b->n};
}

static struct sim_bytes bytes_share(const struct sim_bytes *b)
{
	if (b->blob)
		b->blob->refs++;
	return *b;
}

static void bytes_drop(struct sim_bytes *b)
{
	if (b->blob && --b->blob->refs == 0)
		free(b->blob);
	*b = (struct sim_bytes){0};
}

/* A file that is written once gets what it needs; one that grows gets room to. */
static void move(struct sim_bytes *b, size_t cap)
{
	struct sim_blob *blob = xmalloc(sizeof(*blob) + cap);
	size_t n = b->n;

	*blob = (struct sim_blob){.refs = 1, .used = n, .cap = cap};
	if (n)
		memcpy(blob->data, b->blob->data, n);
	bytes_drop(b);
	*b = (struct sim_bytes){blob, n};
}

static char *room(struct sim_bytes *b, size_t more)
{
	size_t need = b->n + more;

	if (!b->blob || b->blob->cap < need || (b->blob->used != b->n && b->blob->refs > 1))
		move(b, b->n ? 2 * need : need);
	b->n = b->blob->used = need;
	return b->blob->data + need - more;
}

static void bytes_append(struct sim_bytes *b, struct str text)
{
	if (text.n)
		memcpy(room(b, text.n), text.p, text.n);
}

static void bytes_cut(struct sim_bytes *b, size_t n)
{
	if (n > b->n)
		memset(room(b, n - b->n), 0, n - b->n);
	b->n = n;
}

static char *bytes_own(struct sim_bytes *b)
{
	if (!b->blob || b->blob->refs > 1)
		move(b, b->n);
	return b->blob->data;
}

/* ---- names ---- */

struct sim_name {
	unsigned refs;
	uint64_t hash;
	size_t n;
	char s[];
};

/* Paths differ at their ends. */
static uint64_t hash_of(struct str path)
{
	uint64_t end = 0;

	memcpy(&end, path.p + (path.n > 8 ? path.n - 8 : 0), path.n > 8 ? 8 : path.n);
	return end ^ (path.n << 56);
}

static struct sim_name *name_new(struct str path)
{
	struct sim_name *name = xmalloc(sizeof(*name) + path.n + 1);

	*name = (struct sim_name){.hash = hash_of(path), .n = path.n};
	memcpy(name->s, path.p, path.n);
	name->s[path.n] = '\0';
	return name;
}

static struct sim_name *name_hold(struct sim_name *name)
{
	if (name)
		name->refs++;
	return name;
}

static void name_drop(struct sim_name *name)
{
	if (name && --name->refs == 0)
		free(name);
}

static void *grow(void *array, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return array;
	*cap = *cap ? 2 * *cap : 8;
	return xrealloc(array, *cap * size);
}

/* ---- files ---- */

/* splitmix64 */
size_t sim_media_random(struct sim_media *m, size_t n)
{
	uint64_t z = m->random += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return (z ^ (z >> 31)) % n;
}

enum { BLOCK = 512 };

static void put_down(struct sim_media *m, size_t file)
{
	struct sim_file *f = &m->files[file];

	if (f->links || f->opens)
		return;
	bytes_drop(&f->now);
	bytes_drop(&f->durable);
}

static void unlink_file(struct sim_media *m, size_t file)
{
	if (file == SIM_NO_FILE)
		return;
	m->files[file].links--;
	put_down(m, file);
}

static void link_file(struct sim_media *m, size_t file)
{
	if (file != SIM_NO_FILE)
		m->files[file].links++;
}

static size_t new_file(struct sim_media *m)
{
	for (size_t i = 0; i < m->n_files; i++) {
		if (m->files[i].links || m->files[i].opens)
			continue;
		m->files[i] = (struct sim_file){0};
		return i;
	}
	m->files = grow(m->files, m->n_files, &m->cap_files, sizeof(*m->files));
	m->files[m->n_files] = (struct sim_file){0};
	return m->n_files++;
}

void sim_media_open(struct sim_media *m, size_t file)
{
	m->files[file].opens++;
}

void sim_media_close(struct sim_media *m, size_t file)
{
	m->files[file].opens--;
	put_down(m, file);
}

void sim_media_append(struct sim_media *m, size_t file, struct str text)
{
	bytes_append(&m->files[file].now, text);
}

void sim_media_cut(struct sim_media *m, size_t file, size_t n)
{
	struct sim_file *f = &m->files[file];

	bytes_cut(&f->now, n);
	f->same = n < f->same ? n : f->same;
	f->unsafe_to = n < f->unsafe_to ? n : f->unsafe_to;
	f->unsafe = f->unsafe < f->unsafe_to ? f->unsafe : f->unsafe_to;
}

/* What is durable stays so: the same bytes are written. */
void sim_media_rewrite(struct sim_media *m, size_t file, size_t at)
{
	struct sim_file *f = &m->files[file];

	f->unsafe_to = at < f->unsafe_to ? at : f->unsafe_to;
	f->unsafe = f->unsafe < f->unsafe_to ? f->unsafe : f->unsafe_to;
}

void sim_media_sync(struct sim_media *m, size_t file)
{
	struct sim_file *f = &m->files[file];

	bytes_drop(&f->durable);
	f->durable = bytes_share(&f->now);
	f->same = f->now.n;
}

void sim_media_sync_failed(struct sim_media *m, size_t file)
{
	struct sim_file *f = &m->files[file];

	if (f->same == f->now.n)
		return;
	if (f->unsafe == f->unsafe_to)
		f->unsafe = f->same;
	f->unsafe_to = f->now.n;
}

/* Some of the blocks from `from` to `to` never reached the disk. */
static void lose_blocks(struct sim_media *m, struct sim_bytes *b, size_t from, size_t to)
{
	to = to < b->n ? to : b->n;
	for (size_t at = from; at < to;) {
		size_t end = (at / BLOCK + 1) * BLOCK;

		end = end < to ? end : to;
		if (sim_media_random(m, 2))
			memset(bytes_own(b) + at, 0, end - at);
		at = end;
	}
}

static void lose_bytes(struct sim_media *m, struct sim_file *f)
{
	size_t choice = f->same == f->now.n && f->same == f->durable.n ? 1 : sim_media_random(m, 4);

	if (choice == 0) {
		bytes_drop(&f->now);
		f->now = bytes_share(&f->durable);
	}
	if (choice >= 2)
		bytes_cut(&f->now, f->same + sim_media_random(m, f->now.n - f->same + 1));
	if (choice == 3)
		lose_blocks(m, &f->now, f->same, f->now.n);
	if (f->unsafe < f->unsafe_to)
		lose_blocks(m, &f->now, f->unsafe, f->unsafe_to);
	f->unsafe = f->unsafe_to = 0;
}

/* ---- tables of names ---- */

static size_t table_find(const struct sim_table *t, struct str path)
{
	uint64_t hash = hash_of(path);

	for (size_t i = 0; i < t->n; i++) {
		const struct sim_name *name = t->v[i].name;

		if (name->hash == hash && name->n == path.n && memcmp(name->s, path.p, path.n) == 0)
			return i;
	}
	return t->n;
}

static void table_put(struct sim_media *m, struct sim_table *t, struct sim_name *name, size_t file)
{
	size_t i = table_find(t, (struct str){name->s, name->n});

	link_file(m, file);
	if (i < t->n) {
		unlink_file(m, t->v[i].file);
		t->v[i].file = file;
		return;
	}
	t->v = grow(t->v, t->n, &t->cap, sizeof(*t->v));
	t->v[t->n++] = (struct sim_entry){name_hold(name), file};
}

static void table_remove(struct sim_media *m, struct sim_table *t, const struct sim_name *name)
{
	size_t i = table_find(t, (struct str){name->s, name->n});
	struct sim_entry gone;

	if (i == t->n)
		return;
	gone = t->v[i];
	t->v[i] = t->v[--t->n];
	unlink_file(m, gone.file);
	name_drop(gone.name);
}

static void table_clear(struct sim_media *m, struct sim_table *t)
{
	for (size_t i = 0; i < t->n; i++) {
		unlink_file(m, t->v[i].file);
		name_drop(t->v[i].name);
	}
	t->n = 0;
}

static void table_copy(struct sim_media *m, struct sim_table *to, const struct sim_table *from)
{
	*to = (struct sim_table){.cap = from->n, .n = from->n};
	if (!to->n)
		return;
	to->v = xmalloc(to->n * sizeof(*to->v));
	memcpy(to->v, from->v, to->n * sizeof(*to->v));
	for (size_t i = 0; i < to->n; i++) {
		(void)name_hold(to->v[i].name);
		link_file(m, to->v[i].file);
	}
}

/* ---- changes of names ---- */

/* The system writes names back by itself after a while. */
enum { CHANGES_MAX = 64 };

struct str sim_media_name(const struct sim_entry *e)
{
	return (struct str){e->name->s, e->name->n};
}

size_t sim_media_find(const struct sim_media *m, const char *path)
{
	size_t i = table_find(&m->now, str_of(path));

	return i < m->now.n ? m->now.v[i].file : SIM_NO_FILE;
}

bool sim_media_is_directory(const struct sim_media *m, struct str path)
{
	return !path.n || str_is(path, "/") || str_is(path, ".") ||
	       table_find(&m->directories, path) < m->directories.n;
}

void sim_media_make_directory(struct sim_media *m, struct str path)
{
	for (size_t end = 1; end <= path.n; end++) {
		struct str part = str_sub(path, 0, end);

		if ((end == path.n || path.p[end] == '/') && !sim_media_is_directory(m, part))
			table_put(m, &m->directories, name_new(part), SIM_NO_FILE);
	}
}

static void apply(struct sim_media *m, struct sim_table *t, const struct sim_change *c)
{
	if (c->to || c->file == SIM_NO_FILE)
		table_remove(m, t, c->name);
	if (c->file != SIM_NO_FILE)
		table_put(m, t, c->to ? c->to : c->name, c->file);
	if (c->other != SIM_NO_FILE)
		table_put(m, t, c->name, c->other);
}

static void drop_change(struct sim_media *m, const struct sim_change *c)
{
	unlink_file(m, c->file);
	unlink_file(m, c->other);
	name_drop(c->name);
	name_drop(c->to);
}

static bool is_in(const struct sim_name *name, struct str dir)
{
	return name && str_eq(path_dir(name->s), dir);
}

/* Makes durable: what is in `dir`; without one, what is of `path`; without either, the oldest. */
static void settle(struct sim_media *m, const struct str *dir, const char *path)
{
	size_t durable = 0;

	for (size_t i = 0; i < m->n_changes; i++) {
		struct sim_change c = m->changes[i];
		bool now = dir    ? is_in(c.name, *dir) || is_in(c.to, *dir)
			   : path ? strcmp(c.name->s, path) == 0 ||
					    (c.to && strcmp(c.to->s, path) == 0)
				  : i == 0;

		if (!now) {
			m->changes[durable++] = c;
			continue;
		}
		apply(m, &m->durable, &c);
		drop_change(m, &c);
	}
	m->n_changes = durable;
}

static struct sim_name *name_at(struct sim_media *m, const char *path)
{
	size_t i = table_find(&m->now, str_of(path));

	return i < m->now.n ? m->now.v[i].name : name_new(str_of(path));
}

static void change(
	struct sim_media *m, struct sim_name *name, struct sim_name *to, size_t file, size_t other)
{
	struct sim_change c = {name_hold(name), name_hold(to), file, other};

	link_file(m, file);
	link_file(m, other);
	apply(m, &m->now, &c);
	if (m->n_changes == CHANGES_MAX)
		settle(m, NULL, NULL);
	m->changes = grow(m->changes, m->n_changes, &m->cap_changes, sizeof(*m->changes));
	m->changes[m->n_changes++] = c;
}

size_t sim_media_make(struct sim_media *m, const char *path)
{
	size_t file = new_file(m);

	change(m, name_at(m, path), NULL, file, SIM_NO_FILE);
	return file;
}

void sim_media_remove(struct sim_media *m, const char *path)
{
	if (sim_media_find(m, path) != SIM_NO_FILE)
		change(m, name_at(m, path), NULL, SIM_NO_FILE, SIM_NO_FILE);
}

void sim_media_rename(struct sim_media *m, const char *from, const char *to)
{
	size_t file = sim_media_find(m, from);

	if (file != SIM_NO_FILE && strcmp(from, to) != 0)
		change(m, name_at(m, from), name_at(m, to), file, SIM_NO_FILE);
}

void sim_media_exchange(struct sim_media *m, const char *from, const char *to)
{
	change(m, name_at(m, from), name_at(m, to), sim_media_find(m, from), sim_media_find(m, to));
}

void sim_media_sync_directory(struct sim_media *m, struct str dir)
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

static void clear_changes(struct sim_media *m)
{
	for (size_t i = 0; i < m->n_changes; i++)
		drop_change(m, &m->changes[i]);
	m->n_changes = 0;
}

static void copy_changes(struct sim_media *to, const struct sim_media *from)
{
	to->n_changes = to->cap_changes = from->n_changes;
	to->changes = xmalloc(to->n_changes * sizeof(*to->changes));
	for (size_t i = 0; i < to->n_changes; i++) {
		to->changes[i] = from->changes[i];
		(void)name_hold(to->changes[i].name);
		(void)name_hold(to->changes[i].to);
		link_file(to, to->changes[i].file);
		link_file(to, to->changes[i].other);
	}
}

static void lose_names(struct sim_media *m)
{
	size_t first = sim_media_random(m, m->n_changes + 1);

	for (size_t i = 0; i < m->n_changes; i++)
		if (m->unordered ? sim_media_random(m, 2) : i < first)
			apply(m, &m->durable, &m->changes[i]);
	clear_changes(m);
	table_clear(m, &m->now);
	for (size_t i = 0; i < m->durable.n; i++)
		table_put(m, &m->now, m->durable.v[i].name, m->durable.v[i].file);
}

static int by_name(const void *a, const void *b)
{
	const struct sim_entry *x = a, *y = b;

	return strcmp(x->name->s, y->name->s);
}

void sim_media_list(const struct sim_media *m, struct buf *out)
{
	CLEANUP(base_free) struct sim_entry *all = xmalloc(m->now.n * sizeof(*all));

	if (m->now.n)
		memcpy(all, m->now.v, m->now.n * sizeof(*all));
	qsort(all, m->now.n, sizeof(*all), by_name);
	for (size_t i = 0; i < m->now.n; i++) {
		buf_add(out, sim_media_name(&all[i]));
		buf_addc(out, '\n');
	}
}

/* ---- the media ---- */

void sim_media_copy(struct sim_media *to, const struct sim_media *from)
{
	*to = (struct sim_media){.random = from->random,
		.unordered = from->unordered,
		.n_files = from->n_files,
		.cap_files = from->n_files};
	to->files = xmalloc(to->n_files * sizeof(*to->files));
	for (size_t i = 0; i < to->n_files; i++) {
		const struct sim_file *f = &from->files[i];

		to->files[i] = (struct sim_file){
			.same = f->same, .unsafe = f->unsafe, .unsafe_to = f->unsafe_to};
		if (!f->links)
			continue;
		to->files[i].now = bytes_share(&f->now);
		to->files[i].durable = bytes_share(&f->durable);
	}
	table_copy(to, &to->now, &from->now);
	table_copy(to, &to->durable, &from->durable);
	table_copy(to, &to->directories, &from->directories);
	copy_changes(to, from);
}

void sim_media_release(struct sim_media *m)
{
	clear_changes(m);
	table_clear(m, &m->now);
	table_clear(m, &m->durable);
	table_clear(m, &m->directories);
	for (size_t i = 0; i < m->n_files; i++) {
		bytes_drop(&m->files[i].now);
		bytes_drop(&m->files[i].durable);
	}
	free(m->now.v);
	free(m->durable.v);
	free(m->directories.v);
	free(m->changes);
	free(m->files);
	*m = (struct sim_media){0};
}

void sim_media_restart(struct sim_media *m, bool power)
{
	for (size_t i = 0; i < m->n_files; i++) {
		m->files[i].opens = 0;
		put_down(m, i);
	}
	if (!power)
		return;
	if (m->n_changes)
		lose_names(m);
	for (size_t i = 0; i < m->n_files; i++) {
		if (!m->files[i].links)
			continue;
		lose_bytes(m, &m->files[i]);
		sim_media_sync(m, i);
	}
}
