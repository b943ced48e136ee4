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

bool text_begins(struct str text, const char *const *phrases)
{
	for (; *phrases; phrases++) {
		size_t n = strlen(*phrases);

		if (n <= text.n && strncasecmp(text.p, *phrases, n) == 0)
			return true;
	}
	return false;
}

bool api_word_limited(struct str word)
{
	static const char *const words[] = {"rate_limit_exceeded", "rate_limit_error", "rate_limit",
		"too_many_requests", "insufficient_quota", "quota_exceeded", "resource_exhausted",
		"usage_limit_reached", NULL};

	for (const char *const *w = words; *w; w++)
		if (word.n == strlen(*w) && text_begins(word, (const char *const[]){*w, NULL}))
			return true;
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
