#include <errno.h>
#include "src/sys/path.h"
#include "src/verify/simulator.h"
#include "tests/model/sim_disk.h"
#include "tests/model/sim_media.h"

struct sim_lock;

/* The lock file, and whether the last holder has settled it. After a power cut it may be any state
 * that it was in before. */
struct sim_settled {
	char path[120];
	bool is;
};

struct sim_disk {
	struct disk base;
	struct sim_media media;
	unsigned calls, left; /* to the call that meets `fault`; 0: none will */
	enum sim_fault fault;
	unsigned reads, reads_left; /* to the one that fails; 0: none will */
	bool stopped;
	unsigned runs; /* of the machine: handles of an earlier one only fail */
	struct sim_lock *locks;
	struct sim_settled settled[8];
};

static inline struct sim_disk *sim_of(struct disk *d)
{
	return (struct sim_disk *)d;
}

/* ---- what becomes of a call ---- */

/* What becomes of a call. */
struct call_fate {
	enum { DONE_NOT, DONE_HALF, DONE } done;
	int error; /* 0: it succeeds */
};

static struct call_fate inject(struct sim_disk *d, bool writes)
{
	enum sim_fault fault = d->fault;

	d->fault = SIM_NONE;
	d->stopped = fault >= SIM_STOP;
	switch (fault) {
	case SIM_ENOSPC:
		return (struct call_fate){writes ? DONE_HALF : DONE_NOT, ENOSPC};
	case SIM_HALF:
	case SIM_STOP_HALF:
		return (struct call_fate){DONE_HALF, EIO};
	case SIM_STOP_AFTER:
		return (struct call_fate){DONE, EIO};
	case SIM_NONE:
		return (struct call_fate){DONE, 0};
	default:
		return (struct call_fate){DONE_NOT, EIO};
	}
}

static struct call_fate count(struct sim_disk *d, bool writes)
{
	if (d->stopped)
		return (struct call_fate){DONE_NOT, EIO};
	d->calls++;
	if (d->left && --d->left == 0)
		return inject(d, writes);
	return (struct call_fate){DONE, 0};
}

static bool change_done(struct sim_disk *d, int *error)
{
	struct call_fate fate = count(d, false);

	*error = errno = fate.error;
	return fate.done == DONE || (fate.done == DONE_HALF && sim_media_random(&d->media, 2));
}

static size_t bytes_done(struct sim_disk *d, size_t n, int *error)
{
	struct call_fate fate = count(d, true);

	*error = errno = fate.error;
	return fate.done == DONE        ? n
	       : fate.done == DONE_HALF ? sim_media_random(&d->media, n + 1)
					: 0;
}

static bool is_up(const struct sim_disk *d)
{
	errno = EIO;
	return !d->stopped;
}

static bool may_read(struct sim_disk *d)
{
	errno = EIO;
	if (d->stopped)
		return false;
	d->reads++;
	return !d->reads_left || --d->reads_left > 0;
}

static struct str directory_name(const char *dir)
{
	struct str name = str_of(dir);

	while (name.n > 1 && name.p[name.n - 1] == '/')
		name.n--;
	return name;
}

static int not_regular(const char *path, struct error *err)
{
	return error_set(err, ERR_INPUT, "'%s' is not a regular file", path);
}

static int remove_name(struct sim_disk *d, const char *path)
{
	int error;

	if (change_done(d, &error))
		sim_media_remove(&d->media, path);
	return error ? -1 : 0;
}

static size_t make_file(struct sim_disk *d, const char *path)
{
	size_t file = SIM_NO_FILE;
	int error;

	errno = ENOENT;
	if (!sim_media_is_directory(&d->media, path_dir(path)))
		return SIM_NO_FILE;
	errno = EISDIR;
	if (sim_media_is_directory(&d->media, directory_name(path)))
		return SIM_NO_FILE;
	if (change_done(d, &error))
		file = sim_media_make(&d->media, path);
	return error ? SIM_NO_FILE : file;
}

static int add_bytes(struct sim_disk *d, size_t file, struct str text)
{
	int error;

	text.n = bytes_done(d, text.n, &error);
	sim_media_append(&d->media, file, text);
	return error ? -1 : 0;
}

static int sync_bytes(struct sim_disk *d, size_t file)
{
	int error;

	if (change_done(d, &error))
		sim_media_sync(&d->media, file);
	else if (!d->stopped)
		sim_media_sync_failed(&d->media, file);
	return error ? -1 : 0;
}

