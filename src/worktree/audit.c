/*
 * audit.c: compares the records with the directories of the pool and the worktrees that git knows.
 * Ports are chosen and recorded under one lock, and a parent with children stays: there is nothing
 * to compare.
 */
#include "src/base/clock.h"
#include "src/base/vec.h"
#include "src/sys/directory.h"
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

struct audit {
	struct op o;
	VEC(struct leak) leaks;
};

static void worktree_audit_add_leak(
	struct audit *t, const char *kind, const char *path, const char *text)
{
	vec_push_in(t->o.a, &t->leaks, (struct leak){kind, path, text});
}

static int audit_worktree(struct audit *t, const struct pool_entry *e)
{
	const char *path = e->of.path;
	struct ownership own;

	if (pool_ownership(t->o.a, path, t->o.p->common, &own, t->o.err) < 0)
		return -1;
	if (e->of.fault)
		worktree_audit_add_leak(t,
			e->of.state == ALLOCATION_MAKING ? "half-made" : "half-removed", path,
			e->of.fault);
	else if (!e->recorded && !e->there)
		worktree_audit_add_leak(t, "orphan-admin", path,
			"git has a worktree there, and it no longer exists: run 'git worktree "
			"prune'");
	else if (!e->recorded)
		worktree_audit_add_leak(t, "unrecorded-worktree", path,
			"it has no record: 'pool adopt' makes one, 'pool reclaim' removes it");
	else if (e->recorded && !e->there)
		worktree_audit_add_leak(t, "record-without-worktree", path,
			"there is no worktree: 'pool reclaim' returns its ports");
	else if (e->recorded && own.reason != OWNED_OK)
		worktree_audit_add_leak(t, "foreign-worktree", path,
			arena_printf(t->o.a, "it belongs to '%s' (%s)",
				own.actual ? own.actual : "", owned_word(own.reason)));
	else if (e->recorded && !path_exists(own.actual))
		worktree_audit_add_leak(t, "worktree-without-admin", path,
			arena_printf(t->o.a, "git has no worktree there: '%s'", own.actual));
	return 0;
}

static int audit_directory(struct audit *t)
{
	struct directory_names names = {0};
	struct op *o = &t->o;
	bool missing = false;

	if (directory_list(o->a, o->p->dir, &names, &missing, o->err) < 0 && !missing)
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		const char *name = names.items[i], *path = path_join(o->a, o->p->dir, name);

		if (name[0] != '.' && path_is_directory(path) && !records_find(o, name) &&
			!trees_at(o, path))
			worktree_audit_add_leak(
				t, "stray-folder", path, "it is not a worktree of this repository");
	}
	return 0;
}

static void audit_part(void *data, const char *kind, const char *name, const char *text)
{
	struct arena *a = ((struct audit *)data)->o.a;

	worktree_audit_add_leak(data, arena_dup(a, str_of(kind)), arena_dup(a, str_of(name)),
		arena_dup(a, str_of(text)));
}

static int by_leak_path(const void *x, const void *y)
{
	return strcmp(((const struct leak *)x)->path, ((const struct leak *)y)->path);
}

int pool_audit(struct arena *a, struct pool *p, struct leak **out, size_t *n, struct error *err)
{
	struct audit t = {.o = {.a = a, .p = p, .err = err}};
	struct pool_entry *list;
	size_t count;
	int rc;

	if (op_begin(&t.o) < 0)
		return -1;
	rc = entries_read(&t.o, clock_now(), &list, &count);
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = audit_worktree(&t, &list[i]);
	rc = rc == 0 ? audit_directory(&t) : rc;
	for (const struct pool_part *const *part = pool_parts(); *part && rc == 0; part++)
		rc = (*part)->inspect(a, p, audit_part, &t, err);
	pool_unlock(p);
	vec_sort(&t.leaks, by_leak_path);
	*out = t.leaks.items;
	*n = t.leaks.n;
	return rc;
}
