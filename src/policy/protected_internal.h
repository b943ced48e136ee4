/*
 * protected_internal.h: what the parts of protected.h share: what is watched (protected.c), how it
 * is remembered (protected_keep.c) and put back (protected_restore.c, protected_write.c).
 */
#ifndef DT_POLICY_PROTECTED_INTERNAL_H
#define DT_POLICY_PROTECTED_INTERNAL_H

#include "src/policy/protected.h"
#include "src/policy/trail.h"

/* One file, directory or link as it was. */
struct kept {
	const char *path; /* relative to the base */
	struct stat st;
	const char *text; /* contents, or where the link leads */
	size_t n;
	bool copied; /* else it was too long or could not be read: a change is seen, not mended */
};

enum watch_kind {
	WATCH_ALL,    /* the file, or the directory and all below it */
	WATCH_KIND,   /* a directory on the way: what it is, not what is in it; no link may come to
			 stand there */
	WATCH_KNOWN,  /* a file that others may make or remove: only its text counts */
	WATCH_NEW_GIT /* there is no .git: one as `git init` makes it may come */
};

struct base {
	int fd;           /* O_PATH; -1: none */
	const char *name; /* for reports: "" is the root */
};

/* `list` is in the order in which directories stand before what is in them; empty: there is none.
 */
struct watch {
	const struct base *base;
	const char *path; /* relative to it */
	enum watch_kind kind;
	struct kept *list;
	size_t n, cap;
};

struct protected
{
	struct arena *arena;
	struct base root, own, common; /* own, common: of a linked worktree */
	struct watch *list;
	size_t n, cap;
	size_t files, bytes; /* remembered so far */
	struct error *err;   /* while it is put back: the first failure */
	bool failed;
	const char **changed;
	size_t n_changed;
};

/* Is the path watched at all, or is it what others write there in the meantime? */
bool watched(const char *path);

/* protected_keep.c: -1: ERR_SYSTEM, ERR_STATE. */
int keep_watch(struct protected *p, struct watch *w, struct error *err);
/* Opens the directory that has `path`; -1 with errno. */
int watch_parent(const struct watch *w, const char *path, const char **name);
int list_folder(int dir, const char *name); /* for reading; -1 with errno */

/* protected_fresh.c: is the directory a repository as `git init` leaves it? */
bool git_is_fresh(int dir, const char *name);

/* protected_write.c: takes away whatever stands there; 0 when nothing does any more. */
int take_away(int dir, const char *name);
/* Puts a file, an empty directory or a link there as it was; the place is free, or has a file. */
int put_back(int dir, const char *name, const struct kept *k);

#endif
