/*
 * network.c: what a command without a network reaches all the same: services, at addresses that are
 * the same inside (`localhost:5432`), and the hosts that the policy names, through an HTTP proxy on
 * the host: CONNECT, and requests in absolute form. A name that leads to an address of this machine
 * or of a private network is refused, unless the policy names that address, too: whoever owns a
 * name says where it leads.
 *
 * The first process inside makes the sockets that listen on its loopback interface and hands them
 * out; a process on the host accepts at them. So nothing forwards inside, and no name is resolved
 * there.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include "src/base/number.h"
#include "src/sandbox/sandbox_internal.h"
#include "src/sys/path.h"

enum { PROXY_PORT = 3128, CONNECTIONS_MAX = 64, PIECE = 65536, HEAD_MAX = 16384, PATIENCE_S = 30 };

/* ---- addresses ---- */

/* `HOST:PORT` in place. 0: there is no port. */
static unsigned network_split_port(struct str *host)
{
	size_t at = str_find(*host, STR(":"));
	uint64_t port = 0;

	if (at < host->n)
		(void)number_parse(str_sub(*host, at + 1, host->n), 1, 65535, &port);
	*host = str_sub(*host, 0, at);
	return (unsigned)port;
}

static bool is_loopback(const char *host)
{
	struct in_addr at;

	return strcasecmp(host, "localhost") == 0 ||
	       (inet_pton(AF_INET, host, &at) == 1 && ntohl(at.s_addr) >> 24 == IN_LOOPBACKNET);
}

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

/* ---- what the policy names ---- */

/* `port` 0: whatever the port is. Without a port an entry is for http, https and ssh. */
static bool proxy_is_named(const struct policy *p, const char *host, unsigned port)
{
	size_t n = strlen(host);

	for (size_t i = 0; i < p->hosts.n; i++) {
		struct str pattern = str_of(p->hosts.p[i]);
		unsigned of = network_split_port(&pattern);
		bool below = str_starts(pattern, "*.");
		struct str end = str_sub(pattern, below, pattern.n);

		if ((below ? n > end.n : n == end.n) &&
			strncasecmp(host + n - end.n, end.p, end.n) == 0 &&
			(!port || port == of || (!of && (port == 80 || port == 443 || port == 22))))
			return true;
	}
	return false;
}

static bool proxy_is_allowed(const struct policy *p, const char *host, const struct addrinfo *to)
{
	char text[64];

	return is_public(to->ai_addr) || strcasecmp(host, "localhost") == 0 ||
	       (getnameinfo(to->ai_addr, to->ai_addrlen, text, sizeof(text), NULL, 0,
			NI_NUMERICHOST) == 0 &&
		       proxy_is_named(p, text, 0));
}

