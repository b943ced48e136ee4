/*
 * warm.c: branches that are made in advance. Handing one over opens no database: its record gets
 * another key. It fits a worktree whose migrations are those that it was made with.
 */
#include "src/branchdb/branchdb_internal.h"
#include "src/base/clock.h"
#include "src/sys/digest.h"
#include "src/sys/git.h"
#include "src/sys/process.h"

/* Adds the tracked files in `migrationCwd` with their blobs. *plain: there are no others, and none
 * has been changed. */
static int list_migrations(struct arena *a, const char *worktree, const char *cwd, struct buf *out,
	bool *plain, struct error *err)
{
	const char *const argv[] = {"git", "ls-files", "-t", "--stage", "--modified", "--others",
		"--exclude-standard", "-z", "--", *cwd ? cwd : ".", NULL};
	const struct git_command c = {.dir = worktree, .name = "git ls-files", .argv = argv};
	CLEANUP(buf_release) struct buf files = BUF_INIT;
	int status;

	if (git_unchanged_directory(a, worktree, cwd, out))
		return 0;
	if (git_command(&c, &files, &status, err) < 0)
		return -1;
	*plain = status == 0;
	for (size_t at = 0; at < files.len && *plain; at += strlen(files.s + at) + 1)
		*plain = str_starts(str_of(files.s + at), "H ");
	buf_add(out, buf_str(&files));
	return 0;
}

/* Of the files in `migrationCwd`, and of what else decides how a branch is made. NULL: some of them
 * are not tracked or were changed, so that no branch made in advance fits. */
static int migrations_digest(struct arena *a, const struct database_pool_spec *pool,
	const char *worktree, const char **out, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	bool migrates = pool->migrations && pool->on_create, plain = true;
	char digest[DIGEST_TEXT];

	*out = NULL;
	buf_addf(&text, "%s\n%s\n%s\n%s\n", pool->adapter, pool->connection_env,
		pool->branch_from ? pool->branch_from : "",
		migrates ? pool->migration_command : "");
	if (migrates && list_migrations(a, worktree, pool->migration_cwd ? pool->migration_cwd : "",
				&text, &plain, err) < 0)
		return -1;
	if (!plain)
		return 0;
	digest_text(buf_str(&text), digest);
	*out = arena_dup(a, str_of(digest));
	return 0;
}

static bool is_warm(const struct branchdb_branch *b, const struct database_pool_spec *pool)
{
	return b->warm && b->state == BRANCHDB_LIVE && strcmp(b->pool, pool->name) == 0;
}

int branch_take_warm(struct branchdb *db, const struct branchdb_request *q, const char *slot,
	struct branchdb_branch *out, bool *taken, struct error *err)
{
	struct branchdb_list all;
	const char *digest = NULL;

	*taken = false;
	if (branchdb_list(db, &all, err) < 0)
		return -1;
	for (size_t i = 0; i < all.n && !*taken; i++) {
		struct branchdb_branch *b = &all.items[i];
		bool refused;

		if (!is_warm(b, q->pool))
			continue;
		if (!digest && migrations_digest(db->arena, q->pool, q->worktree, &digest, err) < 0)
			return -1;
		if (!digest)
			return 0;
		if (strcmp(b->warm, digest) != 0)
			continue;
		b->active = clock_now();
		if (branch_rename(db, b, slot, q->branch, NULL, &refused, err) < 0)
			return -1;
		*taken = !refused;
		if (*taken)
			*out = *b;
	}
	return 0;
}

static int remove_stale(struct branchdb *db, const struct database_pool_spec *pool,
	const char *digest, struct error *err)
{
	struct branchdb_list all;

	if (branchdb_list(db, &all, err) < 0)
		return -1;
	for (size_t i = 0; i < all.n; i++)
		if (is_warm(&all.items[i], pool) &&
			(!digest || strcmp(all.items[i].warm, digest) != 0) &&
			branchdb_remove(db, &all.items[i], "stale", err) < 0)
			return -1;
	return 0;
}

char *branch_fresh_name(struct arena *a, const char *word)
{
	static unsigned made;
	char digest[DIGEST_TEXT];

	digest_text(str_of(arena_printf(a, "%s %u", process_own_name(a), made++)), digest);
	return arena_printf(a, "%s %.12s", word, digest);
}

int branchdb_refill(struct branchdb *db, const struct database_pool_spec *pool,
	const char *worktree, size_t *made, struct error *err)
{
	const char *digest;

	*made = 0;
	if (migrations_digest(db->arena, pool, worktree, &digest, err) < 0 ||
		remove_stale(db, pool, digest, err) < 0)
		return -1;
	for (bool more = digest != NULL; more && *made < pool->warm;) {
		const struct branchdb_request q = {.pool = pool,
			.worktree = worktree,
			.warm = digest,
			.branch = branch_fresh_name(db->arena, "warm")};
		struct branchdb_branch b;

		if (branchdb_allocate(db, &q, &b, err) < 0)
			return -1;
		more = b.mod != 0;
		*made += more;
	}
	return 0;
}

int branchdb_lacks_warm(
	struct branchdb *db, const struct database_pool_spec *pool, bool *lacks, struct error *err)
{
	struct branch_counts now;

	*lacks = false;
	if (!pool->warm)
		return 0;
	if (branch_count(db, pool->name, &now, err) < 0)
		return -1;
	*lacks = now.warm < pool->warm && now.all < pool->max_branches;
	return 0;
}
