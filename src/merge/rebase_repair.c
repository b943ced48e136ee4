/*
 * Restores a worktree. `git rebase --abort` is tried first. If it fails, because git was killed
 * before it had written all of its notes, the files of the new base are checked out and then those
 * of the branch, so that git knows every file of a partial checkout and removes it. This is done
 * only if a record shows that the rebase was ours and began in a clean worktree, and only under the
 * gate: its previous holder has been ended. What others have written there since is stashed first
 * (rebase_keep.c).
 */
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <sys/stat.h>
#include <time.h>
#include "src/base/clock.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/merge/rebase_internal.h"

enum { LOCK_MS = 1000, RESET_S = 600, DIRECTORIES = 16 };

int rebase_look(struct rebasing *w, struct git_head *h, struct error *err)
{
	if (git_read_head(w->a, w->path, h, err) < 0)
		return -1;
	w->git_dir = h->git_dir;
	w->batch_ssh = !h->own_ssh;
	return 0;
}

static bool same_file(const char *path, const struct stat *was)
{
	struct stat st;

	return lstat(path, &st) == 0 && st.st_ino == was->st_ino &&
	       st.st_mtim.tv_sec == was->st_mtim.tv_sec &&
	       st.st_mtim.tv_nsec == was->st_mtim.tv_nsec;
}

/* A running git has its lock for moments; a killed one for ever. */
static void drop_lock(const char *path)
{
	const struct timespec moment = {.tv_nsec = 20000000};
	int64_t until = clock_ticks() + LOCK_MS;
	struct stat st;

	if (lstat(path, &st) < 0)
		return;
	while (same_file(path, &st)) {
		if (clock_ticks() >= until) {
			(void)unlink(path);
			return;
		}
		(void)nanosleep(&moment, NULL);
	}
}

static void drop_own_locks(struct rebasing *w)
{
	DIR *dir = opendir(w->git_dir);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (str_ends(str_of(entry->d_name), ".lock"))
			drop_lock(path_join(w->a, w->git_dir, entry->d_name));
	if (dir)
		closedir(dir);
}

static void drop_locks(struct rebasing *w)
{
	const char *refs[] = {
		"packed-refs.lock", /* taken for each reference that is deleted */
		arena_printf(w->a, "refs/heads/%s.lock", w->branch),
		arena_printf(w->a, "refs/remotes/origin/%s.lock", w->branch),
		arena_printf(w->a, "refs/remotes/origin/%s.lock", w->target),
	};

	drop_own_locks(w);
	for (size_t i = 0; i < COUNT(refs) && w->p->common; i++)
		drop_lock(path_join(w->a, w->p->common, refs[i]));
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

static int drop_notes(struct rebasing *w, struct error *err)
{
	static const char *const names[] = {"rebase-merge", "rebase-apply", "REBASE_HEAD",
		"AUTO_MERGE", "CHERRY_PICK_HEAD", "MERGE_HEAD", "MERGE_MODE", "MERGE_MSG"};

	for (size_t i = 0; i < COUNT(names); i++) {
		const char *dir = path_join(w->a, w->git_dir, names[i]);

		if (nftw(dir, remove_one, DIRECTORIES, FTW_DEPTH | FTW_PHYS) != 0 &&
			errno != ENOENT)
			return error_errno(err, "cannot remove '%s'", dir);
	}
	return 0;
}

static int must(struct rebasing *w, const char *const *argv, const char *name, struct error *err)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	return rebase_git(w, argv, name, RESET_S, &out, NULL, err);
}

static int lay_out(struct rebasing *w, const char *sha, struct error *err)
{
	const char *const argv[] = {"git", "read-tree", "--reset", "-u", sha, NULL};

	return sha ? must(w, argv, "git read-tree", err) : 0;
}

static int by_hand(struct rebasing *w, const char *sha, struct error *err)
{
	const char *branch = arena_printf(w->a, "refs/heads/%s", w->branch);
	const char *const head[] = {"git", "symbolic-ref", "-m", "dev-team: a rebase is taken back",
		"HEAD", branch, NULL};
	const char *const set[] = {
		"git", "update-ref", "-m", "dev-team: a rebase is taken back", branch, sha, NULL};

	/* The new base may be incomplete: then nothing of it was checked out either. */
	if (w->rec.onto && lay_out(w, w->rec.onto, err) < 0)
		*err = (struct error){0};
	if (lay_out(w, sha, err) < 0 || drop_notes(w, err) < 0 ||
		must(w, head, "git symbolic-ref", err) < 0)
		return -1;
	return must(w, set, "git update-ref", err);
}

