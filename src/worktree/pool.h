/*
 * pool.h: worktrees of a repository, each with a branch, a block of ports and a record, as one
 * allocation. docs/worktree-pool.md.
 *
 * The records of all pools of a user are keys of one store, `pools` of the state folder, so that no
 * two allocations of any pool share a port:
 *
 *     at/DIGEST     of the worktree's path: the allocation, as JSON
 *     port/NUMBER   one for each port of the block: the DIGEST that has it
 *
 * What is about to be done stands in the record before it is done (`making`, `removing`, with the
 * process that does it); whoever opens the pool next finishes or takes back what a dead process
 * left. A worktree is never removed with work in it that is nowhere else, unless told so by name.
 *
 * Ownership: texts live in the caller's arena.
 */
#ifndef DT_WORKTREE_H
#define DT_WORKTREE_H

#include <sys/types.h>
#include "src/config/resource.h"
#include "src/store/store.h"

enum { PORTS_MAX = 10, PROBES = 10, PORT_SPAN = 900, SLOTS_MAX = 20, PORT_LAST = 65535 };

struct pool {
	const char *name;
	const char *dir;  /* that holds the worktrees: absolute, resolved; made at the first use */
	const char *repo; /* main work tree, or the folder of a bare repository: resolved */
	const char *common;    /* its git folder, resolved */
	const char *artifacts; /* folder for the events; NULL: none */
	const char *state;     /* state folder, absolute */
	const char *target;    /* branch that merges go into, for the sweep; NULL: origin/HEAD's */
	unsigned base_port, stale_days;
	bool strict, on_merge, on_abort, on_timeout;
	const char *said; /* lines for people about what could not be repaired; NULL */
	struct disk *disk;
	struct store *store;
};

/*
 * Opens the pool of the repository around `repo`. The folder: rootDir/SLUG where rootDir is given;
 * ~/.dev-team/worktrees/OWNER/REPO/SLUG by default; REPO/.worktrees/SLUG when repo-local. `state`:
 * the state folder. Repairs first what dead processes left of this repository.
 */
int pool_open(struct arena *a, const struct worktree_pool_spec *spec, const char *repo,
	const char *state, const char *artifacts, struct pool *out, struct error *err);
void pool_close(struct pool *p);

/* feat/x//1 -> feat-x-1. -1: ERR_USAGE: nothing is left, or `.`, `..`, a leading dot or dash,
 * `.lock` or the like that git or the folder would not take. */
int pool_slug(struct arena *a, const char *branch, char **slug, struct error *err);

enum owned { OWNED_OK, OWNED_POINTER_MISSING, OWNED_POINTER_MALFORMED, OWNED_CROSS_CLONE };
struct ownership {
	enum owned reason;
	const char *expected; /* COMMON/worktrees */
	const char *actual;   /* where its .git leads, or its text; NULL: there is none */
};
const char *owned_word(enum owned reason); /* "ok", "pointer-missing" ... */
/* `.git` of `path` leads to a folder below `common`/worktrees. */
int pool_ownership(struct arena *a, const char *path, const char *common, struct ownership *out,
	struct error *err);

enum allocation_state { ALLOCATION_MAKING, ALLOCATION_LIVE, ALLOCATION_REMOVING };

struct allocation {
	const char *branch, *slug, *path, *repo, *pool;
	const char *common; /* git folder of repo: what tells two repositories apart */
	const char *base;   /* what the branch was made from; NULL: it was there */
	const char *sparse; /* folder that alone is checked out; NULL: all */
	enum allocation_state state;
	unsigned port, ports; /* first, how many are its own */
	unsigned slots,
		slot_ports; /* kept for children: slots blocks of slot_ports behind its own */
	const char *parent; /* path of the parent's worktree; NULL: none */
	const char *run;    /* the run that holds it; NULL: none */
	pid_t pid;          /* of who makes or removes it, or holds it */
	uint64_t start;     /* start time of pid: with it one process */
	const char *boot;   /* boot id, and space of process numbers, where pid means something */
	int64_t created;
	int64_t since;     /* when pid began what it does */
	bool made_branch;  /* the branch was made with it */
	const char *tip;   /* commit that it was made at; NULL */
	bool confirmed;    /* removing: work in it may go too */
	const char *fault; /* why it could not be finished or taken back; NULL */
	int64_t mod;       /* of its key */
	/* Of this call, not of the record: */
	const char *warning; /* ownership, advisory; NULL */
	bool resumed;        /* somebody began to make or remove it, and died */
};

