/*
 * memory_disk.h: a disk in memory without faults, for one thread. Locks are always granted, since
 * nobody else uses the disk, every directory exists, and a sync does nothing.
 */
#ifndef DT_VERIFY_MEMORY_DISK_H
#define DT_VERIFY_MEMORY_DISK_H

#include "src/store/disk.h"

struct disk *memory_disk_new(void);
void memory_disk_free(struct disk **d); /* for CLEANUP; no file may be open; safe on NULL */
/* Another disk with the same files. */
struct disk *memory_disk_copy(const struct disk *d);

/* What people do to files, past the store. */
void memory_disk_put(struct disk *d, const char *path, struct str text);
/* Adds the bytes of the file; false when there is none. */
bool memory_disk_get(const struct disk *d, const char *path, struct buf *out);
void memory_disk_remove(struct disk *d, const char *path);

#endif
