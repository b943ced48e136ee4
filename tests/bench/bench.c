/*
 * bench: a table of the cost of the verbs beside the minimum cost of a durable change. The two run
 * in turn, A B A B, so that other load affects both equally. Asserts nothing.
 *
 *     bench DEV-TEAM [RUNS [policy|pool|resources]]
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include "context/file.h"
#include "src/sys/path.h"
#include "tests/bench/long_history.h"
#include "tests/bench/pool.h"
#include "tests/bench/resources.h"
#include "tests/bench/shell.h"
#include "tests/lib/run.h"
#include "tests/lib/tap.h"
#include "tests/lib/tree.h"
#include "tests/lib/wire.h"

enum { MAX_RUNS = 2000, SLOW_RUNS = 20, KIB = 1024, ITEMS = 10000 };

static struct arena arena;
static char *dir, *program, *bare, *empty;
static unsigned runs = 200;

static char *in_dir(const char *name)
{
	return arena_printf(&arena, "%s/%s", dir, name);
}

/* Milliseconds from before the fork to the end of the process; *peak: its largest memory. */
static double timed(const char *const *argv, const char *input, long *peak)
{
	struct timespec from, to;
	struct rusage usage;
	int status;
	pid_t pid;

	clock_gettime(CLOCK_MONOTONIC, &from);
	pid = fork();
	if (pid == 0) {
		int in = open(input, O_RDONLY), out = open("/dev/null", O_WRONLY);

		if (in < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || chdir(dir) < 0)
			_exit(126);
		close(in);
		close(out);
		execv(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) < 0)
		die("cannot run '%s'", argv[0]);
	clock_gettime(CLOCK_MONOTONIC, &to);
	if (status)
		die("'%s %s' failed with status %d", argv[0], argv[1] ? argv[1] : "", status);
	if (peak)
		*peak = usage.ru_maxrss;
	return (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double quantile(const double *values, unsigned n, double q)
{
	static double sorted[MAX_RUNS];

	memcpy(sorted, values, n * sizeof(*values));
	qsort(sorted, n, sizeof(*sorted), by_value);
	return sorted[(size_t)(q * (n - 1))];
}

/* A prepared work item: its document and events as bytes, restored before each run. */
struct item {
	struct buf document, events;
	const char *path, *events_path;
};

static void take(struct item *it)
{
	it->path = in_dir("B-1.md");
	it->events_path = in_dir("B-1.events.jsonl");
	buf_clear(&it->document);
	buf_clear(&it->events);
	if (!tree_read(it->path, &it->document) || !tree_read(it->events_path, &it->events))
		die("no document to measure with");
}

static void lay(const struct item *it)
{
	tree_write(it->path, buf_str(&it->document));
	tree_write(it->events_path, buf_str(&it->events));
}

static void item_release(struct item *it)
{
	buf_release(&it->document);
	buf_release(&it->events);
}

struct side {
	const char *const *argv;
	const char *input;
	const struct item *before; /* restored before each run; NULL: nothing */
	bool fresh;                /* without a work item before each run */
	double ms[MAX_RUNS];
	long peak;
};

static void run_side(struct side *s, unsigned i)
{
	if (s->fresh) {
		unlink(in_dir("B-1.md"));
		unlink(in_dir("B-1.events.jsonl"));
	}
	if (s->before)
		lay(s->before);
	s->ms[i] = timed(s->argv, s->input ? s->input : "/dev/null", &s->peak);
}

static void compare(const char *name, struct side *a, struct side *b, const char *target)
{
	static double pairs[MAX_RUNS];
	double ma, mb;

	run_side(a, 0); /* once to warm the caches, not counted */
	run_side(b, 0);
	for (unsigned i = 0; i < runs; i++) {
		run_side(a, i);
		run_side(b, i);
		pairs[i] = a->ms[i] / b->ms[i];
	}
	ma = quantile(a->ms, runs, 0.5);
	mb = quantile(b->ms, runs, 0.5);
	printf("%-42s %8.2f %8.2f %8.2f %8.2f %7.2fx %7.2fx  %s\n", name, ma,
		quantile(a->ms, runs, 0.95), mb, quantile(b->ms, runs, 0.95), ma / mb,
		quantile(pairs, runs, 0.5), target);
	fflush(stdout);
}

static const char *const *step_argv(const char *where)
{
	const char **argv = arena_alloc(&arena, 12 * sizeof(*argv));

	argv[0] = program;
	argv[1] = "step";
	argv[2] = "B-1";
	argv[3] = "--workflow";
	argv[4] = "implement";
	argv[5] = "--context-file";
	argv[6] = arena_printf(&arena, "%s/B-1.md", where);
	argv[7] = "--repo";
	argv[8] = dir;
	argv[9] = "--owner";
	argv[10] = "bench";

	return argv;
}

static const char *const *record_argv(const char *action)
{
	static const char *argv[10];

	argv[0] = program;
	argv[1] = "record";
	argv[2] = "--context-file";
	argv[3] = in_dir("B-1.md");
	argv[4] = "--action";
	argv[5] = action;
	argv[6] = "--result";
	argv[7] = action[4] == 'r' ? "briefed" : "implemented";
	return argv;
}

static void must(const char *const *argv, const char *input)
{
	(void)timed(argv, input, NULL);
}

/* A document of about `size` bytes: just answered in `answered`, a step later in `asked`. */
static void prepare(size_t size, struct item *answered, struct item *asked)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	unlink(in_dir("B-1.md"));
	unlink(in_dir("B-1.events.jsonl"));
	while (text.len + 1200 < size)
		buf_adds(&text,
			"A line of a brief, neither long nor short, as agents write them.\n");
	buf_adds(&text, "The end.\n");
	tree_write(in_dir("brief"), buf_str(&text));
	must(step_argv(dir), "/dev/null");
	must(record_argv("B-1/researching/1"), in_dir("brief"));
	take(answered);
	must(step_argv(dir), "/dev/null");
	take(asked);
}

/* One save with two events. */
static void save(const struct item *it, unsigned i)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct error err;

	if (context_open(&f, it->path, CONTEXT_MUST_EXIST, &err) < 0)
		die("%s", err.text);
	context_set_count(&f.doc, WIRE_FIXES, i % 5);
	(void)context_event(&f, "transition");
	(void)context_event(&f, "dispatch");
	if (context_save(&f, &err) < 0)
		die("%s", err.text);
}

