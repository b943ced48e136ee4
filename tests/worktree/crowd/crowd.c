/*
 * crowd: the worktree pool under many processes, and under kills. Prints TAP.
 *
 *     crowd crowd [EACH]
 *
 * 20 processes allocate and reclaim EACH (10) worktrees of one repository at the same time: no
 * failure, no leak, no port that two have.
 *
 *     crowd kills
 *
 * 200 commands are killed at a random system call; the next command repairs what each left.
 *
 *     crowd calls [full]
 *
 * Allocate and reclaim are killed before each of their system calls (a sample, unless full), and
 * each call that can fail does.
 */
#include <stdatomic.h>
#include <sys/prctl.h>
#include "src/sys/path.h"
#include "tests/worktree/crowd/rig.h"

enum { MEMBERS = 20, EACH_MAX = 10, PORTS = 65536 };

static unsigned each = EACH_MAX;

struct shared {
	atomic_uint owner[PORTS]; /* worktree that has it, from 1; 0: none */
	atomic_uint twice, allocated, reclaimed, children;
};

struct member {
	struct rig *rig;
	struct shared *shared;
	unsigned number;
};

/* Each process records the ports it was given, before they can be given out again. */
static void note_ports(struct shared *s, const struct allocated *got, unsigned id)
{
	for (unsigned p = got->port; p < got->port + got->ports; p++)
		if (atomic_exchange(&s->owner[p], id))
			atomic_fetch_add(&s->twice, 1);
}

static void forget_ports(struct shared *s, const struct allocated *got)
{
	for (unsigned p = got->port; p < got->port + got->ports; p++)
		atomic_store(&s->owner[p], 0);
}

_Noreturn static void give_up(const struct member *m, const char *branch, const char *fault)
{
	fprintf(stderr, "process %u, %s: %s\n", m->number, branch, fault);
	_exit(1);
}

static void check_worktree(const struct member *m, const struct allocated *got)
{
	struct arena a = {0};

	if (!path_exists(arena_printf(&a, "%s/.git", got->path)) ||
		!path_exists(arena_printf(&a, "%s/src/3/file-3.txt", got->path)))
		give_up(m, got->branch, "the worktree is not whole");
	arena_release(&a);
}

static void take(const struct member *m, unsigned i, struct allocated *got)
{
	const char *branch = arena_printf(&m->rig->arena, "crowd/m%02u/%u", m->number, i);
	const char *count = arena_printf(&m->rig->arena, "%u", 1 + (m->number + i) % 3);
	const char *fault;

	if (!ALLOCATE(m->rig, got, &fault, branch, "--ports", count))
		give_up(m, branch, fault);
	if (!got->created)
		give_up(m, branch, "somebody else had made it");
	note_ports(m->shared, got, m->number * EACH_MAX + i + 1);
	check_worktree(m, got);
	atomic_fetch_add(&m->shared->allocated, 1);
}

static void give(const struct member *m, const struct allocated *got)
{
	struct run done;

	forget_ports(m->shared, got);
	done = RIG(m->rig, "pool", "reclaim", got->branch);
	if (done.status)
		give_up(m, got->branch, done.err.s);
	if (path_exists(got->path))
		give_up(m, got->branch, "the worktree is still there");
	run_release(&done);
	atomic_fetch_add(&m->shared->reclaimed, 1);
}

/* Half of them are released while the others are still being created. */
static int work(unsigned number, void *data)
{
	struct allocated got[EACH_MAX];
	struct member m = *(const struct member *)data;

	m.number = number;
	for (unsigned i = 0; i < each; i++) {
		take(&m, i, &got[i]);
		if (i % 2)
			give(&m, &got[i - (number + i / 2) % 2]);
	}
	for (unsigned i = 0; i < each; i++)
		if (path_exists(got[i].path))
			give(&m, &got[i]);
	return 0;
}

static unsigned lines_of(struct rig *r, const char *const *words)
{
	struct run run_of = rig_run(r, words);
	struct str rest = buf_str(&run_of.out), line;
	unsigned n = 0;

	while (str_line(&rest, &line))
		n++;
	run_release(&run_of);
	return n;
}

void pool_crowd(void)
{
	struct shared *s = run_shared(sizeof(*s));
	const char *said;
	struct rig r;
	unsigned good;

	rig_open(&r, 20);
	good = run_processes(MEMBERS, work, &(struct member){.rig = &r, .shared = s});
	tap(good == MEMBERS, "%u of %d processes come to their end without a failure", good,
		MEMBERS);
	tap(s->allocated == MEMBERS * each && s->reclaimed == MEMBERS * each,
		"%u worktrees allocated, %u reclaimed", s->allocated, s->reclaimed);
	tap(s->twice == 0, "%u ports are two worktrees' at one time", s->twice);
	said = rig_audit(&r);
	tap(!*said, "the audit finds nothing");
	tap_note(str_of(said));
	tap(lines_of(&r, (const char *const[]){"git", "worktree", "list", NULL}) == 1,
		"git knows of no worktree any more");
	tap(lines_of(&r, (const char *const[]){"git", "fsck", "--full", NULL}) == 0,
		"the repository is whole");
	tap_notef("figures: %d processes: %u allocations, %u reclaims, %u shared ports", MEMBERS,
		s->allocated, s->reclaimed, s->twice);
	rig_close(&r);
}

int main(int argc, char **argv)
{
	const char *which = argc > 1 ? argv[1] : "";

	run_find_build();
	/* In memory if possible: nothing here depends on the disk. */
	if (access("/dev/shm", W_OK) == 0)
		setenv("TMPDIR", "/dev/shm", 1);
	/* Processes that a killed program leaves running are awaited before the next run. */
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (strcmp(which, "crowd") == 0) {
		each = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : EACH_MAX;
		if (!each || each > EACH_MAX)
			die("crowd: EACH is a number from 1 to %d", EACH_MAX);
		pool_crowd();
	} else if (strcmp(which, "kills") == 0)
		pool_kills();
	else if (strcmp(which, "calls") == 0)
		pool_sweep_calls(argc > 2 && strcmp(argv[2], "full") == 0);
	return tap_end();
}
