#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include "src/base/clock.h"
#include "src/sys/path.h"
#include "src/sys/process.h"
#include "src/worktree/pool_internal.h"

enum { PAGE = 256, STRAY_MS = 3000, STRAY_STEP_MS = 20 };

char *making_mark(struct arena *a, const char *path)
{
	char digest[DIGEST_TEXT];

	record_digest(path, digest);
	return arena_printf(a, "DEV_TEAM_POOL_MAKING=%s", digest);
}

/* ---- processes that outlive a dead one ---- */

struct strays_of {
	const char *mark;
	bool kill;
	size_t n;
};

static void count_stray(const struct process_info *info, void *arg)
{
	struct strays_of *s = arg;

	if (info->pid == getpid() || info->state == 'Z' || !process_has_env(info->pid, s->mark))
		return;
	s->n++;
	if (s->kill)
		(void)kill(info->pid, SIGKILL);
}

/* The kernel ends its git; processes that a hook started may go on. */
static void end_strays(struct arena *a, const struct allocation *of)
{
	const struct timespec moment = {.tv_nsec = STRAY_STEP_MS * 1000000L};
	int64_t begun = clock_ticks();
	struct strays_of s = {.mark = making_mark(a, of->path)};

	for (;;) {
		s.n = 0;
		s.kill = clock_ticks() - begun > STRAY_MS / 2;
		process_each(count_stray, &s);
		if (!s.n || clock_ticks() - begun > STRAY_MS)
			return;
		nanosleep(&moment, NULL);
	}
}

/* ---- an unfinished creation ---- */

/* Somebody has put files there: it becomes a normal worktree, and nothing is written. */
static int keep_as_it_is(struct arena *a, struct pool *p, struct allocation *of,
	const struct place *at, struct error *err)
{
	static const char *const args[] = {"reset", "-q", NULL};
	const char *lock = path_join(a, at->admin, "locked");
	int status;

	if (pool_git(p, of->path, args, NULL, &status, err) < 0)
		return -1;
	if (at->locked && strcmp(at->locked, "initializing") == 0)
		(void)unlink(lock);
	of->state = ALLOCATION_LIVE;
	of->pid = 0;
	return record_put(a, p, of, err);
}

static int look_for_foreign(struct arena *a, struct pool *p, const struct allocation *of,
	const char **foreign, struct error *err)
{
	const char *commit;
	struct stat st;

	*foreign = NULL;
	if (lstat(of->path, &st) < 0)
		return errno == ENOENT ? 0 : error_errno(err, "cannot look at '%s'", of->path);
	if (branch_commit(a, p, of, &commit, err) < 0)
		return -1;
	if (!commit) /* without a commit to compare with everything belongs to the user */
		*foreign = ".";
	return commit ? remains_look(a, p, of->path, commit, true, foreign, err) : 0;
}

static int forget(struct arena *a, struct pool *p, const struct allocation *of, struct error *err)
{
	struct change c;

	change_begin(&c, a, p);
	change_drop(&c, of);
	if (slot_release(a, p, of, &c, err) < 0)
		return -1;
	return change_commit(&c, NULL, NULL, err);
}

/* Under the lock: removes git's registration, and moves the files out of the way. */
static int take_away(struct arena *a, struct pool *p, const struct allocation *of,
	const struct place *at, bool files, struct error *err)
{
	if (files && path_exists(of->path) &&
		(trash_clear(a, p, of, err) < 0 ||
			trash_move(of->path, trash_path(a, of->path), err) < 0))
		return -1;
	if (at && admin_drop(a, p, of, at->admin, err) < 0)
		return -1;
	return branch_drop(a, p, of, err);
}

/* NAME, or NAME with the digits that git adds to make it unique. */
static bool is_named(const char *admin, const char *name)
{
	const char *base = path_base(admin).p;
	size_t n = strlen(name);

	return strncmp(base, name, n) == 0 && !base[n + strspn(base + n, "0123456789")];
}

/* Also one that git was creating when it was killed: it does not name its worktree yet. */
static int find_place(struct arena *a, struct pool *p, const char *path, struct place *at,
	bool *found, struct error *err)
{
	struct place *list;
	const char *text;
	size_t n;
	char *to;

	if (place_of(a, p, path, at, found, err) < 0 ||
		places_read(a, p->common, &list, &n, err) < 0)
		return -1;
	if (*found)
		return 0;
	if (!worktree_pointer(a, path, &to, &text))
		to = NULL;
	for (size_t i = 0; i < n && !*found; i++) {
		*at = list[i];
		*found = !at->path && ((to && strcmp(to, at->admin) == 0) ||
					      is_named(at->admin, path_base(path).p));
	}
	return 0;
}

