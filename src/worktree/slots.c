#include "src/worktree/pool_internal.h"

/* Besides the ports a transaction has the record, its doing/ entry, and the parent. */
enum { BLOCK_MAX = STORE_OPS_MAX - 4 };

static bool is_of(struct str digest, const char *path)
{
	char own[DIGEST_TEXT];

	record_digest(path, own);
	return str_is(digest, own);
}

/* ---- a slot of a parent ---- */

static int find_parent(struct arena *a, struct pool *p, const char *what, struct allocation *out,
	struct error *err)
{
	struct allocation *all;
	size_t n;

	if (record_all(a, p, &all, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		*out = all[i];
		if (record_ours(p, out) &&
			(strcmp(out->path, what) == 0 || strcmp(out->branch, what) == 0))
			return 0;
	}
	return error_set(err, ERR_STATE, "no worktree of '%s' exists that could be a parent", what);
}

static int check_parent(
	const struct allocation *parent, const struct allocation *of, struct error *err)
{
	if (strcmp(parent->path, of->path) == 0)
		return error_set(err, ERR_USAGE, "'%s' cannot be its own parent", of->branch);
	if (parent->state != ALLOCATION_LIVE)
		return error_set(err, ERR_STATE,
			"'%s' is being created or removed, so it is no "
			"parent",
			parent->branch);
	if (!parent->slots)
		return error_set(err, ERR_STATE, "'%s' was allocated without slots for children",
			parent->branch);
	if (slot_block(of) > parent->slot_ports)
		return error_set(err, ERR_STATE,
			"a slot of '%s' has %u ports, fewer than the requested %u", parent->branch,
			parent->slot_ports, slot_block(of));
	return 0;
}

struct slot {
	unsigned first;
	int64_t mod[PORTS_MAX];
	bool taken, busy;
};

static int look_at_slot(struct arena *a, struct pool *p, const struct allocation *parent,
	unsigned i, unsigned wanted, struct slot *out, struct error *err)
{
	*out = (struct slot){.first = parent->port + parent->ports + i * parent->slot_ports};
	for (unsigned k = 0; k < parent->slot_ports; k++) {
		struct str digest;

		if (port_owner(a, p, out->first + k, &digest, &out->mod[k], err) < 0)
			return -1;
		out->taken |= !is_of(digest, parent->path);
	}
	for (unsigned k = 0; k < wanted && !out->taken; k++)
		out->busy |= !pool_port_is_free(p, out->first + k);
	return 0;
}

static int no_slot(
	const struct allocation *parent, unsigned taken, unsigned busy, struct error *err)
{
	if (!busy)
		return error_set(err, ERR_STATE, "all %u slots of '%s' are taken", parent->slots,
			parent->branch);
	return error_set(err, ERR_STATE,
		"no slot of '%s' is free: %u of %u are taken, and ports of %u are in use",
		parent->branch, taken, parent->slots, busy);
}

static int take_slot(struct arena *a, struct pool *p, const struct allocation *parent,
	struct allocation *of, struct change *c, struct error *err)
{
	unsigned taken = 0, busy = 0;

	for (unsigned i = 0; i < parent->slots; i++) {
		struct slot s;

		if (look_at_slot(a, p, parent, i, slot_block(of), &s, err) < 0)
			return -1;
		taken += s.taken;
		busy += s.busy;
		if (s.taken || s.busy)
			continue;
		of->port = s.first;
		for (unsigned k = 0; k < slot_block(of); k++)
			port_take(c, s.first + k, of->path, s.mod[k]);
		return 0;
	}
	return no_slot(parent, taken, busy, err);
}

static int choose_slot(struct arena *a, struct pool *p, const struct allocate_ask *ask,
	struct allocation *of, struct change *c, struct error *err)
{
	struct allocation parent;

	if (ask->port && *ask->port)
		return error_set(err, ERR_USAGE,
			"a child's ports come from its parent: it cannot use '%s'", ask->port);
	if (find_parent(a, p, ask->parent, &parent, err) < 0 ||
		check_parent(&parent, of, err) < 0 || take_slot(a, p, &parent, of, c, err) < 0)
		return -1;
	of->parent = parent.path;
	/* Put unchanged: this invalidates the revision that a concurrent removal has read. */
	change_record(c, &parent);
	return 0;
}

/* ---- common ---- */

static int check_counts(const struct allocation *of, struct error *err)
{
	if (of->ports > PORTS_MAX)
		return error_set(
			err, ERR_USAGE, "%u ports are not within 1..%d", of->ports, PORTS_MAX);
	if (of->slots > SLOTS_MAX)
		return error_set(
			err, ERR_USAGE, "%u slots are not within 1..%d", of->slots, SLOTS_MAX);
	if (!of->slots && of->slot_ports)
		return error_set(err, ERR_USAGE, "ports for slots, but no slots");
	if (of->slot_ports > PORTS_MAX)
		return error_set(err, ERR_USAGE, "%u ports for a slot are not within 1..%d",
			of->slot_ports, PORTS_MAX);
	if (slot_block(of) > BLOCK_MAX)
		return error_set(err, ERR_USAGE,
			"%u ports with those of the slots are more than %d", slot_block(of),
			BLOCK_MAX);
	return 0;
}

int slot_choose(struct arena *a, struct pool *p, const struct allocate_ask *ask,
	struct allocation *of, struct change *c, struct error *err)
{
	of->ports = ask->ports ? ask->ports : 1;
	of->slots = ask->slots;
	of->slot_ports = ask->slots && !ask->slot_ports ? 1 : ask->slot_ports;
	if (check_counts(of, err) < 0)
		return -1;
	return ask->parent ? choose_slot(a, p, ask, of, c, err)
			   : block_choose(a, p, ask, of, c, err);
}

/* ---- release ---- */

/* The next owner of a port that is released: its digest; "" for none. */
static int heir_of(struct arena *a, struct pool *p, const struct allocation *of,
	char out[DIGEST_TEXT], struct error *err)
{
	struct allocation parent;
	bool there;

	out[0] = '\0';
	if (!of->parent)
		return 0;
	if (record_read(a, p, of->parent, &parent, &there, err) < 0)
		return -1;
	if (there && of->port >= parent.port && of->port < parent.port + slot_block(&parent))
		record_digest(of->parent, out);
	return 0;
}

int slot_release(struct arena *a, struct pool *p, const struct allocation *of, struct change *c,
	struct error *err)
{
	char heir[DIGEST_TEXT];

	if (heir_of(a, p, of, heir, err) < 0)
		return -1;
	for (unsigned i = 0; i < slot_block(of); i++) {
		const char *key = key_port(a, of->port + i);
		struct str digest;
		int64_t mod;

		if (port_owner(a, p, of->port + i, &digest, &mod, err) < 0)
			return -1;
		if (!is_of(digest, of->path))
			continue;
		change_guard(c, key, mod);
		if (heir[0])
			change_put(c, key, arena_str(a, str_of(heir)));
		else
			change_del(c, key);
	}
	return 0;
}

int slot_children(struct arena *a, struct pool *p, const struct allocation *of, size_t *n,
	const char **first, struct error *err)
{
	struct allocation *all;
	size_t n_all;

	*n = 0;
	*first = NULL;
	if (!of->slots)
		return 0;
	if (record_all(a, p, &all, &n_all, err) < 0)
		return -1;
	for (size_t i = 0; i < n_all; i++)
		if (all[i].parent && strcmp(all[i].parent, of->path) == 0 && (*n)++ == 0)
			*first = all[i].path;
	return 0;
}
