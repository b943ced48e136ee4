#include "src/base/json.h"
#include "tests/lib/unit.h"

static struct error err;

static char *printed(json *j)
{
	struct buf b = BUF_INIT;

	json_print(&b, j);
	json_free(&j);
	return b.s;
}

static void assert_refused(struct str text, const char *message)
{
	json *j = (json *)&err;

	assert_int_equal(json_parse(&j, text, &err), -1);
	assert_null(j);
	assert_int_equal(err.code, ERR_INPUT);
	assert_string_equal(err.text, message);
}

TEST(what_is_not_one_json_value_is_refused)
{
	assert_refused(STR(""), "empty text");
	assert_refused(STR("   "), "this is not JSON");
	assert_refused(STR("{"), "this is not JSON");
	assert_refused(STR("nul"), "this is not JSON");
	assert_refused(STR("{\"a\":1,}"), "this is not JSON");
	assert_refused(STR("[1] trailing"), "text after the JSON value");
	assert_refused(STR("{} {}"), "text after the JSON value");
	assert_refused(STR("[1]]"), "text after the JSON value");
	assert_refused(STR("\"\xff\""), "invalid UTF-8");
	assert_refused(STR("[1\0]"), "invalid UTF-8");
}

TEST(a_key_given_twice_is_refused_at_any_depth)
{
	assert_refused(STR("{\"a\":1,\"a\":2}"), "duplicate key");
	assert_refused(STR("[{\"b\":{\"a\":1,\"x\":0,\"a\":2}}]"), "duplicate key");
}

TEST(keys_that_differ_in_case_are_two)
{
	json *j = NULL;

	assert_int_equal(json_parse(&j, STR("{\"a\":\"1\",\"A\":\"2\"}"), &err), 0);
	assert_string_equal(json_get_str(j, "A"), "2");
	json_free(&j);
}

TEST(an_escaped_nul_is_refused_but_not_a_backslash_before_u0000)
{
	json *j;

	assert_refused(STR("\"\\u0000\""), "a NUL character is not allowed");
	assert_refused(STR("\"\\\\\\u0000\""), "a NUL character is not allowed");
	assert_refused(STR("[\"\\\\u0000\",\"\\u0000\"]"), "a NUL character is not allowed");
	assert_int_equal(json_parse(&j, STR("\"\\\\u0000\""), &err), 0);
	assert_string_equal(json_text(j), "\\u0000");
	json_free(&j);
}

TEST(numbers_that_would_change_are_refused)
{
	json *j;

	assert_refused(STR("9007199254740993"), "a number is too large");
	assert_refused(STR("{\"a\":[1e999]}"), "a number is too large");
	assert_refused(STR("-1e300"), "a number is too large");
	assert_int_equal(json_parse_event(&j, STR("{\"a\":[-1e300,9007199254740993]}"), &err), 0);
	json_free(&j);
	assert_int_equal(json_parse_event(&j, STR("{\"a\":1,\"a\":2}"), &err), -1);
	assert_int_equal(json_parse_event(&j, STR("\"\\u0000\""), &err), -1);
}

TEST(whole_numbers_are_read_within_their_range)
{
	json *j;

	assert_int_equal(json_parse(&j,
				 STR("{\"n\":7,\"z\":0,\"neg\":-1,\"f\":1.5,\"s\":\"7\","
				     "\"big\":999999999999999}"),
				 &err),
		0);
	assert_int_equal(json_get_int(j, "n", 99), 7);
	assert_int_equal(json_get_int(j, "z", 99), 0);
	assert_int_equal(json_get_int(j, "neg", 99), 99);
	assert_int_equal(json_get_int(j, "f", 99), 99);
	assert_int_equal(json_get_int(j, "s", 99), 99);
	assert_int_equal(json_get_int(j, "none", 99), 99);
	assert_true(json_get_int(j, "big", 99) == 999999999999999);
	json_free(&j);
}

/* The library's printer goes over to %.15g with a tolerance: what it prints must read back alike.
 */
TEST(every_number_that_can_be_put_reads_back_the_same)
{
	for (int64_t n = 1; n <= JSON_MAX_INT; n = n * 3 + 1) {
		json *j = json_object();
		char want[64];

		json_put_int(j, "n", n);
		CLEANUP(base_free) char *text = printed(j);
		(void)snprintf(want, sizeof(want), "{\"n\":%lld}", (long long)n);
		assert_string_equal(text, want);
	}
	json *j = json_object();
	json_put_int(j, "n", JSON_MAX_INT);
	CLEANUP(base_free) char *text = printed(j);
	assert_string_equal(text, "{\"n\":999999999999999}");
}

TEST(values_are_built_and_printed_in_order)
{
	json *o = json_object(), *list = json_array();

	json_put_str(o, "s", STR("a\"b\\c\n\t\x01\xc3\xa9"));
	json_put_int(o, "n", 42);
	json_put_bool(o, "b", true);
	json_push_str(list, STR(""));
	json_push(list, json_object());
	json_put(o, "list", list);
	CLEANUP(base_free) char *text = printed(o);
	assert_string_equal(text, "{\"s\":\"a\\\"b\\\\c\\n\\t\\u0001\xc3\xa9\",\"n\":42,\"b\":true,"
				  "\"list\":[\"\",{}]}");
}

