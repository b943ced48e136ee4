/*
 * adapter.h: how a kind of database makes branches. One file for each, and a row in the list of
 * adapter.c. Private to this room.
 */
#ifndef DT_BRANCHDB_ADAPTER_H
#define DT_BRANCHDB_ADAPTER_H

#include "src/branchdb/branchdb.h"

enum adapter_fault {
	ADAPTER_OTHER,
	ADAPTER_UNAVAILABLE, /* the server, the API or the file cannot be reached */
	ADAPTER_QUOTA,       /* the vendor allows no more branches */
};

struct adapter_keys {
	const char **items;
	size_t n, cap;
};

struct adapter_call {
	struct arena *arena;
	const struct branchdb_site *site;
	const struct database_pool_spec *pool;
	const char *upstream; /* the connection string; set by adapter_check() */
	const char *key;      /* of the branch; in adapter.list() the mark that ours begin with */
	const char *parent;   /* key of the branch that it is made from; NULL: the upstream */
	bool read_only;
	const char *method;       /* set by create(): how it was made; NULL */
	enum adapter_fault fault; /* set with -1 */
};

struct adapter {
	const char *name;
	unsigned max; /* branches at the same time; 0: no limit of its own */
	bool read_only, from_branch;
	const char *const *required; /* credentials, NULL-ended */
	/* Beyond required credentials: what else is missing. May be NULL. */
	int (*check)(struct adapter_call *c, struct error *err);
	/* The database answers. */
	int (*reach)(struct adapter_call *c, struct error *err);
	/* The branch is there afterwards; what an interrupted call left of it is replaced. */
	int (*create)(struct adapter_call *c, struct error *err);
	/* It is gone afterwards; 0 too if it was gone before. */
	int (*drop)(struct adapter_call *c, struct error *err);
	/* Names of branches that begin with c->key. */
	int (*list)(struct adapter_call *c, struct adapter_keys *out, struct error *err);
	/* *out: the connection string of the branch, in the arena. */
	int (*address)(struct adapter_call *c, const char **out, struct error *err);
};

extern const struct adapter adapter_sqlite_copy, adapter_pg_snapshot_restore, adapter_neon,
	adapter_supabase, adapter_external;

/* NULL: there is none of that name. */
const struct adapter *adapter_find(const char *name);
/* Everything that the pool needs is there; names what is missing, without a value. */
int adapter_check(const struct adapter *d, struct adapter_call *c, struct error *err);
/* Sets c->fault; the rest as error_set(). */
int adapter_refuse(struct adapter_call *c, enum adapter_fault fault, struct error *err,
	const char *fmt, ...) PRINTF(4, 5);
/* The value of a variable that the pool names; -1: it is not set. `what`: the field. */
int adapter_variable(const char *what, const char *name, const char **out, struct error *err);
/* The file that the address of an SQLite database names; NULL: it is of something else. */
const char *sqlite_file_of(struct arena *a, const char *address);
/* This process masks the connection string, its password, and that as it is in a URL. */
void adapter_keep_secret(const char *address);

#endif
