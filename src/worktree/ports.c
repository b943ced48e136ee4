/*
 * ports.c: the port of a path, the first free block of ports, and those of an allocation.
 */
#include <errno.h>
#include <netinet/in.h>
#include "src/base/number.h"
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

static unsigned allocation_end(const struct allocation *of)
{
	return of->port + of->ports * (1 + of->slots);
}

/* The allocation to which one of the ports belongs, also as one of a child; NULL: none. */
static const struct allocation *block_owner(
	const struct port_ask *ask, unsigned first, unsigned n, const struct allocation *but)
{
	for (size_t i = 0; i < ask->n_taken; i++)
		if (&ask->taken[i] != but && first < allocation_end(&ask->taken[i]) &&
			ask->taken[i].port < first + n)
			return &ask->taken[i];
	return NULL;
}

static bool block_is_free(const struct port_ask *ask, unsigned first, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (!(ask->is_free ? ask->is_free : port_is_free)(first + i))
			return false;
	return true;
}

int port_find(const struct port_ask *ask, struct port_answer *out, struct error *err)
{
	unsigned n = ask->count * (1 + ask->slots), probes = 0;
	bool own = ask->override && *ask->override;
	uint64_t port = 0;

	*out = (struct port_answer){0};
	if (own && (*ask->override == '0' ||
			   !number_parse(str_of(ask->override), 1, PORT_LAST, &port)))
		return error_set(err, ERR_USAGE, "port '%.40s' is not a number of 1..%d",
			ask->override, PORT_LAST);
	if (!own && port_candidate(ask->path, ask->base, &out->candidate, err) < 0)
		return -1;
	out->first = own ? (unsigned)port : out->candidate;
	if (out->first + n - 1 > PORT_LAST)
		return error_set(err, own ? ERR_USAGE : ERR_STATE,
			"a block of %u ports at %u exceeds %d", n, out->first, PORT_LAST);
	for (; !own && out->first + n - 1 <= PORT_LAST && probes < PROBES &&
		out->first < out->candidate + PORT_SPAN;
		out->first++) {
		out->n_tried += out->n_tried < PROBES;
		/* Ports of others are known without a probe, and do not count as attempts. */
		if (block_owner(ask, out->first, n, NULL))
			continue;
		if (block_is_free(ask, out->first, n))
			return 0;
		probes++;
	}
	return own ? 0
		   : error_set(err, ERR_STATE,
			     "no free block of %u ports for '%.300s': tried those that begin at %u "
			     "to %u",
			     n, ask->path, out->candidate, out->first - 1);
}

/* ---- of an allocation ---- */

/* Behind the parent's own ports are as many for each child. */
static int choose_slot(struct op *o, const struct port_ask *want, struct allocation *of)
{
	const struct allocation *parent = records_find(o, o->ask->parent, true);

	if (want->override && *want->override)
		return error_set(o->err, ERR_USAGE,
			"a child's ports come from its parent: it cannot use '%s'", want->override);
	if (!parent || parent->state != ALLOCATION_LIVE)
		return REFUSE("no worktree of '%s' exists that could be a parent", o->ask->parent);
	if (of->slots || of->ports > parent->ports)
		return REFUSE("a slot of '%s' has %u ports, fewer than the requested %u",
			parent->branch, parent->ports, of->ports * (1 + of->slots));
	of->parent = parent->slug;
	for (of->port = parent->port + parent->ports; of->port < allocation_end(parent);
		of->port += parent->ports)
		if (!block_owner(want, of->port, of->ports, parent) &&
			block_is_free(want, of->port, of->ports))
			return 0;
	return REFUSE("no slot of '%s' is free: each of the %u has a child, or a port in use",
		parent->branch, parent->slots);
}

int ports_choose(struct op *o, struct allocation *of)
{
	const struct allocate_ask *ask = o->ask;
	const struct port_ask want = {.path = of->path,
		.base = o->p->spec.base_port,
		.count = ask->ports ? ask->ports : 1,
		.slots = ask->slots,
		.override = ask->port,
		.taken = o->all.items,
		.n_taken = o->all.n,
		.is_free = o->p->is_free};
	const struct allocation *owner;
	struct port_answer got;

	of->ports = want.count;
	of->slots = ask->slots;
	if (ask->parent)
		return choose_slot(o, &want, of);
	if (port_find(&want, &got, o->err) < 0)
		return -1;
	of->port = got.first;
	/* An override is not probed, but two allocations never share a port. */
	owner = block_owner(&want, of->port, of->ports * (1 + of->slots), NULL);
	if (owner)
		return REFUSE("port %u belongs to '%s'",
			of->port > owner->port ? of->port : owner->port, owner->path);
	if (!got.candidate || got.first == got.candidate)
		return 0;
	return event_report(o->p->artifacts, EVENT_PORT_COLLISION, ask->issue, NULL,
		JSON_OBJECT(JSON_TEXT("worktreePath", of->path),
			JSON_INT("candidate", got.candidate), JSON_INT("port", got.first),
			JSON_VALUE("attempted", port_list_json(got.candidate, got.n_tried))),
		o->err);
}
