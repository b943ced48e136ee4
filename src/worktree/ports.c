/*
 * ports.c: the ports of an allocation, and those that a caller asks for.
 */
#include "src/event/artifact.h"
#include "src/event/event.h"
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

enum { BLOCK_MAX = 60 };

unsigned allocation_block(const struct allocation *of)
{
	return of->ports + of->slots * of->slot_ports;
}

json *port_list_json(unsigned first, unsigned n)
{
	json *list = json_array();

	for (unsigned i = 0; i < n; i++)
		json_push_int(list, first + i);
	return list;
}

/* ---- events and records ---- */

/* The first ten attempts are reported. */
static int emit_collision(struct pool *p, const char *issue, const char *path, unsigned candidate,
	unsigned port, struct error *err)
{
	CLEANUP(json_free) json *fields = NULL;
	unsigned last = port && port < candidate + PROBES ? port : candidate + PROBES - 1;

	last = last > PORT_LAST ? PORT_LAST : last;
	fields = JSON_OBJECT(JSON_TEXT("worktreePath", path), JSON_INT("candidate", candidate),
		JSON_IF(port, JSON_INT("port", port)),
		JSON_VALUE("attempted", port_list_json(candidate, last - candidate + 1)));
	return event_emit(p->artifacts,
		&(struct event){.id = EVENT_PORT_COLLISION, .issue = issue, .fields = fields}, err);
}

static int ports_remember(
	struct pool *p, const char *issue, const struct allocation *of, struct error *err)
{
	CLEANUP(json_free) json *members = NULL;

	if (!issue || !p->artifacts)
		return 0;
	members = JSON_OBJECT(JSON_TEXT("worktreePath", of->path),
		JSON_IF(of->branch, JSON_TEXT("branch", of->branch)), JSON_INT("port", of->port),
		JSON_VALUE("ports", port_list_json(of->port, of->ports)));
	return artifact_merge_runtime(p->artifacts, issue, members, err);
}

int ports_report(struct pool *p, const struct allocate_ask *ask, const struct allocation *of,
	struct error *err)
{
	unsigned candidate;

	if (!of->parent && !(ask->port && *ask->port)) {
		if (port_candidate(of->path, p->base_port, &candidate, err) < 0)
			return -1;
		/* A port farther away belongs to an earlier stage. */
		if (of->port > candidate && of->port - candidate < PORT_SPAN &&
			emit_collision(p, ask->issue, of->path, candidate, of->port, err) < 0)
			return -1;
	}
	return ports_remember(p, ask->issue, of, err);
}

/* ---- free ones ---- */

struct search {
	struct pool *pool;
	const struct records *all;
	const char *issue, *path;
};

static const struct allocation *owner_of(const struct records *all, unsigned port)
{
	for (size_t i = 0; i < all->n; i++)
		if (port - all->items[i].port < allocation_block(&all->items[i]))
			return &all->items[i];
	return NULL;
}

static bool ports_is_taken(void *data, unsigned port)
{
	return owner_of(((struct search *)data)->all, port) != NULL;
}

static bool is_free(void *data, unsigned port)
{
	const struct pool *p = ((struct search *)data)->pool;

	return p->is_free ? p->is_free(port) : port_is_free(port);
}

/* The `n` ports that runtime.json of the issue has for this worktree; *first 0: it has none, or
 * they are not free now. */
static int ports_recall(struct search *s, unsigned n, unsigned *first, struct error *err)
{
	CLEANUP(json_free) json *j = NULL;

	*first = 0;
	if (!s->issue || !s->pool->artifacts)
		return 0;
	if (artifact_read_runtime(s->pool->artifacts, s->issue, &j, err) < 0)
		return -1;
	if (json_str_is(j, "worktreePath", s->path))
		*first = (unsigned)json_get_int(j, "port", 0);
	for (unsigned i = 0; *first && i < n; i++)
		if (*first + i > PORT_LAST || ports_is_taken(s, *first + i) ||
			!is_free(s, *first + i))
			*first = 0;
	return 0;
}

/* The override, those of an earlier stage of the issue, or the first free ones. */
static int ports_find_block(
	struct search *s, const struct port_ask *want, struct port_answer *got, struct error *err)
{
	struct error ignored;
	int rc;

	*got = (struct port_answer){0};
	if (!(want->override && *want->override) &&
		ports_recall(s, want->count + want->behind, &got->first, err) < 0)
		return -1;
	if (got->first)
		return 0;
	rc = port_find(want, got, err);
	if (rc < 0 && got->n_tried)
		(void)emit_collision(s->pool, s->issue, s->path, got->candidate, 0, &ignored);
	return rc;
}

