/*
 * pool.h: worktrees of a repository, each with a branch, a block of ports and a record, as one
 * allocation; docs/worktree-pool.md. The records are keys `at/SLUG` of the store `worktrees` in the
 * directory `dev-team` of the repository's common git directory.
 *
 * One lock guards every change. The programs that run under it inherit it, so whoever has it knows
 * that nobody else is at work: a record of an allocation that is being made or removed is one that
 * was interrupted. An interrupted creation is deleted, an interrupted removal is finished.
 *
 * Ownership: texts are in the caller's arena.
 */
#ifndef DT_WORKTREE_H
#define DT_WORKTREE_H

#include <sys/types.h>
#include "src/config/resource.h"
#include "src/store/store.h"

enum { PORTS_MAX = 10, PROBES = 10, SLOTS_MAX = 20, PORT_LAST = 65535 };

struct pool {
	struct worktree_pool_spec spec;
	const char *dir;       /* of the worktrees: absolute, resolved; made at the first use */
	const char *repo;      /* main work tree, or the directory of a bare repository: resolved */
	const char *common;    /* its git directory, resolved */
	const char *artifacts; /* directory for the events; NULL: none */
	const char *state;     /* state directory, absolute */
	const char *target;    /* branch that merges go into, for the sweep; NULL: origin/HEAD's */
	const char *self;      /* process_own_name() */
	bool (*is_free)(unsigned port); /* for tests; NULL: port_is_free() */
	struct store *store;
	struct disk_lock *lock; /* while an operation runs */
};

/* Opens the pool of the repository around `repo`. */
int pool_open(struct arena *a, const struct worktree_pool_spec *spec, const char *repo,
	const char *state, const char *artifacts, struct pool *out, struct error *err);
void pool_close(struct pool *p);
/* Whoever adds, removes or lists worktrees holds this lock: git stops at one that is half made. */
int pool_lock(struct arena *a, struct pool *p, struct error *err);
void pool_unlock(struct pool *p);
/* Creates its directory, hidden from git. */
int pool_make_directory(struct arena *a, struct pool *p, struct error *err);

struct ownership {
	bool ok;              /* `.git` of the path points to a directory below `expected` */
	const char *reason;   /* "ok", "pointer-missing", "pointer-malformed", "cross-clone" */
	const char *expected; /* COMMON/worktrees */
	const char *actual;   /* where its .git points, or its text; NULL: it has none */
	const char *remedy;   /* follows the reason in a message, "": none is known */
};
struct ownership pool_ownership(struct arena *a, const char *path, const char *common);

enum allocation_state { ALLOCATION_MAKING, ALLOCATION_LIVE, ALLOCATION_REMOVING };

struct allocation {
	const char *branch, *slug, *path, *pool;
	const char *base;   /* what the branch was created from; NULL: it existed */
	const char *sparse; /* directory that alone is checked out; NULL: all */
	const char *admin;  /* name of its git directory in COMMON/worktrees; NULL: not known */
	enum allocation_state state;
	unsigned port, ports; /* the first, and how many are its own */
	unsigned slots;       /* reserved for children: so many blocks of `ports`, after its own */
	const char *parent;   /* slug of the parent; NULL: none */
	const char *run;      /* the run that holds it; NULL: none */
	const char *holder;   /* process_name() of the process that holds it; NULL: none does */
	int64_t created;
	bool made_branch; /* the branch was created with it */
	const char *tip;  /* the commit it was created at; NULL */
	/* As it was when the record was read: */
	bool there, stale;   /* its worktree exists; and is older than staleThresholdDays */
	int64_t changed;     /* modification time of the directory; 0: there is none */
	const char *fault;   /* interrupted: why it could be neither finished nor undone; NULL */
	const char *warning; /* of an allocation: ownership, or a hook that failed; NULL */
	/* Of a sweep: "merged", "aborted", "timeout", "stale", "gone"; why it is kept, by a word of
	 * docs/worktree-pool.md#removal, NULL: it is not; the same for people. */
	const char *reason, *keep, *why;
	bool removed;
};

struct allocate_ask { /* texts: NULL or "": none */
	const char *branch;
	const char *base;   /* else origin/<target>, or the target itself without an origin */
	const char *target; /* branch; else "main", or what origin/HEAD names */
	const char *sparse; /* directory in the repository */
	unsigned ports;     /* 1..PORTS_MAX; 0: 1 */
	unsigned slots;     /* 0..SLOTS_MAX */
	const char *port;   /* override (PORT) */
	const char *parent; /* branch or path of an allocation of this pool; NULL */
	const char *run;    /* NULL */
	pid_t holder;       /* process that holds it from now on; 0: none */
	const char *issue;  /* whose runtime.json gets the ports; NULL */
	bool adopt;         /* only a worktree that exists */
};

