/*
 * Allocate and reclaim, killed right before each of their system calls, and with each call that
 * could fail made to fail, in dev-team itself and in the git that it starts. Afterwards the audit
 * is clean, every worktree is complete, and repeating the command has the same result.
 */
#include <errno.h>
#include "src/sys/path.h"
#include "tests/crash/trace.h"
#include "tests/worktree/crowd/rig.h"

enum { SAMPLE = 12 };

#define MAY_FAIL                                                                                   \
	(CALL_WRITE | CALL_SYNC | CALL_RENAME | CALL_OPEN | CALL_TRUNCATE | CALL_MKDIR |           \
		CALL_LINK | CALL_UNLINK | CALL_MODE | CALL_LOCK)

struct scene {
	const char *name;
	const char *const *before[3]; /* commands that prepare it */
	const char *const *argv;
	const char *path; /* below the pool's directory: what it creates or removes */
	bool makes;
};

#define WORDS(...) ((const char *const[]){"dev-team", "pool", __VA_ARGS__, NULL})
static const struct scene scenes[] = {
	{.name = "allocate",
		.argv = WORDS("allocate", "feat/x", "--ports", "3"),
		.path = "feat-x",
		.makes = true},
	{.name = "allocate: of a parent",
		.before = {WORDS("allocate", "feat/p", "--slots", "2")},
		.argv = WORDS("allocate", "feat/x", "--parent", "feat/p"),
		.path = "feat-x",
		.makes = true},
	{.name = "allocate: a branch that is there",
		.before = {(const char *const[]){"git", "branch", "feat/x", NULL}},
		.argv = WORDS("allocate", "feat/x"),
		.path = "feat-x",
		.makes = true},
	{.name = "reclaim",
		.before = {WORDS("allocate", "feat/x", "--ports", "3")},
		.argv = WORDS("reclaim", "feat/x"),
		.path = "feat-x"},
	{.name = "reclaim: of a parent",
		.before = {WORDS("allocate", "feat/p", "--slots", "2"),
			WORDS("allocate", "feat/x", "--parent", "feat/p")},
		.argv = WORDS("reclaim", "feat/x"),
		.path = "feat-x"},
};

struct way {
	const char *name;
	enum trace_act act;
	enum trace_who who;
	unsigned kinds;
	int error;
	bool full;
};
static const struct way ways[] = {
	{"killed", TRACE_KILL, TRACE_PARENT, CALL_ANY, 0, false},
	{"killed, or its git", TRACE_KILL, TRACE_ALL, CALL_EFFECTS, 0, false},
	{"no space left", TRACE_FAIL, TRACE_ALL, MAY_FAIL & ~(unsigned)CALL_LOCK, ENOSPC, false},
	{"I/O error", TRACE_FAIL, TRACE_PARENT, MAY_FAIL, EIO, false},
	{"an I/O error of git", TRACE_FAIL, TRACE_CHILDREN, MAY_FAIL, EIO, true},
	{"a look that fails", TRACE_FAIL, TRACE_PARENT, CALL_LOOK | CALL_READ, EIO, true},
	{"interrupted", TRACE_FAIL, TRACE_PARENT, CALL_WRITE | CALL_SYNC | CALL_LOCK, EINTR, true},
};

struct play {
	struct rig rig;
	const struct scene *scene;
	const char *directory; /* of the worktree */
	unsigned bad;
	struct buf notes;
};

static void tell(struct play *p, const struct trace *t, const char *text)
{
	if (p->bad++ < 3)
		buf_addf(&p->notes, "%s %u of '%s': %s\n", call_name(t->hit_kind), t->at,
			t->hit_path, text);
}

static void check_place(struct play *p, const struct trace *t, bool there)
{
	const char *file = arena_printf(&p->rig.arena, "%s/src/3/file-3.txt", p->directory);
	struct run status;

	if (!there) {
		if (path_exists(p->directory))
			tell(p, t, "the folder is there still");
		return;
	}
	if (!path_exists(file)) {
		tell(p, t, "the worktree is not whole");
		return;
	}
	status = GIT(&p->rig, "-C", p->directory, "status", "--porcelain");
	if (status.status || status.out.len)
		tell(p, t,
			arena_printf(&p->rig.arena, "it is not clean: %s%s", status.out.s,
				status.err.s ? status.err.s : ""));
	run_release(&status);
}

/* The state that is left: complete or nothing; then the command once more. */
static void check(struct play *p, const struct way *w, const struct trace *t)
{
	const char *said = rig_audit(&p->rig);
	struct run again;

	if (*said)
		tell(p, t, said);
	check_place(p, t, path_exists(p->directory));
	if (w->act == TRACE_FAIL && t->status == 0)
		check_place(p, t, p->scene->makes); /* it succeeded in spite of it */
	again = rig_run(&p->rig, p->scene->argv);
	if (again.status || again.err.len)
		tell(p, t,
			arena_printf(&p->rig.arena, "again: exit status %d: %s", again.status,
				again.err.s ? again.err.s : ""));
	run_release(&again);
	check_place(p, t, p->scene->makes);
	said = rig_audit(&p->rig);
	if (*said)
		tell(p, t, said);
}

static bool trace(struct play *p, const struct way *w, unsigned at, struct trace *t)
{
	*t = (struct trace){.argv = p->scene->argv,
		.cwd = p->rig.work,
		.act = at ? w->act : TRACE_COUNT,
		.who = w->who,
		.kinds = w->kinds,
		.at = at,
		.error = w->error};
	rig_restore(&p->rig);
	return trace_run(t) == 0;
}

static bool play_way(struct play *p, const struct way *w, bool full)
{
	unsigned points = 0, calls, stride, from;
	struct trace t;

	if (!trace(p, w, 0, &t))
		return false;
	calls = t.count;
	from = t.first_effect > 2 && !full && w->act == TRACE_KILL ? t.first_effect - 1 : 1;
	stride = full ? 1 : 1 + (calls - from) / SAMPLE;
	if (t.status)
		tell(p, &t, "the undisturbed run fails");
	trace_release(&t);
	for (unsigned at = from; at <= calls; at += stride, points++) {
		if (!trace(p, w, at, &t))
			return false;
		if (t.hit)
			check(p, w, &t);
		trace_release(&t);
	}
	tap(!p->bad, "%s: %s at %u of %u system calls", p->scene->name, w->name, points, calls);
	tap_note(buf_str(&p->notes));
	buf_clear(&p->notes);
	p->bad = 0;
	return true;
}

static bool play(const struct scene *scene, bool full)
{
	struct play p = {.scene = scene};
	bool traced = true;

	rig_open(&p.rig, 20);
	for (size_t i = 0; i < COUNT(scene->before) && scene->before[i]; i++)
		rig_must(&p.rig, scene->before[i]);
	p.directory =
		arena_printf(&p.rig.arena, "%s/.dev-team/worktrees/%s", p.rig.work, scene->path);
	rig_keep(&p.rig);
	for (size_t i = 0; i < COUNT(ways) && traced; i++)
		if (full || !ways[i].full)
			traced = play_way(&p, &ways[i], full);
	buf_release(&p.notes);
	rig_close(&p.rig);
	return traced;
}

void pool_sweep_calls(bool full)
{
	for (size_t i = 0; i < COUNT(scenes); i++)
		if (!play(&scenes[i], full)) {
			tap_skip("calls", "this system does not let a program be traced");
			return;
		}
}
