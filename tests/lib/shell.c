#include "src/sys/process.h"
#include "tests/lib/shell.h"

void sh_into(struct buf *output, const char *script)
{
	const char *argv[] = {"/bin/sh", "-ec", script, NULL};
	struct process p = {
		.argv = argv, .cwd = base, .output = -1, .out = output, .out_max = 1 << 20};
	struct process_end end;
	struct error why;

	if (process_run(&p, &end, &why) < 0)
		fail_msg("%s\n%s", script, why.text);
	if (end.status != 0)
		fail_msg("%s\n%s", script, output->s ? output->s : "");
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
