/*
 * disk_cases.h: requirements that the machine's disk and the simulated one share. The including
 * test creates `case_disk` and the directory `case_root` before each case.
 */
#ifndef DT_TESTS_DISK_CASES_H
#define DT_TESTS_DISK_CASES_H

#include "src/sys/path.h"
#include "src/store/disk.h"
#include "tests/lib/scratch.h"
#include "tests/lib/unit.h"

extern struct disk *case_disk;
extern char *case_root;
extern struct error case_err;

/* A call of `case_disk`, which fills `case_err`. */
#define DISK(op, ...)             case_disk->ops->op(case_disk, __VA_ARGS__, &case_err)
#define disk_does(op, ...)        assert_int_equal(DISK(op, __VA_ARGS__), 0)
#define disk_fails(kind, op, ...) assert_fails(DISK(op, __VA_ARGS__), case_err, kind)

char *case_path(const char *name);
void case_put(const char *name, struct str text);
void case_assert_file(const char *name, const char *text);
struct disk_file *case_open(const char *name, bool make);
bool case_exists(const char *path);

/* -1: unknown. */
int64_t case_size(struct disk_file *f);

void disk_cases_add(
	const char *file, unsigned line, CMFixtureFunction setup, CMFixtureFunction teardown);
/* Registers all cases under the file of the including test. */
#define DISK_CASES(setup, teardown)                                                                \
	__attribute__((constructor)) static void add_disk_cases(void)                              \
	{                                                                                          \
		disk_cases_add(__FILE__, __LINE__, setup, teardown);                               \
	}

#endif
