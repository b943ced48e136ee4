#include <errno.h>
#include <stdarg.h>
#include "src/base/buf.h"
#include "src/base/error.h"

PRINTF(3, 0)
static int error_fill(struct error *e, enum err code, const char *fmt, va_list ap)
{
	e->code = code;
	e->line = e->col = 0;
	e->file[0] = '\0';
	(void)vsnprintf(e->text, sizeof(e->text), fmt, ap);
	return -1;
}

int error_set(struct error *e, enum err code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	error_fill(e, code, fmt, ap);
	va_end(ap);
	return -1;
}

int error_errno(struct error *e, const char *fmt, ...)
{
	int saved = errno;
	size_t n;
	va_list ap;

	va_start(ap, fmt);
	error_fill(e, ERR_SYSTEM, fmt, ap);
	va_end(ap);
	n = strlen(e->text);
	(void)snprintf(e->text + n, sizeof(e->text) - n, ": %s", strerror(saved));
	return -1;
}

int error_at(struct error *e, const char *file, unsigned line, unsigned col, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	error_fill(e, ERR_INPUT, fmt, ap);
	va_end(ap);
	return error_place(e, file, line, col);
}

int error_place(struct error *e, const char *file, unsigned line, unsigned col)
{
	(void)snprintf(e->file, sizeof(e->file), "%s", file);
	e->line = line;
	e->col = col;
	return -1;
}

int error_prefix(struct error *e, const char *fmt, ...)
{
	char what[256], rest[sizeof(e->text)];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	memcpy(rest, e->text, sizeof(rest));
	(void)snprintf(e->text, sizeof(e->text), "%s: %.700s", what, rest);
	return -1;
}

void error_format(const struct error *e, char *out, size_t size)
{
	if (e->file[0] && e->line)
		(void)snprintf(out, size, "%s:%u:%u: %s", e->file, e->line, e->col, e->text);
	else if (e->file[0])
		(void)snprintf(out, size, "%s: %s", e->file, e->text);
	else
		(void)snprintf(out, size, "dev-team: %s", e->text);
}

static bool status_shown;

static void write_all(const char *text, size_t n)
{
	while (n) {
		ssize_t written = write(STDERR_FILENO, text, n);

		if (written < 0 && errno != EINTR)
			return;
		text += written > 0 ? written : 0;
		n -= written > 0 ? (size_t)written : 0;
	}
}

/* The cursor is at its beginning. */
static void remove_status(void)
{
	if (status_shown)
		write_all("\033[K", 3);
	status_shown = false;
}

/* One write for all, and the cursor goes back, so that the program can end at any time. */
void error_status_line(const char *text)
{
	char line[1024];
	int n;

	if (!text) {
		remove_status();
		return;
	}
	n = snprintf(line, sizeof(line), "%s\033[K\r", text);
	if (n > 0 && (size_t)n < sizeof(line)) {
		write_all(line, (size_t)n);
		status_shown = true;
	}
}

static const char *about;

void error_log_about(const char *what)
{
	about = what;
}

void error_log(const char *fmt, ...)
{
	char line[2048];
	va_list ap;
	int begin, n;

	begin = about ? snprintf(line, sizeof(line) / 2, "%s  ", about) : 0;
	va_start(ap, fmt);
	n = begin < 0 ? begin : vsnprintf(line + begin, sizeof(line) - 1 - (size_t)begin, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	n += begin;
	if ((size_t)n > sizeof(line) - 2)
		n = (int)sizeof(line) - 2;
	line[n++] = '\n';
	remove_status();
	write_all(line, (size_t)n);
}

void error_print(const struct error *e)
{
	char line[sizeof(*e) + 32];

	error_format(e, line, sizeof(line));
	error_log("%s", line);
}

void error_print_once(const struct error *e, struct buf *said, const char *then)
{
	char line[sizeof(*e) + 32];
	size_t from = said->len;

	error_format(e, line, sizeof(line));
	buf_addf(said, "%s%s; %s\n", *e->file ? "dev-team: " : "", line, then);
	if (strstr(said->s, said->s + from) < said->s + from)
		buf_cut(said, from);
	else
		error_log("%.*s", (int)(said->len - from - 1), said->s + from);
}
