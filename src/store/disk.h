/*
 * disk.h: what the store needs of a disk. disk_real() is the one of the machine; the explorer has
 * one in memory, the tests have one with faults.
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
	/* Appends a whole file of at most `max` bytes. *missing (never NULL): -1 because there is
	 * none. ERR_INPUT: longer, or not a regular file. */
	int (*read)(struct disk *d, const char *path, size_t max, struct buf *out, bool *missing,
		struct error *err);
	/* Creates or replaces the file with the mode of `like` (may be NULL) if that exists, else
	 * with path_new_mode(); the bytes are durable. After -1 the file may be missing or
	 * incomplete. */
	int (*write)(struct disk *d, const char *path, const char *like, struct str text,
		struct error *err);
	/* Creates a file that a kill leaves whole or not at all; the bytes are durable, the name is
	 * not. *able: false, with -1, where the file is there already or the system cannot do it.
	 * NULL: it never can. */
	int (*write_whole)(
		struct disk *d, const char *path, struct str text, bool *able, struct error *err);
	int (*rename)(struct disk *d, const char *from, const char *to, struct error *err);
	/* As rename(), but afterwards `from` is the file that was `to`, if there was one and the
	 * file system can exchange files or give one file two names (then in several steps). */
	int (*exchange)(struct disk *d, const char *from, const char *to, struct error *err);
	/* Whether a program has the file open for writing; false if that is not known. NULL: it
	 * never is. */
	bool (*being_written)(struct disk *d, const char *path);
	int (*unlink)(
		struct disk *d, const char *path, struct error *err); /* none there: no error */
	/* A file or a directory. -1: unknown. */
	int (*exists)(struct disk *d, const char *path, bool *there, struct error *err);
	int (*sync_directory)(struct disk *d, const char *dir, struct error *err);
	/* Creates it and its parents with mode path_new_mode(); durable. */
	int (*mkdirs)(struct disk *d, const char *dir, struct error *err);
	/* ERR_STATE, with what to do instead: locks, syncs or renames in this directory are not
	 * reliable. One that does not exist is judged by the nearest directory above it. */
	int (*trusted)(struct disk *d, const char *dir, struct error *err);

	/* `make`: opens for appending and truncating too, and creates a missing file (*made, may be
	 * NULL). Else for reading and syncing; a missing file is ERR_SYSTEM. ERR_INPUT: not a
	 * regular file. */
	int (*open)(struct disk *d, const char *path, bool make, bool *made, struct disk_file **out,
		struct error *err);
	int (*size)(struct disk_file *f, int64_t *size, struct error *err);
	/* Exactly n bytes from `at`, appended to `out`. */
	int (*pread)(struct disk_file *f, int64_t at, size_t n, struct buf *out, struct error *err);
	int (*append)(struct disk_file *f, struct str text, struct error *err);
	int (*truncate)(struct disk_file *f, int64_t size, struct error *err);
	int (*sync)(struct disk_file *f, struct error *err); /* bytes and size: fdatasync */
	/* Writes the bytes from `at` to the end once more in their place: after a sync that failed
	 * the system may take them for written, and the next sync would leave them out. */
	int (*rewrite)(struct disk_file *f, int64_t at, struct error *err);
	void (*close)(struct disk_file *f);

	/* As disk_lock_take(), disk_lock_note() and disk_lock_drop(). */
	int (*lock)(struct disk *d, const char *path, unsigned wait_ms, struct disk_lock **out,
		struct error *err);
	void (*lock_note)(struct disk_lock *l, const char *what);
	void (*unlock)(struct disk_lock *l);
	/* Whether its last holder has called settle() before it ended: what was written under the
	 * lock is durable. NULL: that is not known. */
	bool (*settled)(struct disk_lock *l);
	void (*settle)(struct disk_lock *l);
};

/* What keeps stores: store.h. */
struct store_backend {
	const struct store_backend_ops *ops;
};

struct disk {
	const struct disk_ops *ops;
	struct store_backend files; /* set by store_files() */
};

/* The first member of what an implementation hands out, so that a file finds its functions. */
struct disk_file {
	const struct disk_ops *ops;
};
struct disk_lock {
	const struct disk_ops *ops;
};

/* Durably replaces the file. `suffix`: of the temporary file beside it, which the next call
 * replaces after a kill. */
int disk_replace(
	struct disk *d, const char *suffix, const char *path, struct str text, struct error *err);

/* Appends a line, with its newline, to a file of lines that are JSON objects, and syncs it. For one
 * writer at a time: an incomplete last line is what a kill left of it, and is removed. */
int disk_append_line(struct disk *d, const char *path, struct str line, struct error *err);

/* The disk of the machine. One for the whole process; nothing to release. */
struct disk *disk_real(void);

/*
 * A lock has one holder at a time: an open file description lock on a side file, which names its
 * holder for people. The kernel drops it when its holder dies, so there is nothing to clean up. The
 * file is never removed, or two processes could lock two files of one name.
 *
 * Takes it on the machine's disk; waits up to `wait_ms`. The file is created if missing. -1:
 * ERR_STATE naming the holder, or ERR_SYSTEM.
 */
int disk_lock_take(struct disk_lock **out, const char *path, unsigned wait_ms, struct error *err);
/* *held: someone has it, *holder gets what the file says about it. Takes nothing. */
int disk_lock_look(const char *path, bool *held, struct buf *holder, struct error *err);
/* The reason that others see while they wait, from now on; one line. Safe on NULL. */
void disk_lock_note(struct disk_lock *l, const char *what);
/* Its descriptor, for programs that are to inherit it (`inherit` of process.h): it is then held
 * until the last of them has ended, even if its taker is killed. */
int disk_lock_descriptor(const struct disk_lock *l);
void disk_lock_drop(struct disk_lock **l); /* for CLEANUP too; safe on NULL */

enum disk_kind { DISK_LOCAL, DISK_MEMORY, DISK_FUSE, DISK_NETWORK };

/* The kind and the name of a file system by its number in statfs(2). */
enum disk_kind disk_kind(uint32_t magic, const char **name);
/* Whether locks exclude each other and rename() replaces a file in an existing directory, by trying
 * both there. -1: ERR_STATE when not, ERR_SYSTEM when it cannot be tried. */
int disk_probe(const char *dir, struct error *err);

#endif
