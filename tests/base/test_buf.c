#include "tests/lib/unit.h"

TEST(an_empty_buf_has_no_text_and_is_released_twice_without_harm)
{
	struct buf b = BUF_INIT;

	assert_int_equal(buf_str(&b).n, 0);
	buf_release(&b);
	buf_clear(&b);
	buf_add(&b, (struct str){0});
	assert_string_equal(b.s, "");
	buf_release(&b);
	buf_release(&b);
	buf_reserve(&b, 100);
	assert_string_equal(b.s, "");
	buf_release(&b);
}

TEST(a_buf_grows_and_stays_nul_ended)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	for (int i = 0; i < 5000; i++) {
		buf_addc(&b, (char)('a' + i % 26));
		assert_int_equal(b.s[b.len], '\0');
		assert_true(b.cap > b.len);
	}
	assert_int_equal(b.len, 5000);
	assert_int_equal(b.s[4999], 'a' + 4999 % 26);
	buf_clear(&b);
	assert_int_equal(b.len, 0);
	assert_string_equal(b.s, "");
}

TEST(a_buf_keeps_bytes_of_any_value)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	buf_add(&b, STR("a\0b"));
	buf_addc(&b, '\0');
	assert_int_equal(b.len, 4);
	assert_memory_equal(b.s, "a\0b\0", 5);
}

TEST(formatted_text_is_added_at_the_end)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	buf_adds(&b, "x=");
	buf_addf(&b, "%d, %s", 42, "answer");
	assert_str(buf_str(&b), "x=42, answer");
	buf_clear(&b);
	buf_addf(&b, "%0500d", 7);
	assert_int_equal(b.len, 500);
}

TEST(a_shell_word_is_always_in_single_quotes)
{
	static const char *const cases[][2] = {
		{"", "''"},
		{"plain", "'plain'"},
		{"it's", "'it'\\''s'"},
		{"$(rm -rf /) `x` \\ \"\n", "'$(rm -rf /) `x` \\ \"\n'"},
		{"''", "''\\'''\\'''"},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		CLEANUP(buf_release) struct buf b = BUF_INIT;

		buf_add_shell(&b, str_of(cases[i][0]));
		assert_string_equal(b.s, cases[i][1]);
	}
}

TEST(a_message_shows_no_control_characters_and_no_broken_text)
{
	static const struct {
		struct str text;
		size_t max;
		const char *shown;
	} cases[] = {
		{STR("a\nb\x1b[31m\x7f"), 100, "a?b?[31m?"},
		{STR("a\0b"), 100, "a?b"},
		{STR("\xc2\x85x\xc2\xa0"), 100, "?x\xc2\xa0"}, /* C1, and a blank that is none */
		{STR("\xff\xc3"), 100, "??"},
		{STR("caf\xc3\xa9"), 4, "caf"},
		{STR("caf\xc3\xa9x"), 5, "caf\xc3\xa9"},
		{STR("\x80\x80\x80"), 2, "??"},
		{STR(""), 100, ""},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		CLEANUP(buf_release) struct buf b = BUF_INIT;

		buf_add_printable(&b, cases[i].text, cases[i].max);
		assert_string_equal(buf_str(&b).n ? b.s : "", cases[i].shown);
	}
}

TEST(a_list_ends_its_items_at_commas_outside_parentheses)
{
	static const char *const cases[][4] = {
		{"a", "a"},
		{" a b ,c", "a b", "c"},
		{"", ""},
		{"a,", "a", ""},
		{"Bash(git:*,x), Read", "Bash(git:*,x)", "Read"},
		{"a),b", "a)", "b"},
		{"(a,b", "(a,b"},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct str rest = str_of(cases[i][0]), item;
		size_t n = 1;

		for (; str_next_item(&rest, &item); n++)
			assert_true(str_is(item, cases[i][n]));
		assert_true(n == COUNT(cases[i]) || !cases[i][n]);
	}
}

