/*
 * path.h: names, paths and whole files. Texts that functions return are in the caller's arena.
 */
#ifndef DT_PATH_H
#define DT_PATH_H

#include "src/base/buf.h"

#define ID_MAX 100 /* bytes of a work item id */

/* `[A-Za-z0-9][A-Za-z0-9._-]*`, at most 100 bytes, no `..`. */
bool path_is_id(struct str id);
/* 0, or -1: ERR_USAGE that says what an id is. */
int path_check_id(const char *id, struct error *err);
/* Parts as in path_is_id(), with `/` between them. */
bool path_is_slug(struct str slug);

char *path_join(struct arena *a, const char *dir, const char *name);
/* Absolute form of `path`; symbolic links and `.` are not resolved. */
char *path_absolute(struct arena *a, const char *path);
/* The same without `.`, `..` and needless slashes: textually, so that a path is the same before and
 * after its directory is created. */
char *path_normalize(struct arena *a, const char *path);
/* The same with links resolved, as far as the path exists. */
char *path_real(struct arena *a, const char *path);
/* `path` is below `dir`, not `dir` itself; compares the texts. */
bool path_is_below(const char *dir, const char *path);
/* An absolute path as seen from the directory `from`: `../b/c`; and the opposite. Neither has `..`
 * in it, and no link is followed. */
char *path_relative(struct arena *a, const char *from, const char *path);
char *path_resolve(struct arena *a, const char *from, const char *path);
struct str path_dir(const char *path); /* "." when there is no slash */
struct str path_base(const char *path);

/*
 * From now on what this process makes in a directory that its group may write and that passes the
 * group on (setgid) is for the group too, as git does it in a repository that users share
 * (`core.sharedRepository`). Programs that it starts let the group in as well (umask).
 */
void path_share(void);
/* Whether `dir` is such a directory. */
bool path_is_shared(const char *dir);
/* The mode of something new at `path`: `own`, 0600 or 0700, or that with the same for the group. */
mode_t path_new_mode(const char *path, mode_t own);
/* Like `mkdir -p`, with access for the owner alone, because briefs and logs are private. */
int path_mkdirs(const char *dir, struct error *err);
/* Calls make() for each missing directory of `dir`, the upper ones first. */
int path_make_each(
	const char *dir, int (*make)(const char *dir, struct error *err), struct error *err);
/* A look that a fault of the disk kept from an answer gives "no", and is noted: the next commit of
 * a store, the next program, or the end of the command fails, so nothing rests on it. So do
 * path_is_directory(), sys_read_small() and what reads a directory. */
bool path_exists(const char *path);
/* Notes it if errno, of a look that has failed, is such a fault. */
void path_note_look(const char *path);
/* -1: ERR_SYSTEM, there was such a look since the last call. */
int path_check_looks(struct error *err);
/* Whether an errno says nothing about the file, but that it could not be looked for. */
bool path_is_fault(int error);
/* As path_exists(), where a failure to find out must not count as "no": -1 with ERR_SYSTEM. */
int path_check_exists(const char *path, bool *exists, struct error *err);
bool path_is_directory(const char *path); /* or a link to one */

/* The absolute path of a program. Relative directories of PATH are skipped: they would mean the
 * directory where it is run. NULL: not found; *blocked: found but not executable. */
const char *path_find_program(struct arena *a, const char *name, bool *blocked);
/* The file of this program, which need not be on PATH; NULL: /proc cannot be read. */
const char *path_own_program(struct arena *a);

/*
 * Reads a whole file of at most `max` bytes. -1: ERR_SYSTEM, or ERR_INPUT when it is longer or is
 * not a regular file. `*missing` (may be NULL) separates "there is none" from other failures.
 */
int sys_read_file(struct buf *out, const char *path, size_t max, bool *missing, struct error *err);
/* A small file that is no link, with a NUL behind it, in the arena. NULL: there is no such file, or
 * it is longer than `max` bytes. */
char *sys_read_small(struct arena *a, const char *path, size_t max);
/* Reads a descriptor to its end, at most `max` bytes. */
int sys_read_all(struct buf *out, int fd, size_t max, const char *name, struct error *err);
/* Writes all of `text`; retries EINTR and short writes. */
int sys_write_all(int fd, struct str text, const char *name, struct error *err);

#endif
