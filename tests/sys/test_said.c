#include "src/sys/process.h"
#include "tests/lib/unit.h"

static void words_are(const char *said, const char *expected)
{
	CLEANUP(buf_release) struct buf words = BUF_INIT;

	process_error_text(str_of(said), &words);
	assert_string_equal(words.s ? words.s : "", expected);
}

TEST(the_last_said_last_a_program_make_one_clean_line)
{
	CLEANUP(buf_release) struct buf longer = BUF_INIT, words = BUF_INIT;

	words_are("", "");
	words_are("\n \r\n", "");
	words_are("1\n2\n3\n4\n\n5\r\n6\nhint: x\n", "2; 3; 4; 5; 6");
	words_are("a\033[1m  b\tc\001", "a [1m b c");
	words_are("to 'https://u:p@ss@h/x@y' and ssh://git@h and a@b://c",
		"to 'https://***@h/x@y' and ssh://***@h and a@b://c");
	words_are("caf\303\251 \377!", "caf\303\251 ?!");
	for (int i = 0; i < 400; i++)
		buf_adds(&longer, "x\303\251");
	process_error_text(buf_str(&longer), &words);
	assert_int_equal(words.len, 600);
	assert_int_equal(str_utf8_fault(buf_str(&words)), 0);
}
