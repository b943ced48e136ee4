/*
 * branchdb_internal.h: what the files of this room share: records of branches in the store, and the
 * command that migrates one. Private to this room.
 */
#ifndef DT_BRANCHDB_INTERNAL_H
#define DT_BRANCHDB_INTERNAL_H

#include "src/branchdb/branchdb.h"

enum { BRANCH_KEY_MAX = 63 }; /* bytes of a name in PostgreSQL; other vendors allow more */

/* `dt-` and a digest of repository and pool: what names of ours begin with. */
char *branch_mark(struct arena *a, const struct branchdb_site *site, const char *pool);
/* The mark, the readable part of the git branch, and a digest of it: [a-z0-9-], at most
 * BRANCH_KEY_MAX bytes. */
char *branch_key(
	struct arena *a, const struct branchdb_site *site, const char *pool, const char *of);
/* *b has mod 0 if there is none. */
int branch_read(struct branchdb *db, const char *pool, const char *key, struct branchdb_branch *b,
	struct error *err);
/* Writes b, at b->mod (0: it must not exist), or deletes it. `counted`: of `*counted`, the mod of
 * the pool's counter when its branches were counted; may be NULL. *refused: another process was
 * faster. */
int branch_write(struct branchdb *db, struct branchdb_branch *b, bool drop, const int64_t *counted,
	bool *refused, struct error *err);
struct branch_counts {
	size_t all, warm;
	int64_t counter; /* mod of the pool's counter */
};
/* How many there are of a pool. */
int branch_count(
	struct branchdb *db, const char *pool, struct branch_counts *out, struct error *err);
/* The branch b becomes that of the git branch `of`, whose record is in `slot`; there is none yet,
 * or it is `former`, which this process removes from now on. */
int branch_rename(struct branchdb *db, struct branchdb_branch *b, const char *slot, const char *of,
	struct branchdb_branch *former, bool *refused, struct error *err);
/* `WORD DIGITS`; no process has used it, on any machine. */
char *branch_fresh_name(struct arena *a, const char *word);
/* Gives the request a branch that was made in advance for the same migrations. *taken false: there
 * is none. */
int branch_take_warm(struct branchdb *db, const struct branchdb_request *q, const char *slot,
	struct branchdb_branch *out, bool *taken, struct error *err);
/* This process creates or removes it; no process does. */
void branch_claim(struct branchdb *db, struct branchdb_branch *b, enum branchdb_state state);
/* A process that is running creates or removes it. */
bool branch_busy(struct branchdb *db, const struct branchdb_branch *b);

/* Runs the pool's migration command in the worktree with these variables. -1: ERR_CHECK: its
 * directory is missing, or it failed, with the last line that it printed, in which secrets are
 * masked; another code: it was not run. */
int branch_migrate(struct arena *a, const struct branchdb_request *q, const char *const *env,
	struct error *err);

#endif
