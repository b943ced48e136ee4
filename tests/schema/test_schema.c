/* Schemas: every keyword, compile errors, positions, texts, hostile schemas. */
#include "tests/lib/unit.h"
#include "src/schema/schema.h"
#include "tests/lib/scratch.h"

static struct error err;

static struct schema *compiled(const char *text)
{
	struct schema *s;
	char line[2048];

	if (schema_compile(&arena, "s.json", str_of(text), &s, &err) < 0) {
		error_format(&err, line, sizeof(line));
		fail_msg("%s: %s", text, line);
	}
	return s;
}

static struct schema_faults checked(const char *schema, const char *instance)
{
	struct schema_faults f;

	if (schema_check_text(&arena, compiled(schema), "i.json", str_of(instance), &f, &err) < 0)
		fail_msg("%s: %s", instance, err.text);
	return f;
}

TEST(each_keyword_holds)
{
	static const struct {
		const char *schema, *good, *bad; /* instances, a blank line between */
	} rows[] = {
		{"true", "1", NULL},
		{"false", NULL, "1"},
		{"{}", "null", NULL},
		{"{\"type\":\"integer\"}", "1\n-3\n1.0\n1e3", "1.5\n\"1\"\nnull\ntrue\n[]\n{}"},
		{"{\"type\":\"number\"}", "1\n1.5\n-0", "\"1\""},
		{"{\"type\":\"string\"}", "\"\"", "1"},
		{"{\"type\":\"boolean\"}", "true\nfalse", "0\nnull"},
		{"{\"type\":\"null\"}", "null", "false\n0"},
		{"{\"type\":\"array\"}", "[]", "{}"},
		{"{\"type\":\"object\"}", "{}", "[]"},
		{"{\"type\":[\"string\",\"null\"]}", "\"a\"\nnull", "1"},
		{"{\"const\":{\"a\":[1,2],\"b\":null}}", "{\"b\":null,\"a\":[1.0,2]}",
			"{\"a\":[2,1],\"b\":null}\n{\"a\":[1,2]}"},
		{"{\"const\":0}", "0\n-0\n0.0", "false\nnull\n\"0\""},
		{"{\"enum\":[\"a\",1,null,true]}", "\"a\"\n1\nnull\ntrue",
			"\"A\"\n2\nfalse\n\"1\""},
		{"{\"minimum\":0}", "0\n0.5\n\"x\"", "-0.1"},
		{"{\"maximum\":2}", "2", "2.1"},
		{"{\"exclusiveMinimum\":0}", "0.1", "0\n-1"},
		{"{\"exclusiveMaximum\":1}", "0.99", "1"},
		{"{\"multipleOf\":0.01}", "4.02\n0\n75.13", "0.0075"},
		{"{\"multipleOf\":2}", "4\n-4\n999999999999998", "7\n999999999999999"},
		{"{\"minLength\":2}", "\"\xc3\xa4\xc3\xb6\"\n1", "\"\xc3\xa4\"\n\"\""},
		{"{\"maxLength\":2}", "\"\xf0\x9f\x92\xa9\xf0\x9f\x92\xa9\"", "\"abc\""},
		{"{\"pattern\":\"^[a-z][a-z0-9-]*$\"}", "\"a-1\"\n1", "\"A\"\n\"a\\n\"\n\"\""},
		{"{\"format\":\"date\"}", "\"2024-02-29\"\n1", "\"2023-02-29\""},
		{"{\"items\":{\"type\":\"string\"}}", "[]\n[\"a\"]\n{}", "[\"a\",1]"},
		{"{\"prefixItems\":[{\"type\":\"string\"},true],\"items\":false}",
			"[]\n[\"a\"]\n[\"a\",1]", "[1]\n[\"a\",1,2]"},
		{"{\"contains\":{\"const\":1}}", "[0,1]\n{}", "[]\n[0]"},
		{"{\"minItems\":1}", "[1]\n\"\"", "[]"},
		{"{\"maxItems\":1}", "[1]\n[]", "[1,2]"},
		{"{\"uniqueItems\":true}", "[1,\"1\",true,null,[1],{\"a\":1}]\n[]",
			"[1,1.0]\n[{\"a\":1,\"b\":2},{\"b\":2,\"a\":1}]"},
		{"{\"uniqueItems\":false}", "[1,1]", NULL},
		{"{\"minProperties\":1}", "{\"a\":1}", "{}"},
		{"{\"maxProperties\":1}", "{\"a\":1}", "{\"a\":1,\"b\":1}"},
		{"{\"required\":[\"a\",\"toString\"]}", "{\"a\":null,\"toString\":1}\n1",
			"{\"a\":1}\n{}"},
		{"{\"dependentRequired\":{\"a\":[\"b\"]}}", "{}\n{\"b\":1}\n{\"a\":1,\"b\":1}",
			"{\"a\":1}"},
		{"{\"properties\":{\"a\":{\"type\":\"string\"},\"\":false}}", "{\"a\":\"x\"}\n{}",
			"{\"a\":1}\n{\"\":1}"},
		{"{\"properties\":{\"a\":true},\"additionalProperties\":false}", "{\"a\":1}",
			"{\"b\":1}\n{\"A\":1}"},
		{"{\"additionalProperties\":{\"type\":\"string\"}}", "{\"a\":\"x\"}", "{\"a\":1}"},
		{"{\"patternProperties\":{\"^x-\":{\"type\":\"string\"}},\"additionalProperties\":"
		 "false}",
			"{\"x-a\":\"1\"}", "{\"x-a\":1}\n{\"ax-\":\"1\"}"},
		{"{\"propertyNames\":{\"maxLength\":1}}", "{\"a\":1}", "{\"ab\":1}"},
		{"{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"type\":\"null\"}}}", "null", "1"},
		{"{\"$ref\":\"#/$defs/a~1b%25c\",\"$defs\":{\"a/b%c\":{\"type\":\"null\"}}}",
			"null", "1"},
		{"{\"properties\":{\"next\":{\"$ref\":\"#\"}},\"additionalProperties\":false}",
			"{\"next\":{\"next\":{}}}", "{\"next\":{\"other\":1}}"},
		{"{\"allOf\":[{\"minimum\":1},{\"maximum\":2}]}", "1\n2", "0\n3"},
		{"{\"anyOf\":[{\"type\":\"string\"},{\"minimum\":1}]}", "\"a\"\n1", "0"},
		{"{\"oneOf\":[{\"type\":\"integer\"},{\"minimum\":2}]}", "1\n2.5", "3\n1.5"},
		{"{\"not\":{\"type\":\"string\"}}", "1", "\"a\""},
		{"{\"if\":{\"minimum\":5},\"then\":{\"multipleOf\":5},\"else\":{\"multipleOf\":2}}",
			"10\n4", "7\n3"},
		{"{\"if\":{\"minimum\":5}}", "7\n1", NULL},
		{"{\"then\":false,\"else\":false}", "7", NULL},
		{"{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"$id\":\"x\","
		 "\"$comment\":\"c\",\"title\":\"t\",\"description\":\"d\",\"default\":1,"
		 "\"examples\":[1],\"deprecated\":true,\"readOnly\":true,\"writeOnly\":false}",
			"1", NULL},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		for (int bad = 0; bad < 2; bad++) {
			struct str rest = str_of(bad ? rows[i].bad : rows[i].good), line;

			while (str_line(&rest, &line)) {
				const char *one = arena_dup(&arena, line);

				if ((checked(rows[i].schema, one).n > 0) != bad)
					fail_msg("%s: %s must be %s", rows[i].schema, one,
						bad ? "bad" : "good");
			}
		}
	}
}

