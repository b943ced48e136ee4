/*
 * bench: a table of the cost of the verbs beside the minimum cost of a durable change. The two run
 * in turn, A B A B, so that other load affects both equally. Asserts nothing.
 *
 *     bench DEV-TEAM [RUNS [GROUP]]
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "context/file.h"
#include "src/sys/path.h"
#include "tests/bench/bench.h"
#include "tests/lib/run.h"
#include "tests/lib/tap.h"
#include "tests/lib/tree.h"
#include "tests/lib/wire.h"

enum { MAX_RUNS = 2000, SLOW_RUNS = 20, MAKE_RUNS = 3, KIB = 1024, ITEMS = 10000 };

static struct arena arena;
static char *dir, *program, *bare, *empty;
static unsigned runs = 200;

static char *in_dir(const char *name)
{
	return arena_printf(&arena, "%s/%s", dir, name);
}

/* Processor time instead: where several processes take turns, elapsed time tells of the machine's
 * other load. */
static bool by_cpu;

static double cpu_of(const struct rusage *u)
{
	return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1e3 +
	       (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1e3;
}

/* Milliseconds from before the fork to the end of the process; *peak: its largest memory. */
static double timed(const char *const *argv, const char *input, long *peak)
{
	double from = bench_now();
	struct rusage usage;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		int in = open(input ? input : "/dev/null", O_RDONLY);
		int out = open("/dev/null", O_WRONLY);

		if (in < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0 ||
			chdir(dir) < 0)
			_exit(126);
		close(in);
		close(out);
		execvp(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) < 0)
		die("cannot run '%s'", argv[0]);
	if (status)
		die("'%s %s' failed with status %d", argv[0], argv[1] ? argv[1] : "", status);
	*peak = usage.ru_maxrss;
	return by_cpu ? cpu_of(&usage) : bench_now() - from;
}

/* A prepared work item: its document and events, restored before each run. */
struct item {
	struct str document, events;
	const char *path;
};

static char *events_of(const char *path)
{
	return arena_printf(&arena, "%.*s.events.jsonl", (int)strlen(path) - 3, path);
}

static struct str taken(const char *path)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (!tree_read(path, &text))
		die("no document to measure with");
	return arena_str(&arena, buf_str(&text));
}

static struct item take(void)
{
	const char *path = in_dir("B-1.md");

	return (struct item){taken(path), taken(events_of(path)), path};
}

static void lay(const struct item *it)
{
	tree_write(it->path, it->document);
	tree_write(events_of(it->path), it->events);
}

static void remove_item(void)
{
	unlink(in_dir("B-1.md"));
	unlink(in_dir("B-1.events.jsonl"));
}

struct side {
	const char *const *argv;
	const char *input;
	const struct item *before; /* restored before each run; NULL: nothing */
	unsigned parts;            /* the time is that of one of so many; 0: of all */
	const struct side *then;   /* runs after it and counts too; NULL: nothing */
};

static double run_side(const struct side *s, long *peak)
{
	double time;

	if (s->before)
		lay(s->before);
	time = timed(s->argv, s->input, peak) / (s->parts ? s->parts : 1);
	return time + (s->then ? run_side(s->then, peak) : 0);
}

/* Returns the largest memory of `a` in KiB. */
static long compare(const char *name, struct side a, struct side b, const char *target)
{
	static double of_a[MAX_RUNS], of_b[MAX_RUNS];
	long peak, other;

	(void)run_side(&a, &peak); /* once to warm the caches, not counted */
	(void)run_side(&b, &other);
	for (unsigned i = 0; i < runs; i++) {
		of_a[i] = run_side(&a, &peak);
		of_b[i] = run_side(&b, &other);
	}
	bench_row(name, of_a, of_b, runs, target);
	return peak;
}

#define SIDE(...) ((struct side){.argv = (const char *const[]){__VA_ARGS__, NULL}})

/* `last` (may be NULL): one more option. */
static const char *const *step_argv_with(
	const char *where, const char *id, const char *workflow, const char *last)
{
	const char *const argv[] = {program, "step", id, "--workflow", workflow, "--context-file",
		arena_printf(&arena, "%s/%s.md", where, id), "--repo", dir, "--owner", "bench",
		last, NULL};

	return memcpy(arena_alloc(&arena, sizeof(argv)), argv, sizeof(argv));
}