static int choose_block(
	struct search *s, const struct allocate_ask *ask, struct allocation *of, struct error *err)
{
	const struct port_ask want = {.path = of->path,
		.base = s->pool->base_port,
		.count = of->ports,
		.behind = of->slots * of->slot_ports,
		.override = ask->port,
		.is_taken = ports_is_taken,
		.is_free = is_free,
		.data = s};
	const struct allocation *owner;
	struct port_answer got;

	if (ports_find_block(s, &want, &got, err) < 0)
		return -1;
	of->port = got.first;
	/* An override is not probed, but two allocations never share a port. */
	for (unsigned i = 0; got.overridden && i < allocation_block(of); i++)
		if ((owner = owner_of(s->all, of->port + i)))
			return error_set(err, ERR_STATE, "port %u belongs to '%s'", of->port + i,
				owner->path);
	return 0;
}

/* ---- a slot of a parent ---- */

static int ports_find_parent(const struct records *all, const struct allocate_ask *ask,
	const struct allocation *of, const struct allocation **parent, struct error *err)
{
	const struct allocation *p = NULL;

	for (size_t i = 0; i < all->n && !p; i++)
		if (strcmp(all->items[i].path, ask->parent) == 0 ||
			strcmp(all->items[i].branch, ask->parent) == 0)
			p = &all->items[i];
	*parent = p;
	if (ask->port && *ask->port)
		return error_set(err, ERR_USAGE,
			"a child's ports come from its parent: it cannot use '%s'", ask->port);
	if (!p || p->state != ALLOCATION_LIVE)
		return error_set(err, ERR_STATE,
			"no worktree of '%s' exists that could be a parent", ask->parent);
	if (!p->slots)
		return error_set(
			err, ERR_STATE, "'%s' was allocated without slots for children", p->branch);
	if (allocation_block(of) > p->slot_ports)
		return error_set(err, ERR_STATE,
			"a slot of '%s' has %u ports, fewer than the requested %u", p->branch,
			p->slot_ports, allocation_block(of));
	return 0;
}

static int choose_slot(
	struct search *s, const struct allocate_ask *ask, struct allocation *of, struct error *err)
{
	const struct allocation *parent;
	unsigned taken = 0, busy = 0;

	if (ports_find_parent(s->all, ask, of, &parent, err) < 0)
		return -1;
	of->parent = parent->path;
	for (unsigned i = 0; i < parent->slots; i++) {
		bool has_child = false, listens = false;

		of->port = parent->port + parent->ports + i * parent->slot_ports;
		for (size_t k = 0; k < s->all->n; k++)
			has_child |= s->all->items[k].port - of->port < parent->slot_ports;
		for (unsigned k = 0; k < allocation_block(of) && !has_child; k++)
			listens |= !is_free(s, of->port + k);
		if (!has_child && !listens)
			return 0;
		taken += has_child;
		busy += listens;
	}
	if (!busy)
		return error_set(err, ERR_STATE, "all %u slots of '%s' are taken", parent->slots,
			parent->branch);
	return error_set(err, ERR_STATE,
		"no slot of '%s' is free: %u of %u are taken, and ports of %u are in use",
		parent->branch, taken, parent->slots, busy);
}

/* ---- of an allocation ---- */

int ports_choose(struct op *o, const struct allocate_ask *ask, struct allocation *of)
{
	struct search s = {o->p, &o->all, ask->issue, of->path};
	struct error *err = o->err;

	of->ports = ask->ports ? ask->ports : 1;
	of->slots = ask->slots;
	of->slot_ports = ask->slots && !ask->slot_ports ? 1 : ask->slot_ports;
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
	if (allocation_block(of) > BLOCK_MAX)
		return error_set(err, ERR_USAGE,
			"%u ports with those of the slots are more than %d", allocation_block(of),
			BLOCK_MAX);
	return ask->parent ? choose_slot(&s, ask, of, err) : choose_block(&s, ask, of, err);
}

/* ---- for a caller that allocates nothing ---- */

int pool_port(struct arena *a, struct pool *p, const struct port_request *ask,
	struct port_answer *out, struct error *err)
{
	struct op o = {.a = a, .p = p, .err = err};
	struct pool none = {.artifacts = ask->artifacts};
	struct search s = {&none, &o.all, ask->issue, ask->path};
	const struct port_ask want = {.path = ask->path,
		.base = ask->base,
		.count = ask->count,
		.override = ask->override,
		.is_taken = ports_is_taken,
		.is_free = is_free,
		.data = &s};
	struct allocation of = {.path = ask->path, .ports = ask->count};
	struct error ignored;

	if ((p && records_read(&o) < 0) || ports_find_block(&s, &want, out, err) < 0)
		return -1;
	if (out->collided)
		(void)emit_collision(
			&none, ask->issue, ask->path, out->candidate, out->first, &ignored);
	of.port = out->first;
	return ports_remember(&none, ask->issue, &of, err);
}
