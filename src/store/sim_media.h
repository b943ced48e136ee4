/*
 * sim_media.h: what a disk in memory holds: files and names, as they are now and as a power cut
 * would find them. No faults, no open files: disk_sim.c has those.
 *
 * A file's bytes are durable as of its last sync. Behind what stayed the same since, a power cut
 * leaves what was there, or what is there now, or a part of that, in which blocks may be zeros.
 * After a sync that failed, what it should have written counts as written: the next one leaves it
 * out, as Linux does.
 * Names are durable as of the last sync of their folder; of the changes since, a power cut leaves
 * the first ones, as file systems with a journal do, or any choice of them (`unordered`). A rename
 * happens as a whole or not.
 */
#ifndef DT_SIM_MEDIA_H
#define DT_SIM_MEDIA_H

#include "src/store/sim_bytes.h"

struct sim_file {
	struct sim_bytes now, kept;
	size_t same;              /* now and kept are alike up to here */
	size_t unsafe, unsafe_to; /* never to be written: a sync of it failed */
	unsigned links, opens;    /* neither: the slot is free */
};

struct sim_name; /* shared by all that name it */

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
	size_t file;                /* SIM_NO_FILE: the name goes */
};

struct sim_media {
	struct sim_file *files;
	size_t n_files, cap_files;
	struct sim_table now, kept, folders; /* folders are durable at once */
	struct sim_change *changes;          /* from kept to now */
	size_t n_changes, cap_changes;
	uint64_t random;
	bool unordered;
};

#define SIM_NO_FILE SIZE_MAX

void sim_media_copy(struct sim_media *to, const struct sim_media *from);
void sim_media_release(struct sim_media *m);
/* The next number of the seed, below n. */
size_t sim_media_random(struct sim_media *m, size_t n);

struct str sim_media_name(const struct sim_entry *e);
size_t sim_media_find(const struct sim_media *m, const char *path);
bool sim_media_folder(const struct sim_media *m, struct str path);
void sim_media_make_folder(struct sim_media *m, struct str path);

/* A new, empty file of this name, in the place of another that may be there. */
size_t sim_media_make(struct sim_media *m, const char *path);
void sim_media_remove(struct sim_media *m, const char *path);
void sim_media_rename(struct sim_media *m, const char *from, const char *to);
void sim_media_open(struct sim_media *m, size_t file);
void sim_media_close(struct sim_media *m, size_t file);
void sim_media_append(struct sim_media *m, size_t file, struct str text);
void sim_media_cut(struct sim_media *m, size_t file, size_t n);

void sim_media_sync(struct sim_media *m, size_t file);
void sim_media_sync_failed(struct sim_media *m, size_t file);
void sim_media_sync_folder(struct sim_media *m, struct str dir);
/* The name and all its bytes, or that there is none, are durable. */
void sim_media_settle(struct sim_media *m, const char *path);
/* Open files are closed; with `power`, the rest of what was not durable is decided. */
void sim_media_restart(struct sim_media *m, bool power);
void sim_media_list(const struct sim_media *m, struct buf *out);

#endif