static const char *const *step_argv_of(const char *where, const char *id)
{
	return step_argv_with(where, id, "implement", NULL);
}

static const char *const *step_argv(const char *where)
{
	return step_argv_of(where, "B-1");
}

static const char *const *record_argv(const char *action, const char *result)
{
	const char *const argv[] = {program, "record", "--context-file", in_dir("B-1.md"),
		"--action", action, "--result", result, NULL};

	return memcpy(arena_alloc(&arena, sizeof(argv)), argv, sizeof(argv));
}

static void must(const char *const *argv, const char *input)
{
	long peak;

	(void)timed(argv, input, &peak);
}

/* A document of about `size` bytes: just answered in `answered`, a step later in `asked`. */
static void prepare(size_t size, struct item *answered, struct item *asked)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	remove_item();
	while (text.len + 1200 < size)
		buf_adds(&text,
			"A line of a brief, neither long nor short, as agents write them.\n");
	buf_adds(&text, "The end.\n");
	tree_write(in_dir("brief"), buf_str(&text));
	must(step_argv(dir), NULL);
	must(record_argv("B-1/researching/1", "briefed"), in_dir("brief"));
	*answered = take();
	must(step_argv(dir), NULL);
	*asked = take();
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
static struct item with_events(const struct item *from, unsigned n)
{
	lay(from);
	for (unsigned i = 1; i <= n / 2; i++)
		save(from, i);
	return take();
}

static void measure_size(size_t size, const char *label)
{
	struct item answered, asked, elsewhere;
	const char *copy = in_dir("bare.md");
	struct side plain = SIDE(bare, copy);
	long peak;

	prepare(size, &answered, &asked);
	tree_write(copy, answered.document);
	tree_write(in_dir("answer"), STR("It is implemented.\n"));
	elsewhere = answered;
	elsewhere.path = in_dir(".dev-team/org/repo/B-1.md");
	(void)unlink(answered.path); /* one document works in the worktree */
	compare(arena_printf(&arena, "step by id alone, %s : bare", label),
		(struct side){.argv = (const char *const[]){program, "step", "B-1", "--workflow",
				      "implement", "--owner", "bench", NULL},
			.before = &elsewhere},
		plain, "<= 1.8x");
	(void)unlink(elsewhere.path);
	peak = compare(arena_printf(&arena, "step, context of %s : bare", label),
		(struct side){.argv = step_argv(dir), .before = &answered}, plain, "<= 1.8x");
	if (size == 4 * KIB)
		printf("%-42s %8.1f MiB                                      <= 8 MiB\n",
			"  its peak memory", (double)peak / KIB);
	compare(arena_printf(&arena, "record, context of %s : bare", label),
		(struct side){.argv = record_argv("B-1/implementing/1", "implemented"),
			.before = &asked,
			.input = in_dir("answer")},
		plain, "");
	lay(&asked);
	compare(arena_printf(&arena, "step, nothing new, %s : empty process", label),
		(struct side){.argv = step_argv(dir)}, SIDE(empty), "");
}

/* The first step of item F-i makes its worktree; beside it git does what it must. */
static void measure_first(void)
{
	static double of_step[SLOW_RUNS], of_git[SLOW_RUNS];
	const char *const fetch[] = {
		"git", "fetch", "-q", "origin", "+refs/heads/main:refs/remotes/origin/main", NULL};
	unsigned n = runs < SLOW_RUNS ? runs : SLOW_RUNS;
	CLEANUP(buf_release) struct buf spec = BUF_INIT;
	long peak;

	for (unsigned i = 0; i < n; i++)
		buf_addf(&spec, "For F-%u.\n", i);
	tree_write(in_dir("_spec_F.md"), buf_str(&spec));
	for (unsigned i = 0; i < n; i++) {
		const char *name = arena_printf(&arena, "F-%u", i);
		const char *const add[] = {"git", "worktree", "add", "-q", "-b", name,
			in_dir(arena_printf(&arena, "trees/%s", name)), "origin/main", NULL};

		of_step[i] = timed(step_argv_of(dir, name), NULL, &peak);
		of_git[i] = timed(fetch, NULL, &peak) + timed(add, NULL, &peak);
	}
	bench_row("first step : git fetch, git worktree add", of_step, of_git, n, "<= 2.5x");
}

