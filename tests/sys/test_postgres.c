#include "src/sys/postgres.h"
#include "tests/lib/scratch.h"

static struct error err;

TEST(a_connection_string_has_parts)
{
	static const struct {
		const char *text, *host, *port, *database, *user, *password;
	} rows[] = {
		{"postgres://alice:secret@h.example:6543/mydb", "h.example", "6543", "mydb",
			"alice", "secret"},
		{"postgresql://u:p@h/db", "h", NULL, "db", "u", "p"},
		{"postgres://[::1]:5433/d", "::1", "5433", "d", NULL, NULL},
		{"postgres:///d?host=/run/pg", "/run/pg", NULL, "d", NULL, NULL},
		{"postgres://u:a%2Fb%3A%40%25@h/my%20db", "h", NULL, "my db", "u", "a/b:@%"},
		{"postgres://u@h1:1,h2:2/d", "h1,h2", "1,2", "d", "u", NULL},
		{"host=h port=1 dbname='a b' user=u password='x y'", "h", "1", "a b", "u", "x y"},
		{"postgres://h/d?password=q", "h", NULL, "d", NULL, "q"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct postgres_address got;

		assert_int_equal(postgres_parse(&arena, rows[i].text, &got, &err), 0);
		const char *const pairs[][2] = {{got.host, rows[i].host}, {got.port, rows[i].port},
			{got.database, rows[i].database}, {got.user, rows[i].user},
			{got.password, rows[i].password}};
		for (size_t k = 0; k < COUNT(pairs); k++)
			if (!pairs[k][0] != !pairs[k][1] ||
				(pairs[k][0] && strcmp(pairs[k][0], pairs[k][1]) != 0))
				fail_msg("'%s': part %zu is '%s'", rows[i].text, k,
					pairs[k][0] ? pairs[k][0] : "NULL");
	}
}

TEST(what_is_no_connection_string_is_not_shown)
{
	static const char *const rows[] = {"not-a-url", "mysql://u:s3cret@h/db",
		"postgres://u:s3cret@[::1/d", "host=s3cret 'x"};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct postgres_address got;

		assert_fails(postgres_parse(&arena, rows[i], &got, &err), err, ERR_INPUT);
		assert_null(strstr(err.text, "s3cret"));
	}
}

TEST(only_the_database_is_replaced)
{
	static const char *const rows[][2] = {
		{"postgres://u:p%2F@h:1/app?sslmode=require",
			"postgres://u:p%2F@h:1/b?sslmode=require"},
		{"postgres://h", "postgres://h/b"},
		{"postgres://h?dbname=x&host=/s", "postgres://h/b?host=/s"},
		{"postgres://[::1]:2/app?a=/x?y", "postgres://[::1]:2/b?a=/x?y"},
		{"host=h dbname=app", "host=h dbname=app dbname='b'"},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_string_equal(postgres_with_database(&arena, rows[i][0], "b"), rows[i][1]);
	assert_string_equal(postgres_quote(&arena, "a\"b"), "\"a\"\"b\"");
}

UNIT_GROUP(NULL, arena_end)
