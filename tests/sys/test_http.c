#include <fcntl.h>
#include "tests/lib/http_rig.h"
#include "tests/lib/scratch.h"
#include "src/sys/http.h"
#include "src/sys/process.h"

static void chunked(int fd, unsigned n, struct str request)
{
	(void)n, (void)request;
	server_say(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nh\r\n");
	server_say(fd, "4;x=y\r\nello\r\n6\r\n world\r\n0\r\nTrailer: x\r\n\r\n");
}

static void until_closed(int fd, unsigned n, struct str request)
{
	(void)n, (void)request;
	server_say(fd, "HTTP/1.0 200 OK\r\n\r\nhello");
}

static void after_continue(int fd, unsigned n, struct str request)
{
	(void)n, (void)request;
	server_say(fd,
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n");
}

static void redirected(int fd, unsigned n, struct str request)
{
	(void)n, (void)request;
	server_say(fd, "HTTP/1.1 307 Temporary Redirect\r\nLocation: /elsewhere\r\n"
		       "Set-Cookie: a=b\r\nContent-Length: 2\r\n\r\ngo");
}

static void limited(int fd, unsigned n, struct str request)
{
	(void)n, (void)request;
	server_say(fd, "HTTP/1.1 429 Too Many Requests\r\nretry-after: 17\r\nContent-Length: "
		       "4\r\n\r\nslow");
}

static void far_away(int fd, unsigned n, struct str request)
{
	(void)n, (void)request;
	server_say(fd, "HTTP/1.1 503 Unavailable\r\nRetry-After: Fri, 01 Jan 2100 00:00:00 GMT\r\n"
		       "Content-Length: 0\r\n\r\n");
}

TEST(answers_come_as_they_are)
{
	static const struct {
		server_play *play;
		long status, retry;
		const char *body;
	} rows[] = {
		{server_plain, 200, -1, "hello"},
		{chunked, 200, -1, "hello world"},
		{until_closed, 200, -1, "hello"},
		{after_continue, 201, -1, ""},
		{redirected, 307, -1, "go"},
		{limited, 429, 17, "slow"},
		{far_away, 503, 1, ""},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct http_request r = {.method = "GET"};
		struct http_answer a;
		struct error err;

		server_start(rows[i].play);
		r.url = server.url;
		assert_int_equal(http_send(&r, &a, &err), 0);
		assert_int_equal(a.outcome, HTTP_ANSWERED);
		assert_null(a.why);
		assert_int_equal(a.status, rows[i].status);
		if (rows[i].retry == 1)
			assert_true(a.retry_after_s > 1);
		else
			assert_int_equal(a.retry_after_s, rows[i].retry);
		assert_true(str_is(buf_str(&a.body), rows[i].body));
		buf_release(&a.body);
		server_stop(NULL);
	}
}

static void nothing(int fd, unsigned n, struct str request)
{
	(void)fd, (void)n, (void)request;
}

static void half_a_length(int fd, unsigned n, struct str request)
{
	(void)n, (void)request;
	server_say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello");
}

static void half_a_chunk(int fd, unsigned n, struct str request)
{
	(void)n, (void)request;
	server_say(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n50\r\nhello");
}

static void no_last_chunk(int fd, unsigned n, struct str request)
{
	(void)n, (void)request;
	server_say(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
}

static void half_a_head(int fd, unsigned n, struct str request)
{
	(void)n, (void)request;
	server_say(fd, "HTTP/1.1 200 OK\r\nContent-");
}

static void bad_chunk(int fd, unsigned n, struct str request)
{
	(void)n, (void)request;
	server_say(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nhello\r\n");
}

static void no_http(int fd, unsigned n, struct str request)
{
	(void)n, (void)request;
	server_say(fd, "SSH-2.0-OpenSSH_9.2\r\n");
}

TEST(what_ends_in_the_middle_is_broken)
{
	static server_play *const plays[] = {nothing, half_a_length, half_a_chunk, no_last_chunk,
		half_a_head, bad_chunk, no_http};

	for (size_t i = 0; i < COUNT(plays); i++) {
		struct http_request r = {.method = "GET"};
		struct http_answer a;
		struct error err;

		server_start(plays[i]);
		r.url = server.url;
		assert_int_equal(http_send(&r, &a, &err), 0);
		if (a.outcome != HTTP_BROKEN)
			fail_msg("row %zu: outcome %d", i, a.outcome);
		assert_non_null(a.why);
		buf_release(&a.body);
		server_stop(NULL);
	}
}

TEST(a_request_is_sent_as_it_was_given)
{
	static const char *const headers[] = {
		"Authorization: Bearer k-1", "Content-Type: application/json", NULL};
	struct http_request r = {.method = "POST", .headers = headers, .body = STR("{\"a\":1}")};
	CLEANUP(buf_release) struct buf asked = BUF_INIT;
	struct http_answer a;
	struct error err;

	server_start(server_plain);
	r.url = server.url;
	assert_int_equal(http_send(&r, &a, &err), 0);
	buf_release(&a.body);
	server_stop(&asked);
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
	CLEANUP(buf_release) struct buf body = BUF_INIT, asked = BUF_INIT;
	struct http_request r = {.method = "PUT"};
	struct http_answer a;
	struct error err;

	for (unsigned i = 0; i < 3 << 20; i++)
		buf_addc(&body, (char)(i * 7 % 256));
	server_start(server_plain);
	r.url = server.url;
	r.body = buf_str(&body);
	assert_int_equal(http_send(&r, &a, &err), 0);
	assert_int_equal(a.status, 200);
	buf_release(&a.body);
	server_stop(&asked);
	assert_non_null(strstr(asked.s, "\r\nContent-Length: 3145728\r\n"));
}

struct heard {
	struct buf text;
	long status;
	unsigned pieces;
	int cancel; /* written to after the first piece; 0: not */
	bool refuse;
};

static int hear(void *data, long status, struct str piece, struct error *err)
{
	struct heard *h = data;

	h->status = status;
	h->pieces++;
	buf_add(&h->text, piece);
	if (h->cancel)
		assert_int_equal(write(h->cancel, "x", 1), 1);
	if (h->refuse)
		return error_set(err, ERR_INPUT, "I do not like it");
	return 0;
}

TEST(pieces_are_told_as_they_come)
{
	struct heard h = {0};
	struct http_request r = {.method = "GET", .on_data = hear, .data = &h};
	struct http_answer a;
	struct error err;

	server_start(chunked);
	r.url = server.url;
	assert_int_equal(http_send(&r, &a, &err), 0);
	assert_int_equal(h.status, 200);
	assert_true(str_is(buf_str(&h.text), "hello world"));
	assert_int_equal(a.body.len, 0);
	buf_release(&h.text);
	server_stop(NULL);
}

TEST(a_listener_may_end_it)
{
	struct heard h = {.refuse = true};
	struct http_request r = {.method = "GET", .on_data = hear, .data = &h};
	struct http_answer a;
	struct error err;

	server_start(chunked);
	r.url = server.url;
	assert_int_equal(http_send(&r, &a, &err), -1);
	assert_int_equal(err.code, ERR_INPUT);
	assert_string_equal(err.text, "I do not like it");
	assert_int_equal(h.pieces, 1);
	buf_release(&h.text);
	server_stop(NULL);
}

static void begun(int fd, unsigned n, struct str request)
{
	(void)n, (void)request;
	server_say(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
	server_wait_closed(fd);
}

TEST(it_can_be_cancelled_while_it_waits)
{
	struct heard h = {0};
	struct http_request r = {.method = "GET", .on_data = hear, .data = &h};
	struct http_answer a;
	struct error err;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	server_start(begun);
	r.url = server.url;
	r.cancel = fds[0];
	h.cancel = fds[1];
	assert_int_equal(http_send(&r, &a, &err), 0);
	assert_int_equal(a.outcome, HTTP_CANCELLED);
	assert_true(str_is(buf_str(&h.text), "hello"));
	buf_release(&h.text);
	server_stop(NULL);
	close(fds[0]);
	close(fds[1]);
}

static void silent(int fd, unsigned n, struct str request)
{
	(void)n, (void)request;
	server_wait_closed(fd);
}

TEST(time_runs_out)
{
	static server_play *const plays[] = {silent, begun};

	for (size_t i = 0; i < COUNT(plays); i++) {
		struct http_request r = {.method = "GET", .timeout_s = 1};
		struct http_answer a;
		struct error err;

		server_start(plays[i]);
		r.url = server.url;
		assert_int_equal(http_send(&r, &a, &err), 0);
		assert_int_equal(a.outcome, HTTP_TIMEOUT);
		buf_release(&a.body);
		server_stop(NULL);
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
	struct http_request r = {.method = "GET", .max = 1 << 20};
	struct http_answer a;
	struct error err;
	char want[128];

	server_start(flood);
	r.url = server.url;
	assert_int_equal(http_send(&r, &a, &err), -1);
	snprintf(want, sizeof(want), "answer of '%s' is longer than 1048576 bytes", server.url);
	assert_string_equal(err.text, want);
	assert_int_equal(err.code, ERR_SYSTEM);
	buf_release(&a.body);
	server_stop(NULL);
}

TEST(who_is_not_there_is_unreachable)
{
	struct http_request r = {.method = "GET"};
	struct http_answer a;
	struct error err;
	char url[80];

	server_start(server_plain);
	server_stop(NULL); /* its port is free now */
	r.url = server.url;
	assert_int_equal(http_send(&r, &a, &err), 0);
	assert_int_equal(a.outcome, HTTP_UNREACHABLE);
	assert_int_equal(a.status, 0);
	server_start(server_plain); /* speaks no TLS */
	snprintf(url, sizeof(url), "https://127.0.0.1:%u/", server.port);
	r.url = url;
	assert_int_equal(http_send(&r, &a, &err), 0);
	assert_int_equal(a.outcome, HTTP_UNREACHABLE);
	server_stop(NULL);
}

/* A certificate without a trusted issuer, and the same one with it. */
