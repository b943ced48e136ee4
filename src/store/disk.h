/*
 * disk.h: what the store needs of a disk, and nothing more. disk_real() is the machine's; the
 * explorer has one in memory, and the tests one with faults.
 *
 * Paths are absolute, or relative to the working directory. Every function: 0 or -1 with ERR_SYSTEM
 * (errno's text in it) unless it says otherwise.
 */
#ifndef DT_DISK_H
#define DT_DISK_H

#include "src/base/buf.h"

struct disk;
struct disk_file; /* open */
struct disk_lock;

struct disk_ops {
	/* Adds a whole file of at most `max` bytes. *missing (never NULL): -1 because there is
	 * none. ERR_INPUT when it is longer or no regular file. */
	int (*read)(struct disk *d, const char *path, size_t max, struct buf *out, bool *missing,
		struct error *err);
	/* Makes or empties the file, for its owner alone; takes over the mode of `like` when that
	 * is there (NULL: of none); writes; makes the bytes durable. On -1 the file is gone or
	 * whatever. */
	int (*write)(struct disk *d, const char *path, const char *like, struct str text,
		struct error *err);
	/* Like write(), but never over a file that is there: *taken: -1 because one is.
	 */
	int (*create)(
		struct disk *d, const char *path, struct str text, bool *taken, struct error *err);
	int (*rename)(struct disk *d, const char *from, const char *to, struct error *err);
	int (*unlink)(
		struct disk *d, const char *path, struct error *err); /* none there: no error */
	/* A file or a folder. -1: it cannot be told. */
	int (*exists)(struct disk *d, const char *path, bool *there, struct error *err);
	int (*sync_folder)(struct disk *d, const char *dir, struct error *err);
	/* Makes it and its parents, for their owner alone; durable. */
	int (*mkdirs)(struct disk *d, const char *dir, struct error *err);
	/* ERR_STATE, with what to do instead, when locks, syncs or renames in this directory cannot
	 * be relied on. One that does not exist is judged by the nearest directory above it. */
	int (*trusted)(struct disk *d, const char *dir, struct error *err);

	/* Opens. `make`: to append to and cut as well, and makes it when it is not there (*made,
	 * may be NULL, tells so). Else to read and sync alone; a missing file is ERR_SYSTEM.
	 * ERR_INPUT for what is no regular file. */
	int (*open)(struct disk *d, const char *path, bool make, bool *made, struct disk_file **out,
		struct error *err);
	int (*size)(struct disk_file *f, int64_t *size, struct error *err);
	/* Exactly n bytes from `at`, appended to `out`. */
	int (*pread)(struct disk_file *f, int64_t at, size_t n, struct buf *out, struct error *err);
	int (*append)(struct disk_file *f, struct str text, struct error *err);
	int (*truncate)(struct disk_file *f, int64_t size, struct error *err);
	int (*sync)(struct disk_file *f, struct error *err); /* bytes and size: fdatasync */
	void (*close)(struct disk_file *f);

	/* As disk_lock_take(), disk_lock_note() and disk_lock_drop(). */
	int (*lock)(struct disk *d, const char *path, unsigned wait_ms, struct disk_lock **out,
		struct error *err);
	void (*lock_note)(struct disk_lock *l, const char *what);
	void (*unlock)(struct disk_lock *l);
};

struct disk {
	const struct disk_ops *ops;
};

/* The first member of what an implementation hands out, so that a file finds its functions. */
struct disk_file {
	const struct disk_ops *ops;
};
struct disk_lock {
	const struct disk_ops *ops;
};

/* The machine's. One for the whole process; nothing to release. */
struct disk *disk_real(void);

/*
 * A lock has one holder at a time: an open file description lock on a side file, which tells people
 * who holds it. The kernel drops it when its holder dies, so there is nothing to clean up. The file
 * is never removed, or two processes could lock two files of one name.
 *
 * Takes it on the machine's disk; waits up to `wait_ms`. The file is created if missing. -1:
 * ERR_STATE naming the holder, or ERR_SYSTEM.
 */
int disk_lock_take(struct disk_lock **out, const char *path, unsigned wait_ms, struct error *err);
/* *held: someone has it, *who gets what the file tells of the holder. Takes nothing. */
int disk_lock_look(const char *path, bool *held, struct buf *who, struct error *err);
/* Tells those who wait what takes so long, from now on; one line. Safe on NULL. */
void disk_lock_note(struct disk_lock *l, const char *what);
void disk_lock_drop(struct disk_lock **l); /* for CLEANUP too; safe on NULL */

/* The name of a network file system by its number in statfs(2); NULL for any other. */
const char *disk_network_name(uint32_t magic);
/* Whether locks exclude each other and rename() replaces a file in an existing directory, by trying
 * both there. -1: ERR_STATE when not, ERR_SYSTEM when it cannot be tried. */
int disk_probe(const char *dir, struct error *err);

#endif
