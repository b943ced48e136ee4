#include "src/base/yaml.h"
#include "tests/lib/scratch.h"

static struct error err;

static struct yaml *parsed(struct str text)
{
	struct yaml *y = NULL;

	if (yaml_parse(&arena, text, "f.md", 1, &y, &err) < 0)
		fail_msg("%u:%u: %s", err.line, err.col, err.text);
	return y;
}

#define refused(text, message) assert_refused(STR(text), 2, message)
static void assert_refused(struct str text, unsigned first_line, const char *message)
{
	struct yaml *y;

	assert_fails(yaml_parse(&arena, text, "f.md", first_line, &y, &err), err, ERR_INPUT);
	assert_error(&err, message);
}

static void assert_same(const struct yaml *x, const struct yaml *y)
{
	assert_int_equal(x->kind, y->kind);
	assert_int_equal(x->line, y->line);
	assert_int_equal(x->col, y->col);
	assert_int_equal(x->from, y->from);
	assert_true(x->plain == y->plain && str_eq(x->text, y->text));
	assert_int_equal(x->n, y->n);
	for (size_t i = 0; x->kind == YAML_LIST && i < x->n; i++) {
		assert_same(x->list[i], y->list[i]);
		assert_int_equal(x->list[i]->to, y->list[i]->to);
	}
	for (size_t i = 0; x->kind == YAML_MAP && i < x->n; i++) {
		assert_same(x->map[i].key, y->map[i].key);
		assert_same(x->map[i].value, y->map[i].value);
		assert_int_equal(x->map[i].key->to, y->map[i].key->to);
		assert_int_equal(x->map[i].value->to, y->map[i].value->to);
	}
}

/* Changes a byte or two of a plain text; the end mark after it makes libyaml read it. */
TEST(the_short_way_reads_as_libyaml_does)
{
	static const char plain[] =
		"# a text\n\nstate: researching\npr_url:\na: {a: 1, b: 22}\nx: a b:c\nq: \"it's, "
		"so\"\ns: '3: a'\nk:\n- a b, c\n- 'd'\nz:\n  - x (\n# b\nt: 4 (y), it's#c\nl: [ls, "
		"g++, "
		"\"[\",\n    c-d, /e/f ]\nm: []\n";
	static const char bytes[] = ":, {}-#\n'\"ab1_/.\t&*!|>%@`[]~?\\=<";
	unsigned taken = 0;
	uint64_t dice = 1;

	for (unsigned i = 0; i < 60000; i++) {
		struct arena a = {0};
		struct str text;
		struct yaml *x, *y;
		char *copy = arena_printf(&a, "%s...\n", plain);

		for (unsigned k = 0; i && k < 1 + i % 3; k++) {
			dice = dice * 6364136223846793005u + 1442695040888963407u;
			copy[(dice >> 33) % (sizeof(plain) - 1)] =
				bytes[(dice >> 50) % (sizeof(bytes) - 1)];
		}
		text = str_of(copy);
		if (yaml_plain(&a, str_sub(text, 0, sizeof(plain) - 1), 2, &x)) {
			if (yaml_parse(&a, text, "f.md", 2, &y, &err) < 0)
				fail_msg("%s: taken, and refused: %s", copy, err.text);
			assert_same(x, y);
			taken++;
		}
		arena_release(&a);
	}
	assert_in_range(taken, 5000, 59999);
}

TEST(an_empty_text_is_an_empty_map)
{
	assert_int_equal(parsed(STR(""))->kind, YAML_MAP);
	assert_int_equal(parsed(STR("# only a comment\n"))->n, 0);
	assert_int_equal(parsed((struct str){0})->n, 0);
}

TEST(maps_lists_and_scalars_are_read_in_order)
{
	struct yaml *y =
		parsed(STR("b: one\na: [x, 'y z', \"q\\tr\"]\nc:\n  d: |\n    l1\n    l2\n"));
	struct yaml *list = yaml_get(y, "a");

	assert_int_equal(y->n, 3);
	assert_str(y->map[0].key->text, "b");
	assert_str(yaml_get(y, "b")->text, "one");
	assert_int_equal(list->kind, YAML_LIST);
	assert_int_equal(list->n, 3);
	assert_str(list->list[1]->text, "y z");
	assert_false(list->list[1]->plain);
	assert_true(list->list[0]->plain);
	assert_str(list->list[2]->text, "q\tr");
	assert_str(yaml_get(yaml_get(y, "c"), "d")->text, "l1\nl2\n");
	assert_null(yaml_get(y, "none"));
	assert_null(yaml_get(list, "b"));
	assert_null(yaml_get(NULL, "b"));
}

