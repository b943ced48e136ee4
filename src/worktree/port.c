/*
 * port.c: the port of a path, and the first free block of ports.
 */
#include <errno.h>
#include <netinet/in.h>
#include "src/sys/digest.h"
#include "src/sys/path.h"
#include "src/worktree/pool.h"

/* The candidates of a base port B are B + 100 ... B + 999. */
enum { OFFSET_MIN = 100, BASE_MIN = 1024, BASE_MAX = 65000 };

/* Removes `.`, `..` and needless slashes textually, without following links, so that the port of a
 * path is the same before and after the directory is created. */
int port_path(struct arena *a, const char *path, char **out, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (!path || !*path)
		return error_set(err, ERR_USAGE, "no path to compute a port from");
	path = path_absolute(a, path);
	if (path[0] != '/')
		return error_set(err, ERR_SYSTEM,
			"cannot find the working directory, which '%s' is relative to", path);
	while (*path) {
		struct str part = {path, strcspn(path, "/")};

		path += part.n + (path[part.n] == '/');
		if (part.n == 0 || str_is(part, "."))
			continue;
		if (str_is(part, "..")) {
			const char *slash = text.len ? strrchr(text.s, '/') : NULL;

			buf_cut(&text, slash ? (size_t)(slash - text.s) : 0);
			continue;
		}
		buf_addc(&text, '/');
		buf_add(&text, part);
	}
	*out = arena_dup(a, text.len ? buf_str(&text) : STR("/"));
	return 0;
}

static int candidate(const char *path, unsigned base, unsigned *port, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	unsigned char sum[MD5_SIZE];
	char *whole;

	if (base < BASE_MIN || base > BASE_MAX)
		return error_set(err, ERR_USAGE, "base port %u is not within %d..%d", base,
			BASE_MIN, BASE_MAX);
	if (port_path(&a, path, &whole, err) < 0 || digest_md5(str_of(whole), sum, err) < 0)
		return -1;
	*port = base + (((unsigned)sum[0] << 8) | sum[1]) % PORT_SPAN + OFFSET_MIN;
	return 0;
}

int port_candidate(const char *path, unsigned base, unsigned *port, struct error *err)
{
	if (candidate(path, base, port, err) < 0)
		return -1;
	return *port <= PORT_LAST ? 0
				  : error_set(err, ERR_STATE, "port %u of '%s' is above %d", *port,
					    path, PORT_LAST);
}

int port_parse(const char *text, unsigned *port, struct error *err)
{
	size_t n = strlen(text);

	/* Digits alone: a program that reads `8080abc` as 8080 binds an unexpected port. */
	*port = n > 0 && n <= 5 && text[0] != '0' && strspn(text, "0123456789") == n
			? (unsigned)strtoul(text, NULL, 10)
			: 0;
	if (*port == 0 || *port > PORT_LAST)
		return error_set(
			err, ERR_USAGE, "port '%.40s' is not a number of 1..%d", text, PORT_LAST);
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

static bool are_all(
	const struct port_ask *ask, bool (*is)(void *, unsigned), bool want, unsigned first)
{
	for (unsigned i = 0; i < ask->count + ask->behind; i++)
		if ((is ? is(ask->data, first + i) : port_is_free(first + i)) != want)
			return false;
	return true;
}

static bool port_fits(const struct port_ask *ask, unsigned first)
{
	return first + ask->count + ask->behind - 1 <= PORT_LAST;
}

static int none_free(const struct port_ask *ask, const struct port_answer *tried, struct error *err)
{
	CLEANUP(buf_release) struct buf list = BUF_INIT;

	for (size_t i = 0; i < tried->n_tried; i++)
		buf_addf(&list, "%s%u", i ? ", " : "tried ", tried->tried[i]);
	if (tried->n_tried < PROBES)
		buf_addf(&list, "%sthe block at %u exceeds %d", list.len ? "; " : "",
			tried->first + (unsigned)tried->n_tried, PORT_LAST);
	return error_set(err, ERR_STATE, "no free block of %u ports for '%.300s': %s",
		ask->count + ask->behind, ask->path, list.s);
}

int port_find(const struct port_ask *ask, struct port_answer *out, struct error *err)
{
	unsigned probes = 0;

	*out = (struct port_answer){.overridden = ask->override && *ask->override};
	if (ask->count < 1 || ask->count > PORTS_MAX)
		return error_set(
			err, ERR_USAGE, "%u ports are not within 1..%d", ask->count, PORTS_MAX);
	if (out->overridden) {
		if (port_parse(ask->override, &out->first, err) < 0)
			return -1;
		if (port_fits(ask, out->first))
			return 0;
		return error_set(err, ERR_USAGE, "a block of %u ports at %u exceeds %d",
			ask->count + ask->behind, out->first, PORT_LAST);
	}
	if (candidate(ask->path, ask->base, &out->first, err) < 0)
		return -1;
	out->candidate = out->first;
	for (unsigned i = 0; i < PORT_SPAN && probes < PROBES && port_fits(ask, out->first + i);
		i++) {
		if (out->n_tried < PROBES)
			out->tried[out->n_tried++] = out->first + i;
		/* Ports of others are known without a probe, and do not count as attempts. */
		if (ask->is_taken && !are_all(ask, ask->is_taken, false, out->first + i))
			continue;
		if (are_all(ask, ask->is_free, true, out->first + i)) {
			out->collided = i > 0;
			out->first += i;
			return 0;
		}
		probes++;
	}
	return none_free(ask, out, err);
}
