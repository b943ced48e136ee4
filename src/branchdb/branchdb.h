/*
 * branchdb.h: branches of databases, one for each worktree and DatabaseBranchPool: created,
 * migrated, handed to agents, removed. docs/databases.md.
 *
 * The records are keys of one store, `databases` of the state directory:
 *
 *     at/SCOPE/KEY   a branch, as JSON; SCOPE is a digest of repository and pool
 *     count/SCOPE    changes with each creation, so that the limit of the pool holds
 *
 * A record is `creating` or `removing`, with the process, before anything is done to a database.
 * Who opens the branches next removes what a dead process left. A record has no connection string:
 * the adapter makes it again, from the variables of the environment, whenever it is needed.
 *
 * Ownership: texts are in the arena of the struct branchdb.
 */
#ifndef DT_BRANCHDB_H
#define DT_BRANCHDB_H

#include "src/base/vec.h"
#include "src/config/resource.h"
#include "src/store/store.h"

/* Where branches belong. */
struct branchdb_site {
	const char *state;     /* state directory */
	const char *repo;      /* main work tree: commands of `external` run there */
	const char *common;    /* git directory: identifies the repository */
	const char *files;     /* directory for branches that are files; made at the first use */
	const char *artifacts; /* directory for the events; NULL: none */
	const struct database_pool_spec *const *pools;
	size_t n_pools;
	/* A run or a person works in the worktree of this git branch, whose database branch must
	 * not be removed. NULL: no worktree is in use. */
	bool (*in_use)(void *data, const char *branch);
	void *data;
};

enum branchdb_state { BRANCHDB_CREATING, BRANCHDB_LIVE, BRANCHDB_REMOVING };

const char *branchdb_state_word(enum branchdb_state s);

struct branchdb_branch {
	const char *key;  /* its name in the database's world */
	const char *slot; /* of its record; the key, unless it was made in advance */
	const char *warm; /* it waits for a worktree with migrations of this digest; NULL */
	const char *pool, *adapter;
	const char *of;     /* git branch of its worktree; "": shared by those who only read */
	const char *method; /* how the adapter made it; NULL: as it always does */
	const char *owner;  /* process that creates or removes it; NULL: none */
	const char *fault;  /* why it could not be removed; NULL */
	enum branchdb_state state;
	int64_t created, active; /* active: last used by a stage */
	int64_t mod;
};

struct branchdb {
	struct arena *arena;
	const struct branchdb_site *site;
	struct store *store;
};

/* Opens the store; changes nothing. */
int branchdb_open(
	struct arena *a, const struct branchdb_site *site, struct branchdb *out, struct error *err);
void branchdb_close(struct branchdb *db); /* for CLEANUP */

struct branchdb_request {
	const struct database_pool_spec *pool;
	const char *branch;   /* git branch of the worktree */
	const char *worktree; /* its path: migrations run there */
	const char *issue;    /* of events; NULL */
	bool read_only;       /* the branch that all share; the adapter must have such ones */
	const char *warm;     /* of branchdb_refill(); else NULL */
};
/*
 * Creates and migrates the branch, or finds it, and records that it is used. Nothing is left after
 * -1 but a record of what could not be removed. -1: ERR_CHECK: MigrationFailed; ERR_STATE:
 * BranchQuotaExceeded; BranchTopologyForbidden; ERR_SYSTEM: AdapterUnavailable.
 */
int branchdb_allocate(struct branchdb *db, const struct branchdb_request *q,
	struct branchdb_branch *out, struct error *err);

/*
 * A fresh branch beside the worktree's own, migrated with the files in q->worktree. Until it is
 * removed, or takes the place of the own one, its record is that of a branch that this process is
 * making. -1: as branchdb_allocate(); ERR_CHECK: MigrationConflict.
 */
int branchdb_renew(struct branchdb *db, const struct branchdb_request *q,
	struct branchdb_branch *out, struct error *err);
