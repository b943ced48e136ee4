/*
 * unit.h: what every unit test includes: cmocka (with what it needs before it) and base.
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

/* The error as people see it. */
#define assert_error(e, literal)                                                                   \
	do {                                                                                       \
		char line_[2048];                                                                  \
		error_format(e, line_, sizeof(line_));                                             \
		assert_string_equal(line_, literal);                                               \
	} while (0)

/*
 * Opens the function that runs the tests of a file, in place of main():
 *
 *     UNIT_TESTS
 *     {
 *             const struct CMUnitTest tests[] = {...};
 *
 *             return cmocka_run_group_tests(tests, NULL, NULL);
 *     }
 */
#define UNIT_TESTS                                                                                 \
	static int unit_run(void);                                                                 \
	__attribute__((constructor)) static void unit_register_file(void)                          \
	{                                                                                          \
		unit_register(__FILE__, unit_run);                                                 \
	}                                                                                          \
	static int unit_run(void)

void unit_register(const char *path, int (*run)(void));

#endif
