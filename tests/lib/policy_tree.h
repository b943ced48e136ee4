/*
 * policy_tree.h: the tree for the tests of paths, and its surroundings: W/tree is the root,
 * W/secret and W/tree-other are outside; tree/inlink is a link to tree/sub, tree/esc to /etc.
 */
#ifndef DT_TESTS_POLICY_TREE_H
#define DT_TESTS_POLICY_TREE_H

#include <fcntl.h>
#include <sys/stat.h>
#include "src/policy/where.h"
#include "tests/lib/scratch.h"

extern struct root root;
extern struct policy policy;
extern struct verdict verdict;

void link_to(const char *target, const char *name);
void open_root(const char *name);
/* Only the files, without a root or policy. */
int policy_tree_lay(void **state);
int policy_tree_make(void **state);
int policy_tree_remove(void **state);
/* A process that keeps replacing `dir` by a link to `target` and back, until it is killed. */
pid_t policy_tree_swap(const char *dir, const char *aside, const char *target);

#define POLICY_TREE_TEST(name) UNIT_TEST(name, policy_tree_make, policy_tree_remove)

const char *verdict_text(void);

/* The verdict must be `deny RULE`. */
void assert_denied_by(enum rule rule, const char *about);

#endif
