#include <arpa/inet.h>
#include <ctype.h>
#include <signal.h>
#include <curl/curl.h>
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt
#include "src/base/clock.h"
#include "src/sys/http.h"
#include "src/sys/library.h"

/* Loading the library takes longer than a whole step does, and most steps ask no server. */
#define FUNCTIONS(X)                                                                               \
	X(curl_global_init)                                                                        \
	X(curl_easy_init)                                                                          \
	X(curl_easy_setopt)                                                                        \
	X(curl_easy_getinfo)                                                                       \
	X(curl_easy_strerror)                                                                      \
	X(curl_easy_cleanup)                                                                       \
	X(curl_slist_append)                                                                       \
	X(curl_slist_free_all)                                                                     \
	X(curl_multi_init)                                                                         \
	X(curl_multi_add_handle)                                                                   \
	X(curl_multi_remove_handle)                                                                \
	X(curl_multi_perform)                                                                      \
	X(curl_multi_poll)                                                                         \
	X(curl_multi_info_read)                                                                    \
	X(curl_multi_strerror)                                                                     \
	X(curl_multi_cleanup)

static int http_start(struct error *err);
LIBRARY(FUNCTIONS, LIBCURL_SO, "HTTP", http_start);

enum {
	CONNECT_S = 10,
	WHOLE_S = 300,
	BODY_MAX = 16 << 20,
	HOST_SHOWN = 200, /* characters of scheme and host in a message */
	LOOK_MS = 1000,   /* between two looks without news: how late a time limit may be noticed */
};

static int http_start(struct error *err)
{
	if (lib.curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
		return 0;
	return error_set(err, ERR_SYSTEM, "cannot start '%s'", LIBCURL_SO);
}

struct transfer {
	const struct http_request *request;
	struct http_answer *answer;
	struct error *err;
	char host[HOST_SHOWN + 1]; /* scheme and host, all of the URL that is shown */
	CURL *easy;
	CURLM *multi;
	struct curl_slist *headers;
	size_t got;
	bool headed;  /* the end of the answer's head has come */
	bool refused; /* by us, with *err filled */
};

static void transfer_end(struct transfer *t)
{
	if (t->multi && t->easy)
		lib.curl_multi_remove_handle(t->multi, t->easy);
	if (t->easy)
		lib.curl_easy_cleanup(t->easy);
	if (t->multi)
		lib.curl_multi_cleanup(t->multi);
	if (t->headers) /* a URL that is refused is so before the library is open */
		lib.curl_slist_free_all(t->headers);
}

static int out_of_memory(const struct transfer *t)
{
	return error_set(t->err, ERR_SYSTEM, "no memory for a request to '%s'", t->host);
}

/* Behind `http://` or `https://`, without the port. */
static struct str host_of(const char *url)
{
	const char *from = strstr(url, "://");
	struct str host = {from ? from + 3 : url, from ? strcspn(from + 3, "/?#") : 0};
	size_t port = 0;

	while (port < host.n && isdigit((unsigned char)host.p[host.n - 1 - port]))
		port++;
	if (port < host.n && host.p[host.n - 1 - port] == ':')
		host.n -= port + 1;
	return host;
}

bool http_loopback(const char *url)
{
	struct str host = host_of(url);
	char text[INET6_ADDRSTRLEN];
	struct in_addr v4;

	if (!host.n || host.n >= sizeof(text))
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)host.n, host.p);
	if (inet_pton(AF_INET, text, &v4) == 1)
		return ntohl(v4.s_addr) >> 24 == 127;
	return strcasecmp(text, "localhost") == 0 || strcmp(text, "[::1]") == 0;
}

/* Messages say no more of a URL than its scheme and host. */
static int url_check(struct transfer *t)
{
	const char *url = t->request->url, *host;
	size_t n, scheme;

	if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)
		return error_set(t->err, ERR_INPUT, "URL begins with neither http:// nor https://");
	host = strstr(url, "://") + 3;
	scheme = (size_t)(host - url);
	n = strcspn(host, "/?#");
	if (memchr(host, '@', n))
		return error_set(t->err, ERR_INPUT, "URL has a user or a password in it");
	for (const char *p = url; *p; p++)
		if ((unsigned char)*p <= ' ' || *p == 0x7f || *p == '\\')
			return error_set(t->err, ERR_INPUT,
				"URL has a blank, a backslash or a control character in it");
	if (n == 0)
		return error_set(t->err, ERR_INPUT, "URL names no host");
	snprintf(t->host, sizeof(t->host), "%.*s", (int)(scheme + n), url);
	return 0;
}