/* ---- paths ---- */

static int sim_read(struct disk *d, const char *path, size_t max, struct buf *out, bool *missing,
	struct error *err)
{
	struct sim_media *m = &sim_of(d)->media;
	size_t file = sim_media_find(m, path);
	struct str text;

	*missing = false;
	if (!may_read(sim_of(d)))
		return error_errno(err, "cannot open '%s'", path);
	if (file == SIM_NO_FILE && sim_media_is_directory(m, directory_name(path)))
		return not_regular(path, err);
	if (file == SIM_NO_FILE) {
		*missing = true;
		errno = ENOENT;
		return error_errno(err, "cannot open '%s'", path);
	}
	text = sim_bytes_str(&m->files[file].now);
	if (text.n > max)
		return error_set(err, ERR_INPUT, "'%s' is larger than %zu bytes", path, max);
	buf_add(out, text);
	return 0;
}

static int fill(struct sim_disk *d, const char *path, struct str text, struct error *err)
{
	size_t file = make_file(d, path);

	if (file != SIM_NO_FILE && (!text.n || add_bytes(d, file, text) == 0) &&
		sync_bytes(d, file) == 0)
		return 0;
	error_errno(err, "cannot write '%s'", path);
	if (file != SIM_NO_FILE)
		(void)remove_name(d, path);
	return -1;
}

static int sim_write(
	struct disk *d, const char *path, const char *like, struct str text, struct error *err)
{
	(void)like;
	if (sim_media_find(&sim_of(d)->media, path) != SIM_NO_FILE &&
		remove_name(sim_of(d), path) < 0)
		return error_errno(err, "cannot write '%s'", path);
	return fill(sim_of(d), path, text, err);
}

static int replace(
	struct disk *d, const char *from, const char *to, bool exchange, struct error *err)
{
	struct sim_media *m = &sim_of(d)->media;
	int error = ENOENT;

	if (sim_media_find(m, from) != SIM_NO_FILE && sim_media_is_directory(m, path_dir(to)) &&
		change_done(sim_of(d), &error)) {
		if (exchange && sim_media_find(m, to) != SIM_NO_FILE)
			sim_media_exchange(m, from, to);
		else
			sim_media_rename(m, from, to);
	}
	errno = error;
	return error ? error_errno(err, "cannot replace '%s'", to) : 0;
}

static int sim_rename(struct disk *d, const char *from, const char *to, struct error *err)
{
	return replace(d, from, to, false, err);
}

static int sim_exchange(struct disk *d, const char *from, const char *to, struct error *err)
{
	return replace(d, from, to, true, err);
}

static int sim_unlink(struct disk *d, const char *path, struct error *err)
{
	if (is_up(sim_of(d)) && sim_media_find(&sim_of(d)->media, path) == SIM_NO_FILE)
		return 0;
	return remove_name(sim_of(d), path) < 0 ? error_errno(err, "cannot remove '%s'", path) : 0;
}

static int sim_exists(struct disk *d, const char *path, bool *there, struct error *err)
{
	const struct sim_media *m = &sim_of(d)->media;

	*there = false;
	if (!may_read(sim_of(d)))
		return error_errno(err, "cannot look for '%s'", path);
	*there = sim_media_find(m, path) != SIM_NO_FILE ||
		 sim_media_is_directory(m, directory_name(path));
	return 0;
}

static int sim_sync_directory(struct disk *d, const char *dir, struct error *err)
{
	struct sim_media *m = &sim_of(d)->media;
	struct str name = directory_name(dir);
	int error = ENOENT;

	if (sim_media_is_directory(m, name) && change_done(sim_of(d), &error))
		sim_media_sync_directory(m, name);
	errno = error;
	return error ? error_errno(err, "cannot sync directory '%s'", dir) : 0;
}

/* A file in the place of one of the directorys. */
static bool runs_into_file(const struct sim_media *m, struct str dir)
{
	for (size_t i = 0; i < m->now.n; i++) {
		struct str path = sim_media_name(&m->now.v[i]);

		if (path.n <= dir.n && memcmp(path.p, dir.p, path.n) == 0 &&
			(path.n == dir.n || dir.p[path.n] == '/'))
			return true;
	}
	return false;
}

