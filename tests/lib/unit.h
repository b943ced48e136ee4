/*
 * unit.h: included by every unit test: cmocka (with the headers it needs) and base.
 *
 * Tests that protect a commit are in files `test_*.c`: `make test` runs them. Tests that prove more
 * at a higher cost (sweeps, comparisons with other programs, corner cases that start many
 * processes) are in files `proof_*.c`: `make proof` runs them.
 */
#ifndef DT_TESTS_UNIT_H
#define DT_TESTS_UNIT_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "src/base/buf.h"

#define assert_str(s, literal)                                                                     \
	do {                                                                                       \
		struct str got_ = (s);                                                             \
		assert_int_equal(got_.n, sizeof(literal) - 1);                                     \
		if (got_.n)                                                                        \
			assert_memory_equal(got_.p, literal, got_.n);                              \
	} while (0)

/* Skips the rest of the test and says why. */
#define skip_because(...)                                                                          \
	do {                                                                                       \
		print_message("skipped: " __VA_ARGS__);                                            \
		print_message("\n");                                                               \
		skip();                                                                            \
	} while (0)

/* The call returns -1 and fills `e`. */
#define assert_fails(call, e, kind)                                                                \
	do {                                                                                       \
		assert_int_equal(call, -1);                                                        \
		assert_int_equal((e).code, kind);                                                  \
	} while (0)

/* The error as it is printed. */
#define assert_error(e, literal)                                                                   \
	do {                                                                                       \
		char line_[2048];                                                                  \
		error_format(e, line_, sizeof(line_));                                             \
		assert_string_equal(line_, literal);                                               \
	} while (0)

/*
 * A test. It registers itself; the tests of a file run in the order of the file.
 *
 *     TEST(a_word_is_found)
 *     {
 *             assert_true(...);
 *     }
 *
 * UNIT_TEST() is the same with functions that run before and after it. A rig defines a name for
 * that: `#define RIG_TEST(name) UNIT_TEST(name, rig_setup, rig_teardown)`. UNIT_GROUP() at the end
 * of a file names functions that run before its first and after its last test. A pointer may be
 * NULL in each.
 */
#define TEST(name) UNIT_TEST(name, NULL, NULL)
#define UNIT_TEST(name, setup, teardown)                                                           \
	static void name(void **state);                                                            \
	UNIT_CASE(name, #name, name, setup, teardown)                                              \
	static void name(__attribute__((unused)) void **state)
/* Registers a function as a test, under an `id` that is unique in its file. */
#define UNIT_CASE(id, title, function, setup, teardown)                                            \
	__attribute__((constructor)) static void unit_add_##id(void)                               \
	{                                                                                          \
		static const struct CMUnitTest test = {title, function, setup, teardown, NULL};    \
		unit_add(__FILE__, __LINE__, &test);                                               \
	}
#define UNIT_GROUP(setup, teardown)                                                                \
	__attribute__((constructor)) static void unit_add_group(void)                              \
	{                                                                                          \
		unit_group(__FILE__, setup, teardown);                                             \
	}

/* Not 0: fsync() and fdatasync(), which do nothing in unit tests, fail with this number. */
extern int unit_sync_error;

void unit_add(const char *path, unsigned line, const struct CMUnitTest *test);
void unit_group(const char *path, CMFixtureFunction setup, CMFixtureFunction teardown);

#endif