TEST(a_list_of_hundreds_keeps_them_all)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	struct yaml *y;

	for (int i = 0; i < 500; i++)
		buf_addf(&b, "- %d\n", i);
	y = parsed(buf_str(&b));
	assert_int_equal(y->kind, YAML_LIST);
	assert_int_equal(y->n, 500);
	assert_str(y->list[499]->text, "499");
}

/* In-place edits depend on these: bytes, not characters. */
TEST(byte_ranges_are_right_behind_characters_of_several_bytes)
{
	static const char text[] =
		"k\xc3\xa9y: \xe2\x82\xac uro\nn: [\xf0\x9f\x98\x80, 'q']\nlast: \"v\"\n";
	struct yaml *y = parsed(STR(text));

	for (size_t i = 0; i < 3; i++) {
		static const char *const keys[] = {"k\xc3\xa9y", "n", "last"};
		static const char *const values[] = {
			"\xe2\x82\xac uro", "[\xf0\x9f\x98\x80, 'q']", "\"v\""};
		const struct yaml *k = y->map[i].key, *v = y->map[i].value;

		assert_true(str_is(str_sub(STR(text), k->from, k->to), keys[i]));
		assert_true(str_is(str_sub(STR(text), v->from, v->to), values[i]));
	}
	assert_int_equal(y->map[2].value->line, 3);
	assert_int_equal(y->map[2].value->col, 7);
}

TEST(what_yaml_allows_but_we_do_not_is_refused_at_its_place)
{
	refused("a: 1\na: 2\n", "f.md:3:1: duplicate key 'a'");
	refused("x: {a: 1, a: 2}\n", "f.md:2:11: duplicate key 'a'");
	refused("{\"a\\e[1m\\t\": 1, \"a\\e[1m\\t\": 2}\n", "f.md:2:17: duplicate key 'a?[1m?'");
	refused("a: &x 1\n", "f.md:2:4: anchors are not allowed");
	refused("a: &x [1]\n", "f.md:2:4: anchors and tags are not allowed");
	refused("a: *x\n", "f.md:2:4: aliases are not allowed");
	refused("a: !!str 1\n", "f.md:2:4: tags are not allowed");
	refused("a: !t {b: 1}\n", "f.md:2:4: anchors and tags are not allowed");
	refused("a: 1\n---\nb: 2\n", "f.md:3:1: a second document is not allowed");
	refused("[a]: 1\n", "f.md:2:1: a key must be a single word or text");
	refused("a: \"x\\0y\"\n", "f.md:2:4: a text with a NUL byte is not allowed");
	refused("&a a: 1\n", "f.md:2:1: anchors are not allowed");
}

TEST(syntax_errors_have_their_place)
{
	refused("a: 1\nb: 'x\n", "f.md:4:1: found unexpected end of stream");
	refused("a: [1, 2\nb: 3\n", "f.md:3:2: did not find expected ',' or ']'");
	refused("a: 1\n\tb: 2\n", "f.md:3:1: found a tab character that violates indentation");
	refused("a: b: c\n", "f.md:2:5: mapping values are not allowed in this context");
	refused("a: 1\nb: x\x01y\n", "f.md:3:5: control characters are not allowed");
	refused("a: \xc3\xa9\x01\n", "f.md:2:5: control characters are not allowed");
}

TEST(nesting_is_limited)
{
	parsed(STR("[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]"));
	refused("[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]", "f.md:2:18: nested deeper than 16 levels");
}

TEST(a_map_of_many_keys_finds_each_and_refuses_the_second)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	struct yaml *y;

	for (int i = 0; i < 5000; i++)
		buf_addf(&b, "'k %d': %d\n", i, i);
	assert_int_equal(yaml_parse(&arena, buf_str(&b), "f.md", 1, &y, &err), 0);
	for (int i = 0; i < 5000; i++)
		assert_string_equal(yaml_get(y, arena_printf(&arena, "k %d", i))->text.p,
			arena_printf(&arena, "%d", i));
	assert_null(yaml_get(y, "k 5000"));
	buf_adds(&b, "'k 4711': 1\n");
	assert_refused(buf_str(&b), 1, "f.md:5001:1: duplicate key 'k 4711'");
}

TEST(a_map_of_too_many_keys_is_refused_before_it_costs_minutes)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	for (int i = 0; i < 10001; i++)
		buf_addf(&b, "k%d: 0\n", i);
	assert_refused(buf_str(&b), 1, "f.md:10001:1: more than 10000 keys in one map");
}

