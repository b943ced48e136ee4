/*
 * Two hundred commands, each killed at a random system call of its own or of a git that it has
 * started; SEED in the environment chooses them. After each kill the next command repairs and the
 * audit is clean; other worktrees and the work in them are unchanged.
 */
#include "src/sys/path.h"
#include "tests/crash/trace.h"
#include "tests/worktree/crowd/rig.h"

enum { KILLS = 200, STANDING = 8, NAME_MAX_BYTES = 64 };

struct standing {
	char branch[NAME_MAX_BYTES];
	char path[4096];
	bool has_work; /* uncommitted: it must never be removed */
};

struct kills {
	struct rig rig;
	struct random random;
	struct standing standing[STANDING];
	unsigned made, hit, lost, leaks, wrong;
};

static const char work_text[] = "hours of work\n";

static const char *work_file(struct kills *k, const struct standing *s)
{
	return arena_printf(&k->rig.arena, "%s/work.txt", s->path);
}

static void tell(struct kills *k, unsigned *count, unsigned round, const char *text)
{
	if ((*count)++ < 5)
		tap_notef("kill %u: %s", round, text);
	(void)k;
}

/* Creates it again, undisturbed; every third has work in it. */
static void stand(struct kills *k, struct standing *s)
{
	struct allocated got;
	const char *fault, *branch = arena_printf(&k->rig.arena, "kills/%u", ++k->made);

	if (!ALLOCATE(&k->rig, &got, &fault, branch, "--slots", "2"))
		die("%s", fault);
	(void)snprintf(s->branch, sizeof(s->branch), "%s", branch);
	(void)snprintf(s->path, sizeof(s->path), "%s", got.path);
	s->has_work = k->made % 3 == 0;
	if (s->has_work)
		tree_write(work_file(k, s), STR(work_text));
}

static bool is_whole(struct kills *k, const struct standing *s)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	return path_exists(arena_printf(&k->rig.arena, "%s/.git", s->path)) &&
	       path_exists(arena_printf(&k->rig.arena, "%s/src/0/file-0.txt", s->path)) &&
	       (!s->has_work ||
		       (tree_read(work_file(k, s), &text) && str_is(buf_str(&text), work_text)));
}

/* The next command. `of` is the worktree it is about, or NULL. */
static void choose(struct kills *k, const char *argv[RIG_WORDS], struct standing **of)
{
	struct standing *s = &k->standing[random_below(&k->random, STANDING)];
	const char *branch = arena_printf(&k->rig.arena, "kills/x%u", ++k->made);
	const char *const allocate[] = {"dev-team", "pool", "allocate", branch, NULL};
	const char *const child[] = {
		"dev-team", "pool", "allocate", branch, "--parent", s->branch, NULL};
	const char *const reclaim[] = {"dev-team", "pool", "reclaim", s->branch, NULL};
	const char *const sweep[] = {"dev-team", "pool", "sweep", "--apply", NULL};
	const char *const *const all[] = {allocate, allocate, reclaim, reclaim, child, sweep};
	unsigned which = random_below(&k->random, COUNT(all));
	size_t n = 0;

	for (; all[which][n]; n++)
		argv[n] = all[which][n];
	argv[n] = NULL;
	*of = all[which] == reclaim ? s : NULL;
}

static bool kill_one(struct kills *k, struct standing **of)
{
	const char *argv[RIG_WORDS];
	struct trace t = {.act = TRACE_KILL,
		.argv = argv,
		.cwd = k->rig.work,
		.who = random_below(&k->random, 3) ? TRACE_PARENT : TRACE_ALL,
		.kinds = CALL_EFFECTS | CALL_LOCK | CALL_READ};

	choose(k, argv, of);
	t.at = 1 + random_below(&k->random, t.who == TRACE_ALL ? 500 : 130);
	if (trace_run(&t) < 0)
		return false;
	k->hit += t.hit;
	trace_release(&t);
	return true;
}

/* The others, and it itself: complete, or removed entirely if it may be. */
static void check(struct kills *k, unsigned round, struct standing *of)
{
	const char *said = rig_audit(&k->rig);

	if (*said)
		tell(k, &k->leaks, round, said);
	for (size_t i = 0; i < STANDING; i++) {
		struct standing *s = &k->standing[i];

		if (is_whole(k, s))
			continue;
		if (s != of || s->has_work || path_exists(s->path))
			tell(k, &k->lost, round,
				arena_printf(&k->rig.arena, "'%s' is not as it was", s->path));
		stand(k, s);
	}
}

/* What the killed allocations created after all, children before parents. */
static void clear(struct kills *k)
{
	CLEANUP(json_free) json *list = NULL;
	struct run run_of = RIG(&k->rig, "pool", "list", "--json");
	struct error err;

	if (run_of.status || json_parse(&list, str_trim(buf_str(&run_of.out)), &err) < 0)
		die("pool list: %s", run_of.err.s);
	run_release(&run_of);
	for (const json *e = json_first(json_get(list, "worktrees")); e; e = json_next(e)) {
		const char *branch = json_get_str(e, "branch");

		if (branch && str_starts(str_of(branch), "kills/x"))
			RIG_MUST(&k->rig, "pool", "reclaim", branch);
	}
}

void pool_kills(void)
{
	struct kills k = {.random = {random_seed(NULL)}};
	unsigned round;

	rig_open(&k.rig, 20);
	for (size_t i = 0; i < STANDING; i++)
		stand(&k, &k.standing[i]);
	for (round = 1; k.hit < KILLS && round <= 3 * KILLS; round++) {
		struct standing *of;

		if (!kill_one(&k, &of)) {
			tap_skip("kills", "this system does not let a program be traced");
			rig_close(&k.rig);
			return;
		}
		check(&k, round, of);
		if (round % 10 == 0)
			clear(&k);
	}
	tap(k.hit >= KILLS, "%u commands killed", k.hit);
	tap(!k.leaks, "%u audits find something after a kill", k.leaks);
	tap(!k.lost, "%u worktrees lost", k.lost);
	tap_notef("figures: %u kills: %u leaks, %u worktrees lost", k.hit, k.leaks, k.lost);
	rig_close(&k.rig);
}
