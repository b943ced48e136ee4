/*
 * beneath.h: opening files without being led astray: openat2 for this directory of the sources, and
 * the real path of what was opened. Every failure, that of a kernel without openat2 too, is -1.
 */
#ifndef DT_POLICY_BENEATH_H
#define DT_POLICY_BENEATH_H

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include "src/base/buf.h"

/* As <linux/openat2.h> has them; older headers lack some. */
enum {
	NO_MAGIC = 0x02, /* not through /proc/self/root and its like */
	NO_LINKS = 0x04, /* not through any symbolic link */
	BENEATH = 0x08,  /* not out of the directory that it begins in */
};

/* O_CLOEXEC and NO_MAGIC always. -1 with errno: EXDEV when BENEATH forbids it. */
int beneath_open(int dir, const char *path, int flags, unsigned mode, unsigned resolve);
/* The same, from the directory that has the last part of `path`, which `*name` is set to. */
int beneath_parent(int dir, const char *path, unsigned resolve, const char **name);

/* The entries of a directory; `dir` stays open. NULL with errno. */
DIR *beneath_list(int dir);
/* Opens a directory for reading, if need be after giving its owner access. -1 with errno. */
int beneath_open_locked(int dir, const char *name);
/* Removes everything in the directory, at any depth. Follows no link; changes modes if needed. */
void beneath_empty(int dir);

/* -1 with ERR_SYSTEM where the kernel has no openat2: then nothing can be asked or run. */
int beneath_needed(struct error *err);

/* Real path of a descriptor's file, absolute. -1: there is no telling (no /proc, removed). */
int fd_real(int fd, char out[PATH_MAX], size_t *n);
bool same_file(const struct stat *a, const struct stat *b);

/* True when `path` is `dir` or below it, by components; *rest: what follows, without a slash before
 * it. Both absolute, or both relative ("" holds everything). */
bool path_below(struct str path, struct str dir, struct str *rest);
/* The next component of *rest, skipping slashes; false at the end. */
bool path_part(struct str *rest, struct str *part);

#endif
