/*
 * pool_internal.h: what the files of this room share: records, changes of the store, git, and the
 * search for work that only a worktree has. Private to this room.
 *
 * Keys of the store (pool.h): at/DIGEST and port/NUMBER, and doing/DIGEST beside an at/DIGEST that
 * is `making` or `removing`, so that opening a pool finds what to repair without reading all
 * records.
 */
#ifndef DT_WORKTREE_INTERNAL_H
#define DT_WORKTREE_INTERNAL_H

#include "src/sys/digest.h"
#include "src/worktree/pool.h"
#include "src/store/disk.h"

#define POOL_STORE   "pools"
#define TRASH_PREFIX ".trash-" /* name of a worktree while it is being removed, beside it */
#define ADMIN_TRASH_PREFIX                                                                         \
	"dev-team-trash-" /* in the git directory: the same for an admin directory */
#define POOL_MARKER                                                                                \
	".pool" /* in the directory of a pool: shows whether its file system folds case */

enum { POOL_LOCK_MS = 60000, GIT_S = 300, CHECKOUT_S = 3600 };
/* How long to wait for a lock: DEV_TEAM_LOCK_WAIT_MS, or this if it is not set. */
unsigned pool_lock_wait(unsigned unset_ms);

/* ---- open.c ---- */

/* Of pool_set_parts(); ended by NULL. */
const struct pool_part *const *pool_parts(void);

/* ---- record.c ---- */

char *key_at(struct arena *a, const char *path);    /* at/DIGEST of an absolute path */
char *key_doing(struct arena *a, const char *path); /* doing/DIGEST */
char *key_port(struct arena *a, unsigned port);
void record_digest(const char *path, char out[DIGEST_TEXT]);

struct str record_text(struct arena *a, const struct allocation *of);
/* -1: ERR_INPUT for an invalid record. */
int record_parse(
	struct arena *a, const struct store_kv *kv, struct allocation *out, struct error *err);
/* The record of this path. *there false: none. */
int record_read(struct arena *a, struct pool *p, const char *path, struct allocation *out,
	bool *there, struct error *err);
/* Of all pools and repositories of this user. */
int record_all(
	struct arena *a, struct pool *p, struct allocation **out, size_t *n, struct error *err);
/* It belongs to this repository, whatever the pool's name or directory was then. */
bool record_ours(const struct pool *p, const struct allocation *of);

/* This process creates, removes or holds it from now on. */
void record_claim(struct arena *a, struct allocation *of);
/* The process in the record is still running, on this boot. A process of another container counts
 * as running for an hour of work, or for as long as it holds the worktree. False for pid 0. */
bool record_alive(const struct allocation *of);
/* Another process is creating or removing it. A record with the number of this process is one that
 * it could not finish, because it does one operation at a time. */
bool record_busy(const struct allocation *of);
/* This process could not finish what it claimed: records why, and any process may try again. */
void record_give_up(struct arena *a, struct pool *p, const char *path, const char *why);
/* Learns what boot_id() gives; a pool that is open has done so. */
int boot_read(struct error *err);
/* BOOT/SPACE: boot id of this machine and its process namespace. Static. */
const char *boot_id(void);

/* ---- mounts.c ---- */

/* A mount point at or below `dir`; NULL: none. */
const char *mount_inside(struct arena *a, const char *dir);
/* The same from the text of /proc/self/mountinfo. */
const char *mounts_find(struct arena *a, struct str mounts, const char *dir);

/* ---- change.c: one transaction ---- */

struct change {
	struct arena *arena;
	struct pool *pool;
	struct store_guard guards[STORE_OPS_MAX];
	struct store_op ops[STORE_OPS_MAX];
	size_t n_guards, n_ops;
	bool full; /* more than fits; change_commit() reports it */
};

void change_begin(struct change *c, struct arena *a, struct pool *p);
/* The key must still be at revision `mod`; 0: it must not exist. */
void change_guard(struct change *c, const char *key, int64_t mod);
void change_put(struct change *c, const char *key, struct str value);
void change_del(struct change *c, const char *key);
/* Puts at/ with a guard on of->mod, and doing/ if its state requires it. */
void change_record(struct change *c, const struct allocation *of);
/* Deletes the record, with a guard on of->mod. slot_release() releases its ports. */
void change_drop(struct change *c, const struct allocation *of);
/* *rev (may be NULL): the mod of all keys. *refused: a guard did not hold, and nothing changed; if
 * it is NULL, that is ERR_STATE. */
