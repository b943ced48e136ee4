#include <errno.h>
#include <stdarg.h>
#include "tests/lib/tap.h"

static unsigned done, bad;

bool tap(bool good, const char *fmt, ...)
{
	va_list ap;

	printf("%sok %u - ", good ? "" : "not ", ++done);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
	bad += !good;
	return good;
}

void tap_skip(const char *name, const char *reason)
{
	printf("ok %u - %s # SKIP %s\n", ++done, name, reason);
	fflush(stdout);
}

void tap_note(struct str text)
{
	struct str line;

	while (str_line(&text, &line))
		printf("# %.*s\n", (int)line.n, line.p);
	fflush(stdout);
}

void tap_notef(const char *fmt, ...)
{
	va_list ap;

	fputs("# ", stdout);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

int tap_end(void)
{
	printf("1..%u\n", done);
	fflush(stdout);
	return bad || !done;
}

_Noreturn void die(const char *fmt, ...)
{
	int saved = errno;
	va_list ap;

	fputs("Bail out! ", stdout);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf(" (%s)\n", strerror(saved));
	fflush(stdout);
	exit(99);
}
