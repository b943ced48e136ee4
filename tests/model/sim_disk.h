/*
 * sim_disk.h: a simulated disk with the faults of a real one, determined by a seed. After a power
 * cut, data that was not synced is kept, lost or torn; a rename, a new file or a removal that no
 * sync of the directory made durable may or may not be done.
 *
 * A disk and its copies belong to one thread, and what was opened on a disk is closed before it is
 * freed. A lock that is held is refused at once, and leaves no file. write() is up to four
 * calls for a plan: the removal of the file before, the new one, its bytes, its sync.
 */
#ifndef DT_MODEL_SIM_DISK_H
#define DT_MODEL_SIM_DISK_H

#include "src/store/disk.h"

enum sim_fault {
	SIM_NONE,
	SIM_EIO,        /* the call fails and nothing was done */
	SIM_ENOSPC,     /* a write: part of it was done, then the disk is full; others as SIM_EIO */
	SIM_HALF,       /* the call fails with EIO although it was done, whole or in part */
	SIM_STOP,       /* the machine stops right before the call: this and all later calls fail */
	SIM_STOP_AFTER, /* right after it */
	SIM_STOP_HALF, /* in its midst: of bytes a part was written, another call was done or not */
};

/* Simulators with such a disk (src/verify/simulator.h). */
extern const struct simulator_kind sim_disk_kind;
struct simulator;
struct disk *sim_disk_of(const struct simulator *s);
struct disk *sim_disk_under(const struct store_backend *b);

struct disk *sim_disk_new(uint64_t seed);
void sim_disk_free(struct disk **d); /* for CLEANUP; safe on NULL */
/* Another disk with the same bytes, durable or not, the same seed as far as it is used, and no
 * faults planned, files open or locks held. Costs about a microsecond. */
struct disk *sim_disk_copy(const struct disk *d);
/* What is random from now on comes from another seed. */
void sim_disk_seed(struct disk *d, uint64_t seed);
/* Whether names that no sync of their directory made durable may come back in any choice, and not
 * only as they were at some moment; file systems without a journal do that. At first: no. */
void sim_disk_unordered(struct disk *d, bool unordered);

/* Calls that change something or make it durable, since the disk was made. */
unsigned sim_disk_calls(const struct disk *d);
/* The `n`th such call from now (1: the next) meets `fault`. One plan at a time; SIM_NONE: none. */
void sim_disk_plan(struct disk *d, unsigned n, enum sim_fault fault);
/* Calls that only look (open, size, read, pread, exists) are counted apart. The `n`th of them from
 * now fails with EIO; 0: none will. The same disk may have a plan of either kind. */
unsigned sim_disk_reads(const struct disk *d);
void sim_disk_plan_read(struct disk *d, unsigned n);
bool sim_disk_stopped(const struct disk *d);
/* The machine runs again: locks are free, open files are gone (their handles only fail). `power`:
 * what was not durable is lost as the seed has it; else, as when only the process was killed, all
 * that was done is there. */
void sim_disk_restart(struct disk *d, bool power);

/* For tests and for what stands for people: past all faults, and durable at once. */
void sim_disk_put(struct disk *d, const char *path, struct str text);
bool sim_disk_get(const struct disk *d, const char *path, struct buf *out);
/* The same without a copy: until something changes on the disk. */
bool sim_disk_view(const struct disk *d, const char *path, struct str *out);
void sim_disk_remove(struct disk *d, const char *path);
/* Paths, one a line, sorted. */
void sim_disk_list(const struct disk *d, struct buf *out);

#endif
