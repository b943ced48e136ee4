/*
 * databases.c: the database branches of a stage, as its variables name them (src/run/databases.h):
 * a server is reached at its own host and port, a SQLite file in the directory of its branch.
 */
#include <strings.h>
#include <sys/stat.h>
#include "src/base/number.h"
#include "src/sandbox/sandbox_internal.h"
#include "src/sys/path.h"
#include "src/sys/postgres.h"

enum { POSTGRES_PORT = 5432 };

struct databases {
	struct arena *arena;
	VEC(const char *) variables;
	VEC(const char *) read, write; /* directories */
	VEC(struct sandbox_service) services;
};

/* The path in `file:///PATH?mode=ro`, `sqlite:...` or a plain one; NULL: it is no file. */
static const char *path_of(struct arena *a, const char *address)
{
	static const char *const schemes[] = {"file://", "sqlite://", "file:", "sqlite:"};
	struct str rest = str_of(address);

	for (size_t i = 0; i < COUNT(schemes); i++)
		if (str_starts(rest, schemes[i])) {
			rest = str_sub(rest, strlen(schemes[i]), rest.n);
			rest = str_sub(rest, 0, str_find(rest, STR("?")));
			break;
		}
	return str_starts(rest, "/") ? arena_dup(a, rest) : NULL;
}

/* The directory of a branch has nothing else in it; what is elsewhere could have. */
static void add_file(struct databases *d, const char *path)
{
	const char *directory = arena_dup(d->arena, path_dir(path));
	struct stat st;

	if (!strstr(directory, "/.databases/") || stat(path, &st) < 0)
		return;
	if (st.st_mode & S_IWUSR)
		vec_push_in(d->arena, &d->write, directory);
	else
		vec_push_in(d->arena, &d->read, directory);
}

static void add_server(struct databases *d, const struct postgres_address *at)
{
	uint64_t port = POSTGRES_PORT;

	if (!at->host || at->host[0] == '/' ||
		(at->port && !number_parse(str_of(at->port), 1, 65535, &port)))
		return;
	vec_push_in(d->arena, &d->services,
		((struct sandbox_service){arena_dup(d->arena, str_of(at->host)), (unsigned)port}));
}

static void add_variable(struct databases *d, const char *name)
{
	const char *value = getenv(name), *path = value ? path_of(d->arena, value) : NULL;
	struct postgres_address at;
	struct error ignored;

	if (!value)
		return;
	vec_push_in(d->arena, &d->variables, arena_printf(d->arena, "%s=%s", name, value));
	if (path)
		add_file(d, path);
	else if (postgres_is_url(value) || strstr(value, "host="))
		if (postgres_parse(d->arena, value, &at, &ignored) == 0)
			add_server(d, &at);
}

void sandbox_databases(struct arena *a, struct sandbox_command *x)
{
	struct databases d = {.arena = a};
	struct str rest = str_of(getenv(SANDBOX_DATABASES));

	while (rest.n) {
		size_t end = str_find(rest, STR(" "));

		add_variable(&d, arena_dup(a, str_sub(rest, 0, end)));
		rest = str_sub(rest, end < rest.n ? end + 1 : end, rest.n);
	}
	vec_push_in(a, &d.variables, NULL);
	vec_push_in(a, &d.read, NULL);
	vec_push_in(a, &d.write, NULL);
	x->variables = d.variables.items;
	x->read = d.read.items;
	x->write = d.write.items;
	x->services = d.services.items;
	x->n_services = d.services.n;
}
