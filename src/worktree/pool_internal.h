/*
 * pool_internal.h: what the files of this room share: records, changes of the store, git, what a
 * worktree has that is nowhere else. For this room alone.
 *
 * Keys of the store (pool.h): at/DIGEST and port/NUMBER, and doing/DIGEST beside an at/DIGEST that
 * is `making` or `removing`, so that whoever opens a pool finds what is to be repaired without
 * reading all records.
 */
#ifndef DT_WORKTREE_INTERNAL_H
#define DT_WORKTREE_INTERNAL_H

#include "src/sys/digest.h"
#include "src/worktree/pool.h"
#include "src/store/disk.h"

#define POOL_STORE         "pools"
#define TRASH_PREFIX       ".trash-" /* beside a worktree, its name while it is being removed */
#define ADMIN_TRASH_PREFIX "dev-team-trash-" /* in the git folder: the same of an admin folder */
#define POOL_MARKER        ".pool" /* in the folder of a pool: tells whether case counts there */

enum { POOL_LOCK_MS = 60000, GIT_S = 300, CHECKOUT_S = 3600 };

/* ---- record.c ---- */

char *key_at(struct arena *a, const char *path);    /* at/DIGEST of an absolute path */
char *key_doing(struct arena *a, const char *path); /* doing/DIGEST */
char *key_port(struct arena *a, unsigned port);
void record_digest(const char *path, char out[DIGEST_TEXT]);

struct str record_text(struct arena *a, const struct allocation *of);
/* -1: ERR_INPUT for what is no record. */
int record_parse(
	struct arena *a, const struct store_kv *kv, struct allocation *out, struct error *err);
/* Of this path. *there false: none. */
int record_read(struct arena *a, struct pool *p, const char *path, struct allocation *out,
	bool *there, struct error *err);
/* Of all pools and repositories of this user. */
int record_all(
	struct arena *a, struct pool *p, struct allocation **out, size_t *n, struct error *err);
/* It is of this repository, whatever the pool's name or folder was then. */
bool record_ours(const struct pool *p, const struct allocation *of);

/* This process makes, removes or holds it from now on. */
void record_claim(struct arena *a, struct allocation *of);
/* The process in the record is there still; on another boot it is not. One of another container
 * counts for an hour of work, or for as long as it holds the worktree. False for pid 0. */
bool record_alive(const struct allocation *of);
/* Another process makes or removes it just now. This one does one thing after the other: what it
 * finds under its own number is what it could not finish. */
bool record_busy(const struct allocation *of);
/* This process could not finish what it claimed: the record says why, and anybody may try again. */
void record_give_up(struct arena *a, struct pool *p, const char *path, const char *why);
/* BOOT/SPACE: boot id of this machine, and the space of its process numbers; "" where it cannot be
 * told. Static. */
const char *boot_id(void);

/* ---- records.c ---- */

/* The store of the records, to write. -1: ERR_INPUT too where it had commits and has none. */
int records_open(struct arena *a, struct disk *d, const char *state, unsigned wait_ms,
	struct store **out, struct error *err);
/* The same to read alone; *out stays NULL where there is no store. */
int records_look(
	struct arena *a, struct disk *d, const char *state, struct store **out, struct error *err);
/* It has commits from now on; may fail, the next one tries again. */
void records_mark(struct disk *d, const char *state, struct store *s);

/* ---- mounts.c ---- */

/* Where a file system is mounted at `dir` or within; NULL: none is. */
const char *mount_inside(struct arena *a, const char *dir);
/* The same out of the text of /proc/self/mountinfo. */
const char *mounts_find(struct arena *a, struct str mounts, const char *dir);

/* ---- change.c: one transaction ---- */

struct change {
	struct arena *arena;
	struct pool *pool;
	struct store_guard guards[STORE_OPS_MAX];
	struct store_op ops[STORE_OPS_MAX];
	size_t n_guards, n_ops;
	bool full; /* more than fits; change_commit() says so */
};

void change_begin(struct change *c, struct arena *a, struct pool *p);
/* The key is at revision `mod` still; 0: it is not there. */
void change_guard(struct change *c, const char *key, int64_t mod);
void change_put(struct change *c, const char *key, struct str value);
void change_del(struct change *c, const char *key);
/* at/ with a guard on of->mod, and doing/ as its state wants. */
void change_record(struct change *c, const struct allocation *of);
/* The record goes, with a guard on of->mod. Its ports are another's to give back (slot_release()).
 */
void change_drop(struct change *c, const struct allocation *of);
/* *rev (may be NULL): the mod of all that was put. *refused: a guard did not hold, nothing
 * happened; NULL: that is ERR_STATE. */
