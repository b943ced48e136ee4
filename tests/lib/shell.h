/*
 * shell.h: shell scripts that set up a test, run in its scratch directory. A script that fails,
 * fails the test.
 */
#ifndef DT_TESTS_SHELL_H
#define DT_TESTS_SHELL_H

#include "tests/lib/scratch.h"

void sh(const char *script);
/* Appends the output, up to 1 MiB. */
void sh_into(struct buf *output, const char *script);
/* The output must be `expected`. */
void assert_sh(const char *script, const char *expected);

#endif
