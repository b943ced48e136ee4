#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include "src/sys/library.h"
#include "src/sys/path.h"
#include "src/sys/sqlite.h"

#ifdef __linux__
#include <linux/fs.h>
#endif

#define FUNCTIONS(X)                                                                               \
	X(sqlite3_open_v2)                                                                         \
	X(sqlite3_close)                                                                           \
	X(sqlite3_exec)                                                                            \
	X(sqlite3_errstr)                                                                          \
	X(sqlite3_busy_timeout)                                                                    \
	X(sqlite3_wal_checkpoint_v2)                                                               \
	X(sqlite3_backup_init)                                                                     \
	X(sqlite3_backup_step)                                                                     \
	X(sqlite3_backup_finish)                                                                   \
	X(sqlite3_extended_errcode)

LIBRARY(FUNCTIONS, LIBSQLITE3_SO, "SQLite", NULL);

enum { BUSY_MS = 30000, CHUNK = 1 << 20 };

static void database_close(sqlite3 **db)
{
	if (*db)
		(void)lib.sqlite3_close(*db);
	*db = NULL;
}

static int refuse_sqlite(int rc, const char *what, struct error *err)
{
	return error_set(err, ERR_SYSTEM, "SQLite cannot %s: %s", what, lib.sqlite3_errstr(rc));
}

static int open_database(sqlite3 **db, const char *path, int flags, struct error *err)
{
	int rc = lib.sqlite3_open_v2(path, db, flags, NULL);

	if (rc != SQLITE_OK) {
		database_close(db);
		return refuse_sqlite(rc, "open the database", err);
	}
	(void)lib.sqlite3_busy_timeout(*db, BUSY_MS);
	return 0;
}

static char *beside(struct arena *a, const char *path, const char *ending)
{
	return arena_printf(a, "%s%s", path, ending);
}