/* The same item after `n` more events. */
static void with_events(const struct item *from, unsigned n, struct item *to)
{
	*to = *from;
	to->document = to->events = (struct buf)BUF_INIT;
	lay(from);
	for (unsigned i = 1; i <= n / 2; i++)
		save(from, i);
	take(to);
}

static void measure_size(size_t size, const char *label)
{
	static struct side a, b;
	struct item answered = {0}, asked = {0}, elsewhere;
	const char *copy = in_dir("bare.md");
	const char *const short_argv[] = {
		program, "step", "B-1", "--workflow", "implement", "--owner", "bench", NULL};
	const char *const bare_argv[] = {bare, copy, NULL};

	prepare(size, &answered, &asked);
	tree_write(copy, buf_str(&answered.document));
	tree_write(in_dir("answer"), STR("It is implemented.\n"));
	b = (struct side){.argv = bare_argv};
	elsewhere = answered;
	elsewhere.path = in_dir(".dev-team/org/repo/B-1.md");
	elsewhere.events_path = in_dir(".dev-team/org/repo/B-1.events.jsonl");
	a = (struct side){.argv = short_argv, .before = &elsewhere};
	compare(arena_printf(&arena, "step by id alone, %s : bare", label), &a, &b, "<= 1.8x");
	a = (struct side){.argv = step_argv(dir), .before = &answered};
	compare(arena_printf(&arena, "step, context of %s : bare", label), &a, &b, "<= 1.8x");
	if (size == 4 * KIB)
		printf("%-42s %8.1f MiB                                      <= 8 MiB\n",
			"  its peak memory", (double)a.peak / KIB);
	a = (struct side){.argv = record_argv("B-1/implementing/1"),
		.before = &asked,
		.input = in_dir("answer")};
	compare(arena_printf(&arena, "record, context of %s : bare", label), &a, &b, "");
	lay(&asked);
	a = (struct side){.argv = step_argv(dir)};
	b = (struct side){.argv = (const char *const[]){empty, NULL}};
	compare(arena_printf(&arena, "step, nothing new, %s : empty process", label), &a, &b, "");
	item_release(&answered);
	item_release(&asked);
}

