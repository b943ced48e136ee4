#include <limits.h>
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

const char *port_source_word(enum port_source s)
{
	static const char *const words[] = {
		[PORT_COMPUTED] = "computed",
		[PORT_OVERRIDE] = "override",
		[PORT_OF_RECORD] = "record",
		[PORT_OF_ISSUE] = "issue",
	};

	return words[s];
}

bool port_is_path(const char *word)
{
	return word[0] == '/' || strcmp(word, ".") == 0 || strcmp(word, "..") == 0 ||
	       strncmp(word, "./", 2) == 0 || strncmp(word, "../", 3) == 0 || !*word;
}

int pool_port_of(struct arena *a, struct pool *p, const char *word, struct port_request *ask,
	struct error *err)
{
	unsigned count = ask->count;
	struct pool_entry found;
	struct error ignored;
	bool known = false;

	ask->path = word;
	ask->count = count ? count : 1;
	if (!p || pool_find(a, p, word, &found, &known, &ignored) < 0)
		known = false;
	if (known && found.of.ports) {
		ask->path = found.of.path;
		ask->count = count ? count : found.of.ports;
		return 0;
	}
	if (!port_is_path(word) && !path_exists(word))
		return error_set(err, ERR_STATE,
			"'%.200s' is neither a branch of the pool nor an existing path; write "
			"'./%.200s' for a path that does not exist yet",
			word, word);
	if (!ask->override)
		ask->override = getenv("PORT");
	return 0;
}

struct look {
	struct arena *arena;
	struct pool pool;
	const struct port_request *ask;
	struct port_report *out;
	bool failed;
	struct error *err;
};

/* Reads the store only: a request for a port holds nothing. Without a store no port is taken. */
static int open_store(struct look *l)
{
	return store_open(&l->pool.store, store_backend(), l->ask->state, POOL_STORE,
		STORE_READ | STORE_MARKED, 0, l->err);
}

static bool is_taken(void *data, unsigned port)
{
	struct look *l = data;
	struct str digest;
	int64_t mod = 0;

	if (l->failed || port_owner(l->arena, &l->pool, port, &digest, &mod, l->err) < 0) {
		l->failed = true;
		return true;
	}
	return mod;
}

/* The worktree may be recorded by the name behind a link. */
static int find_record(struct look *l, struct allocation *of, bool *there)
{
	char real[PATH_MAX];

	*there = false;
	if (!l->pool.store)
		return 0;
	if (record_read(l->arena, &l->pool, l->out->path, of, there, l->err) < 0)
		return -1;
	if (*there || !realpath(l->out->path, real))
		return 0;
	return record_read(l->arena, &l->pool, real, of, there, l->err);
}

static int take(struct look *l, enum port_source source, unsigned first)
{
	l->out->source = source;
	l->out->answer.first = first;
	return 0;
}

static int by_record(struct look *l, bool *done)
{
	struct allocation of;

	if (find_record(l, &of, done) < 0)
		return -1;
	*done = *done && of.ports;
	if (!*done)
		return 0;
	if (of.ports < l->ask->count)
		return error_set(l->err, ERR_STATE,
			"'%s' has %u ports, fewer than the requested %u", l->out->path, of.ports,
			l->ask->count);
	return take(l, PORT_OF_RECORD, of.port);
}

static int by_issue(struct look *l, bool *done)
{
	unsigned port;

	if (port_recall(&l->pool, l->ask->issue, l->out->path, &port, l->err) < 0)
		return -1;
	*done = port && port + l->ask->count - 1 <= PORT_LAST;
	for (unsigned i = 0; i < l->ask->count && *done; i++)
		*done = !is_taken(l, port + i) && port_is_free(port + i);
	if (l->failed)
		return -1;
	return *done ? take(l, PORT_OF_ISSUE, port) : 0;
}

static int by_path(struct look *l)
{
	const struct port_request *ask = l->ask;
	struct port_answer *got = &l->out->answer;
	const struct port_ask want = {.path = l->out->path,
		.base = ask->base,
		.count = ask->count,
		.override = ask->override,
		.is_taken = is_taken,
		.data = l};
	struct error fault;
	int rc = port_find(&want, got, &fault);

	if (l->failed)
		return -1;
	if (rc < 0)
		*l->err = fault;
	l->out->source = got->overridden ? PORT_OVERRIDE : PORT_COMPUTED;
	if (got->collided || (rc < 0 && got->n_tried))
		(void)port_tell(&l->pool, ask->issue, l->out->path, got->candidate,
			rc < 0 ? 0 : got->first, &fault);
	return rc;
}

static int find(struct look *l)
{
	bool overridden = l->ask->override && *l->ask->override, done = false;
	struct error ignored;

	if (port_candidate(l->out->path, l->ask->base, &l->out->candidate, &ignored) < 0)
		l->out->candidate = 0;
	if (!overridden && by_record(l, &done) < 0)
		return -1;
	if (!overridden && !done && by_issue(l, &done) < 0)
		return -1;
	return done ? 0 : by_path(l);
}

int pool_port(
	struct arena *a, const struct port_request *ask, struct port_report *out, struct error *err)
{
	struct look l = {.arena = a,
		.pool = {.artifacts = ask->artifacts, .base_port = ask->base},
		.ask = ask,
		.out = out,
		.err = err};
	struct allocation of = {.ports = ask->count};
	char *path;
	int rc;

	*out = (struct port_report){0};
	if (port_path(a, ask->path, &path, err) < 0)
		return -1;
	out->path = of.path = path;
	rc = open_store(&l) < 0 || find(&l) < 0 ? -1 : 0;
	store_close(&l.pool.store);
	of.port = out->answer.first;
	return rc < 0 ? -1 : port_remember(&l.pool, ask->issue, &of, err);
}