int change_commit(struct change *c, int64_t *rev, bool *refused, struct error *err);
/* One record alone; of->mod is brought up to date. */
int record_put(struct arena *a, struct pool *p, struct allocation *of, struct error *err);

/* ---- admin.c: git ---- */

/* `at` NULL: in the repository; else in this work tree. *status NULL: anything but 0 is an error.
 * `out` (may be NULL) gets stdout and stderr. */
int pool_git(struct pool *p, const char *at, const char *const *args, struct buf *out, int *status,
	struct error *err);
/* The same with more environment and a time limit. */
int pool_git_env(struct pool *p, const char *at, const char *const *args, const char *const *env,
	unsigned limit_s, struct buf *out, int *status, struct error *err);
/* One at a time in this repository: what writes to its `worktrees` folder, refs or configuration.
 * Hold it shortly; never while files are checked out or deleted. */
int admin_lock(struct pool *p, struct disk_lock **out, struct error *err);

enum { REFS_MAX = 16 };
struct ref {
	const char *name, *commit; /* full name; what it stands at */
	const char *target;        /* symbolic: the full name it leads to; else NULL */
};
struct refs {
	struct ref ref[REFS_MAX];
	size_t n;
	const char *below; /* one below the first name, as in a folder; NULL */
};
/* Those of the full names (NULL-ended) that there are. */
int refs_look(struct arena *a, struct pool *p, const char *const *names, struct refs *out,
	struct error *err);
const struct ref *refs_find(const struct refs *r, const char *name); /* NULL: not there */

/* ---- slug.c ---- */

/* -1: ERR_USAGE unless git takes it for the name of a branch. */
int branch_check(const char *branch, struct error *err);
/* The two are one folder; `folds`: where upper and lower case are the same. */
bool slug_same(const char *one, const char *other, bool folds);

/* ---- ownership.c ---- */

/* Where PATH/.git, a plain file, leads: *to NULL when it is no pointer; *text: what is in it.
 * False: there is no such file. */
bool worktree_pointer(struct arena *a, const char *path, char **to, const char **text);
/* Absolute and without `..`; the part of it that is there is resolved. */
char *path_settle(struct arena *a, const char *path);
/* `path` is below `dir`, not `dir` itself; both as they are written. */
bool path_beneath(const char *dir, const char *path);

/* ---- places.c: worktrees as the repository has them, without starting git ---- */

struct place {
	const char *admin;  /* COMMON/worktrees/NAME */
	const char *path;   /* of the worktree; NULL: the admin folder does not say */
	const char *branch; /* NULL: detached */
	const char *commit; /* detached: the commit, or "" */
	const char *locked; /* reason, may be ""; NULL: not locked */
	bool there;         /* PATH/.git is there and leads here */
};
/* Sorted by admin. */
int places_read(
	struct arena *a, const char *common, struct place **out, size_t *n, struct error *err);
/* One by its admin folder. */
void place_look(struct arena *a, const char *admin, struct place *out);
/* "merge", "rebase" ... in progress in the worktree of this admin folder; NULL. */
const char *place_busy(struct arena *a, const char *admin);
/* The admin folder that says it is of `path`; *found false: none. */
int place_of(struct arena *a, struct pool *p, const char *path, struct place *out, bool *found,
	struct error *err);
/* Where the worktree of `path` is now, when somebody has moved it: by `git worktree move`, or by
 * hand to a place beside it or in the pool. *to NULL: nowhere. */
int place_moved(struct arena *a, struct pool *p, const char *path, const char *branch,
	const char **to, struct error *err);
/* The lock's own text names a process (`pid 123`) that is dead, or says `initializing` and nobody
 * can be at it any more. */
bool lock_is_dead(struct arena *a, const struct place *at);

/* ---- work.c: what must not be lost ---- */

/*
 * Why it must stay, the first that holds of: busy (made or removed by a live process), live,
 * children, foreign, locked, uncommitted, unpushed, unsure. KEEP_NOTHING: may go. `confirmed`: do
 * not look for uncommitted and unpushed work. *text: for people.
 */
int pool_keep(struct arena *a, struct pool *p, const struct allocation *of, bool confirmed,
	enum keep_reason *why, const char **text, struct error *err);
/* The last two of them, of a worktree at `path` (it may have been moved to its trash name). */
int work_keep(struct arena *a, struct pool *p, const char *path, enum keep_reason *why,
	const char **text, struct error *err);

/*
 * What is lost with the git folder of a worktree whose own folder is not there, or is a worktree no
 * more: a lock, an operation in progress, staged files, commits of a detached HEAD, repositories of
 * submodules. `confirmed`: the lock alone.
 */
