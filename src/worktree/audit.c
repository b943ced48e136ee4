/*
 * audit.c: compares records, worktrees and ports.
 */
#include "src/base/clock.h"
#include "src/base/vec.h"
#include "src/sys/directory.h"
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

struct audit {
	struct arena *arena;
	struct pool *pool;
	struct records all;
	VEC(struct leak) leaks;
};

static void add(struct audit *t, const char *kind, const char *path, const char *text)
{
	vec_push_in(t->arena, &t->leaks, (struct leak){kind, path, text});
}

static int audit_worktree(struct audit *t, const struct pool_entry *e, struct error *err)
{
	const char *path = e->of.path;
	struct ownership own;

	if (e->of.fault)
		add(t, e->of.state == ALLOCATION_MAKING ? "half-made" : "half-removed", path,
			e->of.fault);
	else if (e->recorded && !e->there)
		add(t, "record-without-worktree", path,
			path_exists(path) ? "the directory is not a worktree"
					  : "the directory does not exist: 'pool reclaim' returns "
					    "its ports");
	else if (!e->recorded && !e->keep)
		add(t, "unrecorded-worktree", path,
			"it has no record: 'pool adopt' makes one, 'pool reclaim' removes it");
	if (!e->recorded || !e->there || e->of.fault)
		return 0;
	if (pool_ownership(t->arena, path, t->pool->common, &own, err) < 0)
		return -1;
	if (own.reason != OWNED_OK)
		add(t, "foreign-worktree", path,
			arena_printf(t->arena, "it belongs to '%s' (%s)",
				own.actual ? own.actual : "", owned_word(own.reason)));
	else if (!path_exists(own.actual))
		add(t, "worktree-without-admin", path,
			arena_printf(t->arena, "git has no worktree there: '%s'", own.actual));
	return 0;
}

/* A child's ports are a part of its parent's; all others have their own. */
static void audit_ports(struct audit *t, size_t i)
{
	const struct allocation *of = &t->all.items[i], *parent = NULL;
	unsigned end = of->port + allocation_block(of);

	for (size_t k = 0; k < t->all.n; k++) {
		const struct allocation *o = &t->all.items[k];

		if (of->parent && strcmp(of->parent, o->path) == 0)
			parent = o;
		else if (k < i && of->port < o->port + allocation_block(o) && o->port < end &&
			 (of->parent ? of->parent : "") == (o->parent ? o->parent : ""))
			add(t, "shared-port", of->path,
				arena_printf(t->arena, "'%s' has the same ports", o->path));
	}
	if (of->parent && !parent)
		add(t, "orphan-child", of->path,
			arena_printf(t->arena, "its parent '%s' no longer exists", of->parent));
	else if (parent && (of->port < parent->port + parent->ports ||
				   end > parent->port + allocation_block(parent)))
		add(t, "child-outside", of->path,
			arena_printf(
				t->arena, "its ports are not from a slot of '%s'", parent->path));
}

static int audit_directory(struct audit *t, struct error *err)
{
	struct directory_names names = {0};
	struct trees trees;
	bool missing = false;

	if (directory_list(t->arena, t->pool->dir, &names, &missing, err) < 0 && !missing)
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		const char *path = path_join(t->arena, t->pool->dir, names.items[i]);

		if (str_starts(str_of(names.items[i]), ".removing-") ||
			(names.items[i][0] != '.' && path_is_directory(path) &&
				!path_exists(path_join(t->arena, path, ".git")) &&
				!records_find(&t->all, names.items[i])))
			add(t, "stray-folder", path, "it is not a worktree");
	}
	if (trees_read(t->arena, t->pool, &trees, err) < 0)
		return -1;
	for (size_t i = 1; i < trees.n; i++)
		if (path_beneath(t->pool->dir, trees.items[i].path) &&
			!path_exists(trees.items[i].path) &&
			!records_find(&t->all, path_base(trees.items[i].path).p))
			add(t, "orphan-admin", trees.items[i].path,
				"git has a worktree there, and it no longer exists: run 'git "
				"worktree prune'");
	return 0;
}

int pool_audit(struct arena *a, struct pool *p, struct leak **out, size_t *n, struct error *err)
{
	struct audit t = {.arena = a, .pool = p};
	struct pool_entry *list;
	size_t count;
	int rc;

	if (pool_begin(a, p, &t.all, err) < 0)
		return -1;
	rc = entries_read(a, p, &t.all, clock_now(), &list, &count, err);
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = audit_worktree(&t, &list[i], err);
	for (size_t i = 0; rc == 0 && i < t.all.n; i++)
		audit_ports(&t, i);
	if (rc == 0)
		rc = audit_directory(&t, err);
	pool_end(p);
	*out = t.leaks.items;
	*n = t.leaks.n;
	return rc;
}