static void measure_repeated(void)
{
	struct item answered, small, large;
	const char *const status[] = {
		program, "status", "B-1", "--context-file", in_dir("B-1.md"), "--repo", dir, NULL};

	prepare(4 * KIB, &answered, &small);
	compare("status of an item : repeated step",
		(struct side){.argv = status, .before = &small},
		(struct side){.argv = step_argv(dir), .before = &small}, "<= 1.2x");
	prepare(1024 * KIB, &answered, &large);
	compare("repeated step, 1 MiB : 4 KiB",
		(struct side){.argv = step_argv(dir), .before = &large},
		(struct side){.argv = step_argv(dir), .before = &small}, "<= 1.8x");
}

static void measure_history(void)
{
	struct item answered, asked, brief, long_;

	prepare(4 * KIB, &answered, &asked);
	brief = with_events(&answered, 10);
	long_ = with_events(&answered, 10000);
	compare("step, 10,000 events : 10 events",
		(struct side){.argv = step_argv(dir), .before = &long_},
		(struct side){.argv = step_argv(dir), .before = &brief}, "<= 1.1x");
}

/* Replays and compares 10,000 events, beside reading the same lines. */
static void measure_verify(void)
{
	const char *path = in_dir("H-1.md"), *brief = in_dir("H-2.md");
	unsigned all = runs;
	long peak;

	runs = runs < SLOW_RUNS ? runs : SLOW_RUNS;
	long_history(path, 10000, 1500);
	peak = compare("history verify, 10,000 events : events",
		SIDE(program, "history", "verify", path), SIDE(program, "events", "--json", path),
		"A < 1000");
	printf("%-42s %8.1f MiB\n", "  its peak memory", (double)peak / KIB);
	long_history(brief, 100, 1500);
	compare("history --last 10, 10,000 events : 100",
		SIDE(program, "history", path, "--last", "10"),
		SIDE(program, "history", brief, "--last", "10"), "<= 1.5x");
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
	const char *many = in_dir("many"), *one = in_dir("one");
	struct item answered, asked, crowded;
	unsigned all = runs;

	prepare(4 * KIB, &answered, &asked);
	make_items(many, ITEMS);
	make_items(one, 1);
	compare("context get, 10,000 items : 1 item",
		SIDE(program, "context", "get", in_dir("many/I-5.md"), "state"),
		SIDE(program, "context", "get", in_dir("one/I-1.md"), "state"), "<= 1.1x");
	crowded = answered;
	crowded.path = in_dir("many/B-1.md");
	compare("step, 10,000 items : 1 item",
		(struct side){.argv = step_argv(many), .before = &crowded},
		(struct side){.argv = step_argv(dir), .before = &answered}, "<= 1.1x");
	runs = runs < SLOW_RUNS ? runs : SLOW_RUNS;
	compare("context list, 10,000 items : grep", SIDE(program, "context", "list", many),
		SIDE("/bin/grep", "-rh", "--include=*.md", "^state:", many), "");
	runs = all;
}

/* Task `i` of a backlog; half of them are done. */
static void write_task(const char *where, unsigned i, const char *undone)
{
	tree_write(arena_printf(&arena, "%s/backlog/tasks/demo-%u - a-task.md", where, i),
		str_of(arena_printf(&arena,
			"---\nid: DEMO-%u\ntitle: 'Task %u: teach the parser about tabs'\n"
			"status: %s\nassignee: []\ncreated_date: '2026-05-01 10:00'\n"
			"dependencies:\n  - DEMO-%u\n  - DEMO-%u\npriority: high\n"
			"references:\n  - src/parse/part%u.c\n---\n\n## Description\n\nAccept a "
			"tab where a blank is accepted.\n\n## Acceptance Criteria\n\n"
			"- [ ] #1 a tab between fields is accepted\n",
			i, i, i <= ITEMS / 2 ? "Done" : undone, i / 2 + 1,
			i > 1 ? i - 1 : ITEMS / 2, i)));
}