struct allocate_ask {
	const char *branch;
	const char
		*base; /* NULL: origin/<target>, else the target itself where there is no origin */
	const char *target; /* branch; NULL: "main", or what origin/HEAD names */
	const char *sparse; /* folder in the repository; NULL */
	unsigned ports;     /* 1..PORTS_MAX; 0: 1 */
	const char *port;   /* override as text (PORT); NULL or "": none */
	unsigned slots, slot_ports;
	const char *parent; /* branch or path of an allocation of this pool; NULL */
	const char *run;    /* NULL */
	pid_t holder;       /* process that holds it from now on; 0: none */
	const char *issue;  /* whose runtime.json gets the ports; NULL */
};

/*
 * Worktree, ports and record, whole or not at all. *created false: it was there and is ours
 * (adopted). -1: ERR_STATE: slug taken by another branch, the branch is checked out elsewhere,
 * ownership (WorktreeOwnershipMismatch), no ports; ERR_INPUT; ERR_SYSTEM.
 */
int pool_allocate(struct arena *a, struct pool *p, const struct allocate_ask *ask,
	struct allocation *out, bool *created, struct error *err);
/* The same of a worktree that is there; nothing is made but the record. */
int pool_adopt(struct arena *a, struct pool *p, const struct allocate_ask *ask,
	struct allocation *out, struct error *err);

enum keep_reason {
	KEEP_NOTHING,
	KEEP_UNCOMMITTED,
	KEEP_UNPUSHED,
	KEEP_LIVE,
	KEEP_CHILDREN,
	KEEP_FOREIGN,
	KEEP_BUSY,
	KEEP_LOCKED,
	KEEP_UNSURE
};
const char *keep_word(enum keep_reason r);

/* Removes it and gives its ports back. `what`: branch, slug or path. None there: 0, *removed false.
 * -1: ERR_STATE with why it is kept; `confirmed` overrules uncommitted and unpushed work, never a
 * live run, children or another clone's. */
int pool_reclaim(struct arena *a, struct pool *p, const char *what, bool confirmed, bool *removed,
	struct error *err);

struct pool_entry {
	struct allocation of;
	bool recorded, there; /* there is a record; there is a worktree */
	int64_t changed;      /* mtime of the folder */
	bool stale;
	enum keep_reason keep; /* sweep: why it stays; list: KEEP_FOREIGN alone */
	const char *why;       /* the same for people; NULL */
	const char *reason;    /* sweep: "merged", "aborted", "timeout", "stale", "gone" */
	bool removed;          /* sweep */
};
int pool_list(
	struct arena *a, struct pool *p, struct pool_entry **out, size_t *n, struct error *err);
/* The recorded allocation with this branch, else slug, else path. *found false: there is none. */
int pool_find(struct arena *a, struct pool *p, const char *what, struct pool_entry *out,
	bool *found, struct error *err);
/* The same; ERR_STATE unless its worktree exists and nobody makes or removes it. */
int pool_find_live(struct arena *a, struct pool *p, const char *what, struct allocation *out,
	struct error *err);
/* Those that are merged, that a failed run has left, or older than staleThresholdDays
 * (docs/worktree-pool.md#the-sweep); removes them with `apply`, keeping what reclaim would. */
int pool_sweep(struct arena *a, struct pool *p, bool apply, bool confirmed, int64_t now,
	struct pool_entry **out, size_t *n, struct error *err);

