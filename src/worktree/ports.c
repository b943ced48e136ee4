/*
 * ports.c: the port of a path, the first free block of ports, and those of an allocation.
 */
#include <errno.h>
#include <netinet/in.h>
#include "src/event/artifact.h"
#include "src/event/event.h"
#include "src/sys/digest.h"
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

/* The candidates of a base port B are B + 100 ... B + 999. */
enum { OFFSET_MIN = 100, PORT_SPAN = 900 };

json *port_list_json(unsigned first, unsigned n)
{
	json *list = json_array();

	for (unsigned i = 0; i < n; i++)
		json_push_int(list, first + i);
	return list;
}

/* ---- one port ---- */

int port_candidate(const char *path, unsigned base, unsigned *port, struct error *err)
{
	unsigned char sum[MD5_SIZE];

	if (digest_md5(str_of(path), sum, err) < 0)
		return -1;
	*port = base + (((unsigned)sum[0] << 8) | sum[1]) % PORT_SPAN + OFFSET_MIN;
	return 0;
}

static int port_parse(const char *text, unsigned *port, struct error *err)
{
	size_t n = strlen(text);

	/* Digits alone: a program that reads `8080abc` as 8080 binds an unexpected port. */
	*port = n <= 5 && text[0] != '0' && strspn(text, "0123456789") == n
			? (unsigned)strtoul(text, NULL, 10)
			: 0;
	return *port && *port <= PORT_LAST
		       ? 0
		       : error_set(err, ERR_USAGE, "port '%.40s' is not a number of 1..%d", text,
				 PORT_LAST);
}

/* A port is taken only if the system reports it in use: without a network nothing is. SO_REUSEADDR
 * ignores connections in TIME_WAIT, but not listeners. */
static bool bound(int family, const struct sockaddr *address, socklen_t size)
{
	CLEANUP(base_close) int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const int on = 1;

	if (fd < 0)
		return true;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (family == AF_INET6)
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	return bind(fd, address, size) == 0 || (errno != EADDRINUSE && errno != EACCES);
}

bool port_is_free(unsigned port)
{
	const struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	const struct sockaddr_in6 six = {
		.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};

	return bound(AF_INET, (const struct sockaddr *)&any, sizeof(any)) &&
	       bound(AF_INET6, (const struct sockaddr *)&six, sizeof(six));
}

/* ---- a block ---- */

static bool block_is_free(bool (*is_free)(unsigned port), unsigned first, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (!(is_free ? is_free : port_is_free)(first + i))
			return false;
	return true;
}

/* The allocation to which one of the ports belongs, also as one of a child; NULL: none. */
static const struct allocation *block_owner(
	const struct allocation *all, size_t n_all, unsigned first, unsigned n)
{
	for (size_t i = 0; i < n_all; i++)
		if (first < all[i].port + all[i].ports * (1 + all[i].slots) &&
			all[i].port < first + n)
			return &all[i];
	return NULL;
}

static int too_high(unsigned n, unsigned first, enum err code, struct error *err)
{
	return error_set(err, code, "a block of %u ports at %u exceeds %d", n, first, PORT_LAST);
}

int port_find(const struct port_ask *ask, struct port_answer *out, struct error *err)
{
	unsigned n = ask->count * (1 + ask->slots);

	*out = (struct port_answer){.overridden = ask->override && *ask->override};
	if (out->overridden) {
		if (port_parse(ask->override, &out->first, err) < 0)
			return -1;
		return out->first + n - 1 <= PORT_LAST ? 0
						       : too_high(n, out->first, ERR_USAGE, err);
	}
	if (port_candidate(ask->path, ask->base, &out->candidate, err) < 0)
		return -1;
	out->first = out->candidate;
	for (unsigned probes = 0; out->first + n - 1 <= PORT_LAST && probes < PROBES &&
				  out->first < out->candidate + PORT_SPAN;
		out->first++) {
		out->n_tried += out->n_tried < PROBES;
		/* Ports of others are known without a probe, and do not count as attempts. */
		if (block_owner(ask->taken, ask->n_taken, out->first, n))
			continue;
		if (block_is_free(ask->is_free, out->first, n))
			return 0;
		probes++;
	}
	return out->n_tried ? error_set(err, ERR_STATE,
				      "no free block of %u ports for '%.300s': tried those that "
				      "begin at %u to %u",
				      n, ask->path, out->candidate, out->first - 1)
			    : too_high(n, out->first, ERR_STATE, err);
}

int pool_port(struct arena *a, struct pool *p, struct port_ask *ask, struct port_answer *out,
	struct error *err)
{
	struct op o = {.a = a, .p = p, .err = err};

