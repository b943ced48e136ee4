#include <sys/stat.h>
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"
#include "tests/bench/bench.h"
#include "tests/lib/run.h"
#include "tests/lib/tap.h"
#include "tests/lib/tree.h"

enum { FILES = 10000, DIRECTORIES = 100, TRIES = 15, WORKTREES = 1000, LINES = 12 };

struct bench {
	struct arena arena;
	const char *program, *repo, *plain;
};

static double timed(const struct bench *b, const char *const *argv)
{
	struct run r = {.argv = argv, .cwd = b->repo};
	double from = bench_now(), ms;

	run(&r);
	ms = bench_now() - from;
	if (r.status)
		die("'%s %s %s': %s", argv[0], argv[1], argv[2], r.err.s ? r.err.s : "");
	run_release(&r);
	return ms;
}
#define TIMED(b, ...) timed((b), (const char *const[]){__VA_ARGS__, NULL})

/* ---- allocate : git worktree add ---- */

static void lay_files(struct bench *b, unsigned files)
{
	for (unsigned i = 0; i < files; i++) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;

		for (unsigned k = 0; k < LINES; k++)
			buf_addf(&text, "line %u of file %u, as long as lines of code are\n", k, i);
		tree_write(
			arena_printf(&b->arena, "%s/src/%u/file-%u.c", b->repo, i % DIRECTORIES, i),
			buf_str(&text));
	}
}

static void make_repository(struct bench *b, const char *dir, const char *name, unsigned files)
{
	b->repo = path_join(&b->arena, dir, name);
	b->plain = arena_printf(&b->arena, "%s/%s-plain", dir, name);
	tree_mkdirs(b->repo);
	lay_files(b, files);
	(void)TIMED(b, "git", "init", "-q", "--template=", "-b", "main", ".");
	(void)TIMED(b, "git", "config", "user.name", "Bench");
	(void)TIMED(b, "git", "config", "user.email", "bench@example.org");
	(void)TIMED(b, "git", "add", ".");
	(void)TIMED(b, "git", "commit", "-q", "-m", "first commit");
	(void)TIMED(b, "git", "remote", "add", "origin",
		arena_printf(&b->arena, "https://example.org/acme/%s.git", name));
	(void)TIMED(b, "git", "update-ref", "refs/remotes/origin/main", "main");
}

static void measure_allocate(struct bench *b, const char *dir)
{
	double ours[TRIES], plain[TRIES];

	make_repository(b, dir, "large", FILES);
	for (int i = -1; i < TRIES; i++) { /* once to warm the caches, not counted */
		const char *branch = arena_printf(&b->arena, "ours/%d", i);
		const char *other = arena_printf(&b->arena, "plain/%d", i);
		double one = TIMED(b, b->program, "pool", "allocate", branch);
		double two = TIMED(
			b, "git", "worktree", "add", "-q", b->plain, "-b", other, "origin/main");

		if (i >= 0) {
			ours[i] = one;
			plain[i] = two;
		}
		(void)TIMED(b, b->program, "pool", "reclaim", branch);
		(void)TIMED(b, "git", "worktree", "remove", b->plain);
	}
	bench_row("pool allocate, 10,000 files : worktree add", ours, plain, TRIES, "<= 1.2x");
}

/* ---- list : stat ---- */

/* As allocate leaves it: a record, a port, and a worktree with its admin directory. */
static void lay_worktree(struct bench *b, struct pool *p, unsigned i)
{
	const char *name = arena_printf(&b->arena, "feat-issue-%u", i);
	const char *admin = arena_printf(&b->arena, "%s/worktrees/%s", p->common, name);
	struct allocation of = {.branch = name,
		.slug = name,
		.path = path_join(&b->arena, p->dir, name),
		.pool = p->spec.name,
		.admin = name,
		.state = ALLOCATION_LIVE,
		.port = 10000 + i,
		.ports = 1,
		.made_branch = true,
		.created = 1800000000};
	struct error err;

	tree_write(arena_printf(&b->arena, "%s/.git", of.path),
		str_of(arena_printf(&b->arena, "gitdir: %s\n", admin)));
	tree_write(arena_printf(&b->arena, "%s/gitdir", admin),
		str_of(arena_printf(&b->arena, "%s/.git\n", of.path)));
	tree_write(arena_printf(&b->arena, "%s/HEAD", admin),
		str_of(arena_printf(&b->arena, "ref: refs/heads/%s\n", name)));
	if (record_put(&(struct op){.a = &b->arena, .p = p, .err = &err}, &of) < 0)
		die("%s", err.text);
}

static double stat_all(const struct pool *p)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	double from = bench_now();
	struct stat st;

	for (unsigned i = 0; i < WORKTREES; i++) {
		buf_clear(&path);
		buf_addf(&path, "%s/feat-issue-%u", p->dir, i);
		if (stat(path.s, &st) < 0)
			die("no '%s'", path.s);
	}
	return bench_now() - from;
}

static void measure_list(struct bench *b, const char *dir)
{
	struct worktree_pool_spec spec = resource_default_pool(&b->arena);
	const char *state = arena_printf(&b->arena, "%s/.dev-team", dir);
	double ours[TRIES], plain[TRIES];
	struct pool p;
	struct error err;

	make_repository(b, dir, "small", 1);
	if (pool_open(&b->arena, &spec, b->repo, state, NULL, &p, &err) < 0)
		die("%s", err.text);
	for (unsigned i = 0; i < WORKTREES; i++)
		lay_worktree(b, &p, i);
	pool_close(&p);
	for (int i = -1; i < TRIES; i++) {
		double one = TIMED(b, b->program, "pool", "list"), two = stat_all(&p);

		if (i >= 0) {
			ours[i] = one;
			plain[i] = two;
		}
	}
	bench_row("pool list, 1,000 worktrees : stat of each", ours, plain, TRIES, "< 50x");
}

void bench_pool(const char *dir, const char *program)
{
	struct bench b = {.program = program};

	measure_allocate(&b, dir);
	measure_list(&b, dir);
	arena_release(&b.arena);
}
