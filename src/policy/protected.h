/*
 * protected.h: the protected files around a run. Programs that run what the repository says (make,
 * cc, tests) are bound by no rule about words, and not on every host can the kernel keep them from
 * these files: so they are remembered before, and put back after.
 *
 * What is looked at: hooks and settings of the git directory (of the one that linked worktrees
 * share, too, and of submodules), settings of agents and of this program at the top of the root,
 * policy->protect. Not: a `.git` that is made deeper in the tree.
 */
#ifndef DT_POLICY_PROTECTED_H
#define DT_POLICY_PROTECTED_H

#include "src/policy/where.h"

struct protected;

/* What the kernel's layers do already: others may change these files meanwhile, and that is then
 * left alone. */
struct keeping {
	bool mounted;  /* what exists is mounted read-only: only what does not is looked at */
	bool confined; /* nothing can be written outside the root but objects, refs and logs */
};

/* Before the run. -1: ERR_SYSTEM, or ERR_STATE when there is too much to remember. */
int protected_remember(struct arena *a, const struct root *r, const struct policy *p,
	struct keeping keeping, struct protected **out, struct error *err);

/*
 * When no process of the run is left. *changed: what was changed, made or removed (relative to the
 * root; absolute in the shared git directory), put back by then. No link is followed on the way.
 * -1: ERR_SYSTEM that names a path that could not be put back; *changed is complete all the same.
 */
int protected_restore(struct protected *p, struct texts *changed, struct error *err);
void protected_release(struct protected **p); /* for CLEANUP too; may be NULL */

#endif
