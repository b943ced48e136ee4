#include <ctype.h>
#include <libpq-fe.h>
#include "src/sys/library.h"
#include "src/sys/postgres.h"

#define FUNCTIONS(X)                                                                               \
	X(PQconninfoParse)                                                                         \
	X(PQconninfoFree)                                                                          \
	X(PQfreemem)                                                                               \
	X(PQconnectdbParams)                                                                       \
	X(PQstatus)                                                                                \
	X(PQfinish)                                                                                \
	X(PQsetNoticeProcessor)                                                                    \
	X(PQexecParams)                                                                            \
	X(PQresultStatus)                                                                          \
	X(PQresultErrorField)                                                                      \
	X(PQntuples)                                                                               \
	X(PQgetvalue)                                                                              \
	X(PQclear)

LIBRARY(FUNCTIONS, LIBPQ_SO, "PostgreSQL", NULL);

struct postgres {
	PGconn *connection;
};

bool postgres_is_url(const char *text)
{
	return str_starts(str_of(text), "postgres://") || str_starts(str_of(text), "postgresql://");
}

static int parse_options(const char *text, PQconninfoOption **out, struct error *err)
{
	char *why = NULL;

	if (library_open(&library, err) < 0)
		return -1;
	*out = lib.PQconninfoParse(text, &why);
	if (why)
		lib.PQfreemem(why); /* it quotes the string */
	return *out ? 0 : error_set(err, ERR_INPUT, "it is no connection string of PostgreSQL");
}

int postgres_parse(
	struct arena *a, const char *text, struct postgres_address *out, struct error *err)
{
	struct {
		const char *name, **value;
	} parts[] = {{"host", &out->host}, {"port", &out->port}, {"dbname", &out->database},
		{"user", &out->user}, {"password", &out->password}};
	VEC(const char *) env = {0};
	PQconninfoOption *list;

	*out = (struct postgres_address){0};
	if (parse_options(text, &list, err) < 0)
		return -1;
	for (const PQconninfoOption *o = list; o->keyword; o++) {
		if (!o->val)
			continue;
		for (size_t i = 0; i < COUNT(parts); i++)
			if (strcmp(o->keyword, parts[i].name) == 0)
				*parts[i].value = arena_dup(a, str_of(o->val));
		if (o->envvar)
			vec_push_in(a, &env, arena_printf(a, "%s=%s", o->envvar, o->val));
	}
	lib.PQconninfoFree(list);
	vec_push_in(a, &env, NULL);
	out->environment = env.items;
	return 0;
}

/* `SCHEME://USER@HOSTS/DATABASE?QUERY`. A name of ours needs no percent-encoding. */
static char *url_with_database(struct arena *a, const char *text, const char *database)
{
	const char *host = strstr(text, "://") + 3, *slash = host + strcspn(host, "/?#"),
		   *query = slash + strcspn(slash, "?");
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str rest = str_of(*query ? query + 1 : "");

	buf_addf(&out, "%.*s/%s", (int)(slash - text), text, database);
	for (char before = '?'; rest.n;) {
		struct str item = str_sub(rest, 0, str_find(rest, STR("&")));

		rest = str_sub(rest, item.n < rest.n ? item.n + 1 : item.n, rest.n);
		if (str_starts(item, "dbname="))
			continue;
		buf_addf(&out, "%c%.*s", before, (int)item.n, item.p);
		before = '&';
	}
	return arena_dup(a, buf_str(&out));
}

/* In pairs the last value of a key counts. */
char *postgres_with_database(struct arena *a, const char *text, const char *database)
{
	return postgres_is_url(text) ? url_with_database(a, text, database)
				     : arena_printf(a, "%s dbname='%s'", text, database);
}

static void drop_notice(void *data, const char *text)
{
	(void)data;
	(void)text;
}

int postgres_open(struct arena *a, struct postgres **out, const char *text, const char *database,
	const char *name, struct error *err)
{
	const char *const keys[] = {
		"dbname", "dbname", "application_name", "connect_timeout", NULL};
	const char *const values[] = {text, database, name, "10", NULL};
	PGconn *c;

	*out = NULL;
	if (library_open(&library, err) < 0)
		return -1;
	/* The first `dbname` is expanded to all that the string has; later keys override it. */
	c = lib.PQconnectdbParams(keys, values, 1);
	if (lib.PQstatus(c) != CONNECTION_OK) {
		lib.PQfinish(c); /* its message has host and user */
		return error_set(err, ERR_SYSTEM,
			"cannot connect to the PostgreSQL server: it is not running, or refuses "
			"the "
			"login");
	}
	(void)lib.PQsetNoticeProcessor(c, drop_notice, NULL);
	*out = arena_alloc(a, sizeof(**out));
	(*out)->connection = c;
	return 0;
}

void postgres_close(struct postgres **p)
{
	if (*p)
		lib.PQfinish((*p)->connection);
	*p = NULL;
}

static int refuse_result(PGresult *r, char state[POSTGRES_STATE], struct error *err)
{
	const char *code = lib.PQresultErrorField(r, PG_DIAG_SQLSTATE);
	const char *text = lib.PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);

	(void)snprintf(state, POSTGRES_STATE, "%s", code ? code : "");
	(void)error_set(
		err, ERR_SYSTEM, "PostgreSQL: %.400s", text ? text : "the connection ended");
	lib.PQclear(r);
	return -1;
}

int postgres_query(struct arena *a, struct postgres *p, const char *statement, const char *argument,
	struct postgres_column *out, char state[POSTGRES_STATE], struct error *err)
{
	PGresult *r = lib.PQexecParams(p->connection, statement, argument ? 1 : 0, NULL,
		argument ? &argument : NULL, NULL, NULL, 0);
	ExecStatusType status = lib.PQresultStatus(r);

	state[0] = '\0';
	if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
		return refuse_result(r, state, err);
	for (int i = 0; out && i < lib.PQntuples(r); i++)
		vec_push_in(a, out, arena_dup(a, str_of(lib.PQgetvalue(r, i, 0))));
	lib.PQclear(r);
	return 0;
}

char *postgres_quote(struct arena *a, const char *name)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	buf_addc(&out, '"');
	for (; *name; name++) {
		if (*name == '"')
			buf_addc(&out, '"');
		buf_addc(&out, *name);
	}
	buf_addc(&out, '"');
	return arena_dup(a, buf_str(&out));
}