TEST(what_is_not_known_is_refused_at_its_place)
{
	static const struct {
		const char *schema, *fault;
	} rows[] = {
		{"{\n  \"properties\": {\n    \"a\": {\"minlength\": 1}\n  }\n}",
			"s.json:3:24: unknown schema keyword 'minlength'"},
		{"{\"unevaluatedProperties\": false}",
			"s.json:1:27: unknown schema keyword 'unevaluatedProperties'"},
		{"{\"$anchor\":\"a\"}", "s.json:1:12: unknown schema keyword '$anchor'"},
		{"{\"$schema\":\"http://json-schema.org/draft-07/schema#\"}",
			"s.json:1:12: '$schema' must be "
			"'https://json-schema.org/draft/2020-12/schema'"},
		{"[]", "s.json:1:1: a schema must be an object, true or false"},
		{"{\"items\":[true]}", "s.json:1:10: a schema must be an object, true or false"},
		{"{\"type\":\"text\"}",
			"s.json:1:9: 'type' must be one or more different of 'array', "
			"'boolean', 'integer', 'null', 'number', 'object', 'string'"},
		{"{\"type\":[]}", "s.json:1:9: 'type' must be one or more different of 'array', "
				  "'boolean', 'integer', 'null', 'number', 'object', 'string'"},
		{"{\"type\":[\"null\",\"null\"]}",
			"s.json:1:9: 'type' must be one or more different of 'array', "
			"'boolean', 'integer', 'null', 'number', 'object', 'string'"},
		{"{\"minimum\":\"1\"}", "s.json:1:12: 'minimum' must be a number"},
		{"{\"multipleOf\":0}", "s.json:1:15: 'multipleOf' must be greater than 0"},
		{"{\"minLength\":-1}",
			"s.json:1:14: 'minLength' must be a whole number, at least 0"},
		{"{\"minItems\":1.5}",
			"s.json:1:13: 'minItems' must be a whole number, at least 0"},
		{"{\"uniqueItems\":1}", "s.json:1:16: 'uniqueItems' must be true or false"},
		{"{\"required\":\"a\"}",
			"s.json:1:13: 'required' must be an array of different strings"},
		{"{\"required\":[\"a\",\"a\"]}",
			"s.json:1:13: 'required' must be an array of different strings"},
		{"{\"required\":[1]}", "s.json:1:13: 'required' must be an array of strings"},
		{"{\"enum\":[]}", "s.json:1:9: 'enum' must be an array of values"},
		{"{\"enum\":[1,1.0]}", "s.json:1:9: 'enum' must be an array of different values"},
		{"{\"format\":\"email\"}",
			"s.json:1:11: 'format' must be one of 'date', 'date-time', 'duration', "
			"'uri'"},
		{"{\"pattern\":\"(?=a)\"}", "s.json:1:12: bad pattern: a group of this kind is not "
					    "supported at byte 1: '(?=a)'"},
		{"{\"patternProperties\":{\"[\":true}}",
			"s.json:1:22: bad pattern: missing terminating ] for character class: '['"},
		{"{\"properties\":[]}", "s.json:1:15: 'properties' must be an object of schemas"},
		{"{\"allOf\":[]}", "s.json:1:10: 'allOf' must be an array of schemas"},
		{"{\"dependentRequired\":{\"a\":\"b\"}}",
			"s.json:1:22: 'dependentRequired' must be an object of arrays of strings"},
		{"{\"$ref\":\"common.schema.json#/a\"}",
			"s.json:1:9: '$ref' must be '#' or '#/...': a place in the same schema"},
		{"{\"$ref\":\"#/$defs/a\"}",
			"s.json:1:9: '$ref' does not lead to a schema: '#/$defs/a'"},
		{"{\"$ref\":\"#/enum/0\",\"enum\":[true]}",
			"s.json:1:9: '$ref' does not lead to a schema: '#/enum/0'"},
		{"{\"$ref\":\"#\"}", "s.json:1:9: '$ref' forms a cycle"},
		{"{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"allOf\":[{\"$ref\":\"#/$defs/b\"}]},"
		 "\"b\":{\"if\":{\"$ref\":\"#/$defs/a\"}}}}",
			"s.json:1:85: '$ref' forms a cycle"},
		{"{\"not\":{\"$ref\":\"#\"}}", "s.json:1:16: '$ref' forms a cycle"},
		{"{\"a\":1,\"a\":2}", "s.json:1:8: duplicate key"},
		{"{", "s.json:1:2: expected a string in double quotes"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct schema *s;

		if (schema_compile(&arena, "s.json", str_of(rows[i].schema), &s, &err) == 0)
			fail_msg("%s is taken", rows[i].schema);
		assert_int_equal(err.code, ERR_INPUT);
		assert_error(&err, rows[i].fault);
	}
}

/* "LINE:COL POINTER KEYWORD: TEXT" of each, a line each. */
static const char *shown(const struct schema_faults *f)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	for (size_t i = 0; i < f->n; i++)
		buf_addf(&b, "%u:%u %s %s: %s\n", f->list[i].line, f->list[i].col, f->list[i].at,
			f->list[i].keyword, f->list[i].text);
	return arena_dup(&arena, buf_str(&b));
}

