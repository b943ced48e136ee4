#include "src/sys/process.h"
#include "tests/lib/unit.h"

static int explain(struct str output, struct error *err)
{
	return process_check(
		&(struct process){0}, &(struct process_end){.status = 2}, "p", output, err);
}

static void assert_error_text(const char *output, const char *expected)
{
	struct error err;

	assert_int_equal(explain(str_of(output), &err), -1);
	assert_string_equal(err.text, expected);
}

TEST(the_last_lines_of_a_program_make_one_clean_line)
{
	CLEANUP(buf_release) struct buf longer = BUF_INIT;
	struct error err;

	assert_error_text("", "'p' failed with status 2");
	assert_error_text("\n \r\n", "'p' failed with status 2");
	assert_error_text("1\n2\n3\n4\n\n5\r\n6\nhint: x\n", "'p' failed: 2; 3; 4; 5; 6");
	/* a fault that git explains in many lines is not cut off its explanation */
	assert_error_text("fatal: Unable to create '/r/.git/index.lock': File exists.\n\nAnother\n"
			  "2\n3\n4\n5\nremove the file manually to continue.\n",
		"'p' failed: fatal: Unable to create '/r/.git/index.lock': File exists.; "
		"Another; 2; 3; 4; 5; remove the file manually to continue.");
	assert_error_text(
		"note\nerror: these files would be overwritten:\n1\n2\n3\n4\n5\n6\n7\n8\n9\n",
		"'p' failed: error: these files would be overwritten:; 1; 2; 3; 4; 5; 6; 7; 8; 9");
	assert_error_text(
		"remote: GH013: rules\nremote: \nremote:   - Secret\nremote: 2\nremote: 3\n"
		"remote:     path: a.c:1\nTo /r\n ! [remote rejected] a -> a\nerror: x\n",
		"'p' failed: remote: GH013: rules; remote: - Secret; remote: 2; remote: 3; "
		"remote: path: a.c:1; To /r; ! [remote rejected] a -> a; error: x");
	for (int i = 0; i < 30; i++)
		buf_addf(&longer, "%sremote: %d", i ? "\n" : "", i);
	assert_error_text(longer.s, "'p' failed: remote: 0; remote: 25; remote: 26; remote: 27; "
				    "remote: 28; remote: 29");
	longer.len = 0;
	assert_error_text("1\n2\n3\n4\n5\n6\nerror: x\n", "'p' failed: 3; 4; 5; 6; error: x");
	assert_error_text("a\033[1m  b\tc\001", "'p' failed: a [1m b c");
	assert_error_text("to 'https://u:p@ss@h/x@y' and ssh://git@h and a@b://c",
		"'p' failed: to 'https://***@h/x@y' and ssh://***@h and a@b://c");
	assert_error_text("caf\303\251 \377!", "'p' failed: caf\303\251 ?!");
	for (int i = 0; i < 400; i++)
		buf_adds(&longer, "x\303\251");
	buf_adds(&longer, "\n! [remote rejected] a");
	assert_int_equal(explain(buf_str(&longer), &err), -1);
	assert_int_equal(strlen(err.text), strlen("'p' failed:  ... ") + 840);
	assert_non_null(strstr(err.text, "; ! [remote rejected] a"));
	assert_int_equal(str_utf8_fault(str_of(err.text)), 0);
}
