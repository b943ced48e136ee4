/*
 * torture: for a minute, or as long as wanted, sessions step, record, run scripts, set keys and
 * take work items over from each other, some of them are killed, and an editor saves the documents
 * by hand, by rename and in place. Afterwards everything is accounted for: nothing is lost, doubled
 * or torn. Prints TAP.
 *
 *     torture [SECONDS [SEED]]
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
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
	PAUSE_MS = 30, /* at most, between two operations of a session */
	EDIT_MS = 50,
	KILL_US = 12000,
	MARKERS = 100, /* in a document */
};

static struct torture torture;

/* ---- one verb ---- */

struct call {
	const char *argv[16];
	struct str input;
	bool killed; /* after a random time */
	struct buf out, err;
	int status; /* -1: it was killed */
};

struct session {
	unsigned i;
	struct random random;
	struct arena arena;
	int log; /* of acknowledgements */
	char owner[8];
};

static int memory_file(struct str text)
{
	int fd = memfd_create("torture", MFD_CLOEXEC);
	struct error err;

	if (fd < 0 || sys_write_all(fd, text, "memory", &err) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		die("cannot make a file in memory");
	return fd;
}

static void read_back(int fd, struct buf *out)
{
	struct error err;

	if (lseek(fd, 0, SEEK_SET) < 0 || sys_read_all(out, fd, 64 << 20, "output", &err) < 0)
		die("cannot read the output");
}

static void pause_us(unsigned us)
{
	struct timespec t = {us / 1000000, (long)(us % 1000000) * 1000};

	(void)nanosleep(&t, NULL);
}

static void call(struct session *w, struct call *c)
{
	CLEANUP(base_close) int in = memory_file(c->input);
	CLEANUP(base_close) int out = memory_file((struct str){0});
	CLEANUP(base_close) int err = memory_file((struct str){0});
	pid_t pid = fork();
	int status;

	if (pid < 0)
		die("cannot fork");
	if (pid == 0) {
		if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0 ||
			chdir(torture.dir) < 0)
			_exit(126);
		execvp(c->argv[0], (char *const *)(uintptr_t)c->argv);
		_exit(127);
	}
	if (c->killed) {
		pause_us(random_below(&w->random, KILL_US));
		(void)kill(pid, SIGKILL);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	read_back(out, &c->out);
	read_back(err, &c->err);
	c->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	if (c->status == 0 || c->status == 4 || (c->status == -1 && c->killed))
		return;
	/* A document that is half written for long has a fault. */
	if (c->status == 3 && (strstr(c->err.s, ".md:") || strstr(c->err.s, "no context file")))
		return;
	fprintf(stderr, "session %u: %s %s: status %d: %s\n", w->i, c->argv[1], c->argv[2],
		c->status, c->err.s ? c->err.s : "");
	_exit(1);
}

static void call_release(struct call *c)
{
	buf_release(&c->out);
	buf_release(&c->err);
}

/* ---- sessions ---- */

static const char *file_of(struct session *w, unsigned item)
{
	return arena_printf(&w->arena, "%s/T-%u.md", torture.dir, item);
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
	CLEANUP(call_release)
	struct call c = {.argv = {"dev-team", "record", "--context-file", file_of(w, item),
				 "--action", id, "--result", word,
				 random_chance(&w->random, 500) ? "--owner" : NULL, w->owner},
		.input = str_of(text),
		.killed = random_chance(&w->random, 100)};
	char sum[DIGEST_TEXT];

	call(w, &c);
	if (c.status)
		return;
	digest_text(str_trim(str_of(text)), sum);
	if (dprintf(w->log, "%u %s %s\n", item, id, sum) < 0)
		die("cannot write");
}

static void exec(struct session *w, unsigned item, const json *action)
{
	CLEANUP(call_release)
	struct call c = {.argv = {"dev-team", "exec", "--context-file", file_of(w, item),
				 "--action", json_get_str(action, "id"), "--wait",
				 random_chance(&w->random, 300) ? "0" : "60"},
		.killed = random_chance(&w->random, 200)};

	call(w, &c);
}

static void set(struct session *w, unsigned item)
{
	CLEANUP(call_release)
	struct call c = {.argv = {"dev-team", "context", "set", file_of(w, item), w->owner},
		.input = str_of(arena_printf(
			&w->arena, "%llx", (unsigned long long)random_next(&w->random))),
		.killed = random_chance(&w->random, 200)};

	call(w, &c);
}

static void look(struct session *w, unsigned item)
{
	CLEANUP(call_release)
	struct call c = {.argv = {"dev-team", "context", "check", file_of(w, item)}};

	call(w, &c);
}

static void carry_out(struct session *w, unsigned item, const json *action)
{
	if (!json_get_str(action, "id") || random_chance(&w->random, 150))
		return;
	if (json_get_str(action, "command"))
		exec(w, item, action);
	else
		record(w, item, action);
}

static void step(struct session *w, unsigned item)
{
	CLEANUP(call_release)
	struct call c = {.argv = {"dev-team", "step", arena_printf(&w->arena, "T-%u", item),
				 "--workflow", "wf.md", "--context-file", file_of(w, item),
				 "--repo", ".", "--owner", w->owner},
		.killed = random_chance(&w->random, 200)};
	CLEANUP(json_free) json *array = NULL;
	struct error err;
	size_t n = 11;

	if (random_chance(&w->random, 250))
		c.argv[n++] = "--take-over";
	if (random_chance(&w->random, 50))
		c.argv[n++] = "--returned";
	call(w, &c);
	if (c.status)
		return;
	if (json_parse(&array, str_trim(buf_str(&c.out)), &err) < 0)
		die("a step prints no JSON: %s", err.text);
	for (const json *a = json_first(array); a; a = json_next(a))
		carry_out(w, item, a);
}

static void session(unsigned i)
{
	struct session w = {.i = i, .random = {torture.seed + i}};

	(void)snprintf(w.owner, sizeof(w.owner), "s%u", i);
	w.log = open(arena_printf(&w.arena, "%s/acks.%u", torture.dir, i),
		O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	while (clock_ticks() < torture.end) {
		unsigned item = random_below(&w.random, TORTURE_ITEMS),
			 what = random_below(&w.random, 10);

		if (what < 8)
			step(&w, item);
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
	struct str list = {0};

	if (at < old.n) {
		list = str_sub(old, at + strlen("\nhand: "), old.n);
		list = str_sub(list, 0, str_find(list, STR("\n")));
	}
	buf_addf(out, "---\nhand: ");
	for (struct str rest = list; rest.n;) {
		size_t end = str_find(rest, STR(" "));
		unsigned long one = number_or(str_sub(rest, 0, end), UINT32_MAX, 0);

		if (one + MARKERS > n)
			buf_addf(out, "%lu ", one);
		rest = str_sub(rest, end < rest.n ? end + 1 : end, rest.n);
	}
	buf_addf(out, "%u\n", n);
	if (at < old.n) {
		buf_add(out, str_sub(old, head, at + 1));
		old = str_sub(old, at + 1, old.n);
		buf_add(out, str_sub(old, str_find(old, STR("\n")) + 1, old.n));
	} else {
		buf_add(out, str_sub(old, head, old.n));
	}
}

static void edit(struct session *w, unsigned item)
{
	CLEANUP(buf_release) struct buf old = BUF_INIT, new = BUF_INIT;
	const char *path = file_of(w, item), *other = arena_printf(&w->arena, "%s~", path);
	bool in_place = random_chance(&w->random, 500);
	CLEANUP(base_close) int fd = -1;
	struct error err;
	size_t half;

	if (!tree_read(path, &old) || !str_starts(buf_str(&old), "---\n"))
		return;
	mark(buf_str(&old), torture.edits[item] + 1, &new);
	pause_us(random_below(&w->random, 2000));
	half = random_below(&w->random, (unsigned)new.len);
	fd = open(in_place ? path : other, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || sys_write_all(fd, str_sub(buf_str(&new), 0, half), path, &err) < 0)
		die("cannot edit");
	if (in_place)
		pause_us(random_below(&w->random, 1000));
	if (sys_write_all(fd, str_sub(buf_str(&new), half, new.len), path, &err) < 0 ||
		(!in_place && rename(other, path) < 0))
		die("cannot edit");
	torture.edits[item]++;
}

/* The only one: two editors would overwrite each other's text. */
static void editor(void)
{
	struct session w = {.i = SESSIONS, .random = {torture.seed + SESSIONS}};
	CLEANUP(base_close) int log = -1;

	for (unsigned item = 0; clock_ticks() < torture.end; item = (item + 1) % TORTURE_ITEMS) {
		edit(&w, item);
		pause_us(1000 * random_below(&w.random, EDIT_MS));
		arena_release(&w.arena);
		w.arena = (struct arena){0};
	}
	log = open(arena_printf(&w.arena, "%s/edits", torture.dir), O_WRONLY | O_CREAT | O_CLOEXEC,
		0600);
	for (unsigned item = 0; item < TORTURE_ITEMS; item++)
		if (dprintf(log, "%u\n", torture.edits[item]) < 0)
			die("cannot write");
}

/* ---- the run ---- */

static void prepare(void)
{
	static const char workflow[] =
		"---\n"
		"limits: {max_actions: 100000, consecutive_failures: 1000}\n"
		"states:\n"
		"  work: {agent: a, skill: s, writes: Work, results: {good: ok, bad: no}}\n"
		"  check: {command: 'echo \"$DEV_TEAM_EXEC\" >>%s/produced; sleep 0.02', timeout: "
		"60,\n"
		"    writes: Check, results: {passed: clean, failed: no}}\n"
		"  pair:\n"
		"    all:\n"
		"      - {agent: a, skill: s, writes: A, results: {good: ok, bad: no}}\n"
		"      - {agent: b, skill: s, writes: B, results: {good: ok, bad: no}}\n"
		"---\n"
		"```mermaid\n"
		"stateDiagram-v2\n"
		"[*] --> init\ninit --> work : start\n"
		"work --> check : ok\nwork --> failed : no\n"
		"check --> pair : clean\ncheck --> failed : no\n"
		"pair --> work : ok\npair --> done : no\n"
		"done --> [*]\nfailed --> [*]\n```\n";
	const char *const init[] = {"git", "init", "-q", "--template=", ".", NULL};
	struct run git = {.argv = init, .cwd = torture.dir};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct arena a = {0};

	buf_addf(&text, workflow, torture.dir);
	tree_write(arena_printf(&a, "%s/wf.md", torture.dir), buf_str(&text));
	run(&git);
	if (git.status)
		die("git init failed");
	run_release(&git);
	arena_release(&a);
}

static unsigned let_go(void)
{
	unsigned good = 0;
	int status;

	for (unsigned i = 0; i <= SESSIONS; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("cannot fork");
		if (pid)
			continue;
		if (i < SESSIONS)
			session(i);
		else
			editor();
		exit(0);
	}
	for (unsigned i = 0; i <= SESSIONS; i++) {
		if (wait(&status) < 0)
			die("cannot wait");
		good += WIFEXITED(status) && WEXITSTATUS(status) == 0;
	}
	return good;
}

static void settle_script(struct session *w, unsigned item, const json *action)
{
	if (json_get_str(action, "command"))
		exec(w, item, action);
}

/* Whatever a kill or an edit has left is finished: the last edit, scripts, results that are kept.
 */
static void settle(void)
{
	struct session w = {.i = SESSIONS + 1, .random = {0}, .owner = "end"};

	for (unsigned item = 0; item < TORTURE_ITEMS; item++) {
		CLEANUP(call_release)
		struct call c = {.argv = {"dev-team", "step", arena_printf(&w.arena, "T-%u", item),
					 "--workflow", "wf.md", "--context-file", file_of(&w, item),
					 "--repo", ".", "--owner", w.owner, "--take-over"}};
		CLEANUP(json_free) json *array = NULL;
		struct error err;

		call(&w, &c);
		if (c.status || json_parse(&array, str_trim(buf_str(&c.out)), &err) < 0)
			die("item %u: the last step: status %d: %s", item, c.status, c.err.s);
		for (const json *a = json_first(array); a; a = json_next(a))
			settle_script(&w, item, a);
	}
	arena_release(&w.arena);
}

int main(int argc, char **argv)
{
	unsigned long seconds = argc > 1 ? number_or(str_of(argv[1]), 1000000, SECONDS) : SECONDS;
	unsigned good;

	run_find_build();
	torture.seed = argc > 2 ? number_or(str_of(argv[2]), INT64_MAX, 1) : 1;
	torture.dir = tree_scratch("torture");
	prepare();
	torture.end = clock_ticks() + (int64_t)seconds * 1000;
	good = let_go();
	tap(good == SESSIONS + 1, "%u of %d processes see only what is allowed", good,
		SESSIONS + 1);
	settle();
	if (torture_audit(&torture) && good == SESSIONS + 1)
		tree_remove(torture.dir);
	else
		tap_notef("the files are in %s", torture.dir);
	free(torture.dir);
	return tap_end();
}