/*
 * Creates the worktree, ports and record, all or nothing. *created false: it existed and is ours
 * (adopted). -1: ERR_STATE: the slug belongs to another branch, the branch is checked out
 * elsewhere, ownership (WorktreeOwnershipMismatch), no ports; ERR_INPUT; ERR_SYSTEM.
 */
int pool_allocate(struct arena *a, struct pool *p, const struct allocate_ask *ask,
	struct allocation *out, bool *created, struct error *err);

/* `what`: branch, slug or path; without a record: 0, *removed false. -1: ERR_STATE with why it is
 * kept; `confirmed`: not because of uncommitted or unpushed work. */
int pool_reclaim(struct arena *a, struct pool *p, const char *what, bool confirmed, bool *removed,
	struct error *err);
/* What uses the worktree, for people: the process in its record, the owner of the item whose place
 * it is, or a process whose working directory is in it; NULL: nothing. */
const char *pool_live(struct arena *a, const struct pool *p, const struct allocation *of);

int pool_list(
	struct arena *a, struct pool *p, struct allocation **out, size_t *n, struct error *err);
/* The allocation with this branch, else slug, else path; no branch: there is none. `live`: then, or
 * if its worktree does not exist or is being created or removed, -1: ERR_STATE. */
int pool_find(struct arena *a, struct pool *p, const char *what, bool live, struct allocation *out,
	struct error *err);
/* Those with a reason (docs/worktree-pool.md#the-sweep); `apply` removes them, except what
 * pool_reclaim() keeps. */
int pool_sweep(struct arena *a, struct pool *p, bool apply, bool confirmed, struct allocation **out,
	size_t *n, struct error *err);
/* An inconsistency: "unrecorded-worktree", "half-made" ...; texts live until the call returns. */
typedef void pool_report(void *data, const char *kind, const char *path, const char *text);
int pool_audit(struct arena *a, struct pool *p, pool_report *report, void *data, struct error *err);

/* ---- ports ---- */

json *port_list_json(unsigned first, unsigned n);
/* By the formula, of a path_normalize(); can be above PORT_LAST. */
int port_candidate(const char *path, unsigned base, unsigned *port, struct error *err);
struct port_ask {
	const char *path;
	unsigned base, count;           /* 1024..65000, 1..PORTS_MAX */
	unsigned slots;                 /* so many blocks of `count` more, for children */
	const char *override;           /* text; NULL or "": none. Not probed */
	bool (*is_free)(unsigned port); /* NULL: port_is_free() */
	const struct allocation *taken; /* whose ports are skipped, which is not an attempt */
	size_t n_taken;
};
struct port_answer {
	unsigned candidate, first; /* by the formula, 0: overridden; the port that was found */
	unsigned n_tried;          /* blocks that were tried, from the candidate on, up to PROBES */
};
/* The override, else the first block of free ports that begins at the candidate or after it; ten
 * are tried. -1: ERR_STATE; ERR_USAGE. */
int port_find(const struct port_ask *ask, struct port_answer *out, struct error *err);

/*
 * What lives and dies with an allocation, such as a database branch. The functions are called while
 * the record names the operation (`making`, `removing`), so that each is repeated after a kill, and
 * under the pool's lock: they may read the pool. What a part cannot undo or release now is its own
 * to record and to report; it does not hold up the worktree.
 */
struct pool_part {
	/* The worktree has its files; also called when it is adopted. -1: the allocation is undone,
	 * unless it existed before. `issue`: of the events; NULL. */
	int (*create)(struct arena *a, struct pool *p, const struct allocation *of,
		const char *issue, struct error *err);
	/* `report` NULL: the pool is being opened, without the lock; finishes what dead processes
	 * left, and removes what is due. Else: reports inconsistencies. */
	int (*inspect)(struct arena *a, struct pool *p, pool_report *report, void *data,
		struct error *err);
	/* The worktree is being removed and cannot be put back. ALLOCATION_MAKING: create() of this
	 * one may have begun, or failed. */
	void (*release)(struct arena *a, struct pool *p, const struct allocation *of);
};
/* What all pools of this process have, from now on; NULL, or without a call: nothing. */
void pool_set_part(const struct pool_part *part);

#endif