static void measure_first_and_repeated(void)
{
	static struct side a, b;
	struct item answered = {0}, small = {0}, large = {0};
	const char *copy = in_dir("bare.md");

	prepare(4 * KIB, &answered, &small);
	tree_write(copy, buf_str(&small.document));
	a = (struct side){.argv = step_argv(dir), .fresh = true};
	b = (struct side){.argv = (const char *const[]){bare, copy, NULL}};
	compare("first step : bare", &a, &b, "<= 2.0x");
	prepare(1024 * KIB, &answered, &large);
	a = (struct side){.argv = step_argv(dir), .before = &large};
	b = (struct side){.argv = step_argv(dir), .before = &small};
	compare("repeated step, 1 MiB : 4 KiB", &a, &b, "<= 1.8x");
	item_release(&answered);
	item_release(&small);
	item_release(&large);
}

static void measure_history(void)
{
	static struct side a, b;
	struct item answered = {0}, asked = {0}, brief, long_;

	prepare(4 * KIB, &answered, &asked);
	with_events(&answered, 10, &brief);
	with_events(&answered, 10000, &long_);
	a = (struct side){.argv = step_argv(dir), .before = &long_};
	b = (struct side){.argv = step_argv(dir), .before = &brief};
	compare("step, 10,000 events : 10 events", &a, &b, "<= 1.1x");
	item_release(&answered);
	item_release(&asked);
	item_release(&brief);
	item_release(&long_);
}

/* Replays and compares 10,000 events, beside reading the same lines. */
static void measure_verify(void)
{
	static struct side a, b;
	const char *path = in_dir("H-1.md"), *brief = in_dir("H-2.md");
	unsigned all = runs;

	runs = runs < SLOW_RUNS ? runs : SLOW_RUNS;
	long_history(path, 10000, 1500);
	a = (struct side){.argv = (const char *const[]){program, "history", "verify", path, NULL}};
	b = (struct side){.argv = (const char *const[]){program, "events", "--json", path, NULL}};
	compare("history verify, 10,000 events : events", &a, &b, "A < 1000");
	printf("%-42s %8.1f MiB\n", "  its peak memory", (double)a.peak / KIB);
	long_history(brief, 100, 1500);
	a.argv = (const char *const[]){program, "history", path, "--last", "10", NULL};
	b.argv = (const char *const[]){program, "history", brief, "--last", "10", NULL};
	compare("history --last 10, 10,000 events : 100", &a, &b, "<= 1.5x");
	runs = all;
}

static void make_items(const char *where, unsigned n)
{
	for (unsigned i = 1; i <= n; i++) {
		CLEANUP(context_close) struct context_file f = {0};
		CLEANUP(arena_release) struct arena a = {0};
		const char *id = arena_printf(&a, "I-%u", i);
		struct error err;

		if (context_open(&f, arena_printf(&a, "%s/%s.md", where, id), CONTEXT_MAY_CREATE,
			    &err) < 0 ||
			context_create(&f, id, "researching", &err) < 0 ||
			context_save(&f, &err) < 0)
			die("%s", err.text);
	}
}

