/*
 * postgres.h: connection strings and statements of PostgreSQL. The only user of libpq, which is
 * opened at the first call, not at start-up. No error has any part of a connection string.
 */
#ifndef DT_POSTGRES_H
#define DT_POSTGRES_H

#include "src/base/vec.h"

/* The parts of a connection string, of a URL or of `key=value` pairs, percent-decoded; a host in
 * brackets without them. NULL: it has none. In the arena. */
struct postgres_address {
	const char *host, *port, *database, *user, *password;
	/* What libpq's programs read instead of the string: `PGHOST=...`, NULL-ended. */
	const char *const *environment;
};
/* -1: ERR_INPUT, it is neither form. */
int postgres_parse(
	struct arena *a, const char *text, struct postgres_address *out, struct error *err);
/* The same string with another database. It must be one that postgres_parse() accepts. */
char *postgres_with_database(struct arena *a, const char *text, const char *database);
/* It begins as a URL of PostgreSQL does. */
bool postgres_is_url(const char *text);

struct postgres; /* a connection */

enum { POSTGRES_STATE = 6 };
/* `name`: of the application, by which others find the session. -1: ERR_SYSTEM, no connection. */
int postgres_open(struct arena *a, struct postgres **out, const char *text, const char *database,
	const char *name, struct error *err);
void postgres_close(struct postgres **p); /* for CLEANUP; safe on NULL */

struct postgres_column {
	const char **items;
	size_t n, cap;
};
/*
 * One statement with up to one argument ($1; NULL: none). `out`: the first column; may be NULL.
 * `state`: the SQLSTATE of a failure. -1: ERR_SYSTEM.
 */
int postgres_query(struct arena *a, struct postgres *p, const char *statement, const char *argument,
	struct postgres_column *out, char state[POSTGRES_STATE], struct error *err);
/* A name in double quotes. */
char *postgres_quote(struct arena *a, const char *name);

#endif