/* The frontier of 10,000 tasks, beside opening, reading and closing their files; and a tick that
 * starts none of them, beside the frontier and a durable write, that of its memory. */
static void measure_backlog(void)
{
	const char *where = in_dir("backlog-repo"), *memory = in_dir("memory");
	const struct side write = SIDE(bare, memory);
	struct side frontier = SIDE(program, "deps", "frontier", "--repo", where);
	unsigned all = runs;

	for (unsigned i = 1; i <= ITEMS; i++)
		write_task(where, i, "To Do");
	must((const char *const[]){"git", "init", "-q", where, NULL}, NULL);
	must((const char *const[]){"git", "-C", where, "remote", "add", "origin", dir, NULL}, NULL);
	runs = runs < SLOW_RUNS ? runs : SLOW_RUNS;
	compare("frontier of 10,000 tasks : read the files", frontier,
		SIDE(bare, "--read", arena_printf(&arena, "%s/backlog/tasks", where)), "<= 4.0x");
	write_task(where, ITEMS / 2 + 1, "Draft");
	tree_write(memory, STR("{\"tasks\":{},\"tick\":1}\n"));
	frontier.then = &write;
	compare("tick that starts none of 10,000 : frontier + bare",
		SIDE("sh", "-c", "\"$0\" tick --repo \"$1\"; test $? = 6", program, where),
		frontier, "<= 1.2x");
	runs = all;
}

/* A state that requests `n` agents at once. */
static const char *make_flow(unsigned n)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *path = in_dir(arena_printf(&arena, "flow-%u.md", n));

	buf_adds(&text, "---\nlimits: {max_actions: 100000}\nevidence: []\nstates:\n"
			"  build:\n    all:\n");
	for (unsigned i = 1; i <= n; i++)
		buf_addf(&text,
			"      - {agent: developer, skill: developer-implement, args: [ID, part "
			"%u], writes: Part %u, results: {done: ok}}\n",
			i, i);
	buf_adds(&text, "---\n```mermaid\nstateDiagram-v2\n[*] --> init\n"
			"init --> build : start\nbuild --> done : ok\ndone --> [*]\n```\n");
	tree_write(path, buf_str(&text));
	return path;
}

/* With `n` outstanding actions: `before` the step that repeats them, and that step. */
static struct side array_side(unsigned n, const char *last, struct item *before)
{
	const char *flow = make_flow(n);

	remove_item();
	must(step_argv_with(dir, "B-1", flow, NULL), NULL);
	*before = take();
	return (struct side){
		.argv = step_argv_with(dir, "B-1", flow, last), .before = before, .parts = n};
}

/* The cost of an action must not grow with the array that it is in. */
static void measure_array(void)
{
	struct item many, few;
	struct side a = array_side(1000, "--returned", &many),
		    b = array_side(10, "--returned", &few);
	unsigned all = runs;

	runs = runs < SLOW_RUNS ? runs : SLOW_RUNS;
	compare("dispatch an action, 1,000 at once : 10", a, b, "<= 1.5x");
	a = array_side(1000, NULL, &many);
	b = array_side(100, NULL, &few);
	compare("print an action, 1,000 outstanding : 100", a, b, "<= 1.5x");
	tree_write(in_dir("answer"), STR("It is implemented.\n"));
	/* Of all, because one answer reads and writes one document. */
	a = (struct side){.argv = record_argv("B-1/build/5", "done"),
		.before = &many,
		.input = in_dir("answer")};
	b = a;
	(void)array_side(10, NULL, &few);
	b.before = &few;
	compare("record an answer, 1,000 outstanding : 10", a, b, "<= 4x");
	runs = all;
}