/* A state directory with many items, beside one with a single item. */
static void measure_items(void)
{
	static struct side a, b;
	const char *many = in_dir("many"), *one = in_dir("one");
	const char *get[] = {program, "context", "get", NULL, "state", NULL};
	const char *alone[] = {program, "context", "get", NULL, "state", NULL};
	struct item answered = {0}, asked = {0}, crowded;
	unsigned all = runs;

	prepare(4 * KIB, &answered, &asked);
	make_items(many, ITEMS);
	make_items(one, 1);
	get[3] = in_dir("many/I-5.md");
	alone[3] = in_dir("one/I-1.md");
	a = (struct side){.argv = get};
	b = (struct side){.argv = alone};
	compare("context get, 10,000 items : 1 item", &a, &b, "<= 1.1x");
	crowded = answered;
	crowded.path = in_dir("many/B-1.md");
	crowded.events_path = in_dir("many/B-1.events.jsonl");
	a = (struct side){.argv = step_argv(in_dir("many")), .before = &crowded};
	b = (struct side){.argv = step_argv(dir), .before = &answered};
	compare("step, 10,000 items : 1 item", &a, &b, "<= 1.1x");
	runs = runs < SLOW_RUNS ? runs : SLOW_RUNS;
	a = (struct side){.argv = (const char *const[]){program, "context", "list", many, NULL}};
	b = (struct side){.argv = (const char *const[]){
				  "/bin/grep", "-rh", "--include=*.md", "^state:", many, NULL}};
	compare("context list, 10,000 items : grep", &a, &b, "");
	runs = all;
	item_release(&answered);
	item_release(&asked);
}

static void measure_policy(void)
{
	static const char line[] = "git log --oneline -n 20 | grep -n fix && ls -la src";
	static struct side a, b;
	const char *true_ = "/usr/bin/true";

	tree_mkdirs(in_dir("src"));
	a = (struct side){.argv = (const char *const[]){program, "policy", "check", "--policy",
				  "developer", "--", line, NULL}};
	b = (struct side){.argv = (const char *const[]){empty, NULL}};
	compare("policy check, a line : empty process", &a, &b, "<= 2.0x");
	a = (struct side){.argv = (const char *const[]){program, "policy", "exec", "--policy",
				  "developer", "--", "true", NULL}};
	b = (struct side){.argv = (const char *const[]){true_, NULL}};
	compare("policy exec true : true", &a, &b, "");
}

static void make_repository(void)
{
	static const char script[] = "git init -q --template= . && git remote add origin "
				     "https://example.org/org/repo.git && "
				     "mkdir scripts && echo true >scripts/validate.sh && "
				     "printf '# Spec for B-1\\n' >_spec_B.md";
	const char *const argv[] = {"sh", "-c", script, NULL};
	struct run r = {.argv = argv, .cwd = dir};

	run(&r);
	if (r.status)
		die("cannot make a repository: %s", r.err.s);
	run_release(&r);
}

int main(int argc, char **argv)
{
	char self[PATH_MAX] = {0};

	if (argc < 2 || readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		die("usage: bench DEV-TEAM [RUNS [resources | pool | steps | items | policy]]");
	if (argc > 2)
		runs = (unsigned)strtoul(argv[2], NULL, 10);
	if (!runs || runs > MAX_RUNS)
		die("1 to %d runs", MAX_RUNS);
	program = path_absolute(&arena, argv[1]);
	self[path_dir(self).n] = '\0';
	bare = arena_printf(&arena, "%s/bare", self);
	empty = arena_printf(&arena, "%s/empty", self);
	setenv("DEV_TEAM_ROOT", path_absolute(&arena, "."), 1);
	dir = tree_scratch("bench");
	setenv("HOME", dir, 1);
	make_repository();
	printf("%u runs of each, in turn, in %s; milliseconds\n\n", runs, dir);
	printf("%-42s %8s %8s %8s %8s %8s %8s  %s\n", "A : B", "A median", "A p95", "B median",
		"B p95", "ratio", "of pairs", "target");
	if (argc < 4 || strcmp(argv[3], "resources") == 0)
		bench_resources(dir);
	if (argc < 4 || strcmp(argv[3], "pool") == 0)
		bench_pool(dir, program);
	if (argc < 4 || strcmp(argv[3], "steps") == 0) {
		measure_first_and_repeated();
		measure_size(4 * KIB, "4 KiB");
		measure_size(1024 * KIB, "1 MiB");
		measure_history();
		measure_verify();
	}
	if (argc < 4 || strcmp(argv[3], "items") == 0)
		measure_items();
	if (argc < 4 || strcmp(argv[3], "policy") == 0) {
		measure_policy();
		bench_shell();
	}
	tree_remove(dir);
	free(dir);
	arena_release(&arena);
	return 0;
}
