/*
 * audit.h: one look at all that has to fit together. For this room alone.
 *
 *     audit_look.c    what there is: the store at one revision, git's admin folders, the folder
 *     audit_ports.c   ports against records
 *     audit_files.c   records against worktrees, admin folders and what lies about
 *     audit.c         the looks, until nobody has changed anything meanwhile
 */
#ifndef DT_WORKTREE_AUDIT_H
#define DT_WORKTREE_AUDIT_H

#include "src/worktree/list.h"

/* A record, with what is looked up by. */
struct audit_record {
	struct allocation of;
	char digest[DIGEST_TEXT];
	bool busy; /* a live process is about to make or remove it: nothing is expected of it */
};

struct audit {
	struct arena *arena;
	struct pool *pool;
	int64_t at;                   /* revision of all that is out of the store */
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
