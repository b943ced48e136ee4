#include <unistd.h>
#include "src/sys/path.h"
#include "src/sys/process.h"
#include "src/worktree/pool_internal.h"

/*
 * A killed git leaves its lock files behind, and every later git stops at them. Those of a branch
 * and an admin directory that are being created belong to us alone. Others may belong to a git that
 * is running now: they are removed if no process has them open and they have not changed for a
 * while.
 */

static void clear(const char *path, bool ours)
{
	if (path_exists(path) && (ours || process_abandoned(path)))
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
