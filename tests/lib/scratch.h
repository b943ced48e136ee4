/*
 * scratch.h: an empty folder for a test, or for a group of them, and an arena for the paths in it.
 * Both are gone afterwards.
 */
#ifndef DT_TESTS_SCRATCH_H
#define DT_TESTS_SCRATCH_H

#include "src/sys/path.h"
#include "tests/lib/tree.h"
#include "tests/lib/arena.h"

static char *base; /* the folder, absolute */

static inline int scratch_make(void **state)
{
	(void)state;
	base = tree_scratch("unit");
	return 0;
}

static inline int scratch_remove(void **state)
{
	tree_remove(base);
	free(base);
	return arena_end(state);
}

/* The same, for tests that work inside the folder. */
static inline int scratch_enter(void **state)
{
	return scratch_make(state) < 0 ? -1 : chdir(base);
}

static inline int scratch_leave(void **state)
{
	return chdir("/") < 0 ? -1 : scratch_remove(state);
}

static inline char *at(const char *name)
{
	return path_join(&arena, base, name);
}

#define scratch_test(f) cmocka_unit_test_setup_teardown(f, scratch_make, scratch_remove)

#endif