/* A connection, or -1 with why. `trusted`: the caller, not the command, says where to. */
static int network_dial(
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

/* ---- what is reached ---- */

static void add_route(struct sandbox *s, const char *at, const char *host, unsigned port)
{
	for (size_t i = 0; i < s->routes.n; i++)
		if (s->routes.items[i].port == port && strcmp(s->routes.items[i].at, at) == 0)
			return;
	vec_push_in(s->arena, &s->routes, ((struct route){at, host, port}));
}

/* A name that is not of this machine gets a loopback address of its own, in /etc/hosts inside. */
static int add_service(struct sandbox *s, const char *host, unsigned port, struct error *err)
{
	struct in6_addr six;
	struct in_addr four;

	if (is_loopback(host)) {
		add_route(s, strcasecmp(host, "localhost") == 0 ? "127.0.0.1" : host, host, port);
		return 0;
	}
	if (inet_pton(AF_INET, host, &four) == 1 || inet_pton(AF_INET6, host, &six) == 1)
		return error_set(err, ERR_STATE,
			"'%.200s' cannot be reached from inside: give it a name", host);
	add_route(s, arena_printf(s->arena, "127.0.1.%zu", ++s->n_names), host, port);
	return 0;
}

int sandbox_network_plan(struct sandbox *s, struct error *err)
{
	const struct policy *p = s->x->policy;

	for (size_t i = 0; p->network == NETWORK_NONE && i < s->x->n_services; i++)
		if (add_service(s, s->x->services[i].host, s->x->services[i].port, err) < 0)
			return -1;
	for (size_t i = 0; i < p->hosts.n; i++) {
		struct str host = str_of(p->hosts.p[i]);
		unsigned port = network_split_port(&host);
		const char *name = arena_dup(s->arena, host);

		if (port && is_loopback(name) && add_service(s, name, port, err) < 0)
			return -1;
	}
	if (p->hosts.n)
		add_route(s, "127.0.0.1", NULL, PROXY_PORT);
	return 0;
}

void sandbox_network_hosts(const struct sandbox *s, struct buf *out)
{
	for (size_t i = 0; i < s->routes.n; i++)
		if (str_starts(str_of(s->routes.items[i].at), "127.0.1."))
			buf_addf(out, "%s %s\n", s->routes.items[i].at, s->routes.items[i].host);
}

void sandbox_network_variables(struct sandbox *s)
{
	static const char *const names[] = {
		"http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};

	if (!s->x->policy->hosts.n)
		return;
	for (size_t i = 0; i < COUNT(names); i++)
		vec_push_in(s->arena, &s->environment,
			arena_printf(s->arena, "%s=http://127.0.0.1:%d", names[i], PROXY_PORT));
	vec_push_in(s->arena, &s->environment, "no_proxy=localhost,127.0.0.1,::1");
	vec_push_in(s->arena, &s->environment, "NO_PROXY=localhost,127.0.0.1,::1");
}

/* ---- one connection ---- */

static bool pass_piece(int from, int to, bool *open)
{
	static char piece[PIECE];
	ssize_t n = TEMP_FAILURE_RETRY(read(from, piece, sizeof(piece)));
	struct error ignored;

	if (n > 0)
		return sys_write_all(to, (struct str){piece, (size_t)n}, "", &ignored) == 0;
	*open = false;
	return shutdown(to, SHUT_WR) == 0;
}

/* Passes bytes both ways, until the second has ended. */
static void network_relay(int one, int other)
{
	bool forth = true, back = true;

	while (back) {
		struct pollfd fds[] = {{.fd = forth ? one : -1, .events = POLLIN},
			{.fd = other, .events = POLLIN}};

		if (poll(fds, COUNT(fds), -1) < 0)
			continue;
		if (fds[0].revents && !pass_piece(one, other, &forth))
			return;
		if (fds[1].revents && !pass_piece(other, one, &back))
			return;
	}
}

/* ---- the proxy ---- */

/* The bytes up to the first empty line, and what follows them. */
static bool proxy_read_head(int fd, struct buf *head, struct str *rest)
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

static void proxy_serve(struct sandbox *s, int fd)
{
	CLEANUP(buf_release) struct buf head = BUF_INIT, out = BUF_INIT;
	struct str rest, lines, line, method, target, path = {0};
	const char *host, *why, *fault;
	struct error ignored;
	unsigned port;
	int to;

	if (!proxy_read_head(fd, &head, &rest))
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
	port = network_split_port(&target);
	port = port || !out.len ? port : 80;
	host = arena_dup(s->arena, target);
	to = proxy_is_named(s->x->policy, host, port ? port : 65536)
		     ? network_dial(s->x->policy, host, port, false, &why)
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
		network_relay(fd, to);
}

static void serve_connection(struct sandbox *s, const struct route *r, int fd)
{
	const char *why;
	int to;

	if (!r->host) {
		proxy_serve(s, fd);
		return;
	}
	to = network_dial(s->x->policy, r->host, r->port, true, &why);
	if (to < 0)
		error_log("dev-team: '%s:%u' is not reached: %s", r->host, r->port, why);
	else
		network_relay(fd, to);
}

/* ---- the process on the host ---- */

static void accept_one(struct sandbox *s, const struct route *r, int listener, size_t *running)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	while (*running && waitpid(-1, NULL, *running < CONNECTIONS_MAX ? WNOHANG : 0) > 0)
		--*running;
	if (fd >= 0 && fork() == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve_connection(s, r, fd);
		_exit(0);
	}
	*running += fd >= 0;
	base_close(&fd);
}

_Noreturn static void serve_routes(struct sandbox *s, int channel)
{
	struct pollfd *fds = arena_alloc(s->arena, s->routes.n * sizeof(*fds));
	size_t running = 0;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < s->routes.n; i++)
		fds[i] = (struct pollfd){.fd = sandbox_pass_socket(channel, -1), .events = POLLIN};
	for (;;)
		for (size_t i = 0; poll(fds, s->routes.n, -1) > 0 && i < s->routes.n; i++)
			if (fds[i].revents & POLLIN)
				accept_one(s, &s->routes.items[i], fds[i].fd, &running);
}

int sandbox_network_open(struct sandbox *s, int *inside, struct error *err)
{
	int channel[2];

	*inside = 0;
	if (!s->routes.n)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel) < 0)
		return error_errno(err, "cannot prepare the network");
	s->network = fork();
	if (s->network == 0) {
		(void)dup2(channel[0], STDERR_FILENO + 1);
		(void)close_range(STDERR_FILENO + 2, UINT_MAX, 0);
		serve_routes(s, STDERR_FILENO + 1);
	}
	close(channel[0]);
	*inside = sandbox_inherit(s, channel[1]);
	return s->network < 0 ? error_errno(err, "cannot prepare the network") : 0;
}

void sandbox_network_close(struct sandbox *s)
{
	if (s->network <= 0)
		return;
	(void)kill(s->network, SIGKILL);
	(void)TEMP_FAILURE_RETRY(waitpid(s->network, NULL, 0));
	s->network = 0;
}

/* ---- sockets that listen inside ---- */

int sandbox_pass_socket(int channel, int fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
			     .cmsg_level = SOL_SOCKET,
			     .cmsg_type = SCM_RIGHTS}};
	char byte = 0;
	struct iovec data = {&byte, 1};
	struct msghdr m = {.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};

	if (fd >= 0) {
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
		return (int)sendmsg(channel, &m, MSG_NOSIGNAL);
	}
	if (TEMP_FAILURE_RETRY(recvmsg(channel, &m, MSG_CMSG_CLOEXEC)) != 1 || !CMSG_FIRSTHDR(&m) ||
		CMSG_FIRSTHDR(&m)->cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

bool sandbox_listen(int channel, const struct sockaddr *at, size_t size)
{
	CLEANUP(base_close) int fd = socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return bind(fd, at, (socklen_t)size) == 0 && listen(fd, 64) == 0 &&
	       sandbox_pass_socket(channel, fd) > 0;
}

bool sandbox_network_listen(struct arena *a, struct str list, int channel)
{
	struct str one;

	while (str_piece(&list, ' ', &one)) {
		unsigned port = network_split_port(&one);
		struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

		if (inet_pton(AF_INET, arena_dup(a, one), &at.sin_addr) != 1 ||
			!sandbox_listen(channel, (struct sockaddr *)&at, sizeof(at)))
			return false;
	}
	return true;
}
