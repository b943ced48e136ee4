#include "src/base/number.h"
#include "src/harness/adapter.h"

enum {
	PAYMENT_REQUIRED = 402,
	PROXY_LOGIN = 407,
	REQUEST_TIMEOUT = 408,
	TOO_EARLY = 425,
	CLIENT_CLOSED = 499,
	SERVER_ERROR = 500,
};

bool api_status_unavailable(long status)
{
	static const long statuses[] = {0, API_UNAUTHORIZED, PAYMENT_REQUIRED, API_FORBIDDEN,
		PROXY_LOGIN, REQUEST_TIMEOUT, TOO_EARLY, API_LIMIT, CLIENT_CLOSED};

	for (size_t i = 0; i < COUNT(statuses); i++)
		if (status == statuses[i])
			return true;
	return status >= SERVER_ERROR;
}

bool api_text_starts(struct str text, const char *const *phrases)
{
	for (; *phrases; phrases++) {
		size_t n = strlen(*phrases);

		if (n <= text.n && strncasecmp(text.p, *phrases, n) == 0)
			return true;
	}
	return false;
}

bool api_code_limited(struct str code)
{
	static const char *const codes[] = {"rate_limit_exceeded", "rate_limit_error", "rate_limit",
		"too_many_requests", "insufficient_quota", "quota_exceeded", "resource_exhausted",
		"usage_limit_reached"};

	for (size_t i = 0; i < COUNT(codes); i++)
		if (code.n == strlen(codes[i]) && strncasecmp(code.p, codes[i], code.n) == 0)
			return true;
	return false;
}

long api_status_parse(struct str text)
{
	uint64_t status;

	if (number_digits(text, &status) != 3 || status < 100 || status >= 600)
		return -1;
	return (long)status;
}
