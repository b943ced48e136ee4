/*
 * sweep: every verb that writes is killed right before each of its system calls, and each call that
 * could fail is made to fail. After a kill the document must be the old or the new one, byte for
 * byte, and the same verb once more must come to the same end as without the kill, with no
 * temporary file left. After a failing call the verb must exit 5 with one line, the document must
 * be whole, and the same holds. Prints TAP.
 *
 *     sweep [full] [SCENE-TEXT]    full: every error number at every kind of call
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include "src/base/path.h"
#include "tests/crash/scenes.h"
#include "tests/lib/tap.h"

static unsigned kills, failures, shorts, torn, lost;

#define MUST_FAIL                                                                                  \
	(CALL_WRITE | CALL_SYNC | CALL_RENAME | CALL_OPEN | CALL_TRUNCATE | CALL_MKDIR | CALL_LINK)

struct way {
	enum trace_act act;
	unsigned kinds;
	int error;
	const char *name;
	bool strict; /* the call matters: exit status 5; else what counts is the state */
	bool full;   /* in the full set only */
};

static const struct way ways[] = {
	{TRACE_FAIL, MUST_FAIL, EIO, "EIO", true, false},
	{TRACE_FAIL, CALL_WRITE, ENOSPC, "ENOSPC", true, false},
	{TRACE_FAIL, CALL_WRITE, EINTR, "EINTR", false, false},
	{TRACE_SHORT, CALL_WRITE, 0, "a short write", false, false},
	{TRACE_FAIL, MUST_FAIL & ~(unsigned)CALL_WRITE, ENOSPC, "ENOSPC", true, true},
	{TRACE_FAIL, MUST_FAIL & ~(unsigned)CALL_WRITE, EINTR, "EINTR", false, true},
	{TRACE_FAIL, CALL_OPEN | CALL_MKDIR | CALL_RENAME | CALL_LINK, EACCES, "EACCES", true,
		true},
	{TRACE_FAIL, CALL_OPEN, EMFILE, "EMFILE", true, true},
	/* Not close: one that fails has closed all the same, and here it would not have. */
	{TRACE_FAIL, CALL_UNLINK | CALL_READ, EIO, "EIO", false, true},
};

static void tell(struct buf *all, unsigned *n, const char *what, unsigned at, struct buf *fault)
{
	if (!fault->len)
		return;
	if ((*n)++ < 3) /* the first few say it all */
		buf_addf(all, "%s %u: %s\n", what, at, fault->s);
	buf_clear(fault);
}

static void kill_everywhere(struct stage *s, bool full)
{
	CLEANUP(buf_release) struct buf all = BUF_INIT, fault = BUF_INIT;
	unsigned bad = 0, points = 0, stride = 1;

	if (s->scene->most)
		stride += (s->calls - s->first_effect) / s->scene->most;

	for (unsigned n = 1; n <= s->calls; n++, points++) {
		struct trace t = {.act = TRACE_KILL, .at = n};
		size_t before;

		stage_restore(s);
		(void)stage_trace(s, &t);
		if (!t.hit && !s->scene->varies)
			buf_addf(&fault, "only %u system calls this time\n", t.count);
		else if (t.hit && s->scene->who == TRACE_PARENT && t.status != 128 + SIGKILL)
			buf_addf(&fault, "survived with exit status %d\n", t.status);
		before = fault.len;
		check_document(s, &fault);
		torn += fault.len > before;
		before = fault.len;
		check_rerun(s, &fault);
		lost += fault.len > before;
		kills++;
		tell(&all, &bad, "killed before call", n, &fault);
		trace_release(&t);
		/* Up to its first effect a killed run is as good as none. */
		if (!full && n + 2 < s->first_effect)
			n = s->first_effect - 2;
		else if (!full)
			n += stride - 1;
	}
	tap(!bad, "%s: killed before %u of %u system calls%s", s->scene->name, points, s->calls,
		points == s->calls ? ""
		: stride > 1       ? " (a sample)"
				   : " (all from the first that can change anything)");
	tap_note(buf_str(&all));
}

