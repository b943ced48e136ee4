/*
 * killat: runs a command and disturbs one of its system calls, to study one point of the sweep by
 * hand.
 *
 *     killat count COMMAND...             print how many system calls it makes
 *     killat kill N COMMAND...            SIGKILL right before the Nth
 *     killat fail KIND N ERRNO COMMAND... the Nth of a kind gives that error and is not executed
 *     killat short N COMMAND...           the Nth write writes one byte
 *
 * Before the action: -c counts the calls of the command's children only, -a of all processes.
 * It ends when all processes that the command started have ended.
 * KIND: write sync rename open truncate mkdir link unlink mode close read lock look. ERRNO: a
 * number.
 */
#include <errno.h>
#include <sys/prctl.h>
#include "tests/crash/trace.h"

static int usage(void)
{
	fputs("usage: killat [-a|-c] count|kill N|fail KIND N ERRNO|short N COMMAND...\n", stderr);
	return 2;
}

/* Reads the action; the number of words it took, or 0. */
static int action(struct trace *t, int argc, char **argv)
{
	bool fail = argc > 4 && strcmp(argv[1], "fail") == 0;

	if (argc > 2 && strcmp(argv[1], "count") == 0)
		return 1;
	if (fail) {
		t->act = TRACE_FAIL;
		t->kinds = call_of_name(argv[2]);
		t->at = (unsigned)strtoul(argv[3], NULL, 10);
		t->error = (int)strtol(argv[4], NULL, 10);
		return t->kinds && t->at && t->error > 0 ? 4 : 0;
	}
	if (argc < 4 || (strcmp(argv[1], "kill") != 0 && strcmp(argv[1], "short") != 0))
		return 0;
	t->act = argv[1][0] == 'k' ? TRACE_KILL : TRACE_SHORT;
	t->kinds = t->act == TRACE_SHORT ? CALL_WRITE : CALL_ANY;
	t->at = (unsigned)strtoul(argv[2], NULL, 10);
	return t->at ? 2 : 0;
}

int main(int argc, char **argv)
{
	struct trace t = {0};
	int words;

	if (argc > 1 && argv[1][0] == '-') {
		t.who = strcmp(argv[1], "-a") == 0 ? TRACE_ALL : TRACE_CHILDREN;
		argc--;
		argv++;
	}
	words = action(&t, argc, argv);
	if (!words || argc <= words + 1)
		return usage();
	t.argv = (const char *const *)argv + words + 1;
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (trace_run(&t) < 0) {
		fputs("killat: this system does not let a program be traced\n", stderr);
		return 2;
	}
	fputs(t.out.s, stdout);
	fputs(t.err.s, stderr);
	fprintf(stderr, "killat: %u calls counted, %s%s, exit status %d\n", t.count,
		t.hit ? "hit " : "not hit", t.hit ? call_name(t.hit_kind) : "", t.status);
	trace_release(&t);
	return 0;
}
