#include <sys/stat.h>
#include "src/sys/path.h"
#include "src/worktree/item.h"
#include "src/worktree/pool.h"

int item_worktree_create(struct arena *a, const struct item_worktree_request *r,
	struct item_worktree *out, struct error *err)
{
	const struct allocate_ask ask = {.branch = r->branch,
		.base = r->base,
		.target = r->target,
		.run = r->run,
		.issue = r->issue,
		.port = r->port,
		.parent = r->parent,
		.slots = r->slots,
		.slot_ports = r->slots ? 1 : 0};
	CLEANUP(pool_close) struct pool pool = {0};
	struct allocation of;
	bool created;

	if (pool_open(a, r->pool, r->repo, r->state, r->artifacts, &pool, err) < 0 ||
		pool_allocate(a, &pool, &ask, &of, &created, err) < 0)
		return -1;
	*out = (struct item_worktree){of.path, of.branch, of.tip, of.port, created};
	return 0;
}

enum item_worktree_state item_worktree_inspect(struct arena *a, const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
		return ITEM_WORKTREE_LINK;
	return path_exists(path_join(a, path, ".git")) ? ITEM_WORKTREE_THERE
						       : ITEM_WORKTREE_MISSING;
}

int item_worktree_release(
	struct arena *a, const struct item_worktree_request *r, const char *path, struct error *err)
{
	CLEANUP(pool_close) struct pool pool = {0};
	bool removed;

	return pool_open(a, r->pool, r->repo, r->state, r->artifacts, &pool, err) < 0
		       ? -1
		       : pool_reclaim(a, &pool, path, false, &removed, err);
}
