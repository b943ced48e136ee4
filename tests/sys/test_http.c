#include <fcntl.h>
#include "tests/lib/http_rig.h"
#include "src/sys/http.h"

static struct http_answer got;
static struct error err;
static struct buf asked; /* what the server was sent */

static int send_request(struct http_request r)
{
	r.method = r.method ? r.method : "GET";
	buf_release(&got.body);
	return http_send(&r, &got, &err);
}

/* Sends the request to a server that plays this, and ends the server. */
static int ask_server(server_play *play, struct http_request r)
{
	int rc;

	server_start(play);
	r.url = server.url;
	rc = send_request(r);
	buf_clear(&asked);
	server_stop(&asked);
	return rc;
}

static int ask(const char *reply, struct http_request r)
{
	server_reply = reply;
	return ask_server(server_replies, r);
}

#define CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
#define PLAIN   "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

static void chunked(int fd, unsigned n, struct str request)
{
	(void)n, (void)request;
	server_say(fd, CHUNKED "1\r\nh\r\n");
	server_say(fd, "4;x=y\r\nello\r\n6\r\n world\r\n0\r\nTrailer: x\r\n\r\n");
}

TEST(answers_come_as_they_are)
{
	static const struct {
		const char *reply;
		long status, retry;
		const char *body;
	} rows[] = {
		{PLAIN, 200, -1, "hello"},
		{NULL, 200, -1, "hello world"}, /* chunked */
		{"HTTP/1.0 200 OK\r\n\r\nhello", 200, -1, "hello"},
		{"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n",
			201, -1, ""},
		{"HTTP/1.1 307 Temporary Redirect\r\nLocation: /elsewhere\r\n"
		 "Set-Cookie: a=b\r\nContent-Length: 2\r\n\r\ngo",
			307, -1, "go"},
		{"HTTP/1.1 429 Too Many Requests\r\nretry-after: 17\r\nContent-Length: "
		 "4\r\n\r\nslow",
			429, 17, "slow"},
		{"HTTP/1.1 503 Unavailable\r\nRetry-After: Fri, 01 Jan 2100 00:00:00 GMT\r\n"
		 "Content-Length: 0\r\n\r\n",
			503, 1, ""},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		server_reply = rows[i].reply;
		assert_int_equal(ask_server(rows[i].reply ? server_replies : chunked,
					 (struct http_request){0}),
			0);
		assert_int_equal(got.outcome, HTTP_ANSWERED);
		assert_null(got.why);
		assert_int_equal(got.status, rows[i].status);
		if (rows[i].retry == 1)
			assert_true(got.retry_after_s > 1);
		else
			assert_int_equal(got.retry_after_s, rows[i].retry);
		assert_true(str_is(buf_str(&got.body), rows[i].body));
	}
}

TEST(what_ends_in_the_middle_is_broken)
{
	static const char *const replies[] = {"",
		"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello", CHUNKED "50\r\nhello",
		CHUNKED "5\r\nhello\r\n", "HTTP/1.1 200 OK\r\nContent-", CHUNKED "xyz\r\nhello\r\n",
		"SSH-2.0-OpenSSH_9.2\r\n"};

	for (size_t i = 0; i < COUNT(replies); i++) {
		assert_int_equal(ask(replies[i], (struct http_request){0}), 0);
		if (got.outcome != HTTP_BROKEN)
			fail_msg("row %zu: outcome %d", i, got.outcome);
		assert_non_null(got.why);
	}
}

TEST(a_request_is_sent_as_it_was_given)
{
	static const char *const headers[] = {
		"Authorization: Bearer k-1", "Content-Type: application/json", NULL};
	struct http_request r = {.method = "POST", .headers = headers, .body = STR("{\"a\":1}")};

	assert_int_equal(ask(PLAIN, r), 0);
	assert_true(str_starts(buf_str(&asked), "POST / HTTP/1.1\r\n"));
	assert_non_null(strstr(asked.s, "\r\nAuthorization: Bearer k-1\r\n"));
	assert_non_null(strstr(asked.s, "\r\nContent-Type: application/json\r\n"));
	assert_non_null(strstr(asked.s, "\r\nUser-Agent: dev-team/"));
	assert_null(strcasestr(asked.s, "Expect:"));
	assert_null(strcasestr(asked.s, "Cookie"));
	assert_non_null(strstr(asked.s, "\r\n\r\n{\"a\":1}"));
}