TEST(nulls_are_known_by_their_plain_form_only)
{
	struct yaml *y = parsed(STR("a:\nb: ~\nc: null\nd: ''\ne: \"null\"\nf: Null\n"));

	assert_true(yaml_is_null(yaml_get(y, "a")));
	assert_true(yaml_is_null(yaml_get(y, "b")));
	assert_true(yaml_is_null(yaml_get(y, "c")));
	assert_false(yaml_is_null(yaml_get(y, "d")));
	assert_false(yaml_is_null(yaml_get(y, "e")));
	assert_false(yaml_is_null(y));
}

TEST(whole_numbers_are_read_and_all_else_is_refused)
{
	struct yaml *y =
		parsed(STR("a: 42\nb: 010\nc: 0x1F\nd: -1\ne: 1.0\nf:\ng: [1]\nh: 99999999999\n"
			   "i: 999999999999\nj: 100\n"));
	static const char bad[] = "cdefg";
	unsigned long n = 0;

	assert_int_equal(yaml_uint(yaml_get(y, "a"), "f", "a", 99, &n, &err), 0);
	assert_int_equal(n, 42);
	assert_int_equal(yaml_uint(yaml_get(y, "b"), "f", "b", 99, &n, &err), 0);
	assert_int_equal(n, 10);
	for (size_t i = 0; bad[i]; i++) {
		char key[] = {bad[i], '\0'};

		assert_int_equal(yaml_uint(yaml_get(y, key), "f", key, 99, &n, &err), -1);
		assert_non_null(strstr(err.text, "must be a whole number"));
	}
	assert_int_equal(yaml_uint(yaml_get(y, "h"), "f", "h", 99999999999, &n, &err), 0);
	assert_int_equal(yaml_uint(yaml_get(y, "i"), "f", "i", 99, &n, &err), -1);
	assert_int_equal(yaml_uint(yaml_get(y, "j"), "f", "j", 99, &n, &err), -1);
	assert_error(&err, "f:10:4: 'j' must be a whole number from 0 to 99, not '100'");
	yaml_uint(yaml_get(y, "c"), "f", "retries", 99, &n, &err);
	assert_error(&err, "f:3:4: 'retries' must be a whole number from 0 to 99, not '0x1F'");
}

static void assert_round_trip(struct str value)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	struct arena a = {0};
	struct yaml *y, *v;

	buf_adds(&b, "key: ");
	yaml_add_scalar(&b, value);
	assert_null(memchr(b.s, '\n', b.len));
	buf_adds(&b, "\nnext: 1\n");
	if (yaml_parse(&a, buf_str(&b), "f", 1, &y, &err) < 0)
		fail_msg("'%s' does not read back: %s", b.s, err.text);
	v = yaml_get(y, "key");
	if (!v || v->kind != YAML_SCALAR || !str_eq(v->text, value) || !yaml_get(y, "next"))
		fail_msg("'%s' reads back as something else", b.s);
	if (value.n && yaml_is_null(v))
		fail_msg("'%s' reads back as null", b.s);
	arena_release(&a);
}

TEST(texts_that_yaml_could_take_otherwise_round_trip)
{
	static const char *const texts[] = {"", " ", "  a", "a  ", "a b", "a  b", "-", "- a", "?",
		":", "a:", "a: b", "a:b", "a :b", "a #b", "a#b", "#", "'", "\"", "it's",
		"say \"x\"", "\\", "\\n", "a\nb", "a\n\n", "\n", "\t", "a\tb", "\r", "a\r\nb",
		"null", "~", "true", "no", "Null", "1", "0x1F", "1e3", "=", "<<", "!x", "&x", "*x",
		"%x", "@x", "`x", "|", ">", "{a}", "[a]", "a, b", "---", "...", "--- a", "... a",
		"https://example.org/a?b=c#d", "a\x7f", "\x01\x02\x1f", "a:\n", "x: ", " :x",
		"2026-11-21T01:34:55Z", "-1", "_spec_Widget.md", "a \xe2\x80\xa8 b",
		"a\n\xe2\x80\xa9\n b", "a \xc2\x85 b"};

	for (size_t i = 0; i < COUNT(texts); i++)
		assert_round_trip(str_of(texts[i]));
}

static size_t encode(uint32_t c, char out[4])
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

TEST(every_character_round_trips_inside_a_text)
{
	for (uint32_t c = 1; c <= 0x10ffff;
		c = c < 0x3000 || (c > 0xfd00 && c < 0x10010) ? c + 1 : c + 4093) {
		char text[8] = "a";
		size_t n = 1;

		if (c >= 0xd800 && c <= 0xdfff)
			continue;
		n += encode(c, text + 1);
		text[n++] = 'b';
		assert_round_trip((struct str){text, n});
		assert_round_trip((struct str){text + 1, n - 2});
	}
}

UNIT_GROUP(NULL, arena_end)
