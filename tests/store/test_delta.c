#include "src/store/store.h"
#include "tests/lib/scratch.h"

static const char *printed(struct str old_text, struct str new_text)
{
	CLEANUP(delta_release) struct delta d = {0};
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	delta_between(&d, old_text, new_text);
	delta_write(&(struct json_writer){.out = &b}, NULL, &d, new_text);
	return arena_dup(&arena, buf_str(&b));
}

static int apply(const char *text, struct str old_text, struct buf *out, struct error *err)
{
	CLEANUP(json_free) json *j = NULL;

	assert_int_equal(json_parse(&j, str_of(text), err), 0);
	return delta_apply(j, old_text, out, err);
}

static void leads(struct str old_text, struct str new_text)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	struct error err = {0};

	assert_int_equal(apply(printed(old_text, new_text), old_text, &b, &err), 0);
	assert_int_equal(b.len, new_text.n);
	if (b.len)
		assert_memory_equal(b.s, new_text.p, b.len);
}

TEST(whole_lines_are_kept_at_both_ends)
{
	assert_string_equal(printed(STR("one\ntwo\nthree\n"), STR("one\n2\nthree\n")),
		"[[0,4],\"2\\n\",[8,14]]");
	assert_string_equal(printed(STR("a\n"), STR("a\nb\n")), "[[0,2],\"b\\n\"]");
	assert_string_equal(printed(STR("a\nb\n"), STR("b\n")), "[[2,4]]");
	assert_string_equal(printed(STR("a\n"), STR("a\n")), "[[0,2]]");
	assert_string_equal(printed(STR("a\n"), STR("")), "[]");
	assert_string_equal(printed(STR(""), STR("a\n")), "[\"a\\n\"]");
}

TEST(lines_that_are_said_twice_are_not_kept_twice)
{
	assert_string_equal(printed(STR("x\nx\n"), STR("x\nx\nx\n")), "[[0,4],\"x\\n\"]");
	leads(STR("x\nx\n"), STR("x\nx\nx\n"));
	leads(STR("x\nx\nx\n"), STR("x\nx\n"));
	leads(STR("xxxx"), STR("xxx"));
}

TEST(a_character_is_never_cut)
{
	assert_string_equal(printed(STR("\xc3\xa9"), STR("\xc3\xa8")), "[\"\xc3\xa8\"]");
	assert_string_equal(printed(STR("\xc3\xa9"), STR("\xc4\xa9")), "[\"\xc4\xa9\"]");
	leads(STR("a\xc3\xa9z"), STR("a\xc3\xa8z"));
}

TEST(bytes_that_are_no_text_come_back_as_they_were)
{
	char all[256];

	for (int i = 0; i < 256; i++)
		all[i] = (char)i;
	assert_string_equal(printed(STR(""), STR("\xff")), "[{\"hex\":\"ff\"}]");
	for (size_t n = 0; n <= sizeof(all); n++)
		leads(STR("old\n"), (struct str){all, n});
	for (size_t n = 0; n < 6; n++)
		leads(STR(""), (struct str){all + 250, n});
}

TEST(any_two_texts_lead_to_one_another)
{
	static const char *const texts[] = {"", "a", "a\n", "b\na\n", "a\nb\n", "a\nb\nc", "\n\n\n",
		"a\n\nb", "\xff\n\xff", "\"\\\t\x01\n", "a\nB\nc\n", "a\nb\nc\nd\ne\nf\n"};

	for (size_t i = 0; i < COUNT(texts); i++)
		for (size_t k = 0; k < COUNT(texts); k++)
			leads(str_of(texts[i]), str_of(texts[k]));
}

TEST(long_texts_are_told_by_their_difference)
{
	CLEANUP(buf_release) struct buf old_text = BUF_INIT, new_text = BUF_INIT;

	for (int i = 0; i < 50000; i++) {
		buf_addf(&old_text, "line %d\n", i);
		buf_addf(&new_text, i == 25000 ? "another %d\n" : "line %d\n", i);
	}
	leads(buf_str(&old_text), buf_str(&new_text));
	assert_true(strlen(printed(buf_str(&old_text), buf_str(&new_text))) < 60);
}

TEST(copies_that_touch_become_one_and_long_ones_are_clipped)
{
	CLEANUP(delta_release) struct delta d = {0};
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	delta_keep(&d, 0, 10, 2);
	delta_keep(&d, 2, 12, 3);
	delta_keep(&d, 5, 0, 0);
	delta_keep(&d, 7, 20, 100);
	assert_int_equal(d.n, 2);
	delta_write(&(struct json_writer){.out = &b}, NULL, &d, STR("0123456789"));
	assert_string_equal(b.s, "[[10,15],\"56\",[20,23]]");
}

static void refused(const char *array)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	struct error err = {0};

	assert_fails(apply(array, STR("12345"), &b, &err), err, ERR_INPUT);
	assert_non_null(strstr(err.text, "a delta"));
}

TEST(what_is_none_of_ours_is_refused)
{
	refused("{}");
	refused("\"a\"");
	refused("[1]");
	refused("[null]");
	refused("[[0,6]]");
	refused("[[3,2]]");
	refused("[[-1,2]]");
	refused("[[0.5,2]]");
	refused("[[1]]");
	refused("[[1,2,3]]");
	refused("[[\"1\",2]]");
	refused("[{}]");
	refused("[{\"hex\":1}]");
	refused("[{\"hex\":\"abc\"}]");
	refused("[{\"hex\":\"ab$=\"}]");
	refused("[{\"hex\":\" 1\"}]");
}

TEST(what_is_kept_is_compared)
{
	CLEANUP(delta_release) struct delta d = {0};

	assert_true(delta_holds(&d, STR("a"), STR("b")));
	delta_keep(&d, 1, 2, 2);
	assert_true(delta_holds(&d, STR("xxab"), STR("-ab-")));
	assert_true(delta_holds(&d, STR("xxab"), STR("-a"))); /* it is clipped */
	assert_false(delta_holds(&d, STR("xxac"), STR("-ab-")));
	assert_false(delta_holds(&d, STR("xxa"), STR("-ab-")));
	assert_false(delta_holds(&d, STR("x"), STR("-ab-")));
	assert_false(delta_holds(&d, STR("xxab"), STR("")));
}

TEST(a_small_array_does_not_make_a_large_text)
{
	CLEANUP(buf_release) struct buf old_text = BUF_INIT, array = BUF_INIT, b = BUF_INIT;
	struct error err = {0};

	for (int i = 0; i < 1 << 20; i++)
		buf_addc(&old_text, 'x');
	for (int i = 0; i < 1000; i++)
		buf_addf(&array, "%s[0,%zu]", i ? "," : "[", old_text.len);
	buf_addc(&array, ']');
	assert_int_equal(apply(array.s, buf_str(&old_text), &b, &err), -1);
	assert_string_equal(err.text, "a delta produces more than 16 MiB");
	assert_true(b.len <= 17 << 20);
}

UNIT_GROUP(NULL, arena_end)
