/*
 * scratch.h: an arena for the tests of a file, an empty directory for a test or a group of them,
 * which is removed afterwards, and a count of descriptors that a test leaves open.
 */
#ifndef DT_TESTS_SCRATCH_H
#define DT_TESTS_SCRATCH_H

#include "src/sys/path.h"
#include "tests/lib/tree.h"
#include "tests/lib/unit.h"

extern struct arena arena;
extern char *base; /* the directory, absolute */

/* Fixtures of cmocka. */
int arena_end(void **state);
int scratch_make(void **state);
int scratch_remove(void **state);
/* The same, for tests that work inside the directory. */
int scratch_enter(void **state);
int scratch_leave(void **state);

/* A path in the directory. */
char *at(const char *name);
/* Writes a whole file in the directory and creates the directories above it. */
void scratch_write(const char *name, const char *text);
/* Writes an executable shell script in the directory. `text`: without its first line. */
void scratch_program(const char *name, const char *text);
/* The text of a file in the directory; "" if there is none. */
char *scratch_read(const char *name);

/* `before`, `what` n times, `behind`; ends in NUL. */
struct str repeated(const char *before, const char *what, size_t n, const char *behind);

#define SCRATCH_TEST(name) UNIT_TEST(name, scratch_make, scratch_remove)

/* The number of open descriptors of this process below 256. */
size_t open_descriptors(void);

#endif