/* The log is empty, and SQLite's lock keeps it so until the transaction ends. */
static bool is_settled(struct arena *a, sqlite3 *db, const char *path)
{
	struct stat st;

	(void)lib.sqlite3_busy_timeout(db, 0);
	/* The log is known after the first read. */
	(void)lib.sqlite3_exec(db, "PRAGMA schema_version", NULL, NULL, NULL);
	(void)lib.sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	if (lib.sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
		return false;
	if (stat(beside(a, path, "-wal"), &st) < 0 ? errno == ENOENT : st.st_size == 0)
		return true;
	(void)lib.sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	return false;
}

static int copy_blocks(int in, int out, struct error *err)
{
	CLEANUP(base_free) char *chunk = xmalloc(CHUNK);
	ssize_t n;

	while ((n = read(in, chunk, CHUNK)) > 0)
		if (sys_write_all(out, (struct str){chunk, (size_t)n}, "the copy", err) < 0)
			return -1;
	return n < 0 ? error_errno(err, "cannot read the database") : 0;
}

/* Shares the blocks where the file system can, else copies the bytes. */
static int sqlite_copy_bytes(int in, int out, const char **method, struct error *err)
{
	ssize_t n;

	*method = "reflink";
#ifdef FICLONE
	if (ioctl(out, FICLONE, in) == 0)
		return 0;
#endif
	*method = "copy";
	do
		n = copy_file_range(in, NULL, out, NULL, CHUNK, 0);
	while (n > 0);
	if (n == 0)
		return 0;
	if (errno != EXDEV && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP)
		return error_errno(err, "cannot copy the database");
	return copy_blocks(in, out, err);
}

/* One step reads all pages of one moment; with a log, writers go on meanwhile. */
static int back_up(sqlite3 *from, const char *to, struct error *err)
{
	CLEANUP(database_close) sqlite3 *db = NULL;
	sqlite3_backup *b;
	int rc;

	if (open_database(&db, to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err) < 0)
		return -1;
	(void)lib.sqlite3_busy_timeout(from, BUSY_MS);
	/* Nobody sees the copy before it is complete, and it is synced as a whole. */
	(void)lib.sqlite3_exec(
		db, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF", NULL, NULL, NULL);
	b = lib.sqlite3_backup_init(db, "main", from, "main");
	if (!b)
		return refuse_sqlite(lib.sqlite3_extended_errcode(db), "back up the database", err);
	do
		rc = lib.sqlite3_backup_step(b, -1);
	while (rc == SQLITE_OK);
	(void)lib.sqlite3_backup_finish(b);
	return rc == SQLITE_DONE ? 0 : refuse_sqlite(rc, "back up the database", err);
}

/* A reader of a database with a write-ahead log would have to create files beside it. */
static int drop_log(const char *path, struct error *err)
{
	CLEANUP(database_close) sqlite3 *db = NULL;
	int rc;

	if (open_database(&db, path, SQLITE_OPEN_READWRITE, err) < 0)
		return -1;
	rc = lib.sqlite3_exec(db, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
	return rc == SQLITE_OK ? 0 : refuse_sqlite(rc, "prepare the copy for readers", err);
}

static void remove_logs(struct arena *a, const char *path)
{
	static const char *const endings[] = {"-wal", "-shm", "-journal"};

	for (size_t i = 0; i < COUNT(endings); i++)
		(void)unlink(beside(a, path, endings[i]));
}

/* To `to`, a new file. `in` stays open until the database is closed: closing any descriptor of the
 * file would drop SQLite's locks on it (https://www.sqlite.org/howtocorrupt.html, 2.2). */
static int sqlite_copy_to(struct arena *a, const char *from, int in, const char *to,
	const char **method, struct error *err)
{
	CLEANUP(database_close) sqlite3 *db = NULL;

	if (open_database(&db, from, SQLITE_OPEN_READWRITE, err) < 0)
		return -1;
	if (is_settled(a, db, from)) {
		CLEANUP(base_close)
		int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

		if (out < 0)
			return error_errno(err, "cannot create the copy");
		return sqlite_copy_bytes(in, out, method, err);
	}
	*method = "backup";
	return back_up(db, to, err);
}

static int settle_copy(struct arena *a, const char *path, bool read_only, struct error *err)
{
	CLEANUP(base_close) int fd = -1;

	if (read_only && drop_log(path, err) < 0)
		return -1;
	remove_logs(a, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fchmod(fd, read_only ? 0400 : 0600) < 0 || fsync(fd) < 0)
		return error_errno(err, "cannot write the copy");
	return 0;
}

/* The rename is durable. */
static int sync_directory(const char *path, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(base_close)
	int fd = open(arena_dup(&a, path_dir(path)), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 || fsync(fd) < 0 ? error_errno(err, "cannot write the copy") : 0;
}

int sqlite_copy(
	const char *from, const char *to, bool read_only, const char **method, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	char *new = beside(&a, to, ".new");
	CLEANUP(base_close) int in = open(from, O_RDONLY | O_CLOEXEC);

	if (in < 0)
		return error_errno(err, "cannot open the database");
	if (library_open(&library, err) < 0)
		return -1;
	(void)unlink(new);
	if (sqlite_copy_to(&a, from, in, new, method, err) < 0 ||
		settle_copy(&a, new, read_only, err) < 0) {
		(void)unlink(new);
		remove_logs(&a, new);
		return -1;
	}
	remove_logs(&a, to);
	if (rename(new, to) < 0)
		return error_errno(err, "cannot put the copy in its place");
	return sync_directory(to, err);
}

int sqlite_inspect(const char *path, bool *good, struct error *err)
{
	static const char magic[16] = "SQLite format 3";
	CLEANUP(base_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char head[sizeof(magic)];
	struct stat st;
	ssize_t n;

	*good = false;
	if (fd < 0 ? path_is_fault(errno) : fstat(fd, &st) < 0)
		return error_errno(err, "cannot open the database");
	if (fd < 0 || !S_ISREG(st.st_mode))
		return 0;
	n = st.st_size ? TEMP_FAILURE_RETRY(read(fd, head, sizeof(head))) : 0;
	*good = st.st_size == 0 ||
		(n == (ssize_t)sizeof(head) && memcmp(head, magic, sizeof(head)) == 0);
	return n < 0 ? error_errno(err, "cannot read the database") : 0;
}