/* *why: NULL when the branch is checked out at `sha`, whatever the files are. */
static int stands(struct rebasing *w, const char *sha, const char **why, struct error *err)
{
	const char *at;
	struct git_head h;

	if (rebase_look(w, &h, err) < 0 ||
		rebase_sha(w, arena_printf(w->a, "refs/heads/%s", w->branch), &at, err) < 0)
		return -1;
	*why = h.busy                                          ? "a rebase is in progress"
	       : !h.branch || strcmp(h.branch, w->branch) != 0 ? "it is not checked out"
	       : !at || strcmp(at, sha) != 0                   ? "it is at another commit"
							       : NULL;
	return 0;
}

/* *why: NULL when everything is as required. Untracked files may be the stashed ones. */
static int as_before(struct rebasing *w, const char *sha, const char **why, struct error *err)
{
	struct rebase_theirs theirs;

	if (stands(w, sha, why, err) < 0)
		return -1;
	if (*why || !w->out->kept)
		return *why ? 0 : rebase_dirty(w, why, err);
	if (rebase_theirs(w, &theirs, err) < 0)
		return -1;
	return theirs.n ? 0 : rebase_dirty(w, why, err);
}

static bool in_rebase(const struct git_head *h)
{
	return h->busy && strncmp(h->busy, "rebase", 6) == 0;
}

static int abort_rebase(struct rebasing *w)
{
	static const char *const argv[] = {"git", "rebase", "--abort", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct error words;
	int status;

	return rebase_git(w, argv, "git rebase --abort", RESET_S, &out, &status, &words);
}

/* *done: it is as before already, or git never began: then any changes belong to the user. */
static int put_by_others(struct rebasing *w, const char *sha, bool *done, struct error *err)
{
	struct rebase_theirs theirs;
	const char *why;

	if (rebase_theirs(w, &theirs, err) < 0 || stands(w, sha, &why, err) < 0)
		return -1;
	*done = !why && theirs.n;
	return *done ? 0 : rebase_keep(w, &theirs, err);
}

int rebase_put_back(struct rebasing *w, const char *sha, struct error *err)
{
	struct git_head h;
	const char *why;
	bool done;

	if (gate_check(w->g, err) < 0 || rebase_save(w, "restoring", err) < 0 ||
		rebase_look(w, &h, err) < 0 || put_by_others(w, sha, &done, err) < 0)
		return -1;
	if (done)
		return 0;
	if (in_rebase(&h))
		(void)abort_rebase(w);
	if (as_before(w, sha, &why, err) < 0)
		return -1;
	if (!why)
		return 0;
	drop_locks(w);
	if (gate_check(w->g, err) < 0 || by_hand(w, sha, err) < 0 ||
		as_before(w, sha, &why, err) < 0)
		return -1;
	if (why)
		return error_set(err, ERR_STATE, "'%s' could not be restored to %.12s: %s", w->path,
			sha, why);
	return 0;
}

/* Killed while it was restored: unless the branch has moved on since. */
static int half_restored(struct rebasing *w, const struct git_head *h, bool *yes, struct error *err)
{
	const char *at;

	*yes = false;
	if (strcmp(w->rec.state, "restoring") != 0 || h->busy || !h->branch ||
		strcmp(h->branch, w->branch) != 0)
		return 0;
	if (rebase_sha(w, arena_printf(w->a, "refs/heads/%s", w->branch), &at, err) < 0)
		return -1;
	*yes = at &&
	       (strcmp(at, w->rec.before) == 0 || (w->rec.after && strcmp(at, w->rec.after) == 0));
	return 0;
}

/* Undoes what the killed rebase did. */
static int take_back(struct rebasing *w, const struct git_head *h, bool *done, struct error *err)
{
	enum rebase_whose whose = REBASE_ANOTHERS;
	bool half;

	if (half_restored(w, h, &half, err) < 0 ||
		(in_rebase(h) && rebase_whose(w, h, &whose, err) < 0))
		return -1;
	*done = half || whose != REBASE_ANOTHERS;
	if (whose == REBASE_UNBEGUN)
		return drop_notes(w, err);
	return *done ? rebase_put_back(w, w->rec.before, err) : 0;
}

/* Without a rebase of ours in progress, git was killed before it began or after it had finished:
 * the worktree is intact, and its changes may belong to the user. */
int rebase_repair(struct rebasing *w, bool *done, struct error *err)
{
	struct git_head h;

	*done = false;
	if (!w->rec.mod || !w->rec.before ||
		(strcmp(w->rec.state, "rebasing") != 0 && strcmp(w->rec.state, "restoring") != 0))
		return 0;
	if (rebase_look(w, &h, err) < 0)
		return -1;
	drop_locks(w);
	return take_back(w, &h, done, err) < 0 ? -1 : rebase_save(w, "failed", err);
}
