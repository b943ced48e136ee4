#include "src/sys/sqlite.h"
#include "tests/lib/shell.h"

enum { COPIES = 30 };

/* Each transaction moves an amount between two rows, in 300 pages: a copy with half of one has
 * another sum or fails the check. */
SCRATCH_TEST(each_copy_under_a_steady_writer_is_complete)
{
	struct error err;
	unsigned backups = 0;

	sh("sqlite3 a 'PRAGMA journal_mode=WAL; CREATE TABLE t (x, y); INSERT INTO t VALUES (1, "
	   "0), (2, 0); "
	   "CREATE TABLE pages (n INTEGER PRIMARY KEY, at INTEGER, filler); WITH RECURSIVE c(n) AS "
	   "(SELECT 1 UNION ALL "
	   "SELECT n + 1 FROM c WHERE n < 300) INSERT INTO pages SELECT n, 0, "
	   "hex(randomblob(1500)) FROM c' >log");
	sh("(while test -e a -a ! -e stop; do echo 'BEGIN; UPDATE t SET y = y + 5 WHERE x = 1; "
	   "UPDATE "
	   "pages SET at = at + 1; "
	   "UPDATE t SET y = y - 5 WHERE x = 2; COMMIT;'; done | sqlite3 a) >writer.log 2>&1 &");
	/* At least one while the writer is within a transaction. */
	for (unsigned i = 0; i < COPIES || !backups; i++) {
		const char *method;

		if (sqlite_copy(at("a"), at("b"), i % 2, &method, &err) < 0)
			fail_msg("%s", err.text);
		backups += strcmp(method, "backup") == 0;
		assert_sh("ls b*; sqlite3 'file:b?mode=ro' 'SELECT sum(y) FROM t; SELECT "
			  "count(DISTINCT "
			  "at) FROM pages; "
			  "SELECT (SELECT y FROM t WHERE x = 1) = 5 * (SELECT max(at) FROM pages); "
			  "PRAGMA "
			  "integrity_check'",
			"b\n0\n1\n1\nok\n");
	}
	sh("touch stop");
}

UNIT_GROUP(NULL, arena_end)
