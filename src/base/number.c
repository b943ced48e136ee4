#include <ctype.h>
#include <strings.h>
#include <inttypes.h>
#include "src/base/number.h"

enum { DOUBLE_TEXT = 64, TEXT_SHOWN = 60 };

static bool number_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

size_t number_digits(struct str text, uint64_t *out)
{
	size_t n = 0;

	*out = 0;
	for (; n < text.n && number_is_digit(text.p[n]); n++)
		if (__builtin_mul_overflow(*out, 10, out) ||
			__builtin_add_overflow(*out, (uint64_t)(text.p[n] - '0'), out))
			break;
	if (n == text.n || !number_is_digit(text.p[n]))
		return n;
	*out = UINT64_MAX;
	while (n < text.n && number_is_digit(text.p[n]))
		n++;
	return n;
}

bool number_parse(struct str text, uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t value;

	if (!text.n || number_digits(text, &value) != text.n || value < min || value > max)
		return false;
	*out = value;
	return true;
}

uint64_t number_or(struct str text, uint64_t max, uint64_t otherwise)
{
	(void)number_parse(text, 0, max, &otherwise);
	return otherwise;
}

uint64_t number_env(const char *name, uint64_t max, uint64_t otherwise)
{
	return number_or(str_of(getenv(name)), max, otherwise);
}

bool number_hex(struct str text, uint64_t *out)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	uint64_t value = 0;

	if (!text.n || text.n > 16)
		return false;
	for (size_t i = 0; i < text.n; i++) {
		const char *at = memchr(digits, text.p[i], sizeof(digits) - 1);

		if (!at)
			return false;
		value = value << 4 | (uint64_t)((at - digits) & 15);
	}
	*out = value;
	return true;
}

/* Skips at least one digit. */
static bool skip_digits(const char **p)
{
	const char *from = *p;

	while (number_is_digit(**p))
		++*p;
	return *p > from;
}

static bool is_double(const char *p)
{
	p += *p == '-';
	if (!skip_digits(&p))
		return false;
	if (*p == '.' && (++p, !skip_digits(&p)))
		return false;
	if (*p != 'e' && *p != 'E')
		return !*p;
	p++;
	p += *p == '-' || *p == '+';
	return skip_digits(&p) && !*p;
}

bool number_double(struct str text, double min, double max, double *out)
{
	char copy[DOUBLE_TEXT];
	double value;

	if (text.n >= sizeof(copy))
		return false;
	(void)snprintf(copy, sizeof(copy), "%.*s", (int)text.n, text.n ? text.p : "");
	if (strlen(copy) != text.n || !is_double(copy))
		return false;
	value = strtod(copy, NULL);
	if (value < min || value > max)
		return false;
	*out = value;
	return true;
}

int number_refuse(struct error *err, enum err code, const char *name, struct str text, uint64_t min,
	uint64_t max)
{
	return error_set(err, code,
		"'%s' must be a whole number from %" PRIu64 " to %" PRIu64 ", not '%.*s'", name,
		min, max, (int)(text.n < TEXT_SHOWN ? text.n : TEXT_SHOWN), text.n ? text.p : "");
}

bool env_is_in(const char *name, const char *const *words)
{
	struct str value = str_trim(str_of(getenv(name)));

	for (; value.n && *words; words++)
		if (strlen(*words) == value.n && strncasecmp(*words, value.p, value.n) == 0)
			return true;
	return false;
}

bool env_is_off(const char *name)
{
	static const char *const words[] = {"off", "0", "false", "no", NULL};

	return env_is_in(name, words);
}

int number_compare_ids(const char *one, const char *other)
{
	const char *x = one, *y = other;

	while (*x && *y) {
		size_t digits = 0, more = 0;
		uint64_t m = 0, n = 0;

		if (*x <= '9' && *y <= '9') { /* of many ids the longer part is the same word */
			digits = number_digits((struct str){x, SIZE_MAX}, &m);
			more = number_digits((struct str){y, SIZE_MAX}, &n);
		}
		if (digits && more && m != n)
			return m < n ? -1 : 1;
		if (!(digits && more) && *x != *y &&
			tolower((unsigned char)*x) != tolower((unsigned char)*y))
			return tolower((unsigned char)*x) - tolower((unsigned char)*y);
		x += digits && more ? digits : 1;
		y += digits && more ? more : 1;
	}
	/* 07 and 7 have the same value. */
	return *x || *y ? *x - *y : (int)strlen(one) - (int)strlen(other);
}
