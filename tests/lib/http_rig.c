#include "tests/lib/http_rig.h"

struct server server;
const char *server_reply;

void server_say(int fd, const char *text)
{
	(void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
}

void server_wait_closed(int fd)
{
	char byte;

	while (read(fd, &byte, 1) > 0)
		;
}

static void server_read(int fd, struct buf *request)
{
	size_t head, length = 0;
	const char *field;

	for (;;) {
		ssize_t got;

		buf_reserve(request, 4096);
		head = str_find(buf_str(request), STR("\r\n\r\n"));
		field = strcasestr(request->s, "\r\nContent-Length:");
		if (field)
			length = strtoul(field + 17, NULL, 10);
		if (head < request->len && request->len >= head + 4 + length)
			return;
		got = read(fd, request->s + request->len, 4096);
		if (got <= 0)
			return;
		request->len += (size_t)got;
		request->s[request->len] = '\0';
		if (request->s[0] == 0x16) /* TLS: no request head will come */
			return;
	}
}

static _Noreturn void server_serve(int listener, int log, server_play *play)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (unsigned n = 0;; n++) {
		CLEANUP(buf_release) struct buf request = BUF_INIT;
		int fd = accept(listener, NULL, NULL);

		if (fd < 0)
			_exit(1);
		server_read(fd, &request);
		/* Tests read only the beginning of a giant one. */
		(void)!write(log, request.s, request.len < 16384 ? request.len : 16384);
		(void)!write(log, "", 1);
		play(fd, n, buf_str(&request));
		shutdown(fd, SHUT_WR);
		close(fd);
	}
}

int server_absent(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	/* Loopback is reached without the proxy that this machine may have. */
	setenv("no_proxy", "*", 1);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	server.port = ntohs(address.sin_port);
	snprintf(server.url, sizeof(server.url), "http://127.0.0.1:%u", server.port);
	return fd;
}

void server_start(server_play *play)
{
	int listener = server_absent(), log[2];

	assert_int_equal(pipe(log), 0);
	assert_int_equal(listen(listener, 8), 0);
	server.pid = fork();
	assert_true(server.pid >= 0);
	if (server.pid == 0) {
		close(log[0]);
		server_serve(listener, log[1], play);
	}
	close(listener);
	close(log[1]);
	server.log = log[0];
}

void server_stop(struct buf *requests)
{
	char piece[4096];
	ssize_t n;

	kill(server.pid, SIGKILL);
	waitpid(server.pid, NULL, 0);
	while ((n = read(server.log, piece, sizeof(piece))) > 0)
		if (requests)
			buf_add(requests, (struct str){piece, (size_t)n});
	close(server.log);
	server.pid = 0;
}

void server_plain(int fd, unsigned n, struct str request)
{
	(void)n, (void)request;
	server_say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
}

void server_replies(int fd, unsigned n, struct str request)
{
	(void)n, (void)request;
	server_say(fd, server_reply);
}

void server_silent(int fd, unsigned n, struct str request)
{
	(void)n, (void)request;
	server_wait_closed(fd);
}
