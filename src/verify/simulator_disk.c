#include "src/verify/simulator.h"

/* A path, and the file there if `exists`. An open handle is the same object. */
struct memory_file {
	struct disk_file base;
	const char *path;
	struct buf text;
	bool exists;
	unsigned handles; /* that are open */
	struct memory_file *next;
};

struct memory_disk {
	struct disk base;
	struct arena arena; /* of the files, without their texts */
	struct memory_file *files;
};

static struct memory_file *find_path(const struct disk *d, const char *path)
{
	struct memory_file *f = ((const struct memory_disk *)d)->files;

	while (f && strcmp(f->path, path) != 0)
		f = f->next;
	return f;
}

static struct memory_file *simulator_disk_find_file(const struct disk *d, const char *path)
{
	struct memory_file *f = find_path(d, path);

	return f && f->exists ? f : NULL;
}

/* An object of a file that was removed; NULL: there is none. */
static struct memory_file *find_unused(const struct memory_disk *m)
{
	struct memory_file *f = m->files;

	while (f && (f->exists || f->handles))
		f = f->next;
	return f;
}

/* The file, which is made when there is none. */
static struct memory_file *make_file(struct disk *d, const char *path)
{
	struct memory_disk *m = (struct memory_disk *)d;
	struct memory_file *f = find_path(d, path);

	if (!f && !(f = find_unused(m))) {
		f = arena_alloc(&m->arena, sizeof(*f));
		*f = (struct memory_file){.base = {d->ops}, .next = m->files};
		m->files = f;
	}
	if (!f->path || strcmp(f->path, path) != 0)
		f->path = arena_dup(&m->arena, str_of(path));
	f->exists = true;
	return f;
}

static struct buf *simulator_disk_text_of(struct disk_file *f)
{
	return &((struct memory_file *)f)->text;
}

static int no_such_file(struct error *err, const char *what, const char *path)
{
	return error_set(err, ERR_SYSTEM, "cannot %s '%s': there is none", what, path);
}

/* ---- the operations ---- */

static int memory_read(struct disk *d, const char *path, size_t max, struct buf *out, bool *missing,
	struct error *err)
{
	const struct memory_file *f = simulator_disk_find_file(d, path);

	*missing = !f;
	if (!f)
		return no_such_file(err, "open", path);
	if (f->text.len > max)
		return error_set(err, ERR_INPUT, "'%s' is larger than %zu bytes", path, max);
	buf_add(out, buf_str(&f->text));
	return 0;
}

static int memory_write(
	struct disk *d, const char *path, const char *like, struct str text, struct error *err)
{
	(void)like, (void)err;
	simulator_disk_put(d, path, text);
	return 0;
}

static int memory_rename(struct disk *d, const char *from, const char *to, struct error *err)
{
	struct memory_file *f = simulator_disk_find_file(d, from), *replaced;
	const char *path;

	if (!f)
		return no_such_file(err, "rename", from);
	replaced = make_file(d, to);
	simulator_disk_remove(d, to);
	path = f->path;
	f->path = replaced->path;
	replaced->path = path;
	return 0;
}

static int memory_unlink(struct disk *d, const char *path, struct error *err)
{
	(void)err;
	simulator_disk_remove(d, path);
	return 0;
}

static int memory_exists(struct disk *d, const char *path, bool *there, struct error *err)
{
	(void)err;
	*there = simulator_disk_find_file(d, path) != NULL;
	return 0;
}

static int directory_is_good(struct disk *d, const char *dir, struct error *err)
{
	(void)d, (void)dir, (void)err;
	return 0;
}

static int memory_open(struct disk *d, const char *path, bool make, bool *made,
	struct disk_file **out, struct error *err)
{
	bool there = simulator_disk_find_file(d, path) != NULL;
	struct memory_file *f;

	if (made)
		*made = !there && make;
	if (!there && !make)
		return no_such_file(err, "open", path);
	f = make_file(d, path);
	f->handles++;
	*out = &f->base;
	return 0;
}

static int memory_size(struct disk_file *f, int64_t *size, struct error *err)
{
	(void)err;
	*size = (int64_t)simulator_disk_text_of(f)->len;
	return 0;
}

static int memory_pread(
	struct disk_file *f, int64_t at, size_t n, struct buf *out, struct error *err)
{
	struct str text = buf_str(simulator_disk_text_of(f));

	if ((size_t)at > text.n || n > text.n - (size_t)at)
		return error_set(err, ERR_SYSTEM, "cannot read: the file is shorter than expected");
	buf_add(out, str_sub(text, (size_t)at, (size_t)at + n));
	return 0;
}

static int memory_append(struct disk_file *f, struct str text, struct error *err)
{
	(void)err;
	buf_add(simulator_disk_text_of(f), text);
	return 0;
}

static int memory_truncate(struct disk_file *f, int64_t size, struct error *err)
{
	(void)err;
	buf_cut(simulator_disk_text_of(f), (size_t)size);
	return 0;
}

static int memory_sync(struct disk_file *f, struct error *err)
{
	(void)f, (void)err;
	return 0;
}

static int memory_rewrite(struct disk_file *f, int64_t at, struct error *err)
{
	(void)f, (void)at, (void)err;
	return 0;
}

static void memory_close(struct disk_file *f)
{
	((struct memory_file *)f)->handles--;
}

/* The disk has one user: there is nothing to lock. */
static int memory_lock(struct disk *d, const char *path, unsigned wait_ms, struct disk_lock **out,
	struct error *err)
{
	(void)d, (void)path, (void)wait_ms, (void)err;
	*out = NULL;
	return 0;
}

static const struct disk_ops memory_ops = {
	.read = memory_read,
	.write = memory_write,
	.rename = memory_rename,
	.exchange = memory_rename,
	.unlink = memory_unlink,
	.exists = memory_exists,
	.sync_directory = directory_is_good,
	.mkdirs = directory_is_good,
	.trusted = directory_is_good,
	.open = memory_open,
	.size = memory_size,
	.pread = memory_pread,
	.append = memory_append,
	.truncate = memory_truncate,
	.rewrite = memory_rewrite,
	.sync = memory_sync,
	.close = memory_close,
	.lock = memory_lock,
};

/* ---- the disk ---- */

struct disk *simulator_disk_new(void)
{
	struct memory_disk *m = xmalloc(sizeof(*m));

	*m = (struct memory_disk){.base = {.ops = &memory_ops}};
	return &m->base;
}

void simulator_disk_free(struct disk **d)
{
	struct memory_disk *m = (struct memory_disk *)*d;

	if (!m)
		return;
	for (struct memory_file *f = m->files; f; f = f->next)
		buf_release(&f->text);
	arena_release(&m->arena);
	free(m);
	*d = NULL;
}

struct disk *simulator_disk_copy(const struct disk *d)
{
	const struct memory_file *f = ((const struct memory_disk *)d)->files;
	struct disk *copy = simulator_disk_new();

	for (; f; f = f->next)
		if (f->exists)
			simulator_disk_put(copy, f->path, buf_str(&f->text));
	return copy;
}

struct buf *simulator_disk_text(struct disk *d, const char *path)
{
	struct memory_file *f = simulator_disk_find_file(d, path);

	return f ? &f->text : NULL;
}

void simulator_disk_put(struct disk *d, const char *path, struct str text)
{
	struct memory_file *f = make_file(d, path);

	buf_clear(&f->text);
	buf_add(&f->text, text);
}

void simulator_disk_remove(struct disk *d, const char *path)
{
	struct memory_file *f = simulator_disk_find_file(d, path);

	if (!f)
		return;
	f->exists = false;
	buf_clear(&f->text);
}
