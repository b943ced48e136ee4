/*
 * sweep: every verb that writes is killed right before each of its system calls, and each call that
 * can fail is made to fail. After a kill the document must be that of some commit, byte for byte,
 * the journal must be readable to its end, and must contain all effects. Repeating the verb must
 * have the same result as without the kill, with no temporary file left, and its history must
 * replay through the engine. After a failing call the verb must exit 5 with one line, and the same
 * holds; if it only read, it may also succeed. No fault may make the store take its own write for
 * an edit by hand. Then both: from each state that a kill has left, the verb runs again with a call
 * that fails, or is killed once more. Prints TAP.
 *
 * Never faulted: close (one that fails has closed all the same), and calls that use no files:
 * memory, clocks, signals, processes, getcwd. The program is killed before calls of the dynamic
 * loader, but they do not fail.
 *
 *     sweep [SCENE-TEXT]
 *     sweep half 1|2 [SCENE-TEXT]      every second scene
 *     sweep every [SCENE-TEXT]
 *     sweep sample [SEED [SCENE-TEXT]]
 *
 * Unless SWEEP=full, kills and failing calls of scenes that start other programs are a sample, and
 * so are failing looks, which change nothing; SEED from the environment. every: without second
 * faults, but killed before every call from the first that can change anything. sample: random
 * kills and failing calls of the verbs that sessions use.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include "src/sys/path.h"
#include "tests/crash/checks.h"
#include "tests/lib/random.h"
#include "tests/lib/run.h"
#include "tests/lib/tap.h"

/* A rename that failed is checked and repeated: success if the file is in place. Interrupted calls
 * are repeated. */
#define MUST_FAIL                                                                                  \
	(CALL_WRITE | CALL_SYNC | CALL_OPEN | CALL_TRUNCATE | CALL_MKDIR | CALL_LINK | CALL_MODE | \
		CALL_LOCK)
#define MAY_FAIL (MUST_FAIL | CALL_RENAME)
/* They change nothing: such a failure must not be taken for another state. */
#define LOOKS (CALL_LOOK | CALL_READ)

enum {
	KILLED_STATES = 256,
	LONG_MORE = 20,   /* a factor for the kill points of a long scene */
	SLOWEST = 3,      /* a scene with at most this `.most`: of all failing calls a sample */
	SLOWEST_MOST = 8, /* failing calls of such a scene and way */
	LEFT_STATES = 20, /* after a kill: so many of the states that it left */
	LOOKS_MOST = 60,  /* failing looks of one scene and way, without SWEEP=full */
	SECOND_LOOKS = 8, /* the same after each kill */
	SLOWEST_SECOND = 3,
	/* Of each scene in a random sample. */
	SAMPLE_KILLS = 5,
	SAMPLE_FAILURES = 3,
	GIT_STATES = 4, /* where the verb starts other programs, which takes fifty times as long */
};

enum extent { FULL, EVERY, SAMPLE };

/* Allowed results of a run with a fault. */
enum rule {
	MUST_TELL, /* the call matters: exit status 5 and one line */
	MAY_TELL,  /* that, or success */
	ANY_END,   /* only the state counts */
};

struct way {
	enum trace_act act;
	unsigned kinds;
	int error;
	const char *name;
	enum rule rule;
};

static const struct way ways[] = {
	{TRACE_FAIL, MUST_FAIL, EIO, "EIO", MUST_TELL},
	{TRACE_FAIL, CALL_RENAME, EIO, "EIO in a rename", MAY_TELL},
	{TRACE_FAIL, CALL_WRITE, ENOSPC, "ENOSPC", MUST_TELL},
	{TRACE_FAIL, CALL_WRITE | CALL_SYNC | CALL_LOCK, EINTR, "EINTR", MAY_TELL},
	{TRACE_SHORT, CALL_WRITE, 0, "a short write", MAY_TELL},
	{TRACE_FAIL, LOOKS, EIO, "EIO in a look", MAY_TELL},
	{TRACE_FAIL, MUST_FAIL & ~(unsigned)CALL_WRITE, ENOSPC, "ENOSPC", MUST_TELL},
	{TRACE_FAIL, MAY_FAIL & ~(unsigned)(CALL_WRITE | CALL_SYNC | CALL_LOCK), EINTR, "EINTR",
		MAY_TELL},
	{TRACE_FAIL, CALL_OPEN | CALL_MKDIR | CALL_LINK, EACCES, "EACCES", MUST_TELL},
	{TRACE_FAIL, CALL_OPEN, EMFILE, "EMFILE", MUST_TELL},
	{TRACE_FAIL, LOOKS, EINTR, "EINTR in a look", MAY_TELL},
	/* Not close: one that fails has closed all the same, and here it would not have. */
	{TRACE_FAIL, CALL_UNLINK, EIO, "EIO in a removal", MAY_TELL},
};