TEST(faults_come_in_the_order_of_the_instance)
{
	static const char schema[] =
		"{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"gone\"],"
		"\"properties\":{\"z\":{\"type\":\"string\",\"minLength\":3},"
		"\"a/b\":{\"items\":{\"properties\":{\"kind\":{\"enum\":[\"new\",\"old\"]}}}},"
		"\"n\":{\"type\":[\"integer\",\"null\"],\"minimum\":0}}}";
	static const char instance[] = "{\n  \"a/b\": [{}, {\"kind\": \"x\"}],\n"
				       "  \"more\": 1,\n  \"n\": -1.5,\n"
				       "  \"\xc3\xa4\": 0, \"z\": \"ab\"\n}";
	struct schema_faults f;

	f = checked(schema, instance);
	assert_string_equal(shown(&f),
		"1:1  required: 'gone' is missing\n"
		"2:24 /a~1b/1/kind enum: 'x' is not one of 'new', 'old'\n"
		"3:11 /more additionalProperties: unknown key 'more'\n"
		"4:8 /n type: must be null or a whole number, not -1.5\n"
		"4:8 /n minimum: -1.5 is less than 0\n"
		"5:8 /\xc3\xa4 additionalProperties: unknown key '\xc3\xa4'\n"
		"5:16 /z minLength: 'ab' is shorter than 3 characters\n");
}