static int sim_mkdirs(struct disk *d, const char *dir, struct error *err)
{
	struct sim_media *m = &sim_of(d)->media;
	struct str name = directory_name(dir);
	int error = ENOTDIR;

	if (is_up(sim_of(d)) && sim_media_is_directory(m, name))
		return 0;
	if (!runs_into_file(m, name) && change_done(sim_of(d), &error))
		sim_media_make_directory(m, name);
	errno = error;
	return error ? error_errno(err, "cannot create directory '%s'", dir) : 0;
}

/* ---- open files and locks ---- */

struct sim_handle {
	struct disk_file base;
	struct sim_disk *d;
	size_t file;
	unsigned run;
	bool writes;
	char path[];
};

struct sim_lock {
	struct disk_lock base;
	struct sim_disk *d;
	struct sim_lock *next;
	bool settled;
	char note[64];
	char path[];
};

static int sim_open(struct disk *d, const char *path, bool make, bool *made, struct disk_file **out,
	struct error *err)
{
	struct sim_media *m = &sim_of(d)->media;
	size_t file = sim_media_find(m, path), n = strlen(path) + 1;
	struct sim_handle *f;
	bool is_new = file == SIM_NO_FILE && make;

	*out = NULL;
	if (made)
		*made = false;
	if (!may_read(sim_of(d)))
		return error_errno(err, "cannot open '%s'", path);
	if (file == SIM_NO_FILE && sim_media_is_directory(m, directory_name(path)))
		return not_regular(path, err);
	errno = ENOENT;
	if (is_new)
		file = make_file(sim_of(d), path);
	if (file == SIM_NO_FILE)
		return error_errno(err, "cannot open '%s'", path);
	if (made)
		*made = is_new;
	sim_media_open(m, file);
	f = xmalloc(sizeof(*f) + n);
	*f = (struct sim_handle){{d->ops}, sim_of(d), file, sim_of(d)->runs, make};
	memcpy(f->path, path, n);
	*out = &f->base;
	return 0;
}

static struct sim_handle *handle(struct disk_file *f)
{
	return (struct sim_handle *)f;
}

static bool is_live(const struct sim_handle *f)
{
	errno = EIO;
	return f->run == f->d->runs && !f->d->stopped;
}

static bool may_read_file(const struct sim_handle *f)
{
	return is_live(f) && may_read(f->d);
}

static bool is_writable(const struct sim_handle *f)
{
	errno = EBADF;
	return f->writes && is_live(f);
}

static struct str bytes_of(const struct sim_handle *f)
{
	return sim_bytes_str(&f->d->media.files[f->file].now);
}

static int sim_size(struct disk_file *f, int64_t *size, struct error *err)
{
	if (!may_read_file(handle(f)))
		return error_errno(err, "cannot read '%s'", handle(f)->path);
	*size = (int64_t)bytes_of(handle(f)).n;
	return 0;
}

static int sim_pread(struct disk_file *f, int64_t at, size_t n, struct buf *out, struct error *err)
{
	struct str text;

	if (!may_read_file(handle(f)))
		return error_errno(err, "cannot read '%s'", handle(f)->path);
	text = bytes_of(handle(f));
	if (at < 0 || (uint64_t)at > text.n || text.n - (size_t)at < n)
		return error_set(
			err, ERR_SYSTEM, "cannot read '%s': it ends too early", handle(f)->path);
	buf_add(out, str_sub(text, (size_t)at, (size_t)at + n));
	return 0;
}

static int sim_append(struct disk_file *f, struct str text, struct error *err)
{
	struct sim_handle *h = handle(f);

	if (!text.n || (is_writable(h) && add_bytes(h->d, h->file, text) == 0))
		return 0;
	return error_errno(err, "cannot write '%s'", h->path);
}

static int sim_truncate(struct disk_file *f, int64_t size, struct error *err)
{
	struct sim_handle *h = handle(f);
	int error = h->writes ? EIO : EBADF;

	if (is_writable(h) && change_done(h->d, &error))
		sim_media_cut(&h->d->media, h->file, (size_t)size);
	errno = error;
	return error ? error_errno(err, "cannot cut '%s'", h->path) : 0;
}

static int sim_rewrite(struct disk_file *f, int64_t at, struct error *err)
{
	struct sim_handle *h = handle(f);
	int error = h->writes ? EIO : EBADF;

	if (is_writable(h) && change_done(h->d, &error))
		sim_media_rewrite(&h->d->media, h->file, (size_t)at);
	errno = error;
	return error ? error_errno(err, "cannot write '%s'", h->path) : 0;
}