TEST(an_arena_gives_zeroed_aligned_memory_that_does_not_move)
{
	struct arena a = {0};
	char *first = arena_dup(&a, STR("first"));

	for (size_t n = 0; n < 20000; n = n * 2 + 1) {
		unsigned char *p = arena_alloc(&a, n);

		assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(p[i], 0);
		memset(p, 0xaa, n);
	}
	assert_string_equal(first, "first");
	assert_string_equal(arena_printf(&a, "%s-%d", "n", 9), "n-9");
	assert_str(arena_str(&a, STR("text")), "text");
	arena_release(&a);
	arena_release(&a);
}

TEST(texts_are_compared_by_their_bytes)
{
	assert_true(str_eq(STR("a\0b"), STR("a\0b")));
	assert_false(str_eq(STR("a\0b"), STR("a\0c")));
	assert_true(str_eq((struct str){0}, STR("")));
	assert_true(str_is(STR("word"), "word"));
	assert_false(str_is(STR("word"), "wor"));
	assert_false(str_is(STR("wor"), "word"));
	assert_true(str_starts(STR("word"), "wo"));
	assert_false(str_starts(STR("w"), "wo"));
	assert_true(str_starts((struct str){0}, ""));
	assert_true(str_ends(STR("word"), "rd"));
	assert_false(str_ends(STR("d"), "rd"));
}

TEST(trimming_takes_blanks_at_both_ends_only)
{
	assert_str(str_trim(STR(" \t\r\n a b \n\n")), "a b");
	assert_str(str_trim(STR(" \n ")), "");
	assert_str(str_trim(STR("\va\f")), "\va\f");
	assert_str(str_trim((struct str){0}), "");
}

TEST(finding_gives_the_first_place_or_the_end)
{
	assert_int_equal(str_find(STR("abcabc"), STR("ca")), 2);
	assert_int_equal(str_find(STR("abc"), STR("x")), 3);
	assert_int_equal(str_find((struct str){0}, STR("x")), 0);
	assert_int_equal(str_find(STR("ab"), STR("abc")), 2);
	assert_str(str_sub(STR("abcdef"), 2, 4), "cd");
}

TEST(lines_come_without_lf_or_crlf)
{
	struct str rest = STR("one\r\ntwo\n\nlast\r"), line;

	assert_true(str_line(&rest, &line));
	assert_str(line, "one");
	assert_true(str_line(&rest, &line));
	assert_str(line, "two");
	assert_true(str_line(&rest, &line));
	assert_str(line, "");
	assert_true(str_line(&rest, &line));
	assert_str(line, "last\r");
	assert_false(str_line(&rest, &line));
}

TEST(bad_utf8_is_found_at_its_first_byte)
{
	static const struct {
		const char *text;
		size_t at;
	} cases[] = {
		{"", 0},
		{"plain ascii, more than eight bytes of it", 0},
		{"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 0},
		{"\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf", 0},
		{"a\x80", 2},
		{"12345678\xff", 9},
		{"\xc0\xaf", 1},         /* overlong */
		{"\xc1\xbf", 1},         /* overlong */
		{"\xe0\x9f\xbf", 1},     /* overlong */
		{"\xf0\x8f\xbf\xbf", 1}, /* overlong */
		{"\xed\xa0\x80", 1},     /* surrogate */
		{"\xf4\x90\x80\x80", 1}, /* over U+10FFFF */
		{"\xf5\x80\x80\x80", 1},
		{"ab\xe2\x82", 3}, /* cut short */
		{"ab\xe2\x82z", 3},
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(str_utf8_fault(str_of(cases[i].text)), cases[i].at);
	for (size_t n = 0; n < 20; n++) {
		char text[20] = "aaaaaaaaaaaaaaaaaaa";

		text[n] = '\0';
		assert_int_equal(str_utf8_fault((struct str){text, sizeof(text)}), n + 1);
		if (n == 19)
			break;
	}
}

TEST(a_place_counts_lines_and_characters_from_one)
{
	struct str text = STR("ab\n\xc3\xa9x\n");
	unsigned line, col;

	str_position(text, 0, &line, &col);
	assert_int_equal(line, 1);
	assert_int_equal(col, 1);
	str_position(text, 5, &line, &col); /* the x */
	assert_int_equal(line, 2);
	assert_int_equal(col, 2);
	str_position(text, 999, &line, &col);
	assert_int_equal(line, 3);
	assert_int_equal(col, 1);
}
