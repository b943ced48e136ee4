/*
 * Prints the manual page: the template on standard input, the lines @SYNOPSIS@ and @COMMANDS@
 * replaced by what the tables of the verbs say.
 */
#include "src/cli/cli.h"
#include "src/sys/path.h"

int main(void)
{
	CLEANUP(buf_release) struct buf in = BUF_INIT, out = BUF_INIT;
	struct error err;
	struct str rest, line;

	if (sys_read_all(&in, STDIN_FILENO, 1 << 20, "standard input", &err) < 0)
		return 1;
	rest = buf_str(&in);
	while (str_line(&rest, &line)) {
		if (str_is(line, "@SYNOPSIS@"))
			option_manual_synopsis(&out, &cli_program);
		else if (str_is(line, "@COMMANDS@"))
			option_manual_commands(&out, &cli_program);
		else
			buf_addf(&out, "%.*s\n", (int)line.n, line.p);
	}
	return sys_write_all(STDOUT_FILENO, buf_str(&out), "standard output", &err) < 0;
}
