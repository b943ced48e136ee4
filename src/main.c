/*
 * main.c: runs the verb, prints its result, exits. Nothing else exits, and
 * only what is shown as it happens is printed elsewhere (cli_flush).
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/stat.h>
#include "src/base/error.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/cli/cli.h"
#include "src/run/databases.h"
#include "src/sandbox/sandbox.h"

/* What is printed is on disk already, so a reader that went away loses nothing but this text. */
static int main_emit(struct str text, struct error *err)
{
	return sys_write_all(STDOUT_FILENO, text, "standard output", err);
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

/* Each call allocates several megabyte buffers; keep them instead of returning them to the kernel.
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
	int rc = sandbox_landlock_inner(argc, argv);

	if (rc >= 0)
		return rc;
	fill_standard_descriptors();
	git_forget_caller();
	pool_databases_use();
	keep_memory();
	keep_own_files();
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error like a full disk */
	rc = option_dispatch(&arena, &cli_program, argc - 1, argv + 1, &out, &err);
	if (rc >= 0 && (path_check_looks(&err) < 0 || main_emit(buf_str(&out), &err) < 0))
		rc = -1;
	if (rc < 0) {
		error_print(&err);
		rc = err.code ? (int)err.code : ERR_SYSTEM;
	}
	buf_release(&out);
	arena_release(&arena);
	return rc;
}
