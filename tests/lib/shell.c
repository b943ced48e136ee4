#include "tests/lib/run.h"
#include "tests/lib/shell.h"

/* Not as the product starts programs: with a sanitizer, each fork takes longer than most scripts.
 */
void sh_into(struct buf *output, const char *script)
{
	const char *argv[] = {
		"/bin/sh", "-ec", arena_printf(&arena, "exec 2>&1\n%s", script), NULL};
	struct run r = {.argv = argv, .cwd = base, .limit_s = WAIT_LIMIT_S};

	run(&r);
	if (r.status != 0)
		fail_msg("%s\n%s", script, r.out.len ? r.out.s : "");
	buf_add(output, buf_str(&r.out));
	run_release(&r);
}

void sh(const char *script)
{
	CLEANUP(buf_release) struct buf output = BUF_INIT;

	sh_into(&output, script);
}

void assert_sh(const char *script, const char *expected)
{
	CLEANUP(buf_release) struct buf output = BUF_INIT;

	sh_into(&output, script);
	assert_string_equal(output.s ? output.s : "", expected);
}