static int http_take(struct transfer *t, struct str piece)
{
	const struct http_request *r = t->request;
	size_t max = r->max ? r->max : BODY_MAX;

	if (piece.n > max - t->got)
		return error_set(t->err, ERR_SYSTEM, "answer of '%s' is longer than %zu bytes",
			t->host, max);
	t->got += piece.n;
	lib.curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &t->answer->status);
	if (r->on_data)
		return r->on_data(r->data, t->answer->status, piece, t->err);
	buf_add(&t->answer->body, piece);
	return 0;
}

static size_t on_piece(char *p, size_t one, size_t n, void *data)
{
	struct transfer *t = data;
	struct str piece = {p, one * n};

	if (piece.n == 0 || http_take(t, piece) == 0)
		return piece.n;
	t->refused = true;
	return 0;
}

static size_t on_head(char *p, size_t one, size_t n, void *data)
{
	struct str line = {p, one * n};
	struct transfer *t = data;

	if (str_starts(line, "HTTP/"))
		t->headed = false; /* after `100 Continue` comes another head */
	else if (str_trim(line).n == 0)
		t->headed = true;
	return line.n;
}

static int header_add(struct transfer *t, const char *line)
{
	struct curl_slist *longer;

	/* A line break in a value would begin a header of its own. */
	if (strpbrk(line, "\r\n"))
		return error_set(t->err, ERR_INPUT, "line break in a header for '%s'", t->host);
	longer = lib.curl_slist_append(t->headers, line);
	if (!longer)
		return out_of_memory(t);
	t->headers = longer;
	return 0;
}

static int headers_set(struct transfer *t)
{
	const char *const *h = t->request->headers;

	/* Without it a long body waits a second for a leave that few servers give. */
	if (header_add(t, "Expect:") < 0)
		return -1;
	for (; h && *h; h++)
		if (header_add(t, *h) < 0)
			return -1;
	lib.curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->headers);
	return 0;
}

static void body_set(struct transfer *t)
{
	const struct http_request *r = t->request;

	if (strcmp(r->method, "GET") != 0) {
		lib.curl_easy_setopt(t->easy, CURLOPT_POST, 1L);
		lib.curl_easy_setopt(t->easy, CURLOPT_POSTFIELDS, r->body.n ? r->body.p : "");
		lib.curl_easy_setopt(t->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body.n);
	}
	lib.curl_easy_setopt(t->easy, CURLOPT_CUSTOMREQUEST, r->method);
}