int change_commit(struct change *c, int64_t *rev, bool *refused, struct error *err);
/* Commits one record alone; updates of->mod. */
int record_put(struct arena *a, struct pool *p, struct allocation *of, struct error *err);

/* ---- admin.c: git ---- */

/* `at`: the work tree; NULL: the repository. *status NULL: a status other than 0 is an error.
 * `out` (may be NULL) gets stdout and stderr. */
int pool_git(struct pool *p, const char *at, const char *const *args, struct buf *out, int *status,
	struct error *err);
/* The same with more environment and a time limit. */
int pool_git_env(struct pool *p, const char *at, const char *const *args, const char *const *env,
	unsigned limit_s, struct buf *out, int *status, struct error *err);
/* Serializes writers of this repository's `worktrees` directory, references and configuration. Hold
 * it briefly; never while files are checked out or deleted. */
int admin_lock(struct pool *p, struct disk_lock **out, struct error *err);

enum { REFS_MAX = 16 };
struct ref {
	const char *name, *commit; /* full name; its commit */
};
struct refs {
	struct ref ref[REFS_MAX];
	size_t n;
	const char *below; /* one below the first name, as in a directory; NULL */
};
/* Finds those of the full names (NULL-ended) that exist. */
int refs_look(struct arena *a, struct pool *p, const char *const *names, struct refs *out,
	struct error *err);
const struct ref *refs_find(const struct refs *r, const char *name); /* NULL: not there */

/* ---- slug.c ---- */

/* -1: ERR_USAGE unless git accepts it as a branch name. */
int branch_check(const char *branch, struct error *err);
/* The two are one directory; `folds`: the file system ignores case. */
bool slug_same(const char *one, const char *other, bool folds);

/* ---- ownership.c ---- */

/* Where PATH/.git, a plain file, points: *to NULL if it is not a pointer; *text: its content.
 * False: the file does not exist. */
bool worktree_pointer(struct arena *a, const char *path, char **to, const char **text);
/* Absolute and without `..`; the existing part is resolved. */
char *path_settle(struct arena *a, const char *path);
/* `path` is below `dir`, not `dir` itself; compares the texts. */
bool path_beneath(const char *dir, const char *path);

/* ---- places.c: the worktrees that git has registered, without starting git ---- */

struct place {
	const char *admin;  /* COMMON/worktrees/NAME */
	const char *path;   /* of the worktree; NULL: unknown */
	const char *branch; /* NULL: detached */
	const char *commit; /* detached: the commit, or "" */
	const char *locked; /* reason, may be ""; NULL: not locked */
	bool there;         /* PATH/.git exists and points here */
};
/* Sorted by admin. */
int places_read(
	struct arena *a, const char *common, struct place **out, size_t *n, struct error *err);
/* One by its admin directory. */
void place_look(struct arena *a, const char *admin, struct place *out);
/* "merge", "rebase" ... in progress in the worktree of this admin directory; NULL. */
const char *place_busy(struct arena *a, const char *admin);
/* The admin directory of the worktree `path`; *found false: none. */
int place_of(struct arena *a, struct pool *p, const char *path, struct place *out, bool *found,
	struct error *err);
/* Where the worktree of `path` is now, after `git worktree move` or a move by hand to a place
 * beside it or in the pool. *to NULL: not found. */
int place_moved(struct arena *a, struct pool *p, const char *path, const char *branch,
	const char **to, struct error *err);
/* The text of the lock names a process (`pid 123`) that has ended, or is `initializing` and its
 * process must have ended. */
bool lock_is_dead(struct arena *a, const struct place *at);

/* ---- work.c: work that must not be lost ---- */

/*
 * Why it must be kept, the first that applies: busy (a process is creating or removing it), live,
 * children, foreign, locked, uncommitted, unpushed, unsure. KEEP_NOTHING: it may be removed.
 * `confirmed`: ignores uncommitted and unpushed work. *text: for people.
 */
int pool_keep(struct arena *a, struct pool *p, const struct allocation *of, bool confirmed,
	enum keep_reason *why, const char **text, struct error *err);
/* The last two of them, for a worktree at `path` (possibly its trash name). */
int work_keep(struct arena *a, struct pool *p, const char *path, enum keep_reason *why,
	const char **text, struct error *err);

/*
 * What would be lost with the git directory of a worktree whose own directory does not exist or is
 * no longer a worktree: a lock, an operation in progress, staged files, commits of a detached HEAD,
 * repositories of submodules. `confirmed`: the lock alone.
 */
int admin_keep(struct arena *a, struct pool *p, const struct place *at, bool confirmed,
	enum keep_reason *why, const char **text, struct error *err);

/* ---- remains.c ---- */