/* The fresh branch is the worktree's own from now on, and the former one is removed. One that
 * cannot be removed stays in the records, with the reason. */
int branchdb_replace(struct branchdb *db, const struct database_pool_spec *pool,
	const struct branchdb_branch *fresh, struct error *err);

/*
 * Branches that are made in advance, as many as `warmPoolSize` says and the limit of the pool
 * allows; those of other migrations than `worktree`, of the target branch, are removed. *made: how
 * many.
 */
int branchdb_refill(struct branchdb *db, const struct database_pool_spec *pool,
	const char *worktree, size_t *made, struct error *err);
/* *lacks: there are fewer than that, and room for more. */
int branchdb_lacks_warm(
	struct branchdb *db, const struct database_pool_spec *pool, bool *lacks, struct error *err);

struct branchdb_list {
	struct branchdb_branch *items;
	size_t n, cap;
};
/* All recorded ones of this repository, by pool and key. */
int branchdb_list(struct branchdb *db, struct branchdb_list *out, struct error *err);
/* *out NULL: it has none of this pool. */
int branchdb_find(struct branchdb *db, const struct database_pool_spec *pool, const char *branch,
	struct branchdb_branch **out, struct error *err);
/* `reason`: of MigrationDiverged. -1: it could not be removed, and its record says why. */
int branchdb_remove(struct branchdb *db, const struct branchdb_branch *b, const char *reason,
	struct error *err);
/* One that has no record, but the mark of this repository and pool. */
int branchdb_remove_unlisted(struct branchdb *db, const struct database_pool_spec *pool,
	const char *key, struct error *err);

struct branchdb_due {
	struct branchdb_branch of;
	const char *reason; /* "interrupted", "ttl-expired", "abandoned" */
	bool removed;
	const char *fault; /* why not; NULL */
};
struct branchdb_due_list {
	struct branchdb_due *items;
	size_t n, cap;
};
/* Those of dead processes, and those that are too old or unused for too long and not in use.
 * `apply` removes them. `again`: also tries what failed less than a minute ago. */
int branchdb_sweep(struct branchdb *db, bool apply, bool again, struct branchdb_due_list *out,
	struct error *err);

/* ---- the environment of a stage ---- */

struct branchdb_environment {
	const char **items; /* `NAME=value` sets, `NAME` removes; ended by NULL */
	size_t n, cap;
};
/* The variables of the branch. From now on this process masks its connection string. */
int branchdb_inject(struct branchdb *db, const struct database_pool_spec *pool,
	const struct branchdb_branch *b, bool read_only, struct branchdb_environment *out,
	struct error *err);
/* Removes the variables of a pool: the upstream's, and the target's of a stage without a branch. */
void branchdb_withhold(
	struct arena *a, const struct database_pool_spec *pool, struct branchdb_environment *out);

/* Where a connection string leads. */
struct branchdb_endpoint {
	const char *directory;   /* of an SQLite file; else NULL */
	bool read_only;          /* the address says so */
	const char *host, *port; /* of a server; a host that begins with `/` has its socket */
};
/* False: that is not known. */
bool branchdb_find_endpoint(struct arena *a, const char *address, struct branchdb_endpoint *out);

/* ---- checks ---- */

/* The adapter has what it needs: variables, programs, commands. `reach`: and answers. -1: what is
 * missing, without any value. */
int branchdb_check(
	struct branchdb *db, const struct database_pool_spec *pool, bool reach, struct error *err);
/* The adapter has branches that many may read and none can write. */
bool branchdb_shares(const struct database_pool_spec *pool);

struct branchdb_leak {
	const char *kind, *key, *text;
};
struct branchdb_leaks {
	struct branchdb_leak *items;
	size_t n, cap;
};
/* `worktrees`: git branches that have one, NULL-ended. Reports branches without a worktree,
 * worktrees without their branch, branches that are recorded and not there, and the reverse. */
int branchdb_audit(struct branchdb *db, const char *const *worktrees, struct branchdb_leaks *out,
	struct error *err);

#endif
