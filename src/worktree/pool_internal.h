/*
 * pool_internal.h: what the files of this room share. Private to this room.
 */
#ifndef DT_WORKTREE_INTERNAL_H
#define DT_WORKTREE_INTERNAL_H

#include "context/file.h"
#include "src/base/vec.h"
#include "src/sys/process.h"
#include "src/worktree/pool.h"

struct tree {
	const char *path, *head;
	const char *branch; /* NULL: detached */
	const char *locked; /* reason, may be ""; NULL: not locked */
};

/* One operation on a pool. */
struct op {
	struct arena *a;
	struct pool *p;
	struct error *err;
	VEC(struct allocation) all; /* sorted by slug */
	VEC(struct tree) trees;     /* the first is the main one */
	/* Of the last program: its exit status, what it printed, the first line of that, and the
	 * same again, or NULL if it failed. */
	int status;
	struct buf output; /* in the arena */
	const char *said, *line;
	const struct allocate_ask *ask; /* of pool_allocate() */
};

#define REFUSE(...) error_set(o->err, ERR_STATE, __VA_ARGS__)
#define FORMAT(...) arena_printf(o->a, __VA_ARGS__)

extern const struct pool_part *pool_part; /* of pool_set_part() */

/* ---- pool.c ---- */

/* feat/x//1 -> feat-x-1, dev-team/ID -> ID. -1: ERR_USAGE: nothing is left, or the name is one that
 * git or the file system does not accept: `.`, `..`, a leading dot or dash, `.lock`. */
int pool_slug(struct arena *a, const char *branch, char **slug, struct error *err);
/* A bare repository has no main work tree. */
bool pool_is_bare(const struct pool *p);
/* PATH/.git is a file: a linked worktree, not a clone. */
bool worktree_there(const char *path);

/* ---- record.c ---- */

/* Takes the lock, reads the records, settles what was interrupted. Then call pool_unlock(). */
int op_begin(struct op *o);
/* NULL, or why it failed, which is no error of the operation. */
const char *op_try(
	struct op *o, int (*act)(struct op *o, struct allocation *of), struct allocation *of);
/* The one with this slug, whose case does not count, because it does not on some file systems;
 * `paths`: with this branch, else slug, else path. NULL: none. */
struct allocation *records_find(const struct op *o, const char *what, bool paths);
int record_put(struct op *o, const struct allocation *of);
/* Deletes it, and sets of->removed. */
int record_drop(struct op *o, struct allocation *of);
/* -1: it is half made or half removed: ERR_STATE. */
int record_check(struct op *o, const struct allocation *of);
/* Its holder may be running. */
bool record_is_held(struct arena *a, const struct allocation *of);
/* Its git directory with `name`, "" or "/FILE", behind it. */
const char *admin_file(struct op *o, const struct allocation *of, const char *name);
/* The worktree that its git directory names; NULL: there is none. */
const char *admin_leads(struct op *o, const struct allocation *of);
/* A file there, by which it is known to be the worktree of the record after it was moved. */
#define ADMIN_MARK "/dev-team"

/* ---- git.c ---- */

/* A program in `dir`, `name` for people, that inherits the lock. -1: it could not run. */
int op_run(struct op *o, const char *dir, const char *const *argv, const char *name);
/* -1: the last program failed; the error has its output. */
int op_check(struct op *o, const char *name);
/* git in `at`; NULL: in the repository; without a file system monitor and hooks, because agents can
 * write the configuration. Only `git worktree` and `git checkout` have hooks: files are checked out
 * by the user's own git. */
int op_git(struct op *o, const char *at, const char *const *args);
int trees_read(struct op *o);
/* The one at `path`; NULL: that with `branch` checked out. NULL: none. */
const struct tree *trees_find(const struct op *o, const char *path, const char *branch);

/* ---- remove.c ---- */

/* Sets of->keep and of->why: the first that applies of live, children, foreign, locked, and, unless
 * `confirmed`, uncommitted, unpushed, unsure. Reads the trees. */
int pool_keep(struct op *o, struct allocation *of, bool confirmed);
/* Its git directory; one of the same name that belongs to another worktree stays. */
int drop_admin(struct op *o, const struct allocation *of);
/* Deletes what was being made, or removed, with its record; a removal that had not begun has not
 * happened. */
int pool_settle(struct op *o, struct allocation *of);

/* ---- ports.c ---- */

/* No process listens there on any address of this machine. */
bool port_is_free(unsigned port);
/* Sets port, ports, slots and parent. Emits PortCollision if they are not the first ones. */
int ports_choose(struct op *o, struct allocation *of);

#endif
