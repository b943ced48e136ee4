/*
 * sim_media.h: the contents of a simulated disk: files and names, as they are now and as a power
 * cut may leave them. Injected faults and open files are in sim_disk.c.
 *
 * A file's bytes are durable as of its last sync. Of what changed since, a power cut keeps the old
 * bytes, the new ones, or a part of the new ones in which some blocks are zeros. After a failed
 * sync the bytes count as written, and the next sync leaves them out, as on Linux.
 *
 * Names are durable as of the last sync of their directory. Of the changes since, a power cut keeps
 * the first ones, as file systems with a journal do, or any subset (`unordered`). A rename is
 * atomic.
 */
#ifndef DT_MODEL_SIM_MEDIA_H
#define DT_MODEL_SIM_MEDIA_H

#include "src/base/vec.h"

struct sim_blob;

/* The bytes of a file. Copies share them, and appending to a copy that ends where the blob ends
 * extends it in place. For one thread. */
struct sim_bytes {
	struct sim_blob *blob; /* NULL: empty */
	size_t n;
};

struct str sim_bytes_str(const struct sim_bytes *b);

struct sim_file {
	struct sim_bytes now, durable;
	size_t same;              /* now and durable agree up to here */
	size_t unsafe, unsafe_to; /* a sync of these bytes failed: they are never written */
	unsigned links, opens;    /* both 0: the slot is free */
};

struct sim_name; /* counted references */

struct sim_entry {
	struct sim_name *name;
	size_t file;
};

struct sim_table {
	struct sim_entry *v;
	size_t n, cap;
};

struct sim_change {
	struct sim_name *name, *to; /* `to` only of a rename */
	size_t file;                /* SIM_NO_FILE: the name is removed */
	size_t other;               /* of an exchange: the file that `to` was */
};

struct sim_media {
	struct sim_file *files;
	size_t n_files, cap_files;
	struct sim_table now, durable, directories; /* directories are durable at once */
	struct sim_change *changes;                 /* from durable to now */
	size_t n_changes, cap_changes;
	uint64_t random;
	bool unordered;
};

#define SIM_NO_FILE SIZE_MAX

void sim_media_copy(struct sim_media *to, const struct sim_media *from);
void sim_media_release(struct sim_media *m);
/* A pseudo-random number below n. */
size_t sim_media_random(struct sim_media *m, size_t n);

struct str sim_media_name(const struct sim_entry *e);
size_t sim_media_find(const struct sim_media *m, const char *path);
bool sim_media_is_directory(const struct sim_media *m, struct str path);
void sim_media_make_directory(struct sim_media *m, struct str path);

/* A new, empty file of this name; replaces another one. */
size_t sim_media_make(struct sim_media *m, const char *path);
void sim_media_remove(struct sim_media *m, const char *path);
void sim_media_rename(struct sim_media *m, const char *from, const char *to);
void sim_media_exchange(struct sim_media *m, const char *from, const char *to);
void sim_media_open(struct sim_media *m, size_t file);
void sim_media_close(struct sim_media *m, size_t file);
void sim_media_append(struct sim_media *m, size_t file, struct str text);
void sim_media_cut(struct sim_media *m, size_t file, size_t n);

void sim_media_sync(struct sim_media *m, size_t file);
void sim_media_rewrite(struct sim_media *m, size_t file, size_t at);
void sim_media_sync_failed(struct sim_media *m, size_t file);
void sim_media_sync_directory(struct sim_media *m, struct str dir);
/* Makes the name with its bytes, or its absence, durable. */
void sim_media_settle(struct sim_media *m, const char *path);
/* Closes open files; `power`: drops what a power cut loses. */
void sim_media_restart(struct sim_media *m, bool power);
void sim_media_list(const struct sim_media *m, struct buf *out);

#endif