/* One line on standard error, and nothing half-printed that looks like a result. */
static void check_message(const struct trace *t, struct buf *fault)
{
	const char *end = t->err.len ? memchr(t->err.s, '\n', t->err.len) : NULL;

	if (t->status != 5)
		buf_addf(fault, "exit status %d, not 5\n", t->status);
	if (!end || (size_t)(end - t->err.s) + 1 != t->err.len)
		buf_addf(fault, "not one line of explanation: '%s'\n", t->err.s);
}

static void check_failed(
	struct stage *s, const struct way *w, const struct trace *t, struct buf *fault)
{
	size_t before;

	/* What stands in a lock file is for people only. */
	if (w->strict && !str_ends(str_of(t->hit_path), ".lock"))
		check_message(t, fault);
	else if (t->status == 0)
		check_end(s, fault);
	before = fault->len;
	check_document(s, fault);
	torn += fault->len > before;
	before = fault->len;
	check_rerun(s, fault);
	lost += fault->len > before;
}

static void fail_everywhere(struct stage *s, const struct way *w)
{
	CLEANUP(buf_release) struct buf all = BUF_INIT, fault = BUF_INIT;
	unsigned bad = 0, n;

	for (n = 1;; n++) {
		struct trace t = {.act = w->act, .kinds = w->kinds, .at = n, .error = w->error};
		bool hit;

		stage_restore(s);
		(void)stage_trace(s, &t);
		if ((hit = t.hit))
			check_failed(s, w, &t, &fault);
		tell(&all, &bad, call_name(t.hit_kind), n, &fault);
		trace_release(&t);
		if (!hit)
			break;
	}
	*(w->act == TRACE_SHORT ? &shorts : &failures) += n - 1;
	tap(!bad && n > 1, "%s: %s at each of %u calls", s->scene->name, w->name, n - 1);
	tap_note(buf_str(&all));
}

static int play(const struct scene *scene, bool full)
{
	CLEANUP(buf_release) struct buf fault = BUF_INIT;
	struct stage s;
	int rc = stage_open(&s, scene, &fault);

	if (rc < 0) {
		tap(false, "%s", scene->name);
		tap_note(buf_str(&fault));
	} else if (rc == 0) {
		kill_everywhere(&s, full);
		for (size_t i = 0; i < COUNT(ways); i++)
			if (full || !ways[i].full)
				fail_everywhere(&s, &ways[i]);
	}
	stage_close(&s);
	return rc;
}

static void prepare(void)
{
	char self[PATH_MAX] = {0};
	struct arena a = {0};

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		die("cannot find myself");
	/* BUILD/tests/crash/sweep tests BUILD/dev-team. */
	for (int i = 0; i < 3; i++)
		self[path_dir(self).n] = '\0';
	setenv("PATH", arena_printf(&a, "%s:%s", self, getenv("PATH")), 1);
	setenv("DEV_TEAM_ROOT", path_absolute(&a, "."), 1);
	setenv("DEV_TEAM_NOW", "2026-11-21T01:34:55Z", 1);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	arena_release(&a);
	/* In memory where there is such a place: nothing here is about the disk. */
	if (access("/dev/shm", W_OK) == 0)
		setenv("TMPDIR", "/dev/shm", 1);
	/* What a killed program leaves running is waited for before the next run. */
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
}

int main(int argc, char **argv)
{
	bool full = argc > 1 && strcmp(argv[1], "full") == 0;
	const char *only = argc > 1 + full ? argv[1 + full] : "";
	const char *ci = getenv("CI");

	prepare();
	for (const struct scene *s = scenes; s->name; s++) {
		if (!strstr(s->name, only) || play(s, full) <= 0)
			continue;
		if (ci && strcmp(ci, "true") == 0)
			tap(false, "tracing is not permitted here");
		else
			tap_skip("kill sweep", "this system does not let a program be traced");
		return tap_end();
	}
	tap_notef("figures: %u kills, %u failing calls, %u short writes: torn %u, lost %u", kills,
		failures, shorts, torn, lost);
	return tap_end();
}
