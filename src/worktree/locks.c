#include <errno.h>
#include <sys/stat.h>
#include <time.h>
#include "src/base/clock.h"
#include "src/sys/path.h"
#include "src/sys/process.h"
#include "src/worktree/pool_internal.h"

/*
 * A killed git leaves its lock files behind, and every later git stops at them. Those of a branch
 * and an admin directory that are being created belong to us alone. Others may belong to a git that
 * is running now: they are removed if no process has them open and they have not changed for a
 * while.
 */

enum { QUIET_MS = 2000, STEP_MS = 50 };

static bool same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static bool is_abandoned(const char *path)
{
	const struct timespec moment = {.tv_nsec = STEP_MS * 1000000L};
	int64_t until = clock_ticks() + QUIET_MS;
	struct stat first, now;

	if (lstat(path, &first) < 0 || !S_ISREG(first.st_mode))
		return false;
	while (clock_ticks() < until) {
		nanosleep(&moment, NULL);
		if (lstat(path, &now) < 0 || !same(&first, &now))
			return false;
	}
	return !process_has_open(path);
}

static void clear(const char *path, bool ours)
{
	if (path_exists(path) && (ours || is_abandoned(path)))
		(void)unlink(path); /* if it cannot be removed, git reports it */
}

void locks_clear(struct arena *a, struct pool *p, const struct allocation *of, const char *admin)
{
	static const char *const of_admin[] = {
		"HEAD.lock", "ORIG_HEAD.lock", "index.lock", "config.worktree.lock"};
	static const char *const of_all[] = {"packed-refs.lock", "config.lock", "shallow.lock"};

	clear(arena_printf(a, "%s/refs/heads/%s.lock", p->common, of->branch), of->made_branch);
	for (size_t i = 0; admin && i < COUNT(of_admin); i++)
		clear(path_join(a, admin, of_admin[i]), of->state == ALLOCATION_MAKING);
	for (size_t i = 0; i < COUNT(of_all); i++)
		clear(path_join(a, p->common, of_all[i]), false);
}
