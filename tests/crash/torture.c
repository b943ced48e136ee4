/*
 * torture: for a minute, or as long as wanted, sessions step, record, run scripts, set keys and
 * take work items over from each other, some of them are killed, and an editor saves the documents
 * by hand, by rename and in place. Afterwards everything is accounted for: nothing is lost, doubled
 * or torn. Prints TAP.
 *
 *     torture [SECONDS [SEED]]      SEED from the environment if there is no argument
 *
 * Each session does at least LEAST operations, so that a slow machine has something to account for.
 */
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include "src/base/clock.h"
#include "src/base/json.h"
#include "src/base/number.h"
#include "src/sys/digest.h"
#include "src/sys/path.h"
#include "tests/crash/torture.h"
#include "tests/lib/random.h"
#include "tests/lib/run.h"
#include "tests/lib/tap.h"
#include "tests/lib/tree.h"

enum {
	SESSIONS = 3,
	SECONDS = 60,
	LEAST = 100,   /* operations of a session */
	PAUSE_MS = 30, /* at most, between two operations of a session */
	EDIT_MS = 50,
	KILL_US = 12000,
	MARKERS = 100, /* in a document */
	SLOW_MS = 200, /* less than the store waits for an edit in place that has begun */
};

static struct torture *torture; /* shared by all processes */

/* ---- one verb ---- */

struct session {
	unsigned i;
	struct random random;
	struct arena arena;
	int log; /* of acknowledgements */
	char owner[8];
};

static void pause_us(unsigned us)
{
	struct timespec t = {us / 1000000, (long)(us % 1000000) * 1000};

	(void)nanosleep(&t, NULL);
}

/* `killed`: in how many of 1,000 cases it is killed, after a random time. */
static void call(struct session *w, struct run *r, unsigned killed)
{
	if (random_chance(&w->random, killed))
		r->kill_us = 1 + random_below(&w->random, KILL_US);
	r->cwd = torture->dir;
	r->limit_s = WAIT_LIMIT_S;
	run(r);
	if (r->status == 0 || r->status == 4 || (r->status > 128 && r->kill_us))
		return;
	/* A document that stays half written longer than the store waits reads as broken. */
	if (r->status == 3 && (strstr(r->err.s, ".md:") || strstr(r->err.s, "no context file")))
		return;
	fprintf(stderr, "session %u: %s %s: status %d: %s\n", w->i, r->argv[1], r->argv[2],
		r->status, r->err.s ? r->err.s : "");
	_exit(1);
}

/* ---- sessions ---- */

static const char *file_of(struct session *w, unsigned item)
{
	return arena_printf(&w->arena, "%s/T-%u.md", torture->dir, item);
}

/* An answer whose text no other answer has. */
static void record(struct session *w, unsigned item, const json *action)
{
	const char *id = json_get_str(action, "id"),
		   *format = json_get_str(action, "result_format");
	bool trouble = json_get_str(action, "trigger") != NULL;
	const char *text = arena_printf(&w->arena, "%s by %s, %llx\n%s", id, w->owner,
		(unsigned long long)random_next(&w->random),
		trouble ? "{\"action\":\"continue\",\"reason\":\"go on\"}" : "");
	const char *word = trouble ? "continue" : strchr(format, '|') ? "good" : format;
	const char *const argv[] = {"dev-team", "record", "--context-file", file_of(w, item),
		"--action", id, "--result", word, random_chance(&w->random, 500) ? "--owner" : NULL,
		w->owner, NULL};
	CLEANUP(run_release) struct run r = {.argv = argv, .input = str_of(text)};
	char sum[DIGEST_TEXT];

	call(w, &r, 100);
	if (r.status)
		return;
	digest_text(str_trim(str_of(text)), sum);
	if (dprintf(w->log, "%u %s %s\n", item, id, sum) < 0)
		die("cannot write");
}

/* `wait_s`: how long it waits for the script, or NULL: to its end. */
static void exec(
	struct session *w, unsigned item, const json *action, const char *wait_s, unsigned killed)
{
	const char *const argv[] = {"dev-team", "exec", "--context-file", file_of(w, item),
		"--action", json_get_str(action, "id"), wait_s ? "--wait" : NULL, wait_s, NULL};
	CLEANUP(run_release) struct run r = {.argv = argv};

	call(w, &r, killed);
}

static void set(struct session *w, unsigned item)
{
	const char *const argv[] = {"dev-team", "context", "set", file_of(w, item), w->owner, NULL};
	CLEANUP(run_release)
	struct run r = {.argv = argv,
		.input = str_of(arena_printf(
			&w->arena, "%llx", (unsigned long long)random_next(&w->random)))};

	call(w, &r, 200);
}