/* Ignore redirects and ~/.netrc, and verify certificates: else a key could leak. */
static void safety_set(CURL *easy)
{
	const char *authorities = getenv("SSL_CERT_FILE");

#if LIBCURL_VERSION_NUM >= 0x075500
	lib.curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	lib.curl_easy_setopt(easy, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
	lib.curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	lib.curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
	lib.curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
	lib.curl_easy_setopt(easy, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2);
	if (authorities && *authorities)
		lib.curl_easy_setopt(easy, CURLOPT_CAINFO, authorities);
	lib.curl_easy_setopt(easy, CURLOPT_NETRC, CURL_NETRC_IGNORED);
	lib.curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
}

static int prepare(struct transfer *t)
{
	const struct http_request *r = t->request;

	t->easy = lib.curl_easy_init();
	t->multi = lib.curl_multi_init();
	if (!t->easy || !t->multi)
		return out_of_memory(t);
	if (lib.curl_easy_setopt(t->easy, CURLOPT_URL, r->url) != CURLE_OK)
		return out_of_memory(t);
	safety_set(t->easy);
	if (http_loopback(r->url))
		lib.curl_easy_setopt(t->easy, CURLOPT_NOPROXY, "*");
	body_set(t);
	lib.curl_easy_setopt(t->easy, CURLOPT_USERAGENT, "dev-team/" DEV_TEAM_VERSION);
	lib.curl_easy_setopt(t->easy, CURLOPT_CONNECTTIMEOUT,
		(long)(r->connect_timeout_s ? r->connect_timeout_s : CONNECT_S));
	lib.curl_easy_setopt(
		t->easy, CURLOPT_TIMEOUT, (long)(r->timeout_s ? r->timeout_s : WHOLE_S));
	lib.curl_easy_setopt(t->easy, CURLOPT_WRITEFUNCTION, on_piece);
	lib.curl_easy_setopt(t->easy, CURLOPT_WRITEDATA, t);
	lib.curl_easy_setopt(t->easy, CURLOPT_HEADERFUNCTION, on_head);
	lib.curl_easy_setopt(t->easy, CURLOPT_HEADERDATA, t);
	if (headers_set(t) < 0)
		return -1;
	return lib.curl_multi_add_handle(t->multi, t->easy) == CURLM_OK ? 0 : out_of_memory(t);
}

/* Sets the outcome of a transfer that the library ended with `code`. */
static int set_outcome(struct transfer *t, CURLcode code)
{
	struct http_answer *a = t->answer;
	double before_sending = 0;

	a->why = lib.curl_easy_strerror(code);
	lib.curl_easy_getinfo(t->easy, CURLINFO_PRETRANSFER_TIME, &before_sending);
	switch (code) {
	case CURLE_OK:
		a->outcome = HTTP_ANSWERED;
		a->why = NULL;
		return 0;
	case CURLE_OPERATION_TIMEDOUT:
		a->outcome = before_sending > 0 ? HTTP_TIMEOUT : HTTP_UNREACHABLE;
		return 0;
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_CONNECT:
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_PROXY:
		a->outcome = HTTP_UNREACHABLE;
		return 0;
	case CURLE_GOT_NOTHING:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_PARTIAL_FILE:
	case CURLE_WEIRD_SERVER_REPLY:
	case CURLE_BAD_CONTENT_ENCODING:
	case CURLE_HTTP2:
	case CURLE_HTTP2_STREAM:
	case CURLE_UNSUPPORTED_PROTOCOL: /* it answers in something else */
		a->outcome = HTTP_BROKEN;
		return 0;
	default:
		return error_set(t->err, ERR_SYSTEM, "request to '%s' failed: %s", t->host, a->why);
	}
}

static int ended(struct transfer *t, CURLcode code)
{
	struct http_answer *a = t->answer;
	curl_off_t wait = 0;

	if (t->refused)
		return -1;
	lib.curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &a->status);
	lib.curl_easy_getinfo(t->easy, CURLINFO_RETRY_AFTER, &wait);
	if (wait > 0)
		a->retry_after_s = (long)wait;
	/* The library takes a head that breaks off for one without a body. */
	if (code == CURLE_OK && !t->headed)
		code = CURLE_PARTIAL_FILE;
	return set_outcome(t, code);
}

/* Calls `tick` when it is time for it; returns the milliseconds to the next one, at most LOOK_MS.
 */
static int http_tick(const struct http_request *r, int64_t *next)
{
	int64_t now = clock_ticks();

	if (!r->tick || !r->tick_ms)
		return LOOK_MS;
	if (*next == 0 || now >= *next) {
		if (*next)
			r->tick(r->data);
		*next = now + r->tick_ms;
	}
	return *next - now < LOOK_MS ? (int)(*next - now) : LOOK_MS;
}

/* Until it has ended or is cancelled. */
static int perform(struct transfer *t)
{
	struct curl_waitfd extra = {.fd = t->request->cancel, .events = CURL_WAIT_POLLIN};
	unsigned n_extra = t->request->cancel ? 1 : 0;
	int running = 1, left;
	int64_t next = 0;

	for (;;) {
		CURLMcode code = lib.curl_multi_perform(t->multi, &running);
		const CURLMsg *message = lib.curl_multi_info_read(t->multi, &left);

		if (message && message->msg == CURLMSG_DONE)
			return ended(t, message->data.result);
		if (code == CURLM_OK)
			code = lib.curl_multi_poll(
				t->multi, &extra, n_extra, http_tick(t->request, &next), NULL);
		if (code != CURLM_OK)
			return error_set(t->err, ERR_SYSTEM, "request to '%s' failed: %s", t->host,
				lib.curl_multi_strerror(code));
		if (!extra.revents)
			continue;
		t->answer->outcome = HTTP_CANCELLED;
		t->answer->why = "it was cancelled";
		return 0;
	}
}

int http_send(const struct http_request *r, struct http_answer *a, struct error *err)
{
	CLEANUP(transfer_end) struct transfer t = {.request = r, .answer = a, .err = err};
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
	int rc;

	*a = (struct http_answer){.retry_after_s = -1};
	if (url_check(&t) < 0 || library_open(&library, err) < 0 || prepare(&t) < 0)
		return -1;
	/* TLS writes to a connection that the other side has closed like to any other. */
	sigaction(SIGPIPE, &ignore, &before);
	rc = perform(&t);
	sigaction(SIGPIPE, &before, NULL);
	return rc;
}
