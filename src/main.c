/*
 * main.c: argv to verb; the only exit, the only printing of results.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/stat.h>
#include "src/base/log.h"
#include "src/sys/path.h"
#include "src/cli/cli.h"

static const struct verb *verb_named(const char *name)
{
	for (size_t i = 0; verbs[i]; i++)
		if (strcmp(verbs[i]->name, name) == 0)
			return verbs[i];
	return NULL;
}

static int run_verb(struct arena *a, const struct verb *v, int argc, char **argv, struct buf *out,
	struct error *err)
{
	struct args *args = arena_alloc(a, sizeof(*args));
	struct invocation in = {.arena = a, .args = args, .out = out};

	for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], "--help") != 0 && strcmp(argv[i], "-h") != 0)
			continue;
		help_verb(out, v);
		return 0;
	}
	if (args_parse(a, v, argc, argv, args, err) < 0)
		return -1;
	return v->run(&in, err);
}

static int dispatch(struct arena *a, int argc, char **argv, struct buf *out, struct error *err)
{
	const char *name = argc > 1 ? argv[1] : NULL;
	const struct verb *v;

	if (!name)
		return error_set(err, ERR_USAGE, "no verb given (see 'dev-team --help')");
	if (strcmp(name, "--version") == 0) {
		buf_adds(out, "dev-team " DEV_TEAM_VERSION "\n");
		return 0;
	}
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
		help_all(out);
		return 0;
	}
	v = verb_named(name);
	if (!v)
		return error_set(
			err, ERR_USAGE, "unknown verb '%.60s' (see 'dev-team --help')", name);
	return run_verb(a, v, argc - 2, argv + 2, out, err);
}

/* What is printed is on disk already, so a reader that went away loses nothing but this text. */
static int emit(struct str text, struct error *err)
{
	return fd_write_all(STDOUT_FILENO, text, "standard output", err);
}

/*
 * A standard descriptor that came closed would be given to the next file that is opened, and what
 * is meant for people would be written into the journal. Input and output are opened the wrong way
 * round, so that using them is still the error that it was.
 */
static void fill_standard_descriptors(void)
{
	static const int modes[] = {O_WRONLY, O_RDONLY, O_WRONLY};

	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", modes[fd]) != fd)
			_exit(ERR_SYSTEM);
}

/*
 * Texts of a megabyte come and go some times in each call. Giving each back to the kernel, and
 * having the next one filled with fresh pages, costs more than reading it.
 */
static void keep_memory(void)
{
	(void)mallopt(M_MMAP_THRESHOLD, 32 << 20);
	(void)mallopt(M_TRIM_THRESHOLD, 64 << 20);
}

/* A mask that takes files away from their own owner would lock us out of what we make. */
static void keep_own_files(void)
{
	mode_t mask = umask(077);

	(void)umask(mask & 077);
}

int main(int argc, char **argv)
{
	struct arena arena = {0};
	struct buf out = BUF_INIT;
	struct error err = {0};
	char line[2048];
	int rc;

	fill_standard_descriptors();
	keep_memory();
	keep_own_files();
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error like a full disk */
	rc = dispatch(&arena, argc, argv, &out, &err);
	if (rc >= 0 && emit(buf_str(&out), &err) < 0)
		rc = -1;
	if (rc < 0) {
		error_format(&err, line, sizeof(line));
		log_line("%s", line);
		rc = err.code ? (int)err.code : ERR_SYSTEM;
	}
	buf_release(&out);
	arena_release(&arena);
	return rc;
}
