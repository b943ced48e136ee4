/*
 * storm: two hundred agents answer at the same moment, each with a text of its own, into one
 * document. Each must exit 0, and no byte of any may be lost. Prints TAP.
 */
#include <fcntl.h>
#include <limits.h>
#include <sys/wait.h>
#include "src/base/json.h"
#include "src/sys/path.h"
#include "src/store/store.h"
#include "tests/lib/run.h"
#include "tests/lib/tap.h"
#include "tests/lib/tree.h"

enum { AGENTS = 200, LINES = 40 };

static char *dir;
static struct arena arena;

static char *in_dir(const char *name)
{
	return arena_printf(&arena, "%s/%s", dir, name);
}

static void answer_text(struct buf *out, unsigned agent)
{
	for (unsigned i = 0; i < LINES; i++)
		buf_addf(out, "agent %u, line %u: \xc3\xa9 %x\n", agent, i,
			(agent * 7919 + i) * 2654435761u);
}

static void write_workflow(void)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	buf_adds(&b, "---\nlimits: {max_actions: 1000}\nstates:\n  all:\n    all:\n");
	for (unsigned i = 1; i <= AGENTS; i++)
		buf_addf(&b,
			"      - {agent: a, skill: s, writes: Answer %u, results: {good: ok, bad: "
			"no}}\n",
			i);
	buf_adds(&b, "---\n```mermaid\nstateDiagram-v2\n[*] --> init\ninit --> all : start\n"
		     "all --> done : ok\nall --> failed : no\ndone --> [*]\nfailed --> [*]\n```\n");
	tree_write(in_dir("work/wf.md"), buf_str(&b));
}

/* Runs the step; its output goes to `out`. */
static void step(struct buf *out)
{
	const char *const argv[] = {"dev-team", "step", "S-1", "--workflow", "wf.md",
		"--context-file", in_dir("S-1.md"), "--repo", ".", NULL};
	struct run r = {.argv = argv, .cwd = in_dir("work")};

	run(&r);
	if (r.status)
		die("step: exit status %d: %s", r.status, r.err.s ? r.err.s : "");
	buf_add(out, buf_str(&r.out));
	run_release(&r);
}

/* Starts one `record` whose standard input is its text; it waits for `gate` to close. */
static pid_t start_agent(unsigned agent, const int gate[2])
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *input = arena_printf(&arena, "%s/text.%u", dir, agent);
	const char *action = arena_printf(&arena, "S-1/all/%u", agent);
	const char *file = in_dir("S-1.md"), *log = arena_printf(&arena, "%s/log.%u", dir, agent);
	char byte;
	pid_t pid;

	answer_text(&text, agent);
	tree_write(input, buf_str(&text));
	pid = fork();
	if (pid)
		return pid;
	close(gate[1]);
	if (!freopen(input, "r", stdin) || !freopen(log, "w", stdout) || dup2(1, 2) < 0 ||
		read(gate[0], &byte, 1) != 0)
		_exit(126);
	execlp("dev-team", "dev-team", "record", "--context-file", file, "--action", action,
		"--result", "good", (char *)NULL);
	_exit(127);
}

static unsigned let_go(void)
{
	pid_t pids[AGENTS];
	unsigned good = 0;
	int gate[2], status;

	if (pipe(gate) < 0)
		die("cannot make a pipe");
	for (unsigned i = 0; i < AGENTS; i++)
		if ((pids[i] = start_agent(i + 1, gate)) < 0)
			die("cannot fork");
	close(gate[0]);
	close(gate[1]);
	for (unsigned i = 0; i < AGENTS; i++) {
		if (waitpid(pids[i], &status, 0) < 0)
			die("cannot wait");
		good += WIFEXITED(status) && WEXITSTATUS(status) == 0;
	}
	return good;
}

/* The number of texts that are complete in the document. */
static unsigned whole_texts(void)
{
	CLEANUP(buf_release) struct buf document = BUF_INIT;
	unsigned whole = 0;

	if (!tree_read(in_dir("S-1.md"), &document))
		die("no document");
	for (unsigned i = 1; i <= AGENTS; i++) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;

		buf_addf(&text, "<!-- section:Answer %u -->\n\n", i);
		answer_text(&text, i);
		whole += str_find(buf_str(&document), buf_str(&text)) < document.len;
	}
	return whole;
}

/* Answers in the journal; *gaps counts events whose number is not the one expected. */
static unsigned answer_events(unsigned *gaps)
{
	CLEANUP(buf_release) struct buf events = BUF_INIT;
	struct str rest, line;
	unsigned answers = 0;
	int64_t n = 0;

	if (!tree_read(in_dir("S-1.events.jsonl"), &events))
		die("no events");
	*gaps = 0;
	for (rest = buf_str(&events); str_line(&rest, &line);) {
		CLEANUP(json_free) json *event = NULL;
		struct error err;

		if (!str_starts(line, "{\"seq\":"))
			continue;
		*gaps += json_parse(&event, line, &err) < 0 || json_get_int(event, "seq", 0) != ++n;
		answers += event && str_is(str_of(json_get_str(event, "type")), "answer");
	}
	return answers;
}

/* Commits of the journal, each of which matches its sum; 0 when one does not. */
static unsigned commits(void)
{
	CLEANUP(store_close) struct store *s = NULL;
	CLEANUP(store_history_close) struct store_history *h = NULL;
	struct store_commit c;
	struct error err;
	unsigned n = 0;
	int rc = store_open(&s, store_backend(), dir, "S-1", STORE_HISTORY, 0, &err);

	if (rc == 0 && store_history(s, &(struct store_range){.texts = true}, &h, &err) != STORE_OK)
		rc = -1;
	while (rc >= 0 && (rc = store_history_next(h, &c, &err)) > 0)
		n++;
	return rc < 0 ? 0 : n;
}

static void prepare(void)
{
	const char *const init[] = {"git", "init", "-q", "--template=", "work", NULL};
	struct run git = {.argv = init};

	run_find_build();
	git.cwd = dir = tree_scratch("storm");
	tree_mkdirs(in_dir("work"));
	run(&git);
	if (git.status)
		die("git init failed");
	run_release(&git);
}

int main(void)
{
	CLEANUP(buf_release) struct buf first = BUF_INIT, last = BUF_INIT;
	unsigned good, whole, answers, gaps, n;

	prepare();
	write_workflow();
	step(&first);
	good = let_go();
	tap(good == AGENTS, "%d of %d concurrent records exit 0", good, AGENTS);
	whole = whole_texts();
	tap(whole == AGENTS, "%u of %d texts are whole", whole, AGENTS);
	answers = answer_events(&gaps);
	tap(answers == AGENTS && !gaps, "%u answers in the journal, %u gaps", answers, gaps);
	n = commits();
	tap(n >= AGENTS, "the history of %u commits is whole", n);
	step(&last);
	tap(str_find(buf_str(&last), STR("\"result\":\"success\"")) < last.len,
		"the step after them goes on with all answers");
	if (whole < AGENTS)
		tap_note(buf_str(&last));
	tap_notef(
		"figures: %d concurrent records: %u whole, %u lost", AGENTS, whole, AGENTS - whole);
	tree_remove(dir);
	free(dir);
	arena_release(&arena);
	return tap_end();
}