/* *kept: it has become a normal worktree instead. */
static int undo_in_git(
	struct arena *a, struct pool *p, struct allocation *of, bool *kept, struct error *err)
{
	struct place at = {0};
	const char *foreign;
	bool found;

	*kept = false;
	if (find_place(a, p, of->path, &at, &found, err) < 0)
		return -1;
	locks_clear(a, p, of, found ? at.admin : NULL);
	if (look_for_foreign(a, p, of, &foreign, err) < 0)
		return -1;
	*kept = foreign && found && at.there;
	if (*kept)
		return keep_as_it_is(a, p, of, &at, err);
	return take_away(a, p, of, found ? &at : NULL, !foreign, err);
}

static int undo_rest(struct arena *a, struct pool *p, struct allocation *of, struct error *err)
{
	if (trash_delete(trash_path(a, of->path), err) < 0 ||
		trash_delete(trash_admin_path(a, p, of->path), err) < 0)
		return -1;
	return forget(a, p, of, err);
}

int making_undo_locked(struct arena *a, struct pool *p, struct allocation *of, struct error *err)
{
	bool kept;

	if (undo_in_git(a, p, of, &kept, err) < 0)
		return -1;
	return kept ? 0 : undo_rest(a, p, of, err);
}

int making_undo(struct arena *a, struct pool *p, struct allocation *of, struct error *err)
{
	CLEANUP(disk_lock_drop) struct disk_lock *lock = NULL;
	bool kept;

	for (const struct pool_part *const *part = pool_parts(); *part; part++)
		(*part)->undo(a, p, of);
	if (admin_lock(p, &lock, err) < 0 || undo_in_git(a, p, of, &kept, err) < 0)
		return -1;
	disk_lock_drop(&lock);
	return kept ? 0 : undo_rest(a, p, of, err);
}

/* ---- all of a repository ---- */

static int claim(
	struct arena *a, struct pool *p, struct allocation *of, bool *won, struct error *err)
{
	struct change c;
	bool refused;

	record_claim(a, of);
	change_begin(&c, a, p);
	change_record(&c, of);
	if (change_commit(&c, &of->mod, &refused, err) < 0)
		return -1;
	*won = !refused;
	return 0;
}

int repair_one(
	struct arena *a, struct pool *p, struct allocation *of, bool *done, struct error *err)
{
	int rc;

	*done = false;
	if (of->state == ALLOCATION_LIVE || record_busy(of))
		return 0;
	if (claim(a, p, of, done, err) < 0)
		return -1;
	if (!*done)
		return 0;
	end_strays(a, of);
	of->resumed = true;
	rc = of->state == ALLOCATION_MAKING ? making_undo(a, p, of, err)
					    : remove_resume(a, p, of, err);
	if (rc < 0)
		record_give_up(a, p, of->path, err->text);
	return rc;
}

static int repair_at(struct arena *a, struct pool *p, struct str digest, struct error *err)
{
	struct allocation of;
	struct store_kv kv;
	bool done;

	if (store_get(p->store, a, arena_printf(a, "at/%.*s", (int)digest.n, digest.p), &kv, err) !=
		STORE_OK)
		return -1;
	if (!kv.mod)
		return 0;
	if (record_parse(a, &kv, &of, err) < 0)
		return -1;
	return record_ours(p, &of) ? repair_one(a, p, &of, &done, err) : 0;
}

int pool_repair(struct arena *a, struct pool *p, struct error *err)
{
	struct store_kv *list;
	const char *after = NULL;
	size_t n;
	int64_t at;

	do {
		if (store_list(p->store, a, "doing/", after, PAGE, &list, &n, &at, err) != STORE_OK)
			return -1;
		for (size_t i = 0; i < n; i++) {
			struct str digest = str_sub(list[i].key, strlen("doing/"), list[i].key.n);
			struct error why = {0};

			/* One that cannot be repaired must not block the others. */
			if (str_is(list[i].value, p->common) && repair_at(a, p, digest, &why) < 0)
				p->notice = arena_printf(a, "%s%s%s", p->notice ? p->notice : "",
					p->notice ? "\n" : "", why.text);
			after = arena_dup(a, list[i].key);
		}
	} while (n == PAGE);
	return 0;
}