/* The disturbances of the run after a kill. */
static const struct way seconds[] = {
	{TRACE_KILL, CALL_EFFECTS, 0, "a second kill", ANY_END},
	{TRACE_FAIL, MAY_FAIL, EIO, "EIO", ANY_END},
	{TRACE_FAIL, CALL_WRITE, ENOSPC, "ENOSPC", ANY_END},
	{TRACE_FAIL, LOOKS, EIO, "EIO in a look", ANY_END},
	{TRACE_FAIL, CALL_WRITE | CALL_SYNC | CALL_LOCK, EINTR, "EINTR", ANY_END},
	{TRACE_SHORT, CALL_WRITE, 0, "a short write", ANY_END},
};

static const struct way killed = {.act = TRACE_KILL};

static void tell(struct buf *all, unsigned *n, const char *what, unsigned at, struct buf *fault)
{
	if (!fault->len)
		return;
	if ((*n)++ < 3) /* the first few are enough */
		buf_addf(all, "%s %u: %s\n", what, at, fault->s);
	buf_clear(fault);
}

/* States that faults have left, without duplicates. */
struct left {
	unsigned at[KILLED_STATES]; /* the call that the fault came before */
	char sum[KILLED_STATES][DIGEST_TEXT];
	size_t n;
};

struct show {
	struct stage stage;
	struct left killed; /* left by kills */
	struct left tried;  /* from these the verb has been run again */
	bool every, whole;  /* all kill points, all looks */
	struct random random;
};

/* A random number of the i-th of n equal parts of from..to. */
static unsigned pick(struct random *r, unsigned from, unsigned to, unsigned i, unsigned n)
{
	unsigned all = to - from + 1, first = all * i / n;

	return from + first + random_below(r, all * (i + 1) / n - first);
}

/* Runs the verb from a state; its `n`th call is disturbed. True: it has made that call. */
static bool disturb(
	struct show *show, const char *from, const struct way *w, unsigned n, struct trace *t)
{
	*t = (struct trace){.act = w->act, .kinds = w->kinds, .at = n, .error = w->error};
	stage_restore(&show->stage, from);
	(void)stage_trace(&show->stage, t);
	return t->hit;
}

/* True for a new state. */
static bool is_new(const struct stage *s, struct left *left, unsigned at)
{
	char sum[DIGEST_TEXT];

	picture_sum(s, sum);
	for (size_t i = 0; i < left->n; i++)
		if (strcmp(left->sum[i], sum) == 0)
			return false;
	if (left->n == KILLED_STATES)
		return true;
	left->at[left->n] = at;
	memcpy(left->sum[left->n++], sum, DIGEST_TEXT);
	return true;
}

/* From a known state, if only the state counts, the run continues as it did then. */
static void go_on(struct show *show, struct buf *fault)
{
	if (is_new(&show->stage, &show->tried, 0) || show->stage.scene->varies)
		check_rerun(&show->stage, fault);
}

static void kill_at(struct show *show, unsigned n, struct buf *fault)
{
	struct stage *s = &show->stage;
	struct trace t;
	bool hit = disturb(show, "before", &killed, n, &t), first;

	if (!hit && !s->scene->varies)
		buf_addf(fault, "only %u system calls this time\n", t.count);
	else if (hit && s->scene->who == TRACE_PARENT && t.status != 128 + SIGKILL)
		buf_addf(fault, "survived with exit status %d\n", t.status);
	check_files(s, &t, fault);
	first = is_new(s, &show->killed, n) || s->scene->varies;
	go_on(show, fault);
	if (first)
		check_history(s, fault);
	figures.kills++;
	trace_release(&t);
}

static void kill_everywhere(struct show *show)
{
	struct stage *s = &show->stage;
	CLEANUP(buf_release) struct buf all = BUF_INIT, fault = BUF_INIT;
	unsigned bad = 0, points = 0, stride = 1;

	if (s->scene->most && !show->every && !show->whole)
		stride += s->calls / (s->scene->most * LONG_MORE);
	for (unsigned n = 1 + random_below(&show->random, stride); n <= s->calls; n++, points++) {
		kill_at(show, n, &fault);
		tell(&all, &bad, "killed before call", n, &fault);
		/* Before its first effect a killed run has done nothing. */
		if (show->every && n + 2 < s->first_effect)
			n = s->first_effect - 2;
		else
			n += stride - 1;
	}
	tap(!bad, "%s: killed before %u of %u system calls%s", s->scene->name, points, s->calls,
		points == s->calls ? ""
		: stride > 1       ? " (a sample)"
				   : " (all from the first that can change anything)");
	tap_note(buf_str(&all));
}

