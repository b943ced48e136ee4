#include <errno.h>
#include "src/sys/path.h"
#include "src/store/sim_internal.h"

/* What becomes of a call. */
struct fate {
	enum { DONE_NOT, DONE_HALF, DONE } done;
	int error; /* 0: it succeeds */
};

static struct fate meet(struct sim_disk *d, bool writes)
{
	enum sim_fault fault = d->fault;

	d->fault = SIM_NONE;
	d->stopped = fault >= SIM_STOP;
	switch (fault) {
	case SIM_ENOSPC:
		return (struct fate){writes ? DONE_HALF : DONE_NOT, ENOSPC};
	case SIM_HALF:
	case SIM_STOP_HALF:
		return (struct fate){DONE_HALF, EIO};
	case SIM_STOP_AFTER:
		return (struct fate){DONE, EIO};
	case SIM_NONE:
		return (struct fate){DONE, 0};
	default:
		return (struct fate){DONE_NOT, EIO};
	}
}

static struct fate count(struct sim_disk *d, bool writes)
{
	if (d->stopped)
		return (struct fate){DONE_NOT, EIO};
	d->calls++;
	if (d->left && --d->left == 0)
		return meet(d, writes);
	return (struct fate){DONE, 0};
}

bool sim_is_done(struct sim_disk *d, int *error)
{
	struct fate fate = count(d, false);

	*error = errno = fate.error;
	return fate.done == DONE || (fate.done == DONE_HALF && sim_media_random(&d->media, 2));
}

size_t sim_bytes_done(struct sim_disk *d, size_t n, int *error)
{
	struct fate fate = count(d, true);

	*error = errno = fate.error;
	return fate.done == DONE        ? n
	       : fate.done == DONE_HALF ? sim_media_random(&d->media, n + 1)
					: 0;
}

bool sim_is_up(const struct sim_disk *d)
{
	errno = EIO;
	return !d->stopped;
}

bool sim_may_look(struct sim_disk *d)
{
	errno = EIO;
	if (d->stopped)
		return false;
	d->reads++;
	return !d->reads_left || --d->reads_left > 0;
}

struct str sim_folder_name(const char *dir)
{
	struct str name = str_of(dir);

	while (name.n > 1 && name.p[name.n - 1] == '/')
		name.n--;
	return name;
}

int sim_not_regular(const char *path, struct error *err)
{
	return error_set(err, ERR_INPUT, "'%s' is not a regular file", path);
}

int sim_remove_name(struct sim_disk *d, const char *path)
{
	int error;

	if (sim_is_done(d, &error))
		sim_media_remove(&d->media, path);
	return error ? -1 : 0;
}

size_t sim_make_file(struct sim_disk *d, const char *path)
{
	size_t file = SIM_NO_FILE;
	int error;

	errno = ENOENT;
	if (!sim_media_folder(&d->media, path_dir(path)))
		return SIM_NO_FILE;
	errno = EISDIR;
	if (sim_media_folder(&d->media, sim_folder_name(path)))
		return SIM_NO_FILE;
	if (sim_is_done(d, &error))
		file = sim_media_make(&d->media, path);
	return error ? SIM_NO_FILE : file;
}

int sim_add_bytes(struct sim_disk *d, size_t file, struct str text)
{
	int error;

	text.n = sim_bytes_done(d, text.n, &error);
	sim_media_append(&d->media, file, text);
	return error ? -1 : 0;
}

int sim_sync_bytes(struct sim_disk *d, size_t file)
{
	int error;

	if (sim_is_done(d, &error))
		sim_media_sync(&d->media, file);
	else if (!d->stopped)
		sim_media_sync_failed(&d->media, file);
	return error ? -1 : 0;
}
