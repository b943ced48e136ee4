/*
 * unit_main.c: runs the unit tests of one room: `unit [-p] [-j N] [WORD...]`.
 *
 * Every test registers itself (TEST in unit.h). The program runs the files `test_*.c`, which
 * `make test` includes; with -p the files `proof_*.c`, which `make proof` includes. A WORD selects
 * the files of both kinds with it in their name, else the tests with it in theirs. Each file runs
 * in a process of its own, so that files cannot affect one another; up to N at a time, their output
 * in the order of the names. A room without files of the wanted kind prints nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include "src/base/vec.h"
#include "tests/lib/unit.h"

enum { FILES_MAX = 200 };
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/*
 * Files of unit tests need no sync: no test survives a power failure, and many would mostly wait
 * for the disk. The simulated disk (tests of the store) simulates losses itself.
 */
int unit_sync_error;

int fsync(int fd)
{
	(void)fd;
	if (unit_sync_error)
		errno = unit_sync_error;
	return unit_sync_error ? -1 : 0;
}

int fdatasync(int fd)
{
	return fsync(fd);
}

struct unit_test {
	unsigned line;
	struct CMUnitTest test;
};

struct unit_file {
	const char *name;
	VEC(struct unit_test) tests;
	CMFixtureFunction setup, teardown;
	pid_t pid; /* 0: not started or finished */
	FILE *output;
	int status;
};

static struct unit_file files[FILES_MAX];
static size_t n_files;

static struct unit_file *file_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < n_files; i++)
		if (strcmp(files[i].name, name) == 0)
			return &files[i];
	if (n_files == FILES_MAX)
		abort();
	files[n_files].name = name;
	return &files[n_files++];
}

void unit_add(const char *path, unsigned line, const struct CMUnitTest *test)
{
	vec_push(&file_of(path)->tests, (struct unit_test){line, *test});
}

void unit_group(const char *path, CMFixtureFunction setup, CMFixtureFunction teardown)
{
	struct unit_file *f = file_of(path);

	f->setup = setup;
	f->teardown = teardown;
}

static int by_line(const void *a, const void *b)
{
	const struct unit_test *one = a, *other = b;

	return one->line < other->line ? -1 : one->line > other->line;
}

static int run_added(struct unit_file *f)
{
	struct CMUnitTest *tests = xrealloc(NULL, f->tests.n * sizeof(*tests));
	int rc;

	vec_sort(&f->tests, by_line);
	for (size_t i = 0; i < f->tests.n; i++)
		tests[i] = f->tests.items[i].test;
	rc = _cmocka_run_group_tests(f->name, tests, f->tests.n, f->setup, f->teardown);
	free(tests);
	return rc;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct unit_file *)a)->name, ((const struct unit_file *)b)->name);
}

static bool names_file(const char *word)
{
	for (size_t i = 0; i < n_files; i++)
		if (strstr(files[i].name, word))
			return true;
	return false;
}

static const char *kind = "test_"; /* with which the files begin that run without words */

static bool selected(const struct unit_file *f, char **words)
{
	bool by_file = false;

	if (!*words)
		return str_starts(str_of(f->name), kind);
	for (; *words; words++) {
		if (!names_file(*words))
			continue;
		by_file = true;
		if (strstr(f->name, *words))
			return true;
	}
	return !by_file;
}

static void set_filter(char **words)
{
	static char pattern[256];

	for (; *words; words++)
		if (!names_file(*words)) {
			(void)snprintf(pattern, sizeof(pattern), "*%s*", *words);
			cmocka_set_test_filter(pattern);
		}
}

static void start(struct unit_file *f)
{
	f->output = tmpfile();
	if (!f->output)
		abort();
	f->pid = fork();
	if (f->pid < 0)
		abort();
	if (f->pid == 0) {
		int rc;

		dup2(fileno(f->output), STDOUT_FILENO);
		close(fileno(f->output));
		rc = run_added(f);
		(void)fflush(stdout);
		exit(rc);
	}
}

static void copy_output(struct unit_file *f)
{
	char block[4096];
	size_t n;

	rewind(f->output);
	while ((n = fread(block, 1, sizeof(block), f->output)) > 0)
		(void)fwrite(block, 1, n, stdout);
	(void)fclose(f->output);
	if (WIFSIGNALED(f->status))
		printf("not ok 1 - %s: ended by signal %d\n", f->name, WTERMSIG(f->status));
	(void)fflush(stdout);
}

static bool wait_one(void)
{
	int status;
	pid_t pid = waitpid(-1, &status, 0);

	if (pid < 0)
		return errno == EINTR;
	for (size_t i = 0; i < n_files; i++)
		if (files[i].pid == pid) {
			files[i].pid = 0;
			files[i].status = status;
		}
	return true;
}

/* Starts the selected files in order, `jobs` at a time, and prints their results in that order.
 * Returns the highest exit status. */
static int run_all(char **words, int jobs)
{
	size_t next = 0, printed = 0;
	int running = 0, worst = 0;

	while (printed < n_files) {
		for (; next < n_files && running < jobs; next++) {
			files[next].status = -1;
			if (!selected(&files[next], words))
				continue;
			start(&files[next]);
			running++;
		}
		if (running && wait_one())
			running--;
		for (; printed < next && !files[printed].pid; printed++) {
			if (!files[printed].output)
				continue;
			copy_output(&files[printed]);
			if (WIFEXITED(files[printed].status))
				worst = MAX(worst, WEXITSTATUS(files[printed].status));
			else
				worst = MAX(worst, 1);
		}
	}
	return worst;
}

int main(int argc, char **argv)
{
	int jobs = 1, opt;

	while ((opt = getopt(argc, argv, "pj:")) != -1) {
		if (opt == 'p')
			kind = "proof_";
		else
			jobs = opt == 'j' ? (int)strtol(optarg, NULL, 10) : 0;
		if (jobs < 1) {
			(void)fprintf(stderr, "usage: unit [-p] [-j N] [WORD...]\n");
			return 2;
		}
	}
	qsort(files, n_files, sizeof(files[0]), by_name);
	set_filter(argv + optind);
	return run_all(argv + optind, jobs);
}
