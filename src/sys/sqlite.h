/*
 * sqlite.h: copies of SQLite databases. The only user of libsqlite3, which is opened at the first
 * call, not at start-up.
 */
#ifndef DT_SQLITE_H
#define DT_SQLITE_H

#include "src/base/buf.h"

/*
 * Makes `to` a copy of the database `from` as it is at one moment, also while others write to it.
 * If the write-ahead log can be emptied, the file is copied while SQLite's lock keeps writers out;
 * else SQLite's online backup reads it. Logs (-wal, -shm, -journal) are never copied. `to` appears
 * when it is complete and on the disk, or not at all; what was there is replaced. `read_only`: the
 * copy has no write permission, and needs no log to be read. *method: "reflink", "copy" or
 * "backup", static. -1: ERR_SYSTEM, with no path in it.
 */
int sqlite_copy(
	const char *from, const char *to, bool read_only, const char **method, struct error *err);
/* *good: the file exists and is a database, or is empty. -1: ERR_SYSTEM. */
int sqlite_inspect(const char *path, bool *good, struct error *err);

#endif
