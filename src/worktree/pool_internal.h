/*
 * pool_internal.h: what the files of this room share. Private to this room.
 */
#ifndef DT_WORKTREE_INTERNAL_H
#define DT_WORKTREE_INTERNAL_H

#include "src/worktree/pool.h"

/* How long to wait for the lock: DEV_TEAM_LOCK_WAIT_MS, or this if it is not set. */
unsigned pool_lock_wait(unsigned unset_ms);
bool directory_is_empty(const char *path);

/* ---- names.c ---- */

/* -1: ERR_USAGE unless git accepts it as a branch name. */
int branch_check(const char *branch, struct error *err);
/* Absolute and without `..`; the existing part is resolved. */
char *path_settle(struct arena *a, const char *path);
/* `path` is below `dir`, not `dir` itself; compares the texts. */
bool path_beneath(const char *dir, const char *path);
/* Where PATH/.git, a plain file, points: *to NULL if it is not a pointer; *text: its content.
 * False: the file does not exist. */
bool worktree_pointer(struct arena *a, const char *path, char **to, const char **text);
/* PATH/.git is a file: a linked worktree, not a clone. */
bool worktree_there(const char *path);

/* ---- record.c: the lock and the records ---- */

struct records {
	struct allocation *items;
	size_t n, cap;
};
/* Sorted by slug. */
int records_read(struct arena *a, struct pool *p, struct records *out, struct error *err);
/* Case does not count, because it does not on some file systems. NULL: none. */
struct allocation *records_find(const struct records *r, const char *slug);
/* How many have it as parent; *first: the path of one. */
size_t records_children(const struct records *r, const struct allocation *of, const char **first);
int record_put(struct arena *a, struct pool *p, const struct allocation *of, struct error *err);
int record_drop(struct arena *a, struct pool *p, const char *slug, struct error *err);

int pool_lock(struct arena *a, struct pool *p, struct error *err);
/* Takes the lock, settles what was interrupted, and reads the records. Always pair with
 * pool_end(). */
int pool_begin(struct arena *a, struct pool *p, struct records *out, struct error *err);
void pool_end(struct pool *p);

/* ---- trees.c: git ---- */

/* Runs git in `at`; NULL: in the repository; without a file system monitor and, unless `hooks`,
 * without hooks, because agents can write the configuration. *status NULL: a status other than 0 is
 * an error. `out` may be NULL. */
int pool_git(struct pool *p, const char *at, bool hooks, const char *const *args, struct buf *out,
	int *status, struct error *err);
/* *line: the first of what git prints, "" if nothing; NULL: git failed, *said has why. */
int pool_git_line(struct arena *a, struct pool *p, const char *at, const char *const *args,
	const char **line, const char **said, struct error *err);

struct tree {
	const char *path, *head;
	const char *branch; /* NULL: detached */
	const char *locked; /* reason, may be ""; NULL: not locked */
};
struct trees {
	struct tree *items; /* the first is the main one */
	size_t n, cap;
};
int trees_read(struct arena *a, struct pool *p, struct trees *out, struct error *err);
const struct tree *trees_at(const struct trees *t, const char *path);
const struct tree *trees_on(const struct trees *t, const char *branch);
/* Removes the directory with everything below it; does not follow links. */
int tree_delete(struct pool *p, const char *path, struct error *err);
/* ---- remove.c ---- */

/*
 * Why it must be kept, the first that applies: live, children, foreign, locked, uncommitted,
 * unpushed, unsure. KEEP_NOTHING: it may be removed. `confirmed`: ignores the last three. *text:
 * for people.
 */
int pool_keep(struct arena *a, struct pool *p, const struct records *all,
	const struct allocation *of, bool confirmed, enum keep_reason *why, const char **text,
	struct error *err);
/* Removes what pool_keep() does not keep. -1: ERR_STATE when work has appeared meanwhile. */
int pool_remove(
	struct arena *a, struct pool *p, struct allocation *of, bool confirmed, struct error *err);
/* Deletes what an interrupted creation left, or finishes an interrupted removal. */
int pool_settle(struct arena *a, struct pool *p, struct allocation *of, struct error *err);
/* *who: what uses it, for people; NULL: nothing. Uses are: the process in the record, a run whose
 * state.json has a fresh heartbeat, a process whose working directory is in it. */
int pool_live(struct arena *a, struct pool *p, const struct allocation *of, const char **who,
	struct error *err);

/* ---- list.c ---- */

/* The records, and the worktrees in the pool's directory without one, by path. */
int entries_read(struct arena *a, struct pool *p, const struct records *all, int64_t now,
	struct pool_entry **out, size_t *n, struct error *err);

/* The one with this branch, else slug, else path. */
int entry_find(struct arena *a, struct pool *p, const struct records *all, const char *what,
	struct pool_entry *out, bool *found, struct error *err);

/* ---- ports.c ---- */

/* Including those reserved for children. */
unsigned allocation_block(const struct allocation *of);
/* Sets port, ports, slots, slot_ports and parent. */
int ports_choose(struct pool *p, const struct records *all, const struct allocate_ask *ask,
	struct allocation *of, struct error *err);
/* Emits PortCollision if they are not the first ones, and writes them into the issue's
 * runtime.json. */
int ports_report(struct pool *p, const struct allocate_ask *ask, const struct allocation *of,
	struct error *err);

#endif
