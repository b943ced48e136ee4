#include <errno.h>
#include "src/sys/path.h"
#include "src/store/sim_internal.h"

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
	char note[64];
	char path[];
};

int sim_open(struct disk *d, const char *path, bool make, bool *made, struct disk_file **out,
	struct error *err)
{
	struct sim_media *m = &sim_of(d)->media;
	size_t file = sim_media_find(m, path), n = strlen(path) + 1;
	struct sim_handle *f;
	bool is_new = file == SIM_NO_FILE && make;

	*out = NULL;
	if (made)
		*made = false;
	if (!sim_may_look(sim_of(d)))
		return error_errno(err, "cannot open '%s'", path);
	if (file == SIM_NO_FILE && sim_media_folder(m, sim_folder_name(path)))
		return sim_not_regular(path, err);
	errno = ENOENT;
	if (is_new)
		file = sim_make_file(sim_of(d), path);
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

static bool may_look(const struct sim_handle *f)
{
	return is_live(f) && sim_may_look(f->d);
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

int sim_size(struct disk_file *f, int64_t *size, struct error *err)
{
	if (!may_look(handle(f)))
		return error_errno(err, "cannot read '%s'", handle(f)->path);
	*size = (int64_t)bytes_of(handle(f)).n;
	return 0;
}

int sim_pread(struct disk_file *f, int64_t at, size_t n, struct buf *out, struct error *err)
{
	struct str text;

	if (!may_look(handle(f)))
		return error_errno(err, "cannot read '%s'", handle(f)->path);
	text = bytes_of(handle(f));
	if (at < 0 || (uint64_t)at > text.n || text.n - (size_t)at < n)
		return error_set(
			err, ERR_SYSTEM, "cannot read '%s': it ends too early", handle(f)->path);
	buf_add(out, str_sub(text, (size_t)at, (size_t)at + n));
	return 0;
}

int sim_append(struct disk_file *f, struct str text, struct error *err)
{
	struct sim_handle *h = handle(f);

	if (!text.n || (is_writable(h) && sim_add_bytes(h->d, h->file, text) == 0))
		return 0;
	return error_errno(err, "cannot write '%s'", h->path);
}

int sim_truncate(struct disk_file *f, int64_t size, struct error *err)
{
	struct sim_handle *h = handle(f);
	int error = h->writes ? EIO : EBADF;

	if (is_writable(h) && sim_is_done(h->d, &error))
		sim_media_cut(&h->d->media, h->file, (size_t)size);
	errno = error;
	return error ? error_errno(err, "cannot cut '%s'", h->path) : 0;
}

int sim_sync(struct disk_file *f, struct error *err)
{
	struct sim_handle *h = handle(f);

	if (is_live(h) && sim_sync_bytes(h->d, h->file) == 0)
		return 0;
	return error_errno(err, "cannot write '%s'", h->path);
}

void sim_close(struct disk_file *f)
{
	struct sim_handle *h = handle(f);

	if (h->run == h->d->runs)
		sim_media_close(&h->d->media, h->file);
	free(h);
}

int sim_lock(struct disk *d, const char *path, unsigned wait_ms, struct disk_lock **out,
	struct error *err)
{
	size_t n = strlen(path) + 1;
	struct sim_lock *l;

	(void)wait_ms;
	*out = NULL;
	if (sim_is_up(sim_of(d)))
		errno = ENOENT;
	if (sim_of(d)->stopped || !sim_media_folder(&sim_of(d)->media, path_dir(path)))
		return error_errno(err, "cannot open lock file '%s'", path);
	for (l = sim_of(d)->locks; l; l = l->next)
		if (strcmp(l->path, path) == 0)
			return error_set(err, ERR_STATE, "'%s' is locked by another process%s%s%s",
				path, l->note[0] ? " (" : "", l->note, l->note[0] ? ")" : "");
	l = xmalloc(sizeof(*l) + n);
	*l = (struct sim_lock){{d->ops}, sim_of(d), sim_of(d)->locks, ""};
	memcpy(l->path, path, n);
	sim_of(d)->locks = l;
	*out = &l->base;
	return 0;
}

void sim_lock_note(struct disk_lock *l, const char *what)
{
	struct sim_lock *lock = (struct sim_lock *)l;

	(void)snprintf(lock->note, sizeof(lock->note), "%s", what);
}

/* One that a restart has taken away is not among them any more. */
void sim_unlock(struct disk_lock *l)
{
	struct sim_lock *lock = (struct sim_lock *)l, **at = &lock->d->locks;

	while (*at && *at != lock)
		at = &(*at)->next;
	if (*at)
		*at = lock->next;
	free(lock);
}
