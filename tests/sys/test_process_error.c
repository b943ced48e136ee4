#include "src/sys/process.h"
#include "tests/lib/unit.h"

static void assert_error_text(const char *output, const char *expected)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	process_error_text(str_of(output), &text);
	assert_string_equal(text.s ? text.s : "", expected);
}

TEST(the_last_lines_of_a_program_make_one_clean_line)
{
	CLEANUP(buf_release) struct buf longer = BUF_INIT, text = BUF_INIT;

	assert_error_text("", "");
	assert_error_text("\n \r\n", "");
	assert_error_text("1\n2\n3\n4\n\n5\r\n6\nhint: x\n", "2; 3; 4; 5; 6");
	assert_error_text("a\033[1m  b\tc\001", "a [1m b c");
	assert_error_text("to 'https://u:p@ss@h/x@y' and ssh://git@h and a@b://c",
		"to 'https://***@h/x@y' and ssh://***@h and a@b://c");
	assert_error_text("caf\303\251 \377!", "caf\303\251 ?!");
	for (int i = 0; i < 400; i++)
		buf_adds(&longer, "x\303\251");
	process_error_text(buf_str(&longer), &text);
	assert_int_equal(text.len, 600);
	assert_int_equal(str_utf8_fault(buf_str(&text)), 0);
}
