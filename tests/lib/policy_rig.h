/*
 * policy_rig.h: a small repository for policies, with a link to the outside:
 *
 *   BASE/secret  BASE/tree-other/secret
 *   BASE/tree/   README.md Makefile src/{main.c,util.c,h.h} include/ sub/{Makefile,deep.txt} build/
 *                inlink -> sub   esc -> /etc   up -> ..   .git/{config,hooks/}
 */
#ifndef DT_TESTS_POLICY_RIG_H
#define DT_TESTS_POLICY_RIG_H

#include "src/shell/parse.h"
#include "src/policy/check.h"
#include "tests/lib/scratch.h"

extern struct policy rig_policy;
extern struct root rig_root;

int rig_make(void **state);
/* Also a policy that allows every program with a row, so that only the program's own rules decide.
 */
int programs_make(void **state);
int rig_remove(void **state);
void rig_use(const char *name);

/* The policy's texts as a JSON object, as the rows of `policy test` have it. */
void rig_use_json(const char *text);

/* The result for a line at the root, for messages too. */
struct verdict rig_ask(const char *line);
void rig_allowed(const char *line);
void rig_denied(const char *line, const char *rule);

#endif
