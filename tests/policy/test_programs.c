/*
 * The rules of programs: each table in tests/corpus/programs has lines that are allowed and lines
 * that a rule denies.
 */
#include "tests/lib/corpus.h"
#include "tests/lib/policy_rig.h"

static void check_row(const json *row, void *data)
{
	const char *line = json_get_str(row, "command"), *expect = json_get_str(row, "expect");
	size_t *rows = data;

	if (strcmp(expect, "allow") == 0)
		rig_allowed(line);
	else
		rig_denied(line, expect);
	++*rows;
}

static void check_table(const char *name, size_t least)
{
	size_t rows = 0;

	corpus_each(name, check_row, &rows);
	assert_true(rows >= least);
}

/* A policy that does not write: what would write, with or without being told where. */
static int make_readonly(void **state)
{
	if (programs_make(state) < 0)
		return -1;
	rig_policy.write = false;
	return 0;
}

#define PROGRAMS_TEST(name, make, least)                                                           \
	UNIT_TEST(lines_of_##name, make, rig_remove)                                               \
	{                                                                                          \
		check_table("programs/" #name ".jsonl", least);                                    \
	}

PROGRAMS_TEST(text, programs_make, 300)
PROGRAMS_TEST(sed, programs_make, 100)
PROGRAMS_TEST(files, programs_make, 280)
PROGRAMS_TEST(find, programs_make, 210)
PROGRAMS_TEST(build, programs_make, 330)
PROGRAMS_TEST(lang, programs_make, 85)
PROGRAMS_TEST(wrap, programs_make, 170)
PROGRAMS_TEST(readonly, make_readonly, 65)
