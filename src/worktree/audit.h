/*
 * audit.h: compares records, ports, git's admin directories and files. Private to this room.
 *
 *     audit_look.c    reads the store at one revision, git's admin directories, the directory
 *     audit_ports.c   ports against records
 *     audit_files.c   records against worktrees, admin directories and other files
 *     audit.c         repeats the look until nothing changes meanwhile
 */
#ifndef DT_WORKTREE_AUDIT_H
#define DT_WORKTREE_AUDIT_H

#include "src/worktree/list.h"

/* A record and the digest that finds it. */
struct audit_record {
	struct allocation of;
	char digest[DIGEST_TEXT];
	bool busy; /* a running process is creating or removing it: it is not checked */
};

struct audit {
	struct arena *arena;
	struct pool *pool;
	int64_t at;                   /* revision of everything read from the store */
	struct audit_record *records; /* of all pools, by digest */
	size_t n_records;
	struct store_kv *ports, *marks;
	size_t n_ports, n_marks;
	struct place *places;
	size_t n_places;
	struct leak *leaks;
	size_t n_leaks, cap_leaks;
};

int audit_look(struct audit *t, struct error *err);
/* *same: the store is as it was at audit_look(). */
int audit_unchanged(struct audit *t, bool *same, struct error *err);
void audit_add(struct audit *t, const char *kind, const char *path, const char *fmt, ...)
	PRINTF(4, 5);
/* NULL: there is none. */
const struct audit_record *audit_by_digest(const struct audit *t, struct str digest);
const struct audit_record *audit_by_path(const struct audit *t, const char *path);

void audit_marks(struct audit *t);
void audit_ports(struct audit *t);
int audit_files(struct audit *t, struct error *err);

#endif