/* One kill while nothing has been done; the others spread over the calls from the first effect on.
 */
static void kill_sample(struct show *show)
{
	CLEANUP(buf_release) struct buf all = BUF_INIT, fault = BUF_INIT;
	const struct stage *s = &show->stage;
	unsigned effect = s->first_effect ? s->first_effect : 1, bad = 0;
	unsigned kills = SAMPLE_KILLS / (s->scene->slow ? 2 : 1);

	for (unsigned i = 0; i < kills; i++) {
		unsigned n = i ? pick(&show->random, effect, s->calls, i - 1, kills - 1)
			       : pick(&show->random, 1, effect, 0, 1);

		kill_at(show, n, &fault);
		tell(&all, &bad, "killed before call", n, &fault);
	}
	tap(!bad, "%s: killed before %u random ones of %u system calls", s->scene->name, kills,
		s->calls);
	tap_note(buf_str(&all));
}

/* Recreates the state that a kill before this call leaves; false when it does not occur again. */
static bool lay_killed(struct show *show, unsigned at)
{
	struct trace t;
	bool hit = disturb(show, "before", &killed, at, &t);

	trace_release(&t);
	if (hit)
		stage_keep(&show->stage);
	return hit;
}

static bool is_slowest(const struct show *show)
{
	unsigned most = show->stage.scene->most;

	return most && most <= SLOWEST;
}

/* How many calls of a way the verb makes from a state; 0 if all of them fail one after another. */
static unsigned count_looks(struct show *show, const char *from, const struct way *w)
{
	struct way count = *w;
	struct trace t;

	if (show->whole || (!(w->kinds & LOOKS) && !is_slowest(show)))
		return 0;
	count.act = TRACE_COUNT;
	(void)disturb(show, from, &count, 0, &t);
	trace_release(&t);
	return t.count;
}

/* The i-th call to disturb, i from 0; 0: no further one. */
static unsigned point(struct show *show, unsigned looks, unsigned most, unsigned i)
{
	if (looks <= most)
		return i + 1;
	return i < most ? pick(&show->random, 1, looks, i, most) : 0;
}

static unsigned second_way(
	struct show *show, unsigned first, const struct way *w, struct buf *all, unsigned *bad)
{
	CLEANUP(buf_release) struct buf fault = BUF_INIT;
	unsigned looks = count_looks(show, "killed", w), i = 0, n;
	unsigned most = is_slowest(show) ? SLOWEST_SECOND : SECOND_LOOKS;
	struct trace t;

	for (; (n = point(show, looks, most, i)) > 0; i++) {
		bool hit = disturb(show, "killed", w, n, &t);

		if (hit) {
			check_files(&show->stage, &t, &fault);
			go_on(show, &fault);
		}
		if (fault.len)
			buf_addf(all, "killed before call %u, then %s, ", first, w->name);
		tell(all, bad, call_name(t.hit_kind), n, &fault);
		trace_release(&t);
		if (!hit)
			break;
	}
	return i;
}

/* Those in the middle are the ones that matter. */
static void fail_after_kill(struct show *show)
{
	CLEANUP(buf_release) struct buf all = BUF_INIT;
	struct stage *s = &show->stage;
	const struct left *left = &show->killed;
	size_t most = s->scene->varies ? GIT_STATES : LEFT_STATES;
	size_t stride = 1 + left->n / (most + 1);
	unsigned bad = 0, points = 0, states = 0;

	for (size_t i = stride / 2; i < left->n; i += stride) {
		if (!lay_killed(show, left->at[i]))
			continue;
		states++;
		for (size_t w = 0; w < COUNT(seconds); w++)
			points += second_way(show, left->at[i], &seconds[w], &all, &bad);
	}
	figures.pairs += points;
	tap(!bad, "%s: a second fault at each of %u calls after a kill (%u of %zu states)",
		s->scene->name, points, states, left->n);
	tap_note(buf_str(&all));
}