static int sim_sync(struct disk_file *f, struct error *err)
{
	struct sim_handle *h = handle(f);

	if (is_live(h) && sync_bytes(h->d, h->file) == 0)
		return 0;
	return error_errno(err, "cannot write '%s'", h->path);
}

static void sim_close(struct disk_file *f)
{
	struct sim_handle *h = handle(f);

	if (h->run == h->d->runs)
		sim_media_close(&h->d->media, h->file);
	free(h);
}

/* Of the lock file; NULL: it was never settled, or there is no room. `make`: takes a free one. */
static struct sim_settled *settled_at(struct sim_disk *d, const char *path, bool make)
{
	for (size_t i = 0; i < COUNT(d->settled); i++) {
		struct sim_settled *s = &d->settled[i];

		if (make && !s->path[0] && strlen(path) < sizeof(s->path))
			memcpy(s->path, path, strlen(path) + 1);
		if (strcmp(s->path, path) == 0)
			return s;
	}
	return NULL;
}

static bool sim_settled(struct disk_lock *l)
{
	return ((struct sim_lock *)l)->settled;
}

static void sim_settle(struct disk_lock *l)
{
	struct sim_lock *lock = (struct sim_lock *)l;
	struct sim_settled *s = is_up(lock->d) ? settled_at(lock->d, lock->path, true) : NULL;

	if (s)
		s->is = true;
}

static int sim_lock(struct disk *d, const char *path, unsigned wait_ms, struct disk_lock **out,
	struct error *err)
{
	size_t n = strlen(path) + 1;
	struct sim_settled *s = settled_at(sim_of(d), path, false);
	struct sim_lock *l;

	(void)wait_ms;
	*out = NULL;
	if (is_up(sim_of(d)))
		errno = ENOENT;
	if (sim_of(d)->stopped || !sim_media_is_directory(&sim_of(d)->media, path_dir(path)))
		return error_errno(err, "cannot open lock file '%s'", path);
	for (l = sim_of(d)->locks; l; l = l->next)
		if (strcmp(l->path, path) == 0)
			return error_set(err, ERR_STATE, "'%s' is locked by another process%s%s%s",
				path, l->note[0] ? " (" : "", l->note, l->note[0] ? ")" : "");
	l = xmalloc(sizeof(*l) + n);
	*l = (struct sim_lock){{d->ops}, sim_of(d), sim_of(d)->locks, s && s->is, ""};
	memcpy(l->path, path, n);
	if (s)
		s->is = false;
	sim_of(d)->locks = l;
	*out = &l->base;
	return 0;
}

static void sim_lock_note(struct disk_lock *l, const char *what)
{
	struct sim_lock *lock = (struct sim_lock *)l;

	(void)snprintf(lock->note, sizeof(lock->note), "%s", what);
}

/* One that a restart has taken away is not among them any more. */
static void sim_unlock(struct disk_lock *l)
{
	struct sim_lock *lock = (struct sim_lock *)l, **at = &lock->d->locks;

	while (*at && *at != lock)
		at = &(*at)->next;
	if (*at)
		*at = lock->next;
	free(lock);
}

static int sim_trusted(struct disk *d, const char *dir, struct error *err)
{
	(void)d, (void)dir, (void)err;
	return 0;
}

static const struct disk_ops sim_ops = {
	.read = sim_read,
	.write = sim_write,
	.rename = sim_rename,
	.exchange = sim_exchange,
	.unlink = sim_unlink,
	.exists = sim_exists,
	.sync_directory = sim_sync_directory,
	.mkdirs = sim_mkdirs,
	.trusted = sim_trusted,
	.open = sim_open,
	.size = sim_size,
	.pread = sim_pread,
	.append = sim_append,
	.truncate = sim_truncate,
	.rewrite = sim_rewrite,
	.sync = sim_sync,
	.close = sim_close,
	.lock = sim_lock,
	.lock_note = sim_lock_note,
	.unlock = sim_unlock,
	.settled = sim_settled,
	.settle = sim_settle,
};

static struct sim_disk *blank(void)
{
	struct sim_disk *d = xmalloc(sizeof(*d));

	*d = (struct sim_disk){.base = {.ops = &sim_ops}};
	return d;
}

