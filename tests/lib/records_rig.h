/*
 * records_rig.h: a pool whose records, ports and directories a test writes itself, consistent or
 * not.
 */
#ifndef DT_TESTS_RECORDS_RIG_H
#define DT_TESTS_RECORDS_RIG_H

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "tests/lib/unit.h"
#include "tests/lib/scratch.h"
#include "src/base/clock.h"
#include "src/sys/process.h"
#include "src/worktree/pool_internal.h"

extern struct pool pool; /* of pool_rig.c */

int open_pool(void **state);
int close_pool(void **state);

/* ---- inconsistencies ---- */

char *in_pool(const char *name);
void write_text(const char *path, const char *text);

/* As git creates them: a directory, its pointer, and the admin directory that points back. */
void make_worktree(const char *repo, const char *path);
struct allocation record_of(const char *name);
void put_record(struct allocation of);
void put_key(const char *key, const char *value);
void del_key(const char *key);
void whole(const char *name, unsigned port);
pid_t somebody(void);
void somebody_ends(pid_t pid);

/* An operation of a running process is not checked; one of a dead process is a leak. */

#define RECORDS_TEST(name) UNIT_TEST(name, open_pool, close_pool)

#endif