/* A step of a parent with ten children is eleven steps. */
static void measure_children(void)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *part = make_flow(1), *flow = in_dir("parent.md");
	struct side parent = {.argv = step_argv_with(dir, "B-1", flow, NULL), .parts = 11},
		    alone = {.argv = step_argv_with(dir, "B-2", part, NULL)};

	buf_adds(&text, "---\nevidence: []\nstates:\n  build:\n    all:\n");
	for (unsigned i = 1; i <= 10; i++)
		buf_addf(&text,
			"      - {child: c%u, workflow: '%s', task: Work., writes: Part %u, "
			"results: {success: ok, failed: bad}}\n",
			i, path_base(part).p, i);
	buf_adds(&text, "---\n```mermaid\nstateDiagram-v2\n[*] --> init\n"
			"init --> build : start\nbuild --> done : ok\nbuild --> failed : bad\n"
			"done --> [*]\nfailed --> [*]\n```\n");
	tree_write(flow, buf_str(&text));
	remove_item();
	must(parent.argv, NULL);
	must(alone.argv, NULL);
	compare("step of a parent with 10 children, / 11 : step", parent, alone, "<= 1.0x");
}

/* What every tool call of every session costs: the plugin's launcher, as the client starts it. */
static void measure_hook(void)
{
	const char *launcher = path_join(&arena, getenv("DEV_TEAM_ROOT"), "bin/dev-team");
	const struct side call = {
		.argv = (const char *const[]){launcher, "hook", "PreToolUse", NULL},
		.input = in_dir("call")};
	const struct side command = {
		.argv = (const char *const[]){program, "hook", "UserPromptExpansion", NULL},
		.input = in_dir("command")};

	setenv("CLAUDE_PROJECT_DIR", dir, 1);
	setenv("CLAUDE_CODE_SESSION_ID", "bench", 1);
	tree_write(
		in_dir("command"), STR("{\"command_name\":\"dev-team:implement\",\"command_args\":"
				       "\"B-1\",\"session_id\":\"bench\"}"));
	tree_write(in_dir("call"),
		str_of(arena_printf(&arena,
			"{\"session_id\":\"bench\",\"cwd\":\"%s\",\"tool_name\":\"Bash\","
			"\"tool_input\":{\"command\":\"make test\"},\"agent_id\":\"1\","
			"\"agent_type\":\"dev-team:developer\"}",
			dir)));
	compare("hook, nothing in progress : empty process", call, SIDE(empty), "< 2.0x");
	must(command.argv, command.input);
	compare("hook, an item in progress : empty process", call, SIDE(empty), "");
	compare("hook, an item in progress : repeated step", call,
		SIDE(launcher, "step", "B-1", "--workflow", "implement", "--owner", "bench"),
		"<= 1.2x");
}

static void write_plan(void)
{
	tree_write(in_dir(".dev-team/resources/plan.yaml"),
		STR("apiVersion: dev-team/v1\nkind: SubscriptionPlan\nmetadata: {name: max}\n"
		    "spec: {harness: claude-code, billingMode: session-window, "
		    "windowDuration: PT5H, windowQuotaTokens: 1000000}\n"));
	tree_write(in_dir(".dev-team/resources/ship.yaml"),
		STR("apiVersion: dev-team/v1\nkind: Pipeline\nmetadata: {name: ship}\n"
		    "spec: {accountId: team, subscriptionPlans: [max], "
		    "stages: [{name: implementing, estimatedTokens: {input: 50000, output: "
		    "10000, frozen: true}}]}\n"));
}

/* The ledger as it is now. */
static struct item take_ledger(void)
{
	const char *path = in_dir(".dev-team/ledger.md");

	return (struct item){STR(""), taken(events_of(path)), path};
}

/* A step that admits its action, beside one without a plan and the bare program. */
static void measure_step_with_plan(const struct item *ledger)
{
	static double of_a[MAX_RUNS], of_b[MAX_RUNS];
	const char *settings = in_dir(".dev-team/config.yaml"), *copy = in_dir("bare.md");
	const struct side plain = SIDE(bare, copy);
	struct item answered, asked;
	long peak;

	unlink(settings);
	prepare(4 * KIB, &answered, &asked);
	tree_write(copy, answered.document);
	for (unsigned i = 0; i < runs; i++) {
		const struct side step = {.argv = step_argv(dir), .before = &answered};

		tree_write(settings, STR("pipeline: ship\n"));
		lay(ledger);
		of_a[i] = run_side(&step, &peak);
		unlink(settings);
		of_b[i] = run_side(&step, &peak) + run_side(&plain, &peak);
	}
	bench_row("step with a plan : step + bare", of_a, of_b, runs, "<= 1.0x");
}

