#include <errno.h>
#include "src/sys/path.h"
#include "src/store/sim_internal.h"

int sim_read(struct disk *d, const char *path, size_t max, struct buf *out, bool *missing,
	struct error *err)
{
	struct sim_media *m = &sim_of(d)->media;
	size_t file = sim_media_find(m, path);
	struct str text;

	*missing = false;
	if (!sim_may_look(sim_of(d)))
		return error_errno(err, "cannot open '%s'", path);
	if (file == SIM_NO_FILE && sim_media_folder(m, sim_folder_name(path)))
		return sim_not_regular(path, err);
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
	size_t file = sim_make_file(d, path);

	if (file != SIM_NO_FILE && (!text.n || sim_add_bytes(d, file, text) == 0) &&
		sim_sync_bytes(d, file) == 0)
		return 0;
	error_errno(err, "cannot write '%s'", path);
	if (file != SIM_NO_FILE)
		(void)sim_remove_name(d, path);
	return -1;
}

int sim_write(
	struct disk *d, const char *path, const char *like, struct str text, struct error *err)
{
	(void)like;
	if (sim_media_find(&sim_of(d)->media, path) != SIM_NO_FILE &&
		sim_remove_name(sim_of(d), path) < 0)
		return error_errno(err, "cannot write '%s'", path);
	return fill(sim_of(d), path, text, err);
}

int sim_create(struct disk *d, const char *path, struct str text, bool *taken, struct error *err)
{
	*taken = sim_is_up(sim_of(d)) && sim_media_find(&sim_of(d)->media, path) != SIM_NO_FILE;
	if (*taken) {
		errno = EEXIST;
		return error_errno(err, "cannot write '%s'", path);
	}
	return fill(sim_of(d), path, text, err);
}

int sim_rename(struct disk *d, const char *from, const char *to, struct error *err)
{
	struct sim_media *m = &sim_of(d)->media;
	int error = ENOENT;

	if (sim_media_find(m, from) != SIM_NO_FILE && sim_media_folder(m, path_dir(to)) &&
		sim_is_done(sim_of(d), &error))
		sim_media_rename(m, from, to);
	errno = error;
	return error ? error_errno(err, "cannot replace '%s'", to) : 0;
}

int sim_unlink(struct disk *d, const char *path, struct error *err)
{
	if (sim_is_up(sim_of(d)) && sim_media_find(&sim_of(d)->media, path) == SIM_NO_FILE)
		return 0;
	return sim_remove_name(sim_of(d), path) < 0 ? error_errno(err, "cannot remove '%s'", path)
						    : 0;
}

int sim_exists(struct disk *d, const char *path, bool *there, struct error *err)
{
	const struct sim_media *m = &sim_of(d)->media;

	*there = false;
	if (!sim_may_look(sim_of(d)))
		return error_errno(err, "cannot look for '%s'", path);
	*there = sim_media_find(m, path) != SIM_NO_FILE ||
		 sim_media_folder(m, sim_folder_name(path));
	return 0;
}

int sim_sync_folder(struct disk *d, const char *dir, struct error *err)
{
	struct sim_media *m = &sim_of(d)->media;
	struct str name = sim_folder_name(dir);
	int error = ENOENT;

	if (sim_media_folder(m, name) && sim_is_done(sim_of(d), &error))
		sim_media_sync_folder(m, name);
	errno = error;
	return error ? error_errno(err, "cannot sync folder '%s'", dir) : 0;
}

/* A file in the place of one of the folders. */
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

int sim_mkdirs(struct disk *d, const char *dir, struct error *err)
{
	struct sim_media *m = &sim_of(d)->media;
	struct str name = sim_folder_name(dir);
	int error = ENOTDIR;

	if (sim_is_up(sim_of(d)) && sim_media_folder(m, name))
		return 0;
	if (!runs_into_file(m, name) && sim_is_done(sim_of(d), &error))
		sim_media_make_folder(m, name);
	errno = error;
	return error ? error_errno(err, "cannot make folder '%s'", dir) : 0;
}
