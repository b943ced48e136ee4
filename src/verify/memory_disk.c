#include <errno.h>
#include "src/base/vec.h"
#include "src/verify/memory_disk.h"

/* A file. Its name, if it has one, and its open handles count as references. */
struct memory_file {
	unsigned refs;
	struct buf text;
};

struct memory_name {
	char *path;
	struct memory_file *file;
};

struct memory_disk {
	struct disk base;
	VEC(struct memory_name) names;
};

struct memory_handle {
	struct disk_file base;
	struct memory_file *file;
};

static struct memory_disk *memory_of(struct disk *d)
{
	return (struct memory_disk *)d;
}

static struct memory_handle *handle_of(struct disk_file *f)
{
	return (struct memory_handle *)f;
}

static struct memory_file *file_new(void)
{
	struct memory_file *f = xmalloc(sizeof(*f));

	*f = (struct memory_file){0};
	return f;
}

static void file_drop(struct memory_file *f)
{
	if (--f->refs)
		return;
	buf_release(&f->text);
	free(f);
}

static struct memory_name *find(const struct disk *d, const char *path)
{
	const struct memory_disk *m = (const struct memory_disk *)d;

	for (size_t i = 0; i < m->names.n; i++)
		if (strcmp(m->names.items[i].path, path) == 0)
			return &m->names.items[i];
	return NULL;
}

/* Makes `path` the name of `file`, in place of the one that had it. */
static void set_name(struct disk *d, const char *path, struct memory_file *file)
{
	struct memory_name *name = find(d, path);
	char *copy;

	file->refs++;
	if (name) {
		file_drop(name->file);
		name->file = file;
		return;
	}
	copy = strdup(path);
	if (!copy)
		base_oom();
	vec_push(&memory_of(d)->names, (struct memory_name){copy, file});
}

static void remove_name(struct disk *d, struct memory_name *name)
{
	file_drop(name->file);
	free(name->path);
	vec_remove(&memory_of(d)->names, (size_t)(name - memory_of(d)->names.items));
}

static int no_such_file(struct error *err, const char *what, const char *path)
{
	errno = ENOENT;
	return error_errno(err, "cannot %s '%s'", what, path);
}

static int memory_read(struct disk *d, const char *path, size_t max, struct buf *out, bool *missing,
	struct error *err)
{
	const struct memory_name *name = find(d, path);

	*missing = !name;
	if (!name)
		return no_such_file(err, "open", path);
	if (name->file->text.len > max)
		return error_set(err, ERR_INPUT, "'%s' is larger than %zu bytes", path, max);
	buf_add(out, buf_str(&name->file->text));
	return 0;
}

static int memory_write(
	struct disk *d, const char *path, const char *like, struct str text, struct error *err)
{
	(void)like, (void)err;
	memory_disk_put(d, path, text);
	return 0;
}

static int memory_create(
	struct disk *d, const char *path, struct str text, bool *taken, struct error *err)
{
	*taken = find(d, path) != NULL;
	errno = EEXIST;
	return *taken ? error_errno(err, "cannot write '%s'", path)
		      : memory_write(d, path, NULL, text, err);
}

static int memory_rename(struct disk *d, const char *from, const char *to, struct error *err)
{
	struct memory_name *name = find(d, from);

	if (!name)
		return no_such_file(err, "rename", from);
	set_name(d, to, name->file);
	memory_disk_remove(d, from);
	return 0;
}

static int memory_unlink(struct disk *d, const char *path, struct error *err)
{
	(void)err;
	memory_disk_remove(d, path);
	return 0;
}

static int memory_exists(struct disk *d, const char *path, bool *there, struct error *err)
{
	(void)err;
	*there = find(d, path) != NULL;
	return 0;
}

/* For sync_folder(), mkdirs() and trusted(). */
static int directory_is_good(struct disk *d, const char *dir, struct error *err)
{
	(void)d, (void)dir, (void)err;
	return 0;
}

static int memory_open(struct disk *d, const char *path, bool make, bool *made,
	struct disk_file **out, struct error *err)
{
	struct memory_name *name = find(d, path);
	struct memory_handle *h;