static void measure_ledger(void)
{
	const char *const record[] = {program, "ledger", "record", "implementing", "--pipeline",
		"ship", "--action", "A-0", "--input", "1000", "--output", "100", "--artifacts",
		in_dir("art"), NULL};
	struct item ledger, document;

	write_plan();
	must(record, NULL);
	ledger = take_ledger();
	prepare(4 * KIB, &document, &(struct item){0});
	tree_write(in_dir("bare.md"), document.document);
	compare("ledger admit : bare",
		(struct side){.argv = (const char *const[]){program, "ledger", "admit",
				      "implementing", "--pipeline", "ship", "--action", "A-1",
				      "--artifacts", in_dir("art"), NULL},
			.before = &ledger},
		SIDE(bare, in_dir("bare.md")), "<= 2.0x");
	measure_step_with_plan(&ledger);
}

/* The arguments that the program gives bwrap, without what lives only during its run; then bash. */
static const char *const *same_line(void)
{
	static const char script[] = "PATH=\"$0/fake:$PATH\" \"$1\" policy exec --policy developer "
				     "-- true; true";
	CLEANUP(buf_release) struct buf args = BUF_INIT;
	struct {
		const char **items;
		size_t n, cap;
	} all = {0}, line = {0};
	struct str rest, word;

	tree_mkdirs(in_dir("fake"));
	tree_write(in_dir("fake/bwrap"),
		STR("#!/bin/sh\n[ $1 != --args ] || cat /dev/fd/$2 >\"$0.args\"\n"));
	if (chmod(in_dir("fake/bwrap"), 0755) < 0)
		die("no bwrap to ask");
	must((const char *const[]){"sh", "-c", script, dir, program, NULL}, NULL);
	if (!tree_read(in_dir("fake/bwrap.args"), &args))
		die("the arguments of bwrap are not known");
	vec_push_in(&arena, &line, "bwrap");
	for (rest = buf_str(&args); str_piece(&rest, '\0', &word);)
		vec_push_in(&arena, &all, arena_dup(&arena, word));
	for (size_t i = 0; i < all.n; i++) {
		bool gone = strcmp(all.items[i], "--file") == 0 ||
			    (i + 1 < all.n &&
				    (strstr(all.items[i + 1], "/fake") ||
					    strncmp(all.items[i + 1], "/tmp/dev-team-", 14) == 0) &&
				    i + 2 < all.n &&
				    (strstr(all.items[i + 2], "/broker") ||
					    strstr(all.items[i + 2], "/fake")));

		if (gone)
			i += 2;
		else if (strcmp(all.items[i], "--perms") == 0) /* of a `--file` */
			i += 1;
		else
			vec_push_in(&arena, &line, all.items[i]);
	}
	for (size_t i = 0; i < 6; i++)
		vec_push_in(&arena, &line,
			((const char *const[]){
				"/bin/bash", "--noprofile", "--norc", "-c", "true", NULL})[i]);
	return line.items;
}

/* 200 files, all compiled each time. */
static void measure_make(void)
{
	static const char script[] = "mkdir many && cd many && for i in $(seq 200); do echo \"int "
				     "f$i(int x) { return x; "
				     "}\" >f$i.c; done && printf 'all: $(patsubst "
				     "%%.c,%%.o,$(wildcard *.c))\\n' >Makefile";
	unsigned all = runs;

	must((const char *const[]){"sh", "-c", script, NULL}, NULL);
	runs = runs < MAKE_RUNS ? runs : MAKE_RUNS;
	compare("make of 200 files, CPU : outside",
		SIDE(program, "policy", "exec", "--policy", "developer", "--",
			"make -s -B -C many"),
		SIDE("make", "-s", "-B", "-C", "many"), "<= 1.10x");
	runs = all;
}

