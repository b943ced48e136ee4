/*
 * http.h: one HTTP request and its answer. The only user of libcurl, which is opened at the first
 * call, not at start-up. A redirect is an answer like others and is not followed; no proxies but
 * the environment's (none to this machine itself), no cookies, no .netrc; certificates are always
 * checked, against the system's authorities or the file that SSL_CERT_FILE names. An error's text
 * has nothing of a header, of the body, and nothing of the URL but scheme and host: keys stand in
 * all of them.
 */
#ifndef DT_HTTP_H
#define DT_HTTP_H

#include "src/base/buf.h"

struct http_request {
	const char *method;         /* "GET", "POST" */
	const char *url;            /* http or https; without user and password */
	const char *const *headers; /* `Name: value`, NULL-ended; may be NULL */
	struct str body;
	unsigned connect_timeout_s, timeout_s; /* 0: 10 and 300 */
	size_t max; /* bytes of the answer; more is ERR_SYSTEM. 0: 16 MiB */
	int cancel; /* descriptor; once it is readable the request ends. 0: none */
	/* Called for each piece of the body as it comes, with the status known; may be NULL (the
	 * body is then collected). -1 ends the request with *err as it filled it. */
	int (*on_data)(void *data, long status, struct str piece, struct error *err);
	void (*tick)(void *data); /* each tick_ms until it ends; may be NULL */
	unsigned tick_ms;
	void *data; /* of both */
};

enum http_outcome {
	HTTP_ANSWERED,
	HTTP_UNREACHABLE, /* no name, no connection (in time), no TLS: nothing was sent */
	HTTP_TIMEOUT,
	HTTP_BROKEN, /* the connection ended in the middle */
	HTTP_CANCELLED,
};

struct http_answer {
	enum http_outcome outcome;
	const char *why;    /* of the other outcomes, for people; static */
	long status;        /* 0: there was not even that much of an answer */
	struct buf body;    /* as far as it came; the caller's: buf_release() */
	long retry_after_s; /* of the header `Retry-After`, also when it is a date; -1: none */
};

/* Whether the URL's host is this machine and no other: 127.N.N.N, ::1 or localhost. */
bool http_loopback(const char *url);
/* 0 when there is an outcome; -1 with *err when the request could not even be made (no
 * libcurl, a URL that is none, on_data gave -1, too long). */
int http_send(const struct http_request *r, struct http_answer *a, struct error *err);

#endif