struct disk *sim_disk_new(uint64_t seed)
{
	struct sim_disk *d = blank();

	d->media.random = seed;
	return &d->base;
}

void sim_disk_free(struct disk **d)
{
	if (!*d)
		return;
	sim_media_release(&sim_of(*d)->media);
	free(*d);
	*d = NULL;
}

struct disk *sim_disk_copy(const struct disk *d)
{
	struct sim_disk *copy = blank();

	sim_media_copy(&copy->media, &((const struct sim_disk *)d)->media);
	copy->calls = ((const struct sim_disk *)d)->calls;
	copy->reads = ((const struct sim_disk *)d)->reads;
	memcpy(copy->settled, ((const struct sim_disk *)d)->settled, sizeof(copy->settled));
	return &copy->base;
}

void sim_disk_seed(struct disk *d, uint64_t seed)
{
	sim_of(d)->media.random = seed;
}

void sim_disk_unordered(struct disk *d, bool unordered)
{
	sim_of(d)->media.unordered = unordered;
}

unsigned sim_disk_calls(const struct disk *d)
{
	return ((const struct sim_disk *)d)->calls;
}

void sim_disk_plan(struct disk *d, unsigned n, enum sim_fault fault)
{
	sim_of(d)->left = fault == SIM_NONE ? 0 : n;
	sim_of(d)->fault = fault;
}

unsigned sim_disk_reads(const struct disk *d)
{
	return ((const struct sim_disk *)d)->reads;
}

void sim_disk_plan_read(struct disk *d, unsigned n)
{
	sim_of(d)->reads_left = n;
}

bool sim_disk_stopped(const struct disk *d)
{
	return ((const struct sim_disk *)d)->stopped;
}

void sim_disk_restart(struct disk *d, bool power)
{
	sim_media_restart(&sim_of(d)->media, power);
	sim_disk_plan(d, 0, SIM_NONE);
	sim_disk_plan_read(d, 0);
	sim_of(d)->stopped = false;
	sim_of(d)->runs++;
	sim_of(d)->locks = NULL;
	for (size_t i = 0; power && i < COUNT(sim_of(d)->settled); i++)
		sim_of(d)->settled[i].is = sim_of(d)->settled[i].path[0];
}

void sim_disk_put(struct disk *d, const char *path, struct str text)
{
	struct sim_media *m = &sim_of(d)->media;

	sim_media_make_directory(m, path_dir(path));
	sim_media_append(m, sim_media_make(m, path), text);
	sim_media_settle(m, path);
}

bool sim_disk_view(const struct disk *d, const char *path, struct str *out)
{
	const struct sim_media *m = &((const struct sim_disk *)d)->media;
	size_t file = sim_media_find(m, path);

	*out = (struct str){"", 0};
	if (file != SIM_NO_FILE)
		*out = sim_bytes_str(&m->files[file].now);
	return file != SIM_NO_FILE;
}

bool sim_disk_get(const struct disk *d, const char *path, struct buf *out)
{
	struct str text;

	if (!sim_disk_view(d, path, &text))
		return false;
	buf_add(out, text);
	return true;
}

void sim_disk_remove(struct disk *d, const char *path)
{
	sim_media_remove(&sim_of(d)->media, path);
	sim_media_settle(&sim_of(d)->media, path);
}

void sim_disk_list(const struct disk *d, struct buf *out)
{
	sim_media_list(&((const struct sim_disk *)d)->media, out);
}

struct disk *sim_disk_under(const struct store_backend *b)
{
	return (struct disk *)((char *)(uintptr_t)b - offsetof(struct disk, files));
}

struct disk *sim_disk_of(const struct simulator *s)
{
	return sim_disk_under(s->backend);
}

static struct store_backend *create_store(void)
{
	return store_files(sim_disk_new(1));
}

static struct store_backend *copy_store(const struct store_backend *b)
{
	return store_files(sim_disk_copy(sim_disk_under(b)));
}

static void release_store(struct store_backend *b)
{
	struct disk *d = sim_disk_under(b);

	sim_disk_free(&d);
}

static void put_document(struct store_backend *b, const char *path, struct str text)
{
	sim_disk_put(sim_disk_under(b), path, text);
}

const struct simulator_kind sim_disk_kind = {
	.create = create_store,
	.copy = copy_store,
	.release = release_store,
	.put = put_document,
	.invoke = simulator_invoke,
};