int admin_keep(struct arena *a, struct pool *p, const struct place *at, bool confirmed,
	enum keep_reason *why, const char **text, struct error *err);

/* ---- remains.c ---- */

/* *foreign: the first file below `path` that is neither ignored nor as `commit` has it, or a folder
 * with a repository of its own; NULL: there is nothing of value. `path` need not be a worktree any
 * more. `cut`: a checkout may have been killed there, so that of one file the end may be missing.
 */
int remains_look(struct arena *a, struct pool *p, const char *path, const char *commit, bool cut,
	const char **foreign, struct error *err);
/* *changed: a file of the work tree that is not as its HEAD has it, also when git was told not to
 * look at it; NULL: none. `git_dir` NULL: git finds it. */
int hidden_look(struct arena *a, struct pool *p, const char *path, const char *git_dir,
	const char **changed, struct error *err);

/* ---- trash.c: folders on their way out ---- */

char *trash_path(struct arena *a, const char *path); /* of a worktree; beside it */
/* Of an admin folder; beside `worktrees`, where git does not look. */
char *trash_admin_path(struct arena *a, const struct pool *p, const char *path);
/* The folder and all below it; links are not followed, other file systems not entered. None there:
 * 0. */
int trash_delete(const char *path, struct error *err);
/* Makes room at trash_path(): what a removal left there goes when it has nothing of value. -1:
 * ERR_STATE: it has. */
int trash_clear(struct arena *a, struct pool *p, const struct allocation *of, struct error *err);
/* Rename; nothing may be there. None to move: 0. */
int trash_move(const char *from, const char *to, struct error *err);

/* ---- branch.c ---- */

/* Makes it at of->tip, under a line of its own in the reflog. */
int branch_make(struct arena *a, struct pool *p, const struct allocation *of, struct error *err);
/* Where the branch is; when it is not there, where it began; NULL: neither is known. */
int branch_commit(struct arena *a, struct pool *p, const struct allocation *of, const char **commit,
	struct error *err);
/* Deletes it when branch_make() of this allocation made it, and it has never moved since, and
 * nobody has it checked out. */
int branch_drop(struct arena *a, struct pool *p, const struct allocation *of, struct error *err);
/* Takes the admin folder out of git's sight; hold admin_lock(). */
int admin_drop(struct arena *a, struct pool *p, const struct allocation *of, const char *admin,
	struct error *err);

/* ---- base.c ---- */

struct base {
	bool exists;      /* the branch is there already: `commit` is where */
	const char *name; /* else what it begins from, short: "origin/main" */
	const char *commit;
};
/* -1: ERR_STATE: there is nothing to begin from. */
int base_find(struct arena *a, struct pool *p, const struct allocate_ask *ask, struct base *out,
	struct error *err);
/* `dir` is a folder in `commit`. -1: ERR_USAGE, ERR_INPUT. */
int sparse_check(
	struct arena *a, struct pool *p, const char *commit, const char *dir, struct error *err);

/* ---- stand.c ---- */

enum stand {
	STAND_NOTHING, /* free: what was in the way and of no value has been taken away */
	STAND_OURS,    /* a worktree of this repository with our branch */
	STAND_FOREIGN, /* a worktree of another repository, or with a broken pointer: see *own */
};
/*
 * What stands at of->path, under admin_lock(). `commit`: where its branch is, or would begin; NULL:
 * not known. -1: ERR_STATE: the branch is checked out elsewhere, or something is in the way.
 */
int stand_look(struct arena *a, struct pool *p, const struct allocation *of, const char *commit,
	struct ownership *own, enum stand *out, struct error *err);

/* ---- make.c ---- */

/* The folder of the pool, with what tells that it is one; hold admin_lock(). */
int folder_make(struct arena *a, struct pool *p, struct error *err);
/* Upper and lower case are the same in it. False while it is not there. */
bool folder_folds(struct arena *a, const struct pool *p);
/* Branch and worktree, without files; hold admin_lock(). */
int worktree_add(struct arena *a, struct pool *p, const struct allocation *of, struct error *err);
/* The files, and git's hook; without the lock. */
int worktree_fill(struct arena *a, struct pool *p, struct allocation *of, struct error *err);

/* ---- remove.c ---- */

/* The whole removal of one allocation, two-phase, with its ports and record. -1: ERR_STATE with why
 * it is kept. of->mod must be that of the record. */
int pool_remove(
	struct arena *a, struct pool *p, struct allocation *of, bool confirmed, struct error *err);
/* From where a dead process left it; the record is claimed. */
int remove_resume(struct arena *a, struct pool *p, struct allocation *of, struct error *err);

/* ---- repair.c ---- */