TEST(the_form_that_is_meant_is_told)
{
	static const char schema[] =
		"{\"oneOf\":[{\"properties\":{\"type\":{\"const\":\"A\"},\"n\":{\"minimum\":1}},"
		"\"required\":[\"type\",\"n\"]},{\"properties\":{\"type\":{\"const\":\"B\"}},"
		"\"required\":[\"type\"]}]}";
	struct schema_faults f = checked(schema, "{\"type\":\"A\",\"n\":0}");

	assert_string_equal(shown(&f), "1:17 /n minimum: 0 is less than 1\n");
	f = checked(schema, "{\"type\":\"C\"}");
	assert_string_equal(shown(&f), "1:1  oneOf: matches none of the 2 allowed schemas\n");
	f = checked(
		"{\"anyOf\":[{\"type\":\"string\",\"minLength\":2},{\"type\":\"null\"}]}", "\"a\"");
	assert_string_equal(shown(&f), "1:1  minLength: 'a' is shorter than 2 characters\n");
}

TEST(long_values_are_cut_between_characters)
{
	struct schema_faults f =
		checked("{\"const\":1}", repeated("\"", "\xe2\x82\xac", 100, "\"").p);

	assert_int_equal(f.n, 1);
	assert_int_equal(str_utf8_fault(str_of(f.list[0].text)), 0);
	assert_true(strlen(f.list[0].text) < 100);
}

TEST(at_most_a_hundred_are_listed_and_all_counted)
{
	struct schema_faults f;
	json *j;

	assert_int_equal(json_parse(&j, repeated("[1", ",1", 999, "]"), &err), 0);
	assert_int_equal(
		schema_check(&arena, compiled("{\"items\":{\"type\":\"null\"}}"), j, &f), 1000);
	assert_int_equal(f.n, 100);
	assert_string_equal(f.list[99].at, "/99");
	assert_int_equal(f.list[99].line, 0);
	json_free(&j);
}

/* Nested forms: each level refers twice to the one below it. */
TEST(too_much_work_is_a_fault)
{
	struct buf b = BUF_INIT;
	struct schema_faults f;

	buf_adds(&b, "{\"$ref\":\"#/$defs/d0\",\"$defs\":{");
	for (int i = 0; i < 60; i++)
		buf_addf(&b,
			"\"d%d\":{\"allOf\":[{\"$ref\":\"#/$defs/d%d\"},{\"$ref\":\"#/$defs/d%d\"}"
			"]},",
			i, i + 1, i + 1);
	buf_adds(&b, "\"d60\":true}}");
	f = checked(b.s, "1");
	assert_int_equal(f.n, 1);
	assert_string_equal(f.list[0].text, "the check takes too long with this schema");
	buf_release(&b);
}

static const char *nested(size_t n, const char *open, const char *in, const char *close)
{
	return repeated(repeated("", open, n, in).p, close, n, "").p;
}

