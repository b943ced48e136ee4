#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "src/sys/path.h"
#include "src/sys/process.h"
#include "src/worktree/work.h"

/*
 * Recognizes what an interrupted checkout or removal leaves behind: files as the commit has them,
 * one of them possibly truncated. Everything else in the directory belongs to the user.
 */

#define INDEX_PREFIX ".pools-index-"

enum { CONTENT_MAX = 64 << 20, ENV_MAX = 4 };

struct remains {
	struct arena *arena;
	struct pool *pool;
	const char *path, *commit;
	const char *index;
	const char *env[ENV_MAX];
	size_t n_env;
	bool cut; /* one file may be truncated */
	const char **foreign;
	struct error *err;
};

static int ask(struct remains *l, const char *const *args, struct buf *out, int *status)
{
	return pool_git_env(l->pool, l->path, args, l->env, GIT_S, out, status, l->err);
}

/* The beginning of the file that a checkout would write. */
static int is_cut_off(struct remains *l, const char *name, bool *is)
{
	const char *const args[] = {
		"cat-file", "--filters", arena_printf(l->arena, "%s:%s", l->commit, name), NULL};
	CLEANUP(buf_release) struct buf want = BUF_INIT, have = BUF_INIT;
	const char *file = path_join(l->arena, l->path, name);
	struct error ignored;
	struct stat st;
	int status;

	*is = false;
	if (lstat(file, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > CONTENT_MAX)
		return 0;
	if (ask(l, args, &want, &status) < 0)
		return -1;
	if (status != 0 || sys_read_file(&have, file, CONTENT_MAX, NULL, &ignored) < 0)
		return 0;
	*is = have.len < want.len && (!have.len || memcmp(have.s, want.s, have.len) == 0);
	return 0;
}

/* Checks each NUL-terminated name of `list`: the first that a killed checkout does not explain is
 * foreign. */
static int first_foreign(struct remains *l, struct str list)
{
	for (size_t at = 0; at < list.n && !*l->foreign; at += strlen(list.p + at) + 1) {
		const char *name = list.p + at;
		bool cut = false;

		if (l->cut && is_cut_off(l, name, &cut) < 0)
			return -1;
		l->cut = l->cut && !cut; /* it was killed only once */
		if (!cut)
			*l->foreign = arena_dup(l->arena, str_of(name));
	}
	return 0;
}

/* Tracked files that differ from the commit, by content. */
static int compare(struct remains *l)
{
	const char *const fill[] = {"read-tree", l->commit, NULL};
	static const char *const refresh[] = {"update-index", "-q", "--refresh", NULL};
	static const char *const changed[] = {
		"diff-files", "-z", "--name-only", "--diff-filter=MTUX", NULL};
	CLEANUP(buf_release) struct buf mod = BUF_INIT;
	int status;

	if (ask(l, fill, NULL, NULL) < 0 || ask(l, refresh, NULL, &status) < 0 ||
		ask(l, changed, &mod, NULL) < 0)
		return -1;
	return first_foreign(l, buf_str(&mod));
}

/* Files that the commit does not have. */
static int look_for_others(struct remains *l)
{
	static const char *const others[] = {
		"ls-files", "-z", "--others", "--exclude-standard", NULL};
	static const char *const all[] = {"ls-files", "-s", "-v", "-z", NULL};
	CLEANUP(buf_release) struct buf more = BUF_INIT, index = BUF_INIT;
	struct links links;

	if (ask(l, others, &more, NULL) < 0 || ask(l, all, &index, NULL) < 0)
		return -1;
	links_look(l->arena, l->path, buf_str(&index), &links);
	*l->foreign = more.len ? arena_dup(l->arena, str_of(more.s)) : links.file;
	return 0;
}

/* A clone, or another worktree, possibly in an ignored directory. */
static int look_for_repositories(struct remains *l)
{
	const char **list, *closed;
	size_t n;

	if (nested_find(l->arena, l->path, &list, &n, &closed, l->err) < 0)
		return -1;
	*l->foreign = closed ? closed : n ? list[0] : NULL;
	return 0;
}

/* Left by processes that were killed while they compared. */
static void drop_dead_indexes(struct arena *a, const struct pool *p)
{
	DIR *dir = opendir(p->state);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		struct str name = str_of(entry->d_name);
		struct process_info ignored;
		long pid;

		if (!str_starts(name, INDEX_PREFIX))
			continue;
		pid = strtol(name.p + strlen(INDEX_PREFIX), NULL, 10);
		if (pid > 0 && !process_info((pid_t)pid, &ignored))
			(void)unlink(path_join(a, p->state, name.p));
	}
	if (dir)
		closedir(dir);
}

/* Uses an index of its own. */
static void begin(struct remains *l)
{
	l->index = arena_printf(l->arena, "%s/" INDEX_PREFIX "%d", l->pool->state, (int)getpid());
	l->env[l->n_env++] = arena_printf(l->arena, "GIT_INDEX_FILE=%s", l->index);
	*l->foreign = NULL;
	drop_dead_indexes(l->arena, l->pool);
	(void)unlink(l->index);
}

static int end(struct remains *l, int rc)
{
	(void)unlink(l->index);
	(void)unlink(arena_printf(l->arena, "%s.lock", l->index));
	return rc;
}

int remains_look(struct arena *a, struct pool *p, const char *path, const char *commit, bool cut,
	const char **foreign, struct error *err)
{
	struct remains l = {.arena = a,
		.pool = p,
		.path = path,
		.commit = commit,
		.env = {arena_printf(a, "GIT_DIR=%s", p->common),
			arena_printf(a, "GIT_WORK_TREE=%s", path)},
		.n_env = 2,
		.cut = cut,
		.foreign = foreign,
		.err = err};
	int rc;

	begin(&l);
	rc = look_for_repositories(&l);
	if (rc == 0 && !*foreign)
		rc = compare(&l);
	if (rc == 0 && !*foreign)
		rc = look_for_others(&l);
	return end(&l, rc);
}

int hidden_look(struct arena *a, struct pool *p, const char *path, const char *git_dir,
	const char **changed, struct error *err)
{
	struct remains l = {.arena = a,
		.pool = p,
		.path = path,
		.commit = "HEAD",
		.foreign = changed,
		.err = err};

	if (git_dir) {
		l.env[l.n_env++] = arena_printf(a, "GIT_DIR=%s", git_dir);
		l.env[l.n_env++] = arena_printf(a, "GIT_WORK_TREE=%s", path);
	}
	begin(&l);
	return end(&l, compare(&l));
}