TEST(a_member_is_replaced_in_its_place_or_added)
{
	json *o = json_object();
	json *one, *two;

	json_put_int(o, "a", 1);
	json_put_int(o, "b", 2);
	assert_int_equal(json_parse(&one, STR("\"new\""), &err), 0);
	assert_int_equal(json_parse(&two, STR("[]"), &err), 0);
	json_set(o, "a", one);
	json_set(o, "c", two);
	json_drop(o, "b");
	json_drop(o, "none");
	CLEANUP(base_free) char *text = printed(o);
	assert_string_equal(text, "{\"a\":\"new\",\"c\":[]}");
}

TEST(members_are_replaced_together_and_an_inner_object_is_made)
{
	json *o = JSON_OBJECT(JSON_INT("a", 1), JSON_TEXT("b", "x"), JSON_INT("c", 3));

	JSON_SET(o, JSON_TEXT("b", json_get_str(o, "b")), JSON_INT("d", 4), JSON_NONE,
		JSON_TEXT("a", "y"));
	json_put_int(json_inner(o, "c"), "e", 5);
	json_put_int(json_inner(o, "c"), "f", 6);
	CLEANUP(base_free) char *text = printed(o);
	assert_string_equal(text, "{\"a\":\"y\",\"b\":\"x\",\"c\":{\"e\":5,\"f\":6},\"d\":4}");
}

TEST(members_and_items_are_walked)
{
	json *j;
	const json *list, *m;

	assert_int_equal(json_parse(&j, STR("{\"x\":[10,20,30],\"y\":null}"), &err), 0);
	m = json_first(j);
	assert_string_equal(json_key(m), "x");
	assert_string_equal(json_key(json_next(m)), "y");
	assert_null(json_next(json_next(m)));
	list = json_get(j, "x");
	assert_true(json_is_array(list));
	assert_false(json_is_object(list));
	assert_int_equal(json_len(list), 3);
	assert_null(json_at(list, 3));
	assert_null(json_text(json_at(list, 0)));
	assert_null(json_first(NULL));
	json_free(&j);
}

TEST(a_copy_is_whole_and_its_own)
{
	json *j, *copy;

	assert_int_equal(json_parse(&j, STR("{\"a\":[1,{\"b\":\"c\"}]}"), &err), 0);
	copy = json_copy(j);
	json_free(&j);
	CLEANUP(base_free) char *text = printed(copy);
	assert_string_equal(text, "{\"a\":[1,{\"b\":\"c\"}]}");
}

TEST(deep_nesting_is_refused_not_a_crash)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	for (int i = 0; i < 200000; i++)
		buf_addc(&b, '[');
	assert_refused(buf_str(&b), "this is not JSON");
}

/* Quadratic work here would take minutes. */
TEST(an_object_of_many_keys_is_read)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	json *j;

	buf_addc(&b, '{');
	for (int i = 0; i < 300000; i++)
		buf_addf(&b, "%s\"k%d\":0", i ? "," : "", i);
	buf_addc(&b, '}');
	assert_int_equal(json_parse(&j, buf_str(&b), &err), 0);
	json_free(&j);
	b.len--;
	buf_adds(&b, ",\"k7\":1}");
	assert_refused(buf_str(&b), "duplicate key");
}

TEST(fractions_print_as_they_came_and_kinds_are_told_apart)
{
	static const double values[] = {0.95, 0, -1.5, 1e-9, 12, 0.1};
	CLEANUP(json_free) json *j = NULL;
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	for (size_t i = 0; i < COUNT(values); i++) {
		CLEANUP(json_free) json *made = json_object();
		CLEANUP(json_free) json *read = NULL;

		json_put_number(made, "n", values[i]);
		buf_clear(&b);
		json_print(&b, made);
		assert_int_equal(json_parse(&read, buf_str(&b), &err), 0);
		assert_true(json_number(json_get(read, "n"), 99) == values[i]);
	}
	j = json_object();
	json_put_null(j, "x");
	assert_true(json_is_null(json_get(j, "x")) && !json_is_bool(json_get(j, "x")));
	assert_true(!json_is_null(json_get(j, "y")) && !json_is_number(json_get(j, "y")));
	assert_true(json_number(json_get(j, "x"), 7) == 7);
}

TEST(pieces_are_written_like_a_tree_is_printed)
{
	static const char text[] = "{\"a\":[1,-2,{},[]],\"b\":{\"c\":\"x\\n\",\"d\":null}}";
	CLEANUP(buf_release) struct buf pieces = BUF_INIT, tree = BUF_INIT;
	CLEANUP(json_free) json *j = NULL;

	assert_int_equal(json_parse(&j, str_of(text), &err), 0);
	for (int pretty = 0; pretty < 2; pretty++) {
		struct json_writer w = {.out = &pieces, .pretty = pretty};

		buf_clear(&pieces);
		buf_clear(&tree);
		json_write_open(&w, NULL, '{');
		json_write(&w, "a", json_get(j, "a"));
		json_write_open(&w, "b", '{');
		json_write_str(&w, "c", STR("x\n"));
		json_write(&w, "d", json_get(json_get(j, "b"), "d"));
		json_write_close(&w, '}');
		json_write_close(&w, '}');
		if (pretty)
			json_print_pretty(&tree, j);
		else
			json_print(&tree, j);
		buf_adds(&pieces, pretty ? "\n" : "");
		assert_string_equal(pieces.s, tree.s);
	}
	json_print(&tree, j);
	assert_non_null(strstr(tree.s, text));
}