TEST(texts_that_are_no_json_have_their_place)
{
	const struct {
		const char *text, *fault;
	} rows[] = {
		{"", "i.json:1:1: a value is missing"},
		{" \n\t", "i.json:2:2: a value is missing"},
		{"{\"a\":}", "i.json:1:6: this is not JSON"},
		{"{\"a\" 1}", "i.json:1:6: ':' is missing"},
		{"{\"a\":1,}", "i.json:1:8: expected a string in double quotes"},
		{"[1,]", "i.json:1:4: this is not JSON"},
		{"[1 2]", "i.json:1:4: ',' or ']' is missing"},
		{"[1", "i.json:1:3: ',' or ']' is missing"},
		{"\"a", "i.json:1:1: the string is not terminated"},
		{"\"a\nb\"", "i.json:1:3: a control character must be written as an escape"},
		{"\"\\q\"", "i.json:1:2: unknown escape"},
		{"\"\\u12\"", "i.json:1:2: expected four hexadecimal digits"},
		{"\"\\ud800\"", "i.json:1:2: unpaired surrogate"},
		{"\"\\udc00\\ud800\"", "i.json:1:2: unpaired surrogate"},
		{"\"\\ud800\\u0041\"", "i.json:1:2: unpaired surrogate"},
		{"[1e400]", "i.json:1:2: a number is too large"},
		{"[-1e400]", "i.json:1:2: a number is too large"},
		{"[1000000000000000]", "i.json:1:2: a number is too large"},
		{"[1e-400]", "i.json:1:2: a number is too small"},
		{"[0.1111111111111111111111111111111111111111111111111111111111111]",
			"i.json:1:2: a number has too many digits"},
		{"[01]", "i.json:1:2: malformed number"},
		{"[1.]", "i.json:1:2: malformed number"},
		{"[-]", "i.json:1:2: malformed number"},
		{"[+1]", "i.json:1:2: this is not JSON"},
		{"[1e]", "i.json:1:2: malformed number"},
		{"[NaN]", "i.json:1:2: this is not JSON"},
		{"[nul]", "i.json:1:2: this is not JSON"},
		{"{} {}", "i.json:1:4: text after the JSON value"},
		{"{\"a\":1,\n\"\\u0061\":2}", "i.json:2:1: duplicate key"},
		{"{\"b\":1,\"a\":1,\"b\":2,\"a\":2}", "i.json:1:14: duplicate key"},
		{"\"\xed\xa0\x80\"", "i.json:1:2: invalid UTF-8"},
		{"\xef\xbb\xbf{}", "i.json:1:1: this is not JSON"},
		{"[\"\xc3\xa4\", x]", "i.json:1:7: this is not JSON"},
		{nested(101, "[", "", "]"), "i.json:1:101: nested too deeply"},
		{nested(100000, "[", "", ""), "i.json:1:101: nested too deeply"},
		{nested(50000, "{\"a\":[", "", ""), "i.json:1:301: nested too deeply"},
	};
	struct schema *any = compiled("true");

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct schema_faults f;

		if (schema_check_text(&arena, any, "i.json", str_of(rows[i].text), &f, &err) == 0)
			fail_msg("%.80s is taken", rows[i].text);
		assert_error(&err, rows[i].fault);
	}
	assert_int_equal(checked("true", nested(100, "[", "", "]")).n, 0);
	assert_int_equal(
		checked("true", "{\"a\":{\"b\":1},\"c\":{\"b\":1},\"\\ud83d\\ude00\":1}").n, 0);
}

/* Text of a NUL has an end of its own. */
TEST(nul_bytes_are_refused)
{
	json *j;

	assert_int_equal(schema_read_json(&j, "i.json", (struct str){"[1,\0 2]", 7}, &err), -1);
	assert_error(&err, "i.json:1:4: a NUL character is not allowed");
	assert_int_equal(schema_read_json(&j, "i.json", (struct str){"[1]\0", 4}, &err), -1);
	assert_int_equal(schema_read_json(&j, "i.json", STR("[\"\\u0000\"]"), &err), -1);
	assert_error(&err, "i.json:1:3: a NUL character is not allowed");
}

TEST(values_are_located)
{
	static const char text[] = "{\n \"a\": [10, {\"b/c\": \"\xc3\xa4\", \"d~\": 5}],\n"
				   " \"\": {\"\": 1}, \"\\u0041\": 2\n}";
	static const struct {
		const char *pointer;
		unsigned line, col; /* 0: there is none */
	} rows[] = {
		{"", 1, 1},
		{"/a", 2, 7},
		{"/a/0", 2, 8},
		{"/a/1", 2, 12},
		{"/a/1/b~1c", 2, 20},
		{"/a/1/d~0", 2, 31},
		{"/", 3, 6},
		{"//", 3, 11},
		{"/A", 3, 25},
		{"/a/2", 0, 0},
		{"/a/01", 0, 0},
		{"/a/-", 0, 0},
		{"/a/99999999999999999999", 0, 0},
		{"/b", 0, 0},
		{"/a/0/x", 0, 0},
		{"a", 0, 0},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned line = 0, col = 0;
		bool there = schema_locate_json(STR(text), rows[i].pointer, &line, &col);

		if (there != (rows[i].line > 0) || line != rows[i].line || col != rows[i].col)
			fail_msg("%s: %u:%u", rows[i].pointer, line, col);
	}
}

UNIT_GROUP(NULL, arena_end)
