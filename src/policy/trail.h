/*
 * trail.h: where a path leads, physically, before anything is said about it. For where.c.
 */
#ifndef DT_POLICY_TRAIL_H
#define DT_POLICY_TRAIL_H

#include "src/policy/beneath.h"
#include "src/policy/where.h"

struct trail {
	int fd;         /* O_PATH, of the deepest that exists; -1 where there is none */
	bool exists;    /* all of the path */
	bool below;     /* the root; then `rel` is what follows it in `real` */
	struct stat st; /* of what `fd` is, or of the name itself where links were not followed */
	size_t n;
	struct str rel;
	char real[PATH_MAX]; /* "" when it could not be followed */
	char fault[160];     /* set on -1 */
	int number;          /* on -1: the errno, 0 for faults of other kinds */
};

#define TRAIL_INIT                                                                                 \
	{                                                                                          \
		.fd = -1                                                                           \
	}
void trail_close(struct trail *t);

/*
 * Follows `path` from `cwd`. `name_only`: a link that is the last part is not followed. 0, or -1
 * with t->fault. What is outside is no failure here: t->below says it.
 */
int trail_follow(
	const struct root *r, struct str cwd, struct str path, bool name_only, struct trail *t);

/* guard.c: may `rel` (real, relative to the root) not be written? `whole`: nor what is below it.
 * *by: the protected path. */
bool guarded(
	const struct root *r, const struct policy *p, struct str rel, bool whole, const char **by);
/* Is one of the fixed names in the root's own directory a link? */
bool guard_linked(const struct root *r);
/* The fixed names, at any depth, NULL-ended; and one of two parts, at the top. */
extern const char *const guarded_names[], *const guarded_workflows;

#endif
