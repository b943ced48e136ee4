#include <errno.h>
#include "src/cli/common.h"
#include "src/sys/path.h"

int read_input(struct buf *out, size_t max, struct error *err)
{
	if (isatty(STDIN_FILENO))
		return error_set(
			err, ERR_USAGE, "the text comes on standard input, and that is a terminal");
	return fd_read_all(out, STDIN_FILENO, max, "standard input", err);
}

int need_option(const struct verb *v, const struct args *args, int k, struct error *err)
{
	if (args->value[k] && *args->value[k])
		return 0;
	return error_set(err, ERR_USAGE, "%s: --%s is missing (see 'dev-team %s --help')", v->name,
		v->options[k].name, v->name);
}

int read_seconds(
	const char *name, const char *text, long min, long max, long *out, struct error *err)
{
	char *end;

	errno = 0;
	*out = strtol(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || *out < min || *out > max)
		return error_set(err, ERR_USAGE, "bad value '%.40s' of --%s: must be %ld to %ld",
			text, name, min, max);
	return 0;
}