static void measure_policy(void)
{
	static const char line[] = "git log --oneline -n 20 | grep -n fix && ls -la src";

	/* A command must not write HOME, which is the repository in the other groups. */
	char *home = tree_scratch("bench-home");

	setenv("HOME", home, 1);
	tree_mkdirs(in_dir("src"));
	compare("policy check, a line : empty process",
		SIDE(program, "policy", "check", "--policy", "developer", "--", line), SIDE(empty),
		"<= 2.0x");
	by_cpu = true;
	compare("policy exec true, CPU : bash -c true",
		SIDE(program, "policy", "exec", "--policy", "developer", "--", "true"),
		SIDE("/bin/bash", "-c", "true"), "<= 6.5x");
	compare("policy exec true, CPU : the same bwrap line",
		SIDE(program, "policy", "exec", "--policy", "developer", "--", "true"),
		((struct side){.argv = same_line()}), "<= 1.7x");
	measure_make();
	by_cpu = false;
	tree_remove(home);
}

static void make_repository(void)
{
	static const char script[] = "git init -q --template= -b main --bare org/repo.git && "
				     "git init -q --template= -b main . && git remote add origin "
				     "\"$PWD/org/repo.git\" && "
				     "mkdir scripts && echo true >scripts/validate.sh && "
				     "printf '# Spec for B-1\\n' >_spec_B.md && git add scripts && "
				     "git config user.name b && git config user.email b && "
				     "git commit -q -m one && "
				     "git push -q origin HEAD";
	const char *const argv[] = {"sh", "-c", script, NULL};
	struct run r = {.argv = argv, .cwd = dir};

	run(&r);
	if (r.status)
		die("cannot make a repository: %s", r.err.s);
	run_release(&r);
}

static void measure_resources(void)
{
	bench_resources(dir);
}

static void measure_manifests(void)
{
	bench_manifests(dir, program);
}

static void measure_pool(void)
{
	bench_pool(dir, program);
}

static void measure_databases(void)
{
	bench_databases(dir, program, bare);
}

static void measure_steps(void)
{
	measure_first();
	measure_repeated();
	measure_size(4 * KIB, "4 KiB");
	measure_size(1024 * KIB, "1 MiB");
	measure_history();
	measure_verify();
}

static const struct group {
	const char *name;
	void (*measure)(void);
} groups[] = {
	{"resources", measure_resources},
	{"manifests", measure_manifests},
	{"pool", measure_pool},
	{"steps", measure_steps},
	{"items", measure_items},
	{"backlog", measure_backlog},
	{"array", measure_array},
	{"children", measure_children},
	{"ledger", measure_ledger},
	{"policy", measure_policy},
	{"hook", measure_hook},
	{"databases", measure_databases},
};

/* In a directory and a process of its own: neither files nor memory of another group count. */
static void measure(const struct group *g)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		dir = tree_scratch("bench");
		setenv("HOME", dir, 1);
		make_repository();
		g->measure();
		tree_remove(dir);
		fflush(stdout);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || status)
		die("the rows of '%s' cannot be measured", g->name);
}

int main(int argc, char **argv)
{
	char self[PATH_MAX] = {0};

	if (argc < 2 || readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		die("usage: bench DEV-TEAM [RUNS [resources | manifests | pool | steps | items | "
		    "backlog "
		    "| array | children | ledger | policy | hook | databases]]");
	if (argc > 2)
		runs = (unsigned)strtoul(argv[2], NULL, 10);
	if (!runs || runs > MAX_RUNS)
		die("1 to %d runs", MAX_RUNS);
	program = path_absolute(&arena, argv[1]);
	self[path_dir(self).n] = '\0';
	bare = arena_printf(&arena, "%s/bare", self);
	empty = arena_printf(&arena, "%s/empty", self);
	setenv("DEV_TEAM_ROOT", path_absolute(&arena, "."), 1);
	printf("%u runs of each, in turn; milliseconds\n\n", runs);
	printf("%-42s %8s %8s %8s %8s %8s %8s  %s\n", "A : B", "A median", "A p95", "B median",
		"B p95", "ratio", "of pairs", "target");
	fflush(stdout);
	for (size_t i = 0; i < COUNT(groups); i++)
		if (argc < 4 || strcmp(argv[3], groups[i].name) == 0)
			measure(&groups[i]);
	arena_release(&arena);
	return 0;
}
