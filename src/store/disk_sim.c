#include "src/sys/path.h"
#include "src/store/disk_sim.h"
#include "src/store/sim_internal.h"

static int sim_trusted(struct disk *d, const char *dir, struct error *err)
{
	(void)d, (void)dir, (void)err;
	return 0;
}

static const struct disk_ops sim_ops = {
	.read = sim_read,
	.write = sim_write,
	.create = sim_create,
	.rename = sim_rename,
	.unlink = sim_unlink,
	.exists = sim_exists,
	.sync_folder = sim_sync_folder,
	.mkdirs = sim_mkdirs,
	.trusted = sim_trusted,
	.open = sim_open,
	.size = sim_size,
	.pread = sim_pread,
	.append = sim_append,
	.truncate = sim_truncate,
	.sync = sim_sync,
	.close = sim_close,
	.lock = sim_lock,
	.lock_note = sim_lock_note,
	.unlock = sim_unlock,
};

static struct sim_disk *blank(void)
{
	struct sim_disk *d = xmalloc(sizeof(*d));

	*d = (struct sim_disk){.base = {&sim_ops}};
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
}

void sim_disk_put(struct disk *d, const char *path, struct str text)
{
	struct sim_media *m = &sim_of(d)->media;

	sim_media_make_folder(m, path_dir(path));
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
