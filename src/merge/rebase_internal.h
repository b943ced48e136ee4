/*
 * rebase_internal.h: a rebase in progress: its record in the store, and git under the gate. Private
 * to rebase*.c and land.c.
 */
#ifndef DT_REBASE_INTERNAL_H
#define DT_REBASE_INTERNAL_H

#include "src/sys/git.h"
#include "src/merge/gate_internal.h"

struct rebasing {
	struct arena *a;
	struct pool *p;
	struct gate *g;
	const struct rebase_ask *ask;
	const char *path; /* git runs here: the worktree or the repository */
	const char *dir;  /* the throw-away worktree */
	const char *branch, *target;
	bool batch_ssh;
	const char *const *env; /* more variables of the next commands, as of struct process */
	struct rebase_record rec;
	const char *from;   /* the commit that is rebased: the branch's, or what a killed rebase had
			     * pushed */
	bool unverified;    /* a killed one pushed it, and may not have kept what it verified */
	bool published;     /* what fails now is finished by the next one */
	const char *known;  /* the branch on the remote as last seen; NULL */
	const char *theirs; /* its commit on the remote now; NULL: it does not exist */
	struct rebase *out;
};

/* rebase_record.c. *out without a record: mod 0, texts NULL. */
int rebase_read(struct arena *a, struct pool *p, const char *path, struct rebase_record *out,
	struct error *err);
/* Writes w->rec with `state`, this fence and the current time. */
int rebase_save(struct rebasing *w, const char *state, struct error *err);

/* rebase_git.c. All run under the gate, in w->path if nothing else is said. */
int rebase_git(struct rebasing *w, const char *const *argv, const char *name, unsigned timeout_s,
	struct buf *out, int *status, struct error *err);
int rebase_git_in(struct rebasing *w, const char *dir, const char *const *argv, const char *name,
	unsigned timeout_s, struct buf *out, int *status, struct error *err);
/* *sha NULL: the reference does not exist. */
int rebase_sha(struct rebasing *w, const char *ref, const char **sha, struct error *err);
int rebase_contains(
	struct rebasing *w, const char *sha, const char *in, bool *yes, struct error *err);
/* The branch was at `sha` at some time. */
int rebase_was_at(struct rebasing *w, const char *sha, bool *yes, struct error *err);
int rebase_dirty(struct rebasing *w, const char **what, struct error *err);
/* The commits of both branches on the remote; NULL: the branch does not exist. */
int rebase_remote(struct rebasing *w, const char **target, const char **branch, struct error *err);
/* Fetches the target, and the branch if it exists there (w->theirs). */
int rebase_fetch(struct rebasing *w, struct error *err);

/*
 * A rebase is done in a worktree that nobody else uses, `.landing` in the pool's directory
 * (w->dir). What a killed one has left there is removed by the next one: only the holder of the
 * gate uses it. Local work runs no hooks and no file system monitor: an agent can write the
 * repository's configuration.
 */
#define REBASE_QUIET                                                                               \
	"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0"
int rebase_check_out(struct rebasing *w, const char *head, struct error *err);
/* Rebases what is checked out there onto `onto`. *after NULL: *paths are in conflict. */
int rebase_replay(struct rebasing *w, const char *onto, const char **after,
	const char *const **paths, struct error *err);
int rebase_discard(struct rebasing *w, struct error *err);
/* The worktree `dir` goes to `to` if it is at `from`; otherwise *moved. */
int rebase_follow(struct arena *a, const char *dir, const char *from, const char *to, bool *moved,
	struct error *err);

#endif
