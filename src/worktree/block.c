#include "src/worktree/pool_internal.h"

unsigned slot_block(const struct allocation *of)
{
	return of->ports + of->slots * of->slot_ports;
}

int port_owner(struct arena *a, struct pool *p, unsigned port, struct str *digest, int64_t *mod,
	struct error *err)
{
	struct store_kv kv;

	if (store_get(p->store, a, key_port(a, port), &kv, err) != STORE_OK)
		return -1;
	*mod = kv.mod;
	*digest = kv.mod ? kv.value : STR("");
	return 0;
}

void port_take(struct change *c, unsigned port, const char *path, int64_t mod)
{
	const char *key = key_port(c->arena, port);
	char digest[DIGEST_TEXT];

	record_digest(path, digest);
	change_guard(c, key, mod);
	change_put(c, key, arena_str(c->arena, str_of(digest)));
}

struct search {
	struct arena *arena;
	struct pool *pool;
	const struct unrecorded *others;
	size_t n_others;
	bool failed;
	struct error *err;
};

static bool is_taken(void *data, unsigned port)
{
	struct search *s = data;
	struct str digest;
	int64_t mod;

	if (s->failed || port_owner(s->arena, s->pool, port, &digest, &mod, s->err) < 0) {
		s->failed = true;
		return true;
	}
	return mod || unrecorded_owner(s->others, s->n_others, port);
}

struct others {
	struct unrecorded *list;
	size_t n;
};

/* An override is not probed, but two allocations never share a port. */
static int check_untaken(struct arena *a, struct pool *p, const struct others *others,
	unsigned first, unsigned n, struct error *err)
{
	for (unsigned port = first; port < first + n; port++) {
		const char *owner = unrecorded_owner(others->list, others->n, port);
		struct str digest;
		struct store_kv kv;
		struct allocation other = {.path = "another worktree"};
		int64_t mod;

		if (port_owner(a, p, port, &digest, &mod, err) < 0)
			return -1;
		if (!mod && owner)
			return error_set(err, ERR_STATE,
				"port %u belongs to '%s', which has no record here", port, owner);
		if (!mod)
			continue;
		if (store_get(p->store, a, arena_printf(a, "at/%.*s", (int)digest.n, digest.p), &kv,
			    err) != STORE_OK)
			return -1;
		if (kv.mod && record_parse(a, &kv, &other, err) < 0)
			return -1;
		return error_set(err, ERR_STATE, "port %u belongs to '%s'", port, other.path);
	}
	return 0;
}

static bool is_free(void *data, unsigned port)
{
	return pool_port_is_free(((struct search *)data)->pool, port);
}

static int choose_free(struct arena *a, struct pool *p, const struct allocate_ask *ask,
	const struct allocation *of, const struct others *others, struct port_answer *got,
	struct error *err)
{
	struct error fault;
	struct search s = {.arena = a,
		.pool = p,
		.others = others->list,
		.n_others = others->n,
		.err = &fault};
	const struct port_ask want = {.path = of->path,
		.base = p->base_port,
		.count = of->ports,
		.behind = of->slots * of->slot_ports,
		.override = ask->port,
		.is_taken = is_taken,
		.is_free = is_free,
		.data = &s};
	int rc = port_find(&want, got, err);

	if (s.failed) {
		*err = fault;
		return -1;
	}
	if (rc < 0 && got->n_tried)
		(void)port_tell(p, ask->issue, of->path, got->candidate, 0, &fault);
	return rc;
}

/* The ports that an earlier stage of the issue had for this worktree, if they are free now. */
static int choose_again(struct arena *a, struct pool *p, const struct allocate_ask *ask,
	const struct allocation *of, const struct others *others, unsigned *first,
	struct error *err)
{
	struct search s = {
		.arena = a, .pool = p, .others = others->list, .n_others = others->n, .err = err};
	unsigned port;

	*first = 0;
	if ((ask->port && *ask->port) || port_recall(p, ask->issue, of->path, &port, err) < 0)
		return ask->port && *ask->port ? 0 : -1;
	if (!port || port + slot_block(of) - 1 > PORT_LAST)
		return 0;
	for (unsigned i = 0; i < slot_block(of); i++)
		if (is_taken(&s, port + i) || !pool_port_is_free(p, port + i))
			return s.failed ? -1 : 0;
	*first = port;
	return 0;
}

/* The ports in the mark of an existing worktree without a record. They are not probed: its own
 * servers may listen there. */
static int choose_marked(struct arena *a, struct pool *p, const struct allocation *of,
	unsigned *first, struct error *err)
{
	unsigned port, n;

	if (!mark_ports(a, of->path, &port, &n) || n < slot_block(of))
		return 0;
	for (unsigned i = 0; i < slot_block(of); i++) {
		struct str digest;
		int64_t mod;

		if (port_owner(a, p, port + i, &digest, &mod, err) < 0)
			return -1;
		if (mod)
			return 0;
	}
	*first = port;
	return 0;
}

int block_choose(struct arena *a, struct pool *p, const struct allocate_ask *ask,
	struct allocation *of, struct change *c, struct error *err)
{
	struct port_answer got = {0};
	struct others others;
	bool chosen = ask->port && *ask->port;

	of->port = 0;
	if (unrecorded_ports(a, p, of->path, &others.list, &others.n, err) < 0 ||
		(!chosen && choose_marked(a, p, of, &of->port, err) < 0) ||
		(!of->port && choose_again(a, p, ask, of, &others, &of->port, err) < 0))
		return -1;
	if (!of->port) {
		if (choose_free(a, p, ask, of, &others, &got, err) < 0)
			return -1;
		of->port = got.first;
	}
	if (got.overridden && check_untaken(a, p, &others, of->port, slot_block(of), err) < 0)
		return -1;
	for (unsigned i = 0; i < slot_block(of); i++)
		port_take(c, of->port + i, of->path, 0);
	return 0;
}