/* *foreign: the first file below `path` that is neither ignored nor equal to `commit`, or a
 * directory with its own repository; NULL: there is nothing of value. `path` need not be a
 * worktree. `cut`: a checkout may have been killed there, so one file may be truncated.
 */
int remains_look(struct arena *a, struct pool *p, const char *path, const char *commit, bool cut,
	const char **foreign, struct error *err);
/* *changed: a file of the work tree that differs from HEAD, also one marked assume-unchanged or
 * skip-worktree; NULL: none. `git_dir` NULL: git finds it. */
int hidden_look(struct arena *a, struct pool *p, const char *path, const char *git_dir,
	const char **changed, struct error *err);

/* ---- trash.c: directories that are being removed ---- */

char *trash_path(struct arena *a, const char *path); /* of a worktree; beside it */
/* Of an admin directory; beside `worktrees`, which git does not search. */
char *trash_admin_path(struct arena *a, const struct pool *p, const char *path);
/* Removes the directory and everything below it; does not follow links or enter other file systems.
 * 0 if it does not exist. */
int trash_delete(const char *path, struct error *err);
/* Clears trash_path(): removes what an earlier removal left there. -1: ERR_STATE if that has
 * something of value. */
int trash_clear(struct arena *a, struct pool *p, const struct allocation *of, struct error *err);
/* Renames it; the target must not exist. 0 if there is nothing to move. */
int trash_move(const char *from, const char *to, struct error *err);

/* ---- branch.c ---- */

/* Creates it at of->tip, with a reflog entry that identifies the allocation. */
int branch_make(struct arena *a, struct pool *p, const struct allocation *of, struct error *err);
/* The branch's commit; if it does not exist, where it began; NULL: neither is known. */
int branch_commit(struct arena *a, struct pool *p, const struct allocation *of, const char **commit,
	struct error *err);
/* Deletes it if branch_make() of this allocation created it, it has never moved, and it is not
 * checked out. */
int branch_drop(struct arena *a, struct pool *p, const struct allocation *of, struct error *err);
/* Moves the admin directory out of git's sight; hold admin_lock(). */
int admin_drop(struct arena *a, struct pool *p, const struct allocation *of, const char *admin,
	struct error *err);

/* ---- base.c ---- */

struct base {
	bool exists;      /* the branch exists, at `commit` */
	const char *name; /* otherwise where it begins, short: "origin/main" */
	const char *commit;
};
/* -1: ERR_STATE: there is nothing to begin from. */
int base_find(struct arena *a, struct pool *p, const struct allocate_ask *ask, struct base *out,
	struct error *err);
/* `dir` is a directory in `commit`. -1: ERR_USAGE, ERR_INPUT. */
int sparse_check(
	struct arena *a, struct pool *p, const char *commit, const char *dir, struct error *err);

/* ---- stand.c ---- */

enum stand {
	STAND_NOTHING, /* free: what was in the way had no value and was removed */
	STAND_OURS,    /* a worktree of this repository with our branch */
	STAND_FOREIGN, /* a worktree of another repository, or with a broken pointer: see *own */
};
/*
 * What is at of->path, under admin_lock(). `commit`: where its branch is, or would begin; NULL:
 * unknown. -1: ERR_STATE: the branch is checked out elsewhere, or something is in the way.
 */
int stand_look(struct arena *a, struct pool *p, const struct allocation *of, const char *commit,
	struct ownership *own, enum stand *out, struct error *err);

/* ---- make.c ---- */

/* Creates the pool's directory with its marker; hold admin_lock(). */
int directory_make(struct arena *a, struct pool *p, struct error *err);
/* Its file system ignores case. False while it does not exist. */
bool directory_folds(struct arena *a, const struct pool *p);
/* Creates branch and worktree, without files; hold admin_lock(). */
int worktree_add(struct arena *a, struct pool *p, const struct allocation *of, struct error *err);
/* Checks out the files and runs git's hook; without the lock. */
int worktree_fill(struct arena *a, struct pool *p, struct allocation *of, struct error *err);

/* ---- remove.c ---- */

/* Removes one allocation in two phases, with its ports and record. -1: ERR_STATE with why it is
 * kept. of->mod must be that of the record. */
int pool_remove(
	struct arena *a, struct pool *p, struct allocation *of, bool confirmed, struct error *err);
/* Continues where a dead process stopped; the record is claimed. */
int remove_resume(struct arena *a, struct pool *p, struct allocation *of, struct error *err);

/* ---- repair.c ---- */

