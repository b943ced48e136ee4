/*
 * sim_internal.h: what the files of the disk in memory share among themselves.
 */
#ifndef DT_SIM_INTERNAL_H
#define DT_SIM_INTERNAL_H

#include "src/store/disk_sim.h"
#include "src/store/sim_media.h"

struct sim_lock;

struct sim_disk {
	struct disk base;
	struct sim_media media;
	unsigned calls, left; /* to the call that meets `fault`; 0: none will */
	enum sim_fault fault;
	unsigned reads, reads_left; /* to the one that fails; 0: none will */
	bool stopped;
	unsigned runs; /* of the machine: handles of an earlier one only fail */
	struct sim_lock *locks;
};

static inline struct sim_disk *sim_of(struct disk *d)
{
	return (struct sim_disk *)d;
}

/* sim_calls.c: what becomes of a call. Each sets errno when it fails. */

bool sim_is_up(const struct sim_disk *d);
/* A call that only looks: false, and it fails. */
bool sim_may_look(struct sim_disk *d);
/* A call that cannot be done in part: whether it is. *error: 0, or it fails, done or not. */
bool sim_is_done(struct sim_disk *d, int *error);
/* As many of n bytes as are written. */
size_t sim_bytes_done(struct sim_disk *d, size_t n, int *error);
int sim_remove_name(struct sim_disk *d, const char *path);
/* SIM_NO_FILE when it cannot be made. */
size_t sim_make_file(struct sim_disk *d, const char *path);
int sim_add_bytes(struct sim_disk *d, size_t file, struct str text);
int sim_sync_bytes(struct sim_disk *d, size_t file);
/* Without slashes at its end. */
struct str sim_folder_name(const char *dir);
int sim_not_regular(const char *path, struct error *err);

/* sim_paths.c, sim_handles.c: as struct disk_ops. */

int sim_read(struct disk *d, const char *path, size_t max, struct buf *out, bool *missing,
	struct error *err);
int sim_write(
	struct disk *d, const char *path, const char *like, struct str text, struct error *err);
int sim_create(struct disk *d, const char *path, struct str text, bool *taken, struct error *err);
int sim_rename(struct disk *d, const char *from, const char *to, struct error *err);
int sim_unlink(struct disk *d, const char *path, struct error *err);
int sim_exists(struct disk *d, const char *path, bool *there, struct error *err);
int sim_sync_folder(struct disk *d, const char *dir, struct error *err);
int sim_mkdirs(struct disk *d, const char *dir, struct error *err);
int sim_open(struct disk *d, const char *path, bool make, bool *made, struct disk_file **out,
	struct error *err);
int sim_size(struct disk_file *f, int64_t *size, struct error *err);
int sim_pread(struct disk_file *f, int64_t at, size_t n, struct buf *out, struct error *err);
int sim_append(struct disk_file *f, struct str text, struct error *err);
int sim_truncate(struct disk_file *f, int64_t size, struct error *err);
int sim_sync(struct disk_file *f, struct error *err);
void sim_close(struct disk_file *f);
int sim_lock(struct disk *d, const char *path, unsigned wait_ms, struct disk_lock **out,
	struct error *err);
void sim_lock_note(struct disk_lock *l, const char *what);
void sim_unlock(struct disk_lock *l);

/* sim_files.c: a file whose last link goes is put down, unless somebody has it open. */

size_t sim_new_file(struct sim_media *m);
void sim_link_file(struct sim_media *m, size_t file);
void sim_unlink_file(struct sim_media *m, size_t file);
void sim_put_down(struct sim_media *m, size_t file);
/* What a power cut leaves of its bytes. */
void sim_lose_bytes(struct sim_media *m, struct sim_file *f);

/* sim_table.c: names, counted by who holds them, and the files that they stand for. */

struct sim_name {
	unsigned refs;
	uint64_t hash;
	size_t n;
	char s[];
};

struct sim_name *sim_name_new(struct str path);
struct sim_name *sim_name_hold(struct sim_name *name); /* safe on NULL, as the next */
void sim_name_drop(struct sim_name *name);
/* The array with room for one more. */
void *sim_grow(void *array, size_t n, size_t *cap, size_t size);
size_t sim_table_find(const struct sim_table *t, struct str path); /* t->n: it is not there */
void sim_table_put(struct sim_media *m, struct sim_table *t, struct sim_name *name, size_t file);
void sim_table_remove(struct sim_media *m, struct sim_table *t, const struct sim_name *name);
void sim_table_clear(struct sim_media *m, struct sim_table *t);
void sim_table_copy(struct sim_media *m, struct sim_table *to, const struct sim_table *from);

/* sim_names.c: changes of names that are not durable yet. */

void sim_clear_changes(struct sim_media *m);
void sim_copy_changes(struct sim_media *to, const struct sim_media *from);
void sim_lose_names(struct sim_media *m);

#endif
