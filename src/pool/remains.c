#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "src/base/path.h"
#include "src/base/procfs.h"
#include "src/pool/pool_internal.h"

/*
 * What a checkout that was cut off, or a removal that was, leaves behind: files as the commit has
 * them, one perhaps with its end missing. All else in the folder is somebody's.
 */

#define INDEX_PREFIX ".pools-index-"

enum { CONTENT_MAX = 64 << 20 };

struct look {
	struct arena *arena;
	struct pool *pool;
	const char *path, *commit;
	const char *env[4];
	const char **foreign;
	struct error *err;
};

static int ask(struct look *l, const char *const *args, struct buf *out, int *status)
{
	return pool_git_env(l->pool, l->path, args, l->env, GIT_S, out, status, l->err);
}

/* The beginning of what a checkout would write, or all of it. */
static int is_cut_off(struct look *l, const char *name, bool *is)
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
	if (st.st_size == 0) {
		*is = true;
		return 0;
	}
	if (ask(l, args, &want, &status) < 0)
		return -1;
	if (status != 0 || file_read(&have, file, CONTENT_MAX, NULL, &ignored) < 0)
		return 0;
	*is = have.len <= want.len && memcmp(have.s, want.s, have.len) == 0;
	return 0;
}

/* Each NUL-ended name of `list`; the first that `mine` does not explain is foreign. */
static int first_foreign(struct look *l, struct str list, bool may_be_cut)
{
	for (size_t at = 0; at < list.n && !*l->foreign; at += strlen(list.p + at) + 1) {
		const char *name = list.p + at;
		bool cut = false;

		if (may_be_cut && is_cut_off(l, name, &cut) < 0)
			return -1;
		if (!cut)
			*l->foreign = arena_dup(l->arena, str_of(name));
	}
	return 0;
}

static int compare(struct look *l)
{
	const char *const fill[] = {"read-tree", l->commit, NULL};
	static const char *const changed[] = {
		"diff-files", "-z", "--name-only", "--diff-filter=MTUX", NULL};
	static const char *const others[] = {
		"ls-files", "-z", "--others", "--exclude-standard", NULL};
	CLEANUP(buf_release) struct buf mod = BUF_INIT, more = BUF_INIT;

	if (ask(l, fill, NULL, NULL) < 0 || ask(l, others, &more, NULL) < 0 ||
		first_foreign(l, buf_str(&more), false) < 0)
		return -1;
	if (*l->foreign)
		return 0;
	return ask(l, changed, &mod, NULL) < 0 ? -1 : first_foreign(l, buf_str(&mod), true);
}

/* Of processes that were killed while they compared. */
static void drop_dead_indexes(struct arena *a, const struct pool *p)
{
	DIR *dir = opendir(p->state);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		struct str name = str_of(entry->d_name);
		struct proc_info ignored;
		long pid;

		if (!str_starts(name, INDEX_PREFIX))
			continue;
		pid = strtol(name.p + strlen(INDEX_PREFIX), NULL, 10);
		if (pid > 0 && !proc_info((pid_t)pid, &ignored))
			(void)unlink(path_join(a, p->state, name.p));
	}
	if (dir)
		closedir(dir);
}

int remains_look(struct arena *a, struct pool *p, const char *path, const char *commit,
	const char **foreign, struct error *err)
{
	const char *index = arena_printf(a, "%s/" INDEX_PREFIX "%d", p->state, (int)getpid());
	struct look l = {.arena = a,
		.pool = p,
		.path = path,
		.commit = commit,
		.env = {arena_printf(a, "GIT_INDEX_FILE=%s", index),
			arena_printf(a, "GIT_DIR=%s", p->common),
			arena_printf(a, "GIT_WORK_TREE=%s", path)},
		.foreign = foreign,
		.err = err};
	int rc;

	*foreign = NULL;
	drop_dead_indexes(a, p);
	(void)unlink(index);
	rc = compare(&l);
	(void)unlink(index);
	(void)unlink(arena_printf(a, "%s.lock", index));
	return rc;
}