/* A body too large for one write, with bytes of all kinds. */
TEST(a_long_body_arrives_whole)
{
	CLEANUP(buf_release) struct buf body = BUF_INIT;

	for (unsigned i = 0; i < 3 << 20; i++)
		buf_addc(&body, (char)(i * 7 % 256));
	assert_int_equal(
		ask(PLAIN, (struct http_request){.method = "PUT", .body = buf_str(&body)}), 0);
	assert_int_equal(got.status, 200);
	assert_non_null(strstr(asked.s, "\r\nContent-Length: 3145728\r\n"));
}

struct heard {
	struct buf text;
	long status;
	unsigned pieces;
	int cancel; /* written to after the first piece; 0: not */
	bool refuse;
};

static int hear(void *data, long status, struct str piece, struct error *why)
{
	struct heard *h = data;

	h->status = status;
	h->pieces++;
	buf_add(&h->text, piece);
	if (h->cancel)
		assert_int_equal(write(h->cancel, "x", 1), 1);
	if (h->refuse)
		return error_set(why, ERR_INPUT, "I do not like it");
	return 0;
}

static void forget(struct heard *h)
{
	buf_release(&h->text);
}

TEST(pieces_are_told_as_they_come)
{
	CLEANUP(forget) struct heard h = {0};

	assert_int_equal(
		ask_server(chunked, (struct http_request){.on_data = hear, .data = &h}), 0);
	assert_int_equal(h.status, 200);
	assert_true(str_is(buf_str(&h.text), "hello world"));
	assert_int_equal(got.body.len, 0);
}

TEST(a_listener_may_end_it)
{
	CLEANUP(forget) struct heard h = {.refuse = true};

	assert_fails(ask_server(chunked, (struct http_request){.on_data = hear, .data = &h}), err,
		ERR_INPUT);
	assert_string_equal(err.text, "I do not like it");
	assert_int_equal(h.pieces, 1);
}

static void begun(int fd, unsigned n, struct str request)
{
	(void)n, (void)request;
	server_say(fd, CHUNKED "5\r\nhello\r\n");
	server_wait_closed(fd);
}

TEST(it_can_be_cancelled_while_it_waits)
{
	CLEANUP(forget) struct heard h = {0};
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	h.cancel = fds[1];
	assert_int_equal(
		ask_server(begun,
			(struct http_request){.on_data = hear, .data = &h, .cancel = fds[0]}),
		0);
	assert_int_equal(got.outcome, HTTP_CANCELLED);
	assert_true(str_is(buf_str(&h.text), "hello"));
	close(fds[0]);
	close(fds[1]);
}

TEST(time_runs_out)
{
	static server_play *const plays[] = {server_silent, begun};

	for (size_t i = 0; i < COUNT(plays); i++) {
		assert_int_equal(ask_server(plays[i], (struct http_request){.timeout_s = 1}), 0);
		assert_int_equal(got.outcome, HTTP_TIMEOUT);
	}
}

static void flood(int fd, unsigned n, struct str request)
{
	char block[65536];

	(void)n, (void)request;
	memset(block, 'a', sizeof(block));
	server_say(fd, "HTTP/1.1 200 OK\r\n\r\n");
	while (send(fd, block, sizeof(block), MSG_NOSIGNAL) > 0)
		;
}

TEST(an_answer_without_end_is_refused)
{
	char want[128];

	assert_int_equal(ask_server(flood, (struct http_request){.max = 1 << 20}), -1);
	snprintf(want, sizeof(want), "answer of '%s' is longer than 1048576 bytes", server.url);
	assert_string_equal(err.text, want);
	assert_int_equal(err.code, ERR_SYSTEM);
}

TEST(who_is_not_there_is_unreachable)
{
	CLEANUP(base_close) int fd = -1;
	char url[80];

	fd = server_absent();
	assert_int_equal(send_request((struct http_request){.url = server.url}), 0);
	assert_int_equal(got.outcome, HTTP_UNREACHABLE);
	assert_int_equal(got.status, 0);
	server_start(server_plain); /* speaks no TLS */
	snprintf(url, sizeof(url), "https://127.0.0.1:%u/", server.port);
	assert_int_equal(send_request((struct http_request){.url = url}), 0);
	assert_int_equal(got.outcome, HTTP_UNREACHABLE);
	server_stop(NULL);
}
