#include <ctype.h>
#include <strings.h>
#include "src/config/resource.h"

enum { DIGITS_MAX = 9 }; /* so that no sum comes near the end of an int64_t */

struct unit {
	char letter;
	int64_t seconds;
};

/* Units in their order, each at most once. False: what is there is none of them. */
static bool take(const char **p, const struct unit *units, size_t n, int64_t *sum)
{
	size_t next = 0;

	while (**p >= '0' && **p <= '9') {
		const char *from = *p;
		int64_t v = 0;

		for (; **p >= '0' && **p <= '9'; (*p)++) {
			if (*p - from == DIGITS_MAX)
				return false;
			v = v * 10 + (**p - '0');
		}
		while (next < n && units[next].letter != **p)
			next++;
		if (next == n)
			return false;
		*sum += v * units[next++].seconds;
		(*p)++;
	}
	return true;
}

int duration_parse(const char *text, int64_t *seconds)
{
	static const struct unit days[] = {{'D', 86400}}, weeks[] = {{'W', 604800}};
	static const struct unit times[] = {{'H', 3600}, {'M', 60}, {'S', 1}};
	const char *p = text + 1, *from;
	int64_t sum = 0;

	if (text[0] != 'P' || !text[1])
		return -1;
	if (take(&p, weeks, 1, &sum) && !*p) {
		*seconds = sum;
		return 0;
	}
	p = text + 1;
	sum = 0;
	if (!take(&p, days, 1, &sum))
		return -1;
	if (*p == 'T') {
		from = ++p;
		if (!take(&p, times, COUNT(times), &sum) || p == from)
			return -1;
	}
	if (*p)
		return -1;
	*seconds = sum;
	return 0;
}

enum parallelism_mode parallelism_mode(const char *value)
{
	static const char *const offs[] = {"off", "disabled", "false", "0"};
	struct str s = str_of(value);

	while (s.n && isspace((unsigned char)s.p[0]))
		s = str_sub(s, 1, s.n);
	while (s.n && isspace((unsigned char)s.p[s.n - 1]))
		s.n--;
	for (size_t i = 0; i < COUNT(offs); i++)
		if (s.n == strlen(offs[i]) && strncasecmp(s.p, offs[i], s.n) == 0)
			return PARALLELISM_OFF;
	if (s.n == strlen("experimental") && strncasecmp(s.p, "experimental", s.n) == 0)
		return PARALLELISM_EXPERIMENTAL;
	return PARALLELISM_ON;
}
