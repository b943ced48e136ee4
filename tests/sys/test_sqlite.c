#include <sys/stat.h>
#include "src/sys/sqlite.h"
#include "tests/lib/shell.h"

#define MAKE                                                                                       \
	"rm -f a* b*; sqlite3 a 'PRAGMA journal_mode=%s; CREATE TABLE t (x); INSERT INTO t "       \
	"VALUES (1)' >log"

static struct error err;

static const char *copied(bool read_only)
{
	const char *method = "";

	if (sqlite_copy(at("a"), at("b"), read_only, &method, &err) < 0)
		fail_msg("%s", err.text);
	return strcmp(method, "reflink") == 0 ? "copy" : method;
}

SCRATCH_TEST(a_database_is_copied_as_a_file)
{
	sh(arena_printf(&arena, MAKE, "DELETE"));
	assert_string_equal(copied(false), "copy");
	assert_sh("sqlite3 b 'SELECT x FROM t'; ls b*; stat -c %a b", "1\nb\n600\n");
}

SCRATCH_TEST(a_log_is_emptied_first_and_never_copied)
{
	/* A killed writer has left it. */
	sh(arena_printf(&arena,
		MAKE
		"; { echo 'INSERT INTO t VALUES (2);'; echo '.system kill -9 $PPID'; } | sqlite3 "
		"a >log 2>&1 || true; test -s a-wal; echo old >b-wal",
		"WAL"));
	assert_string_equal(copied(false), "copy");
	assert_sh("test ! -e b-wal; sqlite3 b 'SELECT x FROM t'", "1\n2\n");
}

/* A reader of an old state keeps the log from being emptied; so does a writer. */
SCRATCH_TEST(a_busy_database_is_backed_up)
{
	sh(arena_printf(&arena,
		MAKE "; mkfifo in; sqlite3 a <in >out 2>&1 & exec 3>in; echo 'BEGIN; SELECT x FROM "
		     "t;' >&3; "
		     "until test -s out; do :; done; sqlite3 a 'INSERT INTO t VALUES (2)'; "
		     "sleep 100 >log 2>&1 & echo $! >holder",
		"WAL"));
	assert_string_equal(copied(false), "backup");
	sh("kill $(cat holder)");
	assert_sh("sqlite3 b 'SELECT x FROM t; PRAGMA integrity_check'; ls b*", "1\n2\nok\nb\n");
}

SCRATCH_TEST(a_copy_to_read_needs_no_log_and_cannot_be_written)
{
	sh(arena_printf(&arena, MAKE, "WAL"));
	(void)copied(true);
	assert_sh("sqlite3 'file:b?mode=ro' 'SELECT x FROM t'; ls b*; stat -c %a b; "
		  "sqlite3 'file:b?mode=ro' 'INSERT INTO t VALUES (3)' 2>&1 | grep -o readonly; "
		  "sqlite3 a 'SELECT count(*) FROM t'",
		"1\nb\n400\nreadonly\n1\n");
	(void)copied(false); /* replaces it */
	assert_sh("sqlite3 b 'INSERT INTO t VALUES (3)'", "");
}

SCRATCH_TEST(what_is_no_database_is_not_copied)
{
	const char *method;
	bool good;

	assert_fails(sqlite_copy(at("a"), at("b"), false, &method, &err), err, ERR_SYSTEM);
	scratch_write("a", "This is a text, and longer than the head of a database file would be. "
			   "It goes on for more than a hundred bytes.");
	assert_int_equal(sqlite_inspect(at("a"), &good, &err), 0);
	assert_false(good);
	assert_fails(sqlite_copy(at("a"), at("b"), true, &method, &err), err, ERR_SYSTEM);
	assert_null(strstr(err.text, base));
	assert_sh("ls", "a\n");
	assert_int_equal(sqlite_inspect(base, &good, &err), 0);
	assert_false(good);
}

UNIT_GROUP(NULL, arena_end)
