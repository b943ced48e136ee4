/*
 * pool_rig.h: git_rig.h and a pool of its repository `r`, whose worktrees are in `pool`.
 */
#ifndef DT_TESTS_POOL_RIG_H
#define DT_TESTS_POOL_RIG_H

#include "src/worktree/pool.h"
#include "tests/lib/git_rig.h"

extern struct pool pool;
extern struct worktree_pool_spec spec;

void pool_again(void);
/* A repository and the spec of its pool, which is not open yet. */
int pool_rig_spec(void **state);
int pool_setup(void **state);
int pool_teardown(void **state);

/* An item in this state works, or worked, in the worktree; owner NULL: nobody has it. */
void item_in(const char *id, const char *path, const char *state, const char *owner);

/* 0, or -1 with err. */
int allocate(const struct allocate_ask *ask, struct allocation *of);
struct allocation have(const char *branch);
/* The same; it was created now, or was there. */
struct allocation take(const char *branch, bool created);
bool take_refused(const char *branch, enum err code, const char *part);

/* The worktree `what` is not removed, without and with a confirmation, because of `why`. */
bool stays(const char *what, const char *why);
bool stays_confirmed(const char *what, const char *why);
void goes(const char *what, bool confirmed);
/* The number of the store's keys that begin with `prefix`. */
size_t keys(const char *prefix);
/* Nothing of x is left: no directory, no registration, no key of the store. */
void nothing_is_left_of_x(void);

/* A new worktree x with the change `act` is removed only when this is confirmed, because of `why`.
 */
void change_stays(const char *act, const char *why);
/* The same with a commit; not `kept`: it is removed without a confirmation. */
void commit_stays(const char *act, bool kept);
/* Puts the record of a worktree into the store. */
void pool_put(const struct allocation *of);
/* x as a process leaves it that is killed while it creates it, after `act` in the scratch
 * directory, and then another command. */
void half_made(const char *act);
/* The same while it removes it. */
void half_removed(const char *act);
/* The kinds of all leaks, with blanks between them. */
const char *leaks(void);
/* A process that runs until somebody_ends(). */
pid_t somebody(void);
/* The same, with this working directory. */
pid_t somebody_in(const char *dir);
void somebody_ends(pid_t pid);

#define POOL_TEST(name) UNIT_TEST(name, pool_setup, pool_teardown)

#endif
