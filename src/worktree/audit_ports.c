#include "src/worktree/audit.h"

/* ---- operations in progress ---- */

static const char *half_word(const struct allocation *of)
{
	return of->state == ALLOCATION_MAKING ? "half-made" : "half-removed";
}

static bool has_mark(const struct audit *t, const struct audit_record *r)
{
	for (size_t i = 0; i < t->n_marks; i++)
		if (str_is(str_sub(t->marks[i].key, strlen("doing/"), t->marks[i].key.n),
			    r->digest))
			return true;
	return false;
}

static void add_half(struct audit *t, const struct allocation *of)
{
	if (of->fault)
		audit_add(t, half_word(of), of->path, "it cannot be finished: %s", of->fault);
	else
		audit_add(t, half_word(of), of->path, "process %d began it and has ended",
			(int)of->pid);
}

void audit_marks(struct audit *t)
{
	for (size_t i = 0; i < t->n_marks; i++) {
		struct str key = t->marks[i].key;
		const struct audit_record *r =
			audit_by_digest(t, str_sub(key, strlen("doing/"), key.n));

		if (!r || r->of.state == ALLOCATION_LIVE)
			audit_add(t, "orphan-mark", arena_dup(t->arena, key),
				"records an operation, and none is in progress");
	}
	for (size_t i = 0; i < t->n_records; i++) {
		const struct audit_record *r = &t->records[i];

		if (r->of.state == ALLOCATION_LIVE)
			continue;
		if (!r->busy && record_ours(t->pool, &r->of))
			add_half(t, &r->of);
		if (!has_mark(t, r))
			audit_add(t, "missing-mark", r->of.path,
				"is %s and has no entry that a repair would find",
				r->of.state == ALLOCATION_MAKING ? "being made" : "being removed");
	}
}

/* ---- ports ---- */

static bool in_block(const struct allocation *of, unsigned port)
{
	return port >= of->port && port - of->port < slot_block(of);
}

/* The owner of the port is a child, or a child's child, that got it from a slot. */
static bool is_descendant(
	const struct audit *t, const struct audit_record *who, const struct audit_record *of)
{
	for (unsigned depth = 0; who && who->of.parent && depth <= SLOTS_MAX; depth++) {
		if (strcmp(who->of.parent, of->of.path) == 0)
			return true;
		who = audit_by_path(t, who->of.parent);
	}
	return false;
}

static bool own_port(const struct allocation *of, unsigned port)
{
	return port - of->port < of->ports;
}

static void check_owners(struct audit *t, const struct audit_record *const *owner)
{
	for (size_t i = 0; i < t->n_records; i++) {
		const struct audit_record *r = &t->records[i];

		if (slot_block(&r->of) &&
			(r->of.port == 0 || r->of.port + slot_block(&r->of) - 1 > PORT_LAST)) {
			audit_add(t, "bad-record", r->of.path, "its ports are not valid");
			continue;
		}
		for (unsigned p = r->of.port; p < r->of.port + slot_block(&r->of); p++) {
			if (owner[p] == r ||
				(owner[p] && !own_port(&r->of, p) && is_descendant(t, owner[p], r)))
				continue;
			if (owner[p])
				audit_add(t, "shared-port", r->of.path,
					"port %u also belongs to '%s'", p, owner[p]->of.path);
			else
				audit_add(t, "missing-port", r->of.path,
					"port %u is in the record and has no holder", p);
		}
	}
}

static unsigned port_of_key(struct arena *a, struct str key)
{
	struct error ignored;
	unsigned port = 0;

	(void)port_parse(arena_dup(a, str_sub(key, strlen("port/"), key.n)), &port, &ignored);
	return port;
}

void audit_ports(struct audit *t)
{
	const struct audit_record **owner =
		arena_alloc(t->arena, (PORT_LAST + 1) * sizeof(const struct audit_record *));

	for (size_t i = 0; i < t->n_ports; i++) {
		const char *key = arena_dup(t->arena, t->ports[i].key);
		unsigned port = port_of_key(t->arena, t->ports[i].key);
		const struct audit_record *r = audit_by_digest(t, t->ports[i].value);

		if (!port)
			audit_add(t, "orphan-port", key, "is not a port");
		else if (!r)
			audit_add(t, "orphan-port", key, "is held for a worktree without a record");
		else if (!in_block(&r->of, port))
			audit_add(t, "stray-port", r->of.path,
				"port %u is held for it and is not in its record", port);
		if (port)
			owner[port] = r;
	}
	check_owners(t, owner);
}
