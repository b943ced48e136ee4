#include "src/harness/api_status.h"

enum {
	UNAUTHORIZED = 401,
	PAYMENT = 402,
	FORBIDDEN = 403,
	PROXY_LOGIN = 407,
	TOO_SLOW = 408,
	TOO_EARLY = 425,
	LIMIT = 429,
	CLIENT_GONE = 499,
	SERVER_FAULT = 500,
};

bool api_status_unavailable(long status)
{
	return status == 0 || status == UNAUTHORIZED || status == PAYMENT || status == FORBIDDEN ||
	       status == PROXY_LOGIN || status == TOO_SLOW || status == TOO_EARLY ||
	       status == LIMIT || status == CLIENT_GONE || status >= SERVER_FAULT;
}

void api_status_verdict(struct session *s, long status, struct str why)
{
	session_verdict(
		s, api_status_unavailable(status) ? HARNESS_UNAVAILABLE : HARNESS_FAILURE, why);
	s->rate_limited = s->rate_limited || status == LIMIT;
}

static bool any(struct str text, const char *const *phrases)
{
	for (; *phrases; phrases++)
		for (size_t i = 0, n = strlen(*phrases); i + n <= text.n; i++)
			if (strncasecmp(text.p + i, *phrases, n) == 0)
				return true;
	return false;
}

bool api_words_limited(struct str text)
{
	static const char *const phrases[] = {"rate limit", "ratelimit", "too many requests",
		"quota", "resource_exhausted", "usage limit", "status 429", "code\":429", NULL};

	return any(text, phrases);
}

bool api_words_unavailable(struct str text)
{
	static const char *const phrases[] = {"api key", "authentication", "unauthenticated",
		"unauthorized", "permission_denied", "not logged in", "overloaded", "unavailable",
		"internal server error", "connection error", "cannot connect", "fetch failed",
		"connection refused", "econnrefused", "enotfound", "etimedout", NULL};

	return api_words_limited(text) || any(text, phrases);
}

bool text_begins(struct str text, const char *const *phrases)
{
	for (; *phrases; phrases++) {
		size_t n = strlen(*phrases);

		if (n <= text.n && strncasecmp(text.p, *phrases, n) == 0)
			return true;
	}
	return false;
}

long status_at(struct str text)
{
	long status = 0;
	size_t n = 0;

	for (; n < text.n && text.p[n] >= '0' && text.p[n] <= '9' && n < 4; n++)
		status = status * 10 + text.p[n] - '0';
	return n == 3 && status >= 100 && status < 600 ? status : -1;
}