/* The git library does not say why it does not find a repository: the verb may report just that. */
static bool is_elsewhere(const struct stage *s, const struct trace *t)
{
	struct str path = str_of(t->hit_path);

	return (t->hit_kind & LOOKS) && (t->status == 3 || t->status == 4) &&
	       (!str_starts(path, s->state) || str_find(path, STR("/worktrees")) < path.n);
}

/* One line on standard error, and no partial output that looks like a result. */
static void check_message(const struct stage *s, const struct trace *t, struct buf *fault)
{
	struct str text = buf_str(&t->err), line = {0}, last;
	unsigned lines = 0;

	for (; str_line(&text, &last); lines++)
		line = last;
	if (t->status != 5 && !is_elsewhere(s, t))
		buf_addf(fault, "exit status %d, not 5\n", t->status);
	if (!str_starts(line, "dev-team: ") || (lines > 1 && !s->scene->talks))
		buf_addf(fault, "not one line of explanation: '%s'\n", t->err.s);
}

/* The content of a lock file, and the progress of the verb. */
static bool is_for_people(const struct trace *t)
{
	return (t->hit_kind & (CALL_WRITE | CALL_TRUNCATE)) &&
	       (str_ends(str_of(t->hit_path), ".lock") || strstr(t->hit_path, "memfd:errors"));
}

/* It succeeded: then the result must be correct. */
static void check_done(struct stage *s, const struct trace *t, struct buf *fault)
{
	if (s->scene->prints && !s->scene->explains && !str_eq(buf_str(&t->out), buf_str(&s->out)))
		buf_addf(fault, "exit status %d, but it printed '%s'\n", t->status,
			t->out.s ? t->out.s : "");
	if (!s->scene->next)
		check_end(s, fault);
}

static void check_failed(
	struct show *show, const struct way *w, const struct trace *t, struct buf *fault)
{
	struct stage *s = &show->stage;
	bool may_pass = w->rule != MUST_TELL || s->scene->lax || s->scene->told ||
			s->scene->keeps || is_for_people(t);

	if (s->scene->told && !has_told(s, t) && (t->status == 0 || t->status == 5))
		; /* only the state counts */
	else if (may_pass && t->status == s->scene->status)
		check_done(s, t, fault);
	else if (w->rule != ANY_END)
		check_message(s, t, fault);
	check_files(s, t, fault);
	go_on(show, fault);
}

/* Makes the `n`th call fail and checks what follows; false when there is no such call. */
static bool fail_at(
	struct show *show, const struct way *w, unsigned n, struct buf *all, unsigned *bad)
{
	CLEANUP(buf_release) struct buf fault = BUF_INIT, what = BUF_INIT;
	struct trace t;
	bool hit = disturb(show, "before", w, n, &t);

	if (hit) {
		check_failed(show, w, &t, &fault);
		*(w->act == TRACE_SHORT    ? &figures.shorts
			: w->kinds & LOOKS ? &figures.looks
					   : &figures.failures) += 1;
	}
	buf_addf(&what, "%s: %s of '%s',", w->name, call_name(t.hit_kind), t.hit_path);
	tell(all, bad, what.s, n, &fault);
	trace_release(&t);
	return hit;
}

static void fail_everywhere(struct show *show, const struct way *w)
{
	CLEANUP(buf_release) struct buf all = BUF_INIT;
	unsigned bad = 0, points = 0, looks = count_looks(show, "before", w), n;
	unsigned most = is_slowest(show) ? SLOWEST_MOST : LOOKS_MOST;

	while ((n = point(show, looks, most, points)) > 0 && fail_at(show, w, n, &all, &bad))
		points++;
	if (looks > most)
		tap(!bad, "%s: %s at %u of %u calls", show->stage.scene->name, w->name, points,
			looks);
	else
		tap(!bad, "%s: %s at each of %u calls", show->stage.scene->name, w->name, points);
	tap_note(buf_str(&all));
}

static void fail_sample(struct show *show)
{
	CLEANUP(buf_release) struct buf all = BUF_INIT;
	unsigned bad = 0, points = 0, n = SAMPLE_FAILURES / (show->stage.scene->slow ? 2 : 1);

	for (unsigned i = 0; i < n; i++) {
		const struct way *w = &ways[pick(&show->random, 0, COUNT(ways) - 1, i, n)];
		struct way count = *w;
		struct trace t;

		count.act = TRACE_COUNT;
		(void)disturb(show, "before", &count, 0, &t);
		points += t.count &&
			  fail_at(show, w, 1 + random_below(&show->random, t.count), &all, &bad);
		trace_release(&t);
	}
	tap(!bad, "%s: %u random calls fail", show->stage.scene->name, points);
	tap_note(buf_str(&all));
}