/* Environment of what works for an allocation that is being made: NAME=DIGEST. */
char *making_mark(struct arena *a, const char *path);
/* Takes back what was made of an allocation; the record is claimed. What is foreign stays. */
int making_undo(struct arena *a, struct pool *p, struct allocation *of, struct error *err);
/* The same by who holds admin_lock(). */
int making_undo_locked(struct arena *a, struct pool *p, struct allocation *of, struct error *err);
/* Of one whose process is dead: finishes or takes back. *done false: another does it already. */
int repair_one(
	struct arena *a, struct pool *p, struct allocation *of, bool *done, struct error *err);
/* All of this repository. What cannot be repaired is told by p->said. */
int pool_repair(struct arena *a, struct pool *p, struct error *err);

/* ---- locks.c ---- */

/* Takes away what a killed git has left and every later one would stop at. Under admin_lock(), once
 * no process of the dead one is left. `admin` NULL: there is none. */
void locks_clear(struct arena *a, struct pool *p, const struct allocation *of, const char *admin);

/* ---- block.c: the ports of one allocation ---- */

/* With those that are kept for children. */
unsigned slot_block(const struct allocation *of);
/* Digest of who has the port; "" with mod 0: nobody. */
int port_owner(struct arena *a, struct pool *p, unsigned port, struct str *digest, int64_t *mod,
	struct error *err);
/* Adds that the port, at `mod`, is that of the worktree from now on. */
void port_take(struct change *c, unsigned port, const char *path, int64_t mod);
/* slot_choose() of one without a parent. */
int block_choose(struct arena *a, struct pool *p, const struct allocate_ask *ask,
	struct allocation *of, struct change *c, struct error *err);

/* ---- port_note.c: what is told of ports ---- */

/* PortCollision: `attempts` ports from `candidate` on were tried; port 0: in vain. */
int port_tell(struct pool *p, const char *issue, const char *path, unsigned candidate,
	unsigned port, struct error *err);
/* The same of an allocation that has been committed, where its ports are not its candidate's. */
int port_note(struct pool *p, const struct allocate_ask *ask, const struct allocation *of,
	struct error *err);
/* Ports, worktree and branch into runtime.json of the issue; NULL: nothing. */
int port_remember(
	struct pool *p, const char *issue, const struct allocation *of, struct error *err);
/* *port: first of what runtime.json of the issue has for this worktree; 0: nothing. */
int port_recall(
	struct pool *p, const char *issue, const char *path, unsigned *port, struct error *err);

/* ---- slots.c ---- */

/* Picks the block of ports and sets of->port, ports, slots, slot_ports, parent; adds what takes the
 * ports (and checks on the parent) to `c`, which has not the record already. */
int slot_choose(struct arena *a, struct pool *p, const struct allocate_ask *ask,
	struct allocation *of, struct change *c, struct error *err);
/* Adds what gives the ports of `of` back: to nobody, or to the parent. */
int slot_release(struct arena *a, struct pool *p, const struct allocation *of, struct change *c,
	struct error *err);
/* How many allocations have it as parent; *first: path of one, or NULL. */
int slot_children(struct arena *a, struct pool *p, const struct allocation *of, size_t *n,
	const char **first, struct error *err);

/* ---- mark.c: holder and ports, for those who have another state folder ---- */

/* Who holds it and what it has, beside the worktree; not a worktree of this repository: nothing. */
int mark_put(struct arena *a, struct pool *p, const struct allocation *of, struct error *err);
/* The process that the mark of the worktree `dir` names is there still: pid, start, boot and run of
 * *of; *state: the state folder that it uses. */
bool mark_live(struct arena *a, const char *dir, struct allocation *of, const char **state);

/* The ports that it says it has, with those for children. */
bool mark_ports(struct arena *a, const char *dir, unsigned *first, unsigned *n);

/* ---- unrecorded.c ---- */

struct unrecorded {
	const char *path;
	unsigned first, count;
};
/* Of worktrees of this repository without a record here, but that at `but`. */
int unrecorded_ports(struct arena *a, struct pool *p, const char *but, struct unrecorded **out,
	size_t *n, struct error *err);
const char *unrecorded_owner(const struct unrecorded *list, size_t n, unsigned port); /* or NULL */

/* ---- live.c ---- */

/* *who: what works in it, for people; NULL: nobody: a process in the record, a run whose state.json
 * has a fresh heartbeat, a process whose working folder is in it. */
int pool_live(struct arena *a, struct pool *p, const struct allocation *of, const char **who,
	struct error *err);
/* The last of them alone, and a holder of another state folder, of any folder: what the worktree is
 * called while it is removed. */
int live_inside(struct arena *a, const char *dir, const char **who, struct error *err);

#endif
