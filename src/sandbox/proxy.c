/*
 * proxy.c: an HTTP proxy on the host for the hosts that the policy names: CONNECT, and requests in
 * absolute form. A name that leads to an address of this machine or of a private network is
 * refused, unless the policy names that address, too: whoever owns a name says where it leads.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include "src/sandbox/sandbox_internal.h"
#include "src/sys/path.h"

enum { HEAD_MAX = 16384, PATIENCE_S = 30 };

/* ---- what the policy names ---- */

static bool is_host(struct str pattern, const char *host)
{
	size_t n = strlen(host);

	if (str_starts(pattern, "*."))
		return n >= pattern.n &&
		       strncasecmp(host + n - (pattern.n - 1), pattern.p + 1, pattern.n - 1) == 0;
	return n == pattern.n && strncasecmp(host, pattern.p, n) == 0;
}

/* `port` 0: whatever the port is. Without a port an entry is for http, https and ssh. */
static bool proxy_is_named(const struct policy *p, const char *host, unsigned port)
{
	for (size_t i = 0; i < p->hosts.n; i++) {
		struct str pattern = str_of(p->hosts.p[i]);
		unsigned of = sandbox_split_port(&pattern);

		if (is_host(pattern, host) &&
			(!port || port == of || (!of && (port == 80 || port == 443 || port == 22))))
			return true;
	}
	return false;
}

/* ---- addresses ---- */

static bool is_public(const struct sockaddr *at)
{
	static const struct {
		uint32_t net, bits;
	} never[] = {{0x00000000, 8}, {0x0a000000, 8}, {0x64400000, 10}, {0x7f000000, 8},
		{0xa9fe0000, 16}, {0xac100000, 12}, {0xc0000000, 24}, {0xc0a80000, 16},
		{0xc6120000, 15}, {0xe0000000, 3}};
	const uint8_t *six = ((const struct sockaddr_in6 *)(const void *)at)->sin6_addr.s6_addr;
	uint32_t four = ntohl(((const struct sockaddr_in *)(const void *)at)->sin_addr.s_addr);

	if (at->sa_family == AF_INET6) /* global, but neither Teredo nor 6to4, which hide others */
		return (six[0] & 0xe0) == 0x20 && !(six[0] == 0x20 && six[1] == 0x02) &&
		       !(six[0] == 0x20 && six[1] == 0x01 && !six[2] && !six[3]);
	for (size_t i = 0; at->sa_family == AF_INET && i < COUNT(never); i++)
		if (four >> (32 - never[i].bits) == never[i].net >> (32 - never[i].bits))
			return false;
	return at->sa_family == AF_INET;
}

static bool proxy_is_allowed(const struct policy *p, const char *host, const struct addrinfo *to)
{
	char text[64];

	return is_public(to->ai_addr) || strcasecmp(host, "localhost") == 0 ||
	       (getnameinfo(to->ai_addr, to->ai_addrlen, text, sizeof(text), NULL, 0,
			NI_NUMERICHOST) == 0 &&
		       proxy_is_named(p, text, 0));
}

int sandbox_dial(
	const struct policy *p, const char *host, unsigned port, bool trusted, const char **why)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	const struct timeval limit = {PATIENCE_S, 0}, none = {0};
	struct addrinfo *all = NULL;
	char service[16];
	int fd = -1;

	(void)snprintf(service, sizeof(service), "%u", port);
	*why = "its name is not known";
	if (getaddrinfo(host, service, &hints, &all) != 0)
		return -1;
	for (const struct addrinfo *to = all; to && fd < 0; to = to->ai_next) {
		if (!trusted && !proxy_is_allowed(p, host, to)) {
			*why = "its name leads to an address of a private network, which the "
			       "policy does not name";
			continue;
		}
		fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
		if (fd < 0 || connect(fd, to->ai_addr, to->ai_addrlen) == 0)
			break;
		*why = strerror(errno);
		base_close(&fd);
		fd = -1;
	}
	freeaddrinfo(all);
	if (fd >= 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof(none));
	return fd;
}

/* ---- one connection ---- */

bool sandbox_proxy_read_head(int fd, struct buf *head, struct str *rest)
{
	char piece[4096];
	size_t end = 0;

	while ((end = str_find(buf_str(head), STR("\r\n\r\n"))) == head->len) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		ssize_t n =
			poll(&p, 1, PATIENCE_S * 1000) == 1 ? read(fd, piece, sizeof(piece)) : 0;

		if (n <= 0 || head->len > HEAD_MAX)
			return false;
		buf_add(head, (struct str){piece, (size_t)n});
	}
	*rest = str_sub(buf_str(head), end + 4, head->len);
	head->len = end + 2;
	return true;
}

static void proxy_answer(int fd, const char *status, const char *text)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct error ignored;

	buf_addf(&out, "HTTP/1.1 %s\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s", status,
		strlen(text), text);
	(void)sys_write_all(fd, buf_str(&out), "", &ignored);
}

/* A request in absolute form becomes that of its server, which ends the connection behind it. */
static void proxy_add_request(
	struct buf *out, struct str method, struct str path, struct str headers)
{
	struct str line;

	buf_addf(out, "%.*s %s%.*s HTTP/1.1\r\n", (int)method.n, method.p, path.n ? "" : "/",
		(int)path.n, path.p);
	while (str_line(&headers, &line))
		if (line.n && strncasecmp(line.p, "connection:", 11) != 0 &&
			strncasecmp(line.p, "keep-alive:", 11) != 0 &&
			strncasecmp(line.p, "proxy-", 6) != 0)
			buf_addf(out, "%.*s\r\n", (int)line.n, line.p);
	buf_adds(out, "Connection: close\r\n\r\n");
}

void sandbox_proxy_serve(struct sandbox *s, int fd)
{
	CLEANUP(buf_release) struct buf head = BUF_INIT, out = BUF_INIT;
	struct str rest, lines, line, method, target, path = {0};
	const char *host, *why, *fault;
	struct error ignored;
	unsigned port;
	int to;

	if (!sandbox_proxy_read_head(fd, &head, &rest))
		return;
	lines = buf_str(&head);
	(void)str_line(&lines, &line);
	method = str_sub(line, 0, str_find(line, STR(" ")));
	target = str_sub(line, method.n + 1, line.n);
	target = str_sub(target, 0, str_find(target, STR(" ")));
	if (str_starts(target, "http://")) {
		target = str_sub(target, strlen("http://"), target.n);
		path = str_sub(target, str_find(target, STR("/")), target.n);
		target = str_sub(target, 0, target.n - path.n);
		proxy_add_request(&out, method, path, lines);
	}
	port = sandbox_split_port(&target);
	port = port || !out.len ? port : 80;
	host = arena_dup(s->arena, target);
	to = proxy_is_named(s->x->policy, host, port ? port : 65536)
		     ? sandbox_dial(s->x->policy, host, port, false, &why)
		     : (why = "the policy does not name it", -1);
	if (to < 0) {
		fault = arena_printf(s->arena, "dev-team: '%.200s:%u' is not reached: %s\n",
			arena_printable(s->arena, target, 200), port, why);
		error_log("%.*s", (int)strlen(fault) - 1, fault);
		proxy_answer(fd, "403 Forbidden", fault);
		return;
	}
	if (!out.len)
		(void)sys_write_all(
			fd, STR("HTTP/1.1 200 Connection established\r\n\r\n"), "", &ignored);
	buf_add(&out, rest);
	if (sys_write_all(to, buf_str(&out), "", &ignored) == 0)
		sandbox_relay(fd, fd, to);
}