static void play_all(struct show *show)
{
	const struct scene *scene = show->stage.scene;

	kill_everywhere(show);
	for (size_t i = 0; i < COUNT(ways) && !scene->only_kills; i++)
		fail_everywhere(show, &ways[i]);
	/* Where the client does not repeat the verb there is no such second run. */
	if (!show->every && !scene->next && !scene->only_kills)
		fail_after_kill(show);
}

static int play(const struct scene *scene, enum extent extent, uint64_t seed)
{
	CLEANUP(buf_release) struct buf fault = BUF_INIT;
	static struct show show; /* too large for the stack */
	int rc;

	/* A scene of its own has the same sample. */
	show = (struct show){.every = extent == EVERY,
		.whole = getenv("SWEEP") && strcmp(getenv("SWEEP"), "full") == 0,
		.random = {seed + ((uint64_t)(scene - scenes) << 32)}};
	rc = stage_open(&show.stage, scene, &fault);
	if (rc < 0) {
		tap(false, "%s", scene->name);
		tap_note(buf_str(&fault));
	} else if (rc == 0 && extent == SAMPLE) {
		kill_sample(&show);
		fail_sample(&show);
	} else if (rc == 0) {
		play_all(&show);
	}
	stage_close(&show.stage);
	return rc;
}

/* A sample has the verbs that sessions use. */
static bool is_in(const struct scene *scene, enum extent extent)
{
	static const char *const sampled[] = {"step", "record", "exec", "context"};

	for (size_t i = 0; extent == SAMPLE && i < COUNT(sampled); i++)
		if (strcmp(scene->words[0], sampled[i]) == 0)
			return !scene->proof;
	return extent != SAMPLE;
}

static void prepare(void)
{
	struct arena a = {0};

	run_find_build();
	setenv("DEV_TEAM_ROOT", path_absolute(&a, "."), 1);
	setenv("DEV_TEAM_NOW", "2026-11-21T01:34:55Z", 1);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	setenv("GIT_AUTHOR_DATE", "2026-11-21T01:34:55Z", 1); /* a commit has the same id again */
	setenv("GIT_COMMITTER_DATE", "2026-11-21T01:34:55Z", 1);
	/* Not the real origin, if a fault hides the other. */
	setenv("GIT_ALLOW_PROTOCOL", "file:ssh", 1);
	setenv("GIT_SSH_COMMAND",
		arena_printf(&a, "sh '%s'", path_absolute(&a, "tests/lies/ssh.sh")), 1);
	arena_release(&a);
	atexit(stage_end);
	/* In memory if possible: nothing here depends on the disk. */
	if (access("/dev/shm", W_OK) == 0)
		setenv("TMPDIR", "/dev/shm", 1);
	/* Processes that a killed program leaves running are awaited before the next run. */
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
}

int main(int argc, char **argv)
{
	const char *which = argc > 1 ? argv[1] : "", *ci = getenv("CI");
	enum extent extent = strcmp(which, "every") == 0    ? EVERY
			     : strcmp(which, "sample") == 0 ? SAMPLE
							    : FULL;
	bool halved = strcmp(which, "half") == 0; /* every second scene: two run at the same time */
	size_t half = halved && argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	int words = extent == SAMPLE || halved ? 3 : extent == FULL ? 1 : 2;
	const char *only = argc > words ? argv[words] : "";
	uint64_t seed = random_seed(extent == SAMPLE && argc > 2 ? argv[2] : NULL);

	prepare();
	for (const struct scene *s = scenes; s->name; s++) {
		if (!strstr(s->name, only) || !is_in(s, extent) ||
			(halved && (size_t)(s - scenes) % 2 != half % 2) ||
			play(s, extent, seed) <= 0)
			continue;
		if (ci && strcmp(ci, "true") == 0)
			tap(false, "tracing is not permitted here");
		else
			tap_skip("kill sweep", "this system does not let a program be traced");
		return tap_end();
	}
	tap_notef("figures: %u kills, %u failing calls, %u failing looks (stat, access, statfs, "
		  "readlink, getdents, lseek, open, read), %u short writes, %u second faults "
		  "after a kill: files torn %u, acknowledged answers or states lost %u, dispatched "
		  "or counted twice under one lease %u, evidence collected twice %u",
		figures.kills, figures.failures, figures.looks, figures.shorts, figures.pairs,
		figures.torn, figures.lost, figures.twice, figures.again);
	return tap_end();
}
