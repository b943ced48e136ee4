/*
 * databases.h: the database branches of a pool of worktrees. The only place where the rooms of
 * worktrees and of database branches meet.
 */
#ifndef DT_RUN_DATABASES_H
#define DT_RUN_DATABASES_H

#include "src/branchdb/branchdb.h"
#include "src/merge/land.h"
#include "src/sandbox/sandbox.h"

/* From now on a worktree of this process gets and loses its branches. */
void pool_databases_use(void);

/* A site and what it borrows. */
struct pool_databases {
	struct branchdb_site site;
	struct branchdb db;
	struct arena *arena;
	struct pool *pool;
};
/* The branches of the pool's worktrees; the pool stays open meanwhile. Close it with
 * pool_databases_close(). */
int pool_databases_open(
	struct arena *a, struct pool *p, struct pool_databases *out, struct error *err);
void pool_databases_close(struct pool_databases *d);
/* A run or a person works in the worktree of this git branch. */
int pool_databases_in_use(
	struct pool_databases *d, const char *branch, bool *used, struct error *err);
/* Variables for work in the worktree `of`: of its branch of each database, which is made if there
 * is none yet; for DATABASE_READ, of one that all share, where the adapter has such and the
 * worktree has none of its own. DATABASE_NONE removes them. */
int pool_databases_environment(struct pool_databases *d, const struct allocation *of,
	enum database_access access, const char *issue, struct branchdb_environment *out,
	struct error *err);

/* Removes the variables of all of them. */
void pool_databases_withhold(struct arena *a, const struct database_pool_spec **list, size_t n,
	struct branchdb_environment *out);

/* Takes the removal of the upstreams' variables back, for a script of a stage that holds the merge
 * gate: `dev-team land` makes branches from the upstreams. */
void pool_databases_keep_upstreams(
	const struct database_pool_spec **list, size_t n, struct branchdb_environment *env);

/* For a contained command below: the names of the variables that were set, those of a database
 * separated by commas, its target first, and databases by a blank. */
#define POOL_DATABASES_VARIABLE "DEV_TEAM_DATABASES"

/* ---- actions that a session carries out ---- */

/* Of an action, by the pipeline that the settings of the repository name. */
struct session_databases {
	const char *pool; /* the items' WorktreePool; NULL: there is none */
	bool databases;   /* it has some */
	enum database_access access;
	bool holds_gate; /* the stage, as it says itself */
	bool under_gate; /* the same, or it migrates */
};
/* `repo`: the main work tree. */
int session_databases_find(struct arena *a, const char *repo, const char *action, const char *agent,
	struct session_databases *out, struct error *err);
/* The variables of a script of the item: as struct process has them; NULL: its pool has no
 * databases. */
int session_databases_environment(struct arena *a, const char *document, const char *action,
	const char *const **out, struct error *err);

/* ---- after a rebase, under the merge gate ---- */

/* The databases of a branch that is rebased. */
struct pool_renewal {
	struct arena *arena;
	struct pool *pool;
	const char *branch, *issue; /* issue: of events; NULL */
	/* Of this room: */
	struct pool_databases d;
	VEC(struct branchdb_branch) fresh;
};
/*
 * Repeats the migrations, with the rebased files, on a fresh branch of each database of which the
 * worktree has a branch. The environment is that of the fresh branches; without migrations, or
 * without a rebase, that of the worktree's own. A fault is MigrationConflict. Once it is kept the
 * fresh branches are the worktree's own; at the end those that were not kept are removed.
 */
struct rebase_part pool_renewal_part(struct pool_renewal *r);

/* ---- a contained command ---- */

/* The variables and databases that a program above gave this one, for its command in the sandbox.
 */
void pool_databases_pass(struct arena *a, struct sandbox_command *x);

/* ---- branches made in advance ---- */

/* Makes branches in advance, in a throw-away worktree of the target branch; does nothing while
 * another process does. *made: how many. */
int pool_databases_refill(struct pool_databases *d, size_t *made, struct error *err);

#endif
