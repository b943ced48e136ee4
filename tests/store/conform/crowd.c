/*
 * crowd: eight processes, a thousand operations each, on one store, and the same on a hundred work
 * items by the verbs of dev-team. At the end everything is accounted for: nothing is lost, nothing
 * is there twice. Prints TAP.
 *
 *     crowd store|items
 */
#include "tests/store/conform/crowd.h"
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "src/sys/path.h"
#include "tests/lib/run.h"
#include "tests/lib/tap.h"
#include "tests/lib/tree.h"

unsigned crowd_ops(void)
{
	const char *san = getenv("SAN");

	return san && !strcmp(san, "1") ? CROWD_OPS / 10 : CROWD_OPS;
}

unsigned dice_throw(struct dice *d, unsigned n)
{
	d->state = d->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(d->state >> 33) % n;
}

void *crowd_share(size_t n)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("cannot share memory");
	return p;
}

_Noreturn void crowd_fail(unsigned i, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "process %u: ", i);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	_exit(1);
}

unsigned crowd_run(void (*member)(unsigned i, void *arg), void *arg)
{
	unsigned good = 0;
	int status;

	fflush(NULL);
	for (unsigned i = 0; i < CROWD; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("cannot fork");
		if (!pid) {
			member(i, arg);
			_exit(0);
		}
	}
	for (unsigned i = 0; i < CROWD; i++) {
		if (wait(&status) < 0)
			die("cannot wait");
		good += WIFEXITED(status) && WEXITSTATUS(status) == 0;
	}
	return good;
}

int main(int argc, char **argv)
{
	const char *which = argc == 2 ? argv[1] : "";
	char *dir = tree_scratch("crowd");

	run_find_build();
	if (!strcmp(which, "store"))
		crowd_on_a_store(dir);
	if (!strcmp(which, "items"))
		crowd_on_items(dir);
	tree_remove(dir);
	free(dir);
	return tap_end();
}