	if (p && records_read(&o) < 0)
		return -1;
	ask->taken = o.all.items;
	ask->n_taken = o.all.n;
	return port_find(ask, out, err);
}

/* ---- of an allocation ---- */

/* It is the same for every child: as many ports as the parent has. */
static int choose_slot(struct op *o, const struct allocate_ask *ask, struct allocation *of)
{
	const struct records *all = &o->all;
	const struct allocation *parent = NULL;

	for (size_t i = 0; i < all->n && !parent; i++)
		if (strcmp(all->items[i].path, ask->parent) == 0 ||
			strcmp(all->items[i].branch, ask->parent) == 0)
			parent = &all->items[i];
	if (ask->port && *ask->port)
		return error_set(o->err, ERR_USAGE,
			"a child's ports come from its parent: it cannot use '%s'", ask->port);
	if (!parent || parent->state != ALLOCATION_LIVE)
		return error_set(o->err, ERR_STATE,
			"no worktree of '%s' exists that could be a parent", ask->parent);
	if (of->slots || of->ports > parent->ports)
		return error_set(o->err, ERR_STATE,
			"a slot of '%s' has %u ports, fewer than the requested %u", parent->branch,
			parent->ports, of->ports * (1 + of->slots));
	of->parent = parent->slug;
	for (unsigned i = 1; i <= parent->slots; i++) {
		bool taken = false;

		of->port = parent->port + i * parent->ports;
		for (size_t k = 0; k < all->n; k++)
			taken |= &all->items[k] != parent && all->items[k].port == of->port;
		if (!taken && block_is_free(o->p->is_free, of->port, of->ports))
			return 0;
	}
	return error_set(o->err, ERR_STATE,
		"no slot of '%s' is free: each of the %u has a child, or a port in use",
		parent->branch, parent->slots);
}

/* That it is not the candidate, or that none was found. */
static int emit_collision(struct op *o, const struct allocate_ask *ask, const char *path,
	const struct port_answer *got, bool found, struct error *err)
{
	CLEANUP(json_free)
	json *fields = JSON_OBJECT(JSON_TEXT("worktreePath", path),
		JSON_INT("candidate", got->candidate), JSON_IF(found, JSON_INT("port", got->first)),
		JSON_VALUE("attempted", port_list_json(got->candidate, got->n_tried)));

	return event_emit(o->p->artifacts,
		&(struct event){.id = EVENT_PORT_COLLISION, .issue = ask->issue, .fields = fields},
		err);
}

int ports_choose(struct op *o, const struct allocate_ask *ask, struct allocation *of)
{
	const struct port_ask want = {.path = of->path,
		.base = o->p->spec.base_port,
		.count = ask->ports ? ask->ports : 1,
		.slots = ask->slots,
		.override = ask->port,
		.taken = o->all.items,
		.n_taken = o->all.n,
		.is_free = o->p->is_free};
	const struct allocation *owner = NULL;
	struct port_answer got;
	struct error ignored;
	int rc;

	of->ports = want.count;
	of->slots = ask->slots;
	if (of->ports > PORTS_MAX || of->slots > SLOTS_MAX)
		return error_set(o->err, ERR_USAGE, "%u ports and %u slots are more than %d and %d",
			of->ports, of->slots, PORTS_MAX, SLOTS_MAX);
	if (ask->parent)
		return choose_slot(o, ask, of);
	rc = port_find(&want, &got, o->err);
	of->port = got.first;
	/* An override is not probed, but two allocations never share a port. */
	if (rc == 0 && got.overridden)
		owner = block_owner(
			want.taken, want.n_taken, of->port, of->ports * (1 + of->slots));
	if (owner)
		return error_set(o->err, ERR_STATE, "port %u belongs to '%s'",
			of->port > owner->port ? of->port : owner->port, owner->path);
	if (rc < 0 && got.n_tried)
		(void)emit_collision(o, ask, of->path, &got, false, &ignored);
	if (rc < 0 || got.overridden || got.first == got.candidate)
		return rc;
	return emit_collision(o, ask, of->path, &got, true, o->err);
}

int ports_report(struct pool *p, const char *issue, const struct allocation *of, struct error *err)
{
	CLEANUP(json_free) json *members = NULL;

	if (!issue || !p->artifacts)
		return 0;
	members = JSON_OBJECT(JSON_TEXT("worktreePath", of->path), JSON_TEXT("branch", of->branch),
		JSON_INT("port", of->port),
		JSON_VALUE("ports", port_list_json(of->port, of->ports)));
	return artifact_merge_runtime(p->artifacts, issue, members, err);
}