static void look(struct session *w, unsigned item)
{
	const char *const argv[] = {"dev-team", "context", "check", file_of(w, item), NULL};
	CLEANUP(run_release) struct run r = {.argv = argv};

	call(w, &r, 0);
}

static void carry_out(struct session *w, unsigned item, const json *action)
{
	if (!json_get_str(action, "id") || random_chance(&w->random, 150))
		return;
	if (json_get_str(action, "command"))
		exec(w, item, action, random_chance(&w->random, 300) ? "0" : NULL, 200);
	else
		record(w, item, action);
}

/* True: *array is what it prints. `more`: two options, or NULL. */
static bool step(
	struct session *w, unsigned item, const char *const more[2], unsigned killed, json **array)
{
	const char *const argv[] = {"dev-team", "step", arena_printf(&w->arena, "T-%u", item),
		"--workflow", "wf.md", "--context-file", file_of(w, item), "--repo", ".", "--owner",
		w->owner, more[0] ? more[0] : more[1], more[0] ? more[1] : NULL, NULL};
	CLEANUP(run_release) struct run r = {.argv = argv};
	struct error err;

	call(w, &r, killed);
	if (r.status == 0 && json_parse(array, str_trim(buf_str(&r.out)), &err) < 0)
		die("a step prints no JSON: %s", err.text);
	return r.status == 0;
}

static void step_and_act(struct session *w, unsigned item)
{
	const char *const more[] = {random_chance(&w->random, 250) ? "--take-over" : NULL,
		random_chance(&w->random, 50) ? "--returned" : NULL};
	CLEANUP(json_free) json *array = NULL;

	if (step(w, item, more, 200, &array))
		for (const json *a = json_first(array); a; a = json_next(a))
			carry_out(w, item, a);
}

