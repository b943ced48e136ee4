/*
 * directory.h: the entries of one directory, and of all directories below one. `.` and `..` are
 * never reported, and symbolic links below the given directory are reported, not followed.
 */
#ifndef DT_DIRECTORY_H
#define DT_DIRECTORY_H

#include <dirent.h>
#include "src/base/vec.h"

enum file_type { FILE_REGULAR, FILE_DIRECTORY, FILE_LINK, FILE_OTHER };

/* One directory, entry by entry, in the order of the file system. */
struct directory {
	DIR *stream; /* NULL: closed */
	int fd;      /* for the *at() calls on its entries */
};

/*
 * Opens `path`, relative to descriptor `at` (AT_FDCWD: the working directory). -1: ERR_SYSTEM;
 * `*missing` (may be NULL) separates "there is none" from other failures.
 */
int directory_open(struct directory *d, int at, const char *path, bool *missing, struct error *err);
/* The next entry's name, which lives until the next call; NULL at the end. */
const char *directory_next(struct directory *d, enum file_type *type);
void directory_close(struct directory *d); /* for CLEANUP too; safe when zeroed */

/* The names in a directory, sorted by bytes. */
struct directory_names {
	const char **items;
	size_t n, cap;
};
/* Names are in the arena. -1 as of directory_open(). */
int directory_list(struct arena *a, const char *path, struct directory_names *out, bool *missing,
	struct error *err);

/* An entry as directory_walk() reports it. Texts live until the visit returns. */
struct directory_entry {
	const char *path; /* relative to the walk's directory */
	const char *name; /* the last part of `path` */
	int parent;       /* descriptor of the directory that holds it */
	enum file_type type;
};

/* DIRECTORY_STOP ends the walk, *err is filled; DIRECTORY_SKIP does not enter a directory. */
enum directory_visit { DIRECTORY_STOP = -1, DIRECTORY_CONTINUE, DIRECTORY_SKIP };

/*
 * Visits all entries below `root`, in the order of the file system. A directory that cannot be
 * opened, or is more than 128 levels deep, is treated as empty. -1: as visit() filled *err. One
 * descriptor is open for each level.
 */
int directory_walk(const char *root,
	enum directory_visit (*visit)(
		void *data, const struct directory_entry *e, struct error *err),
	void *data, struct error *err);

#endif