	*out = NULL;
	if (made)
		*made = !name && make;
	if (!name && !make)
		return no_such_file(err, "open", path);
	if (!name)
		set_name(d, path, file_new());
	h = xmalloc(sizeof(*h));
	*h = (struct memory_handle){{d->ops}, find(d, path)->file};
	h->file->refs++;
	*out = &h->base;
	return 0;
}

static int memory_size(struct disk_file *f, int64_t *size, struct error *err)
{
	(void)err;
	*size = (int64_t)handle_of(f)->file->text.len;
	return 0;
}

static int memory_pread(
	struct disk_file *f, int64_t at, size_t n, struct buf *out, struct error *err)
{
	struct str text = buf_str(&handle_of(f)->file->text);

	if ((size_t)at > text.n || n > text.n - (size_t)at)
		return error_set(err, ERR_SYSTEM, "cannot read: the file is shorter than expected");
	buf_add(out, str_sub(text, (size_t)at, (size_t)at + n));
	return 0;
}

static int memory_append(struct disk_file *f, struct str text, struct error *err)
{
	(void)err;
	buf_add(&handle_of(f)->file->text, text);
	return 0;
}

static int memory_truncate(struct disk_file *f, int64_t size, struct error *err)
{
	(void)err;
	buf_cut(&handle_of(f)->file->text, (size_t)size);
	return 0;
}

static int memory_sync(struct disk_file *f, struct error *err)
{
	(void)f, (void)err;
	return 0;
}

static void memory_close(struct disk_file *f)
{
	file_drop(handle_of(f)->file);
	free(f);
}

static int memory_lock(struct disk *d, const char *path, unsigned wait_ms, struct disk_lock **out,
	struct error *err)
{
	(void)path, (void)wait_ms, (void)err;
	*out = xmalloc(sizeof(**out));
	(*out)->ops = d->ops;
	return 0;
}

static void memory_lock_note(struct disk_lock *l, const char *what)
{
	(void)l, (void)what;
}

static void memory_unlock(struct disk_lock *l)
{
	free(l);
}

static const struct disk_ops memory_ops = {
	.read = memory_read,
	.write = memory_write,
	.create = memory_create,
	.rename = memory_rename,
	.unlink = memory_unlink,
	.exists = memory_exists,
	.sync_folder = directory_is_good,
	.mkdirs = directory_is_good,
	.trusted = directory_is_good,
	.open = memory_open,
	.size = memory_size,
	.pread = memory_pread,
	.append = memory_append,
	.truncate = memory_truncate,
	.sync = memory_sync,
	.close = memory_close,
	.lock = memory_lock,
	.lock_note = memory_lock_note,
	.unlock = memory_unlock,
};

struct disk *memory_disk_new(void)
{
	struct memory_disk *m = xmalloc(sizeof(*m));

	*m = (struct memory_disk){.base = {&memory_ops}};
	return &m->base;
}

void memory_disk_free(struct disk **d)
{
	struct memory_disk *m = memory_of(*d);

	if (!m)
		return;
	while (m->names.n)
		remove_name(*d, &m->names.items[m->names.n - 1]);
	vec_release(&m->names);
	free(m);
	*d = NULL;
}

struct disk *memory_disk_copy(const struct disk *d)
{
	const struct memory_disk *from = (const struct memory_disk *)d;
	struct disk *copy = memory_disk_new();

	for (size_t i = 0; i < from->names.n; i++)
		memory_disk_put(
			copy, from->names.items[i].path, buf_str(&from->names.items[i].file->text));
	return copy;
}

void memory_disk_put(struct disk *d, const char *path, struct str text)
{
	struct memory_file *file = file_new();

	buf_add(&file->text, text);
	set_name(d, path, file);
}

bool memory_disk_get(const struct disk *d, const char *path, struct buf *out)
{
	const struct memory_name *name = find(d, path);

	if (name)
		buf_add(out, buf_str(&name->file->text));
	return name != NULL;
}

void memory_disk_remove(struct disk *d, const char *path)
{
	struct memory_name *name = find(d, path);

	if (name)
		remove_name(d, name);
}