/* Environment of the processes that create an allocation: NAME=DIGEST. */
char *making_mark(struct arena *a, const char *path);
/* Undoes the creation of an allocation; the record is claimed. Foreign files are kept. */
int making_undo(struct arena *a, struct pool *p, struct allocation *of, struct error *err);
/* The same for a caller that holds admin_lock(). */
int making_undo_locked(struct arena *a, struct pool *p, struct allocation *of, struct error *err);
/* Finishes or undoes the operation of a dead process. *done false: another process does already. */
int repair_one(
	struct arena *a, struct pool *p, struct allocation *of, bool *done, struct error *err);
/* All of this repository. Reports what cannot be repaired through p->notice. */
int pool_repair(struct arena *a, struct pool *p, struct error *err);

/* ---- locks.c ---- */

/* Removes lock files that a killed git has left and every later one would stop at. Under
 * admin_lock(), once no process of the dead one is running. `admin` NULL: there is none. */
void locks_clear(struct arena *a, struct pool *p, const struct allocation *of, const char *admin);

/* ---- block.c: the ports of one allocation ---- */

/* Including those reserved for children. */
unsigned slot_block(const struct allocation *of);
/* Digest of the owner of the port; "" with mod 0: none. */
int port_owner(struct arena *a, struct pool *p, unsigned port, struct str *digest, int64_t *mod,
	struct error *err);
/* Adds that the port, at `mod`, belongs to the worktree from now on. */
void port_take(struct change *c, unsigned port, const char *path, int64_t mod);
/* slot_choose() of an allocation without a parent. */
int block_choose(struct arena *a, struct pool *p, const struct allocate_ask *ask,
	struct allocation *of, struct change *c, struct error *err);

/* ---- port_note.c: events and records about ports ---- */

/* PortCollision: `attempts` ports from `candidate` on were tried; port 0: without success. */
int port_tell(struct pool *p, const char *issue, const char *path, unsigned candidate,
	unsigned port, struct error *err);
/* The same for a committed allocation whose ports are not its candidate's. */
int port_note(struct pool *p, const struct allocate_ask *ask, const struct allocation *of,
	struct error *err);
/* Writes ports, worktree and branch into runtime.json of the issue; NULL: does nothing. */
int port_remember(
	struct pool *p, const char *issue, const struct allocation *of, struct error *err);
/* *port: the first that runtime.json of the issue has for this worktree; 0: none. */
int port_recall(
	struct pool *p, const char *issue, const char *path, unsigned *port, struct error *err);

/* ---- slots.c ---- */

/* Picks the block of ports and sets of->port, ports, slots, slot_ports, parent; adds to `c` the
 * keys of the ports and the guard on the parent. `c` must not contain the record yet. */
int slot_choose(struct arena *a, struct pool *p, const struct allocate_ask *ask,
	struct allocation *of, struct change *c, struct error *err);
/* Adds what releases the ports of `of`, or returns them to the parent. */
int slot_release(struct arena *a, struct pool *p, const struct allocation *of, struct change *c,
	struct error *err);
/* How many allocations have it as parent; *first: the path of one, or NULL. */
int slot_children(struct arena *a, struct pool *p, const struct allocation *of, size_t *n,
	const char **first, struct error *err);

/* ---- mark.c: holder and ports, for processes with another state directory ---- */

/* Writes a file that takes the place of `path`, with its permissions. */
int pool_replace_file(struct arena *a, const char *path, struct str text, struct error *err);
/* Writes holder and ports beside the worktree; does nothing for another repository's worktree. */
int mark_put(struct arena *a, struct pool *p, const struct allocation *of, struct error *err);
/* The process that the mark of the worktree `dir` names is still running: pid, start, boot and run
 * of *of; *state: the state directory that it uses. */
bool mark_live(struct arena *a, const char *dir, struct allocation *of, const char **state);

/* The ports in the mark, including those reserved for children. */
bool mark_ports(struct arena *a, const char *dir, unsigned *first, unsigned *n);

/* ---- unrecorded.c ---- */

struct unrecorded {
	const char *path;
	unsigned first, count;
};
/* Of worktrees of this repository without a record here, except that at `but`. */
int unrecorded_ports(struct arena *a, struct pool *p, const char *but, struct unrecorded **out,
	size_t *n, struct error *err);
const char *unrecorded_owner(const struct unrecorded *list, size_t n, unsigned port); /* or NULL */

/* ---- live.c ---- */

/* Only the last use of pool_live(), and a holder with another state directory. Works for any
 * directory, such as the trash name of a worktree. */
int live_inside(struct arena *a, const char *dir, const char **who, struct error *err);

#endif