/* "live", "stale", "gone" ...: the word of a table. */
const char *pool_entry_status(const struct pool_entry *e);
json *pool_entry_json(const struct pool_entry *e);
json *allocation_json(const struct allocation *of);
/* "3453" or "3453-3455"; "-" where it has none. */
char *allocation_ports(struct arena *a, const struct allocation *of);
json *port_list_json(unsigned first, unsigned n);

struct leak {
	const char *kind, *path, *text; /* "unrecorded-worktree", "record-without-worktree",
					   "orphan-port", "shared-port", "half-made" ... */
};
/* All that does not fit together; none is the proof that nothing is orphaned. */
int pool_audit(struct arena *a, struct pool *p, struct leak **out, size_t *n, struct error *err);

/* `path` made absolute, and without `.`, `..` and needless slashes: by its letters alone. -1:
 * ERR_USAGE for an empty one. */
int port_path(struct arena *a, const char *path, char **out, struct error *err);
/* The formula of docs/worktree-pool.md#ports of a path, after port_path(). -1: ERR_USAGE: a base
 * that is none; ERR_STATE: it would be above PORT_LAST. */
int port_candidate(const char *path, unsigned base, unsigned *port, struct error *err);
/* A port in decimal digits alone, 1..PORT_LAST. -1: ERR_USAGE. */
int port_parse(const char *text, unsigned *port, struct error *err);
/* Nobody listens there on any address of this machine. */
bool port_is_free(unsigned port);

struct port_ask {
	const char *path;
	unsigned base, count;
	unsigned behind;      /* more of them, kept for children */
	const char *override; /* NULL or "": none. Not probed. */
	/* Another allocation's: passed over, which is no try. NULL: none is. */
	bool (*is_taken)(void *data, unsigned port);
	bool (*is_free)(void *data, unsigned port); /* NULL: port_is_free() */
	void *data;
};
struct port_answer {
	unsigned candidate, first; /* by the formula; that was found */
	unsigned tried[PROBES];    /* the first ten starts that were looked at */
	size_t n_tried;
	bool collided, overridden;
};
/* The first of a block of `count` + `behind` ports, each free: that of the candidate, or one that
 * begins after it, ten tried at most and PORT_SPAN passed over. -1: ERR_STATE, with those that were
 * tried; ERR_USAGE. */
int port_find(const struct port_ask *ask, struct port_answer *out, struct error *err);

/* The ports of a path for one who asks. */
struct port_request {
	const char *path;
	unsigned base, count;
	const char *override;          /* NULL or "": none */
	const char *state;             /* the state folder: ports of worktrees are passed over */
	const char *artifacts, *issue; /* NULL; where runtime.json has them, or gets them */
};
enum port_source { PORT_COMPUTED, PORT_OVERRIDE, PORT_OF_RECORD, PORT_OF_ISSUE };
struct port_report {
	const char *path;   /* after port_path() */
	unsigned candidate; /* 0: it would be above PORT_LAST */
	enum port_source source;
	struct port_answer answer;
};
const char *port_source_word(enum port_source s); /* "computed" ... */
json *port_report_json(const struct port_request *ask, const struct port_report *got);
/* `/...`, `./...`, `../...`, `.` or `..`: never a branch. */
bool port_is_path(const char *word);
/*
 * Sets ask->path and, if it is 0, ask->count: `word` is a branch or slug of the pool (NULL: there
 * is no pool), else a path. Unless it is of the pool, $PORT overrides. -1: ERR_STATE for a word
 * that is neither, because a branch would get a port like any path, and the wrong one.
 */
int pool_port_of(struct arena *a, struct pool *p, const char *word, struct port_request *ask,
	struct error *err);
/* In this order: the override, what the worktree there has, what the issue's runtime.json has, the
 * first free block. -1 as port_find(); ERR_STATE too when the worktree has fewer. */
int pool_port(struct arena *a, const struct port_request *ask, struct port_report *out,
	struct error *err);

#endif
