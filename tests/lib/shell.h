/*
 * shell.h: scripts that make what a test needs, run in its scratch folder. One that ends badly
 * fails the test.
 */
#ifndef DT_TESTS_SHELL_H
#define DT_TESTS_SHELL_H

#include "src/sys/process.h"
#include "tests/lib/scratch.h"

static inline void sh_into(struct buf *said, const char *script)
{
	const char *argv[] = {"/bin/sh", "-ec", script, NULL};
	struct process p = {
		.argv = argv, .cwd = base, .output = -1, .out = said, .out_max = 1 << 20};
	struct process_end end;
	struct error why;

	if (process_run(&p, &end, &why) < 0)
		fail_msg("%s\n%s", script, why.text);
	if (end.status != 0)
		fail_msg("%s\n%s", script, said->s ? said->s : "");
}

static inline void sh(const char *script)
{
	CLEANUP(buf_release) struct buf said = BUF_INIT;

	sh_into(&said, script);
}

static inline void assert_sh(const char *script, const char *expected)
{
	CLEANUP(buf_release) struct buf said = BUF_INIT;

	sh_into(&said, script);
	assert_string_equal(said.s ? said.s : "", expected);
}

#endif
