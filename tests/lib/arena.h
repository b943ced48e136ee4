/*
 * arena.h: one arena for all tests of a program; arena_end() is a group's teardown.
 */
#ifndef DT_TESTS_ARENA_H
#define DT_TESTS_ARENA_H

#include "tests/lib/unit.h"

static struct arena arena;

static inline int arena_end(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

#endif
