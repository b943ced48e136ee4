/*
 * rig.h: a repository with a remote, a home and a state directory for the tests of the pool, and
 * dev-team run in it.
 */
#ifndef DT_TESTS_POOL_RIG_H
#define DT_TESTS_POOL_RIG_H

#include "src/base/json.h"
#include "tests/lib/random.h"
#include "tests/lib/run.h"
#include "tests/lib/tap.h"
#include "tests/lib/tree.h"

enum { RIG_WORDS = 16 };

struct rig {
	char *dir;  /* scratch: origin.git, work, home, state */
	char *work; /* the repository */
	char *live; /* DIR/live: all of it but `before` */
	struct arena arena;
};

/* A repository of `files` files with one commit that its remote has too. */
void rig_open(struct rig *r, unsigned files);
void rig_close(struct rig *r);
/* Saves the current state, and restores it. */
void rig_keep(struct rig *r);
void rig_restore(struct rig *r);

/* `dev-team WORDS...` in the repository, or any other program with `rig_do`. The result's out and
 * err are the caller's to release. */
struct run rig_run(struct rig *r, const char *const *words);
#define RIG(r, ...) rig_run((r), (const char *const[]){"dev-team", __VA_ARGS__, NULL})
#define GIT(r, ...) rig_run((r), (const char *const[]){"git", __VA_ARGS__, NULL})
/* The same, ends the test program unless it exits 0. */
void rig_must(struct rig *r, const char *const *words);
#define GIT_MUST(r, ...) rig_must((r), (const char *const[]){"git", __VA_ARGS__, NULL})
#define RIG_MUST(r, ...) rig_must((r), (const char *const[]){"dev-team", __VA_ARGS__, NULL})

/* "" when `pool audit` finds nothing; else its output, in the arena. As the next command it also
 * repairs. */
const char *rig_audit(struct rig *r);

/* The output of `pool allocate`. */
struct allocated {
	const char *path, *branch; /* in the arena */
	unsigned port, ports;
	bool created;
};
/* False when it did not exit 0 or printed something else; *fault has the reason. */
bool rig_allocate(
	struct rig *r, const char *const *words, struct allocated *out, const char **fault);
#define ALLOCATE(r, out, fault, ...)                                                               \
	rig_allocate((r),                                                                          \
		(const char *const[]){                                                             \
			"dev-team", "pool", "allocate", "--json", __VA_ARGS__, NULL},              \
		(out), (fault))

void pool_crowd(void);
void pool_kills(void);
void pool_sweep_calls(bool full);

#endif