static void session(unsigned i)
{
	struct session w = {.i = i, .random = {torture->seed + i}};

	(void)snprintf(w.owner, sizeof(w.owner), "s%u", i);
	w.log = open(arena_printf(&w.arena, "%s/acks.%u", torture->dir, i),
		O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	for (unsigned n = 0; n < LEAST || clock_ticks() < torture->end; n++) {
		unsigned item = random_below(&w.random, TORTURE_ITEMS),
			 what = random_below(&w.random, 10);

		if (what < 8)
			step_and_act(&w, item);
		else if (what < 9)
			set(&w, item);
		else
			look(&w, item);
		arena_release(&w.arena);
		w.arena = (struct arena){0};
		pause_us(1000 * random_below(&w.random, PAUSE_MS));
	}
}

/* ---- the editor ---- */

/* Each edit adds its number to the line `hand:`, which has the last ones. */
static void mark(struct str old, unsigned n, struct buf *out)
{
	size_t head = strlen("---\n"), at = str_find(old, STR("\nhand: "));
	struct str list = torture_markers(old);
	unsigned long one;

	buf_addf(out, "---\nhand: ");
	while (torture_next_marker(&list, &one))
		if (one + MARKERS > n)
			buf_addf(out, "%lu ", one);
	buf_addf(out, "%u\n", n);
	if (at < old.n) {
		buf_add(out, str_sub(old, head, at + 1));
		head = (size_t)(list.p - old.p) + 1;
	}
	buf_add(out, str_sub(old, head, old.n));
}

/* docs/store.md: the store does not wait for ever for a program that has the document open. */
static void note_slow_edit(struct session *w, unsigned item)
{
	CLEANUP(base_close)
	int fd = open(arena_printf(&w->arena, "%s/slow", torture->dir),
		O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	const char *line = arena_printf(&w->arena, "%u %u\n", item, torture->edits[item]);
	struct error err;

	if (fd < 0 || sys_write_all(fd, str_of(line), "slow", &err) < 0)
		die("cannot note a slow edit");
}

static void edit(struct session *w, unsigned item)
{
	CLEANUP(buf_release) struct buf old = BUF_INIT, new = BUF_INIT;
	const char *path = file_of(w, item), *other = arena_printf(&w->arena, "%s~", path);
	bool in_place = random_chance(&w->random, 500);
	CLEANUP(base_close) int fd = -1;
	struct error err;
	int64_t begun;
	size_t half;

	if (!tree_read(path, &old) || !str_starts(buf_str(&old), "---\n"))
		return;
	mark(buf_str(&old), torture->edits[item] + 1, &new);
	pause_us(random_below(&w->random, 2000));
	half = random_below(&w->random, (unsigned)new.len);
	begun = clock_ticks();
	fd = open(in_place ? path : other, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || sys_write_all(fd, str_sub(buf_str(&new), 0, half), path, &err) < 0)
		die("cannot edit");
	if (in_place)
		pause_us(random_below(&w->random, 1000));
	if (sys_write_all(fd, str_sub(buf_str(&new), half, new.len), path, &err) < 0 ||
		(!in_place && rename(other, path) < 0))
		die("cannot edit");
	torture->edits[item]++;
	if (in_place && clock_ticks() - begun >= SLOW_MS)
		note_slow_edit(w, item);
}

/* The only one: two editors would overwrite each other's text. */
static void editor(void)
{
	struct session w = {.i = SESSIONS, .random = {torture->seed + SESSIONS}};

	for (unsigned item = 0; clock_ticks() < torture->end; item = (item + 1) % TORTURE_ITEMS) {
		edit(&w, item);
		pause_us(1000 * random_below(&w.random, EDIT_MS));
		arena_release(&w.arena);
		w.arena = (struct arena){0};
	}
}

/* ---- the run ---- */

static void prepare(void)
{
	static const char workflow[] =
		"---\n"
		"limits: {max_actions: 100000, consecutive_failures: 1000}\n"
		"states:\n"
		"  work: {agent: x:a, skill: x:s, args: [it], writes: Work, results: {good: ok, "
		"bad: no}}\n"
		"  check: {command: 'echo \"$DEV_TEAM_EXEC\" >>%s/produced; sleep 0.02',\n"
		"    timeout: 600, writes: Check, results: {passed: clean, failed: no}}\n"
		"  pair:\n"
		"    all:\n"
		"      - {agent: x:a, skill: x:s, args: [it], writes: A, results: {good: ok, bad: "
		"no}}\n"
		"      - {agent: x:b, skill: x:s, args: [it], writes: B, results: {good: ok, bad: "
		"no}}\n"
		"---\n"
		"```mermaid\n"
		"stateDiagram-v2\n"
		"[*] --> init\ninit --> work : start\n"
		"work --> check : ok\nwork --> failed : no\n"
		"check --> pair : clean\ncheck --> failed : no\n"
		"pair --> work : ok\npair --> done : no\n"
		"done --> [*]\nfailed --> [*]\n```\n";
	static const char script[] = "git init -q --template= . && git config user.name t && "
				     "git config user.email t && "
				     "git commit -q --allow-empty -m one";
	const char *const init[] = {"sh", "-c", script, NULL};
	struct run git = {.argv = init, .cwd = torture->dir};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct arena a = {0};

	setenv("HOME", torture->dir, 1);
	buf_addf(&text, workflow, torture->dir);
	tree_write(arena_printf(&a, "%s/wf.md", torture->dir), buf_str(&text));
	run(&git);
	if (git.status)
		die("git init failed");
	run_release(&git);
	arena_release(&a);
}

static int process(unsigned i, void *data)
{
	(void)data;
	if (i < SESSIONS)
		session(i);
	else
		editor();
	return 0;
}

/* The processes that record the results of scripts outlive who started them, and belong to this
 * process then. */
static void wait_for_scripts(void)
{
	while (wait(NULL) > 0)
		;
}

/* Whatever a kill or an edit has left is finished: the last edit, scripts, results that are kept.
 */
static void settle(void)
{
	struct session w = {.i = SESSIONS + 1, .random = {0}, .owner = "end"};
	const char *const more[] = {"--take-over", NULL};

	for (unsigned item = 0; item < TORTURE_ITEMS; item++) {
		CLEANUP(json_free) json *array = NULL;

		if (!step(&w, item, more, 0, &array))
			die("item %u: the last step fails", item);
		for (const json *a = json_first(array); a; a = json_next(a))
			if (json_get_str(a, "command"))
				exec(&w, item, a, NULL, 0);
	}
	arena_release(&w.arena);
}

int main(int argc, char **argv)
{
	unsigned long seconds = argc > 1 ? number_or(str_of(argv[1]), 1000000, SECONDS) : SECONDS;
	unsigned good;

	run_find_build();
	torture = run_shared(sizeof(*torture));
	run_wait_for_locks();
	torture->seed = (int64_t)random_seed(argc > 2 ? argv[2] : NULL);
	torture->dir = tree_scratch("torture");
	prepare();
	torture->end = clock_ticks() + (int64_t)seconds * 1000;
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		die("cannot adopt the processes of scripts");
	good = run_processes(SESSIONS + 1, process, NULL);
	tap(good == SESSIONS + 1, "%u of %d processes see only what is allowed", good,
		SESSIONS + 1);
	wait_for_scripts();
	settle();
	wait_for_scripts();
	if (torture_audit(torture) && good == SESSIONS + 1)
		tree_remove(torture->dir);
	else
		tap_notef("the files are in %s", torture->dir);
	free(torture->dir);
	return tap_end();
}
