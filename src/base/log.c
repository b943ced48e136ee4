#include <errno.h>
#include <stdarg.h>
#include "src/base/log.h"

void log_line(const char *fmt, ...)
{
	char line[2048];
	va_list ap;
	int n, done = 0;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line) - 1, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	if ((size_t)n > sizeof(line) - 2)
		n = (int)sizeof(line) - 2;
	line[n++] = '\n';
	while (done < n) {
		ssize_t w = write(STDERR_FILENO, line + done, (size_t)(n - done));

		if (w < 0 && errno != EINTR)
			return;
		done += w > 0 ? (int)w : 0;
	}
}
