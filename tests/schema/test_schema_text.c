/* Patterns and formats: the texts of a schema. */
#include "tests/lib/unit.h"
#include "src/base/clock.h"
#include "src/schema/schema_internal.h"
#include "src/sys/regex.h"
#include "tests/lib/scratch.h"

static struct error err;

TEST(patterns_match)
{
	static const struct {
		const char *pattern, *good, *bad; /* texts, a line each */
	} rows[] = {
		{"a", "a\nbab", "b"},
		{"^a$", "a", "ab\nba"},
		{"^a|b$", "ax\nxb", "xa"},
		{"^(a|b)$", "a\nb", "ab"},
		{"^(?:ab)+$", "ab\nabab", "aba"},
		{"^a?b*c+$", "c\nabbc", "ab"},
		{"^a{2}$", "aa", "a\naaa"},
		{"^a{2,}$", "aa\naaaa", "a"},
		{"^a{0,2}b$", "b\nab\naab", "aaab"},
		{"^a+?b$", "aab", "b"},
		{"^[a-c_x-]+$", "a_b-\nx", "d\nA"},
		{"^[^a-c]$", "d\n\xe2\x82\xac\n\xf0\x9f\x92\xa9", "a\ndd"},
		{"^[\\]\\[^]+$", "[]^", "x"},
		{"^\\d{4}-\\d\\d$", "2024-01", "24-01"},
		{"^\\w+\\W\\w+$", "a b\na-b_1", "ab"},
		{"^\\S+$", "ab", "a b"},
		{"^[\\s]$", " \n\t\n\xc2\xa0", "x"},
		{"^[\\D]$", "x", "1"},
		{"^.$", "a\n\xc3\xa4", "ab"},
		{"^\\.\\*\\/\\\\$", ".*/\\", "ab/c"},
		{"^\\x41\\u00e4$", "A\xc3\xa4", "a"},
		{"^[\\u0001-\\u001f]$", "\t", " "},
		{"^[\x01-\x1f]$", "\t", " "},
		{"", "x\n\xc3\xa4", NULL},
		{"^$", NULL, "x"},
		{"(^|/)plan\\.schema\\.json(#(v1|latest))?$",
			"plan.schema.json\nspec/schemas/artifacts/plan.schema.json#v1\n"
			"/plan.schema.json#latest",
			"xplan.schema.json\nplan.schema.json#v2\nplanxschema.json"},
		{"^(a*)*$", "aaaa", "b"},
		{"^(a|a)*b$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
			"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac"},
		{"[]", NULL, "a"},
		{"^[[:alpha:]$", "[\n:\na", "b"},
		{"^(){1000}a$", "a", "b"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct regex *p;

		if (regex_compile(&arena, str_of(rows[i].pattern), &p, &err) < 0)
			fail_msg("%s: %s", rows[i].pattern, err.text);
		for (int good = 0; good < 2; good++) {
			struct str rest = str_of(good ? rows[i].good : rows[i].bad), line;

			while (str_line(&rest, &line))
				if (regex_match(p, line) != good)
					fail_msg("%s: %.*s", rows[i].pattern, (int)line.n, line.p);
		}
	}
}

TEST(ends_of_a_text_are_not_ends_of_lines)
{
	struct regex *p;

	assert_int_equal(regex_compile(&arena, STR("^a$"), &p, &err), 0);
	assert_true(regex_match(p, STR("a")));
	assert_false(regex_match(p, STR("a\n")));
	assert_false(regex_match(p, STR("b\na")));
	assert_int_equal(regex_compile(&arena, STR("^.$"), &p, &err), 0);
	assert_false(regex_match(p, STR("\n")));
	assert_false(regex_match(p, STR("")));
	assert_int_equal(regex_compile(&arena, STR("^$"), &p, &err), 0);
	assert_true(regex_match(p, STR("")));
}

TEST(what_no_pattern_is_is_refused)
{
	static const char *const rows[] = {"(", ")", "(a", "a)", "[", "[a", "[^", "[b-a]",
		"[a-\\d]", "*", "a**", "+a", "?", "a{", "a{,2}", "a{2,1}", "a{65536}", "{1}", "}",
		"]", "^*", "$+", "\\", "\\q", "\\1", "\\k<a>", "\\b", "\\p{L}", "\\x4", "\\u004",
		"\\ud800", "\\0", "(?=a)", "(?!a)", "(?<=a)", "(?<n>a)", "(?i:a)", "[\\", "[\\b]",
		"\xff", "((a{1000}){1000}){1000}", "a++", "(?>a)"};
	struct str deep = repeated("", "(", 1000, "");
	struct regex *p;

	for (size_t i = 0; i < COUNT(rows); i++)
		if (regex_compile(&arena, str_of(rows[i]), &p, &err) == 0)
			fail_msg("%s is taken", rows[i]);
	assert_int_equal(regex_compile(&arena, deep, &p, &err), -1);
	deep = repeated(deep.p, "a", 100000, "");
	assert_int_equal(regex_compile(&arena, deep, &p, &err), -1);
}

static bool has_format(const char *name, struct str text)
{
	const struct schema_format *f = schema_format_find(name);
	struct regex *pattern;

	assert_non_null(f);
	if (f->accepts && !f->accepts(str_of(arena_dup(&arena, text))))
		return false;
	if (!f->pattern)
		return true;
	assert_int_equal(regex_compile(&arena, str_of(f->pattern), &pattern, &err), 0);
	return regex_match(pattern, text);
}

TEST(formats_are_strict)
{
	static const struct {
		const char *format, *good, *bad;
	} rows[] = {
		{"date", "2024-02-29\n0001-01-01\n2000-02-29",
			"2023-02-29\n1900-02-29\n2024-2-9\n2024-13-01\n2024-04-31\n24-01-01\n"
			"2024-01-01T00:00:00Z\n2024/01/01\n 2024-01-01\n2024-01-01 "},
		{"date-time",
			"2026-11-21T01:34:55Z\n2026-11-21t01:34:55z\n2026-11-21T01:34:55.123456Z\n"
			"2026-11-21T01:34:55+05:30\n2026-11-21T23:59:60Z\n2026-12-31T22:59:60-01:"
			"00",
			"2026-11-21\n2026-11-21T01:34:55\n2026-11-21 01:34:55Z\n"
			"2026-11-21T24:00:00Z\n2026-11-21T01:60:00Z\n2026-11-21T01:34:60Z\n"
			"2026-11-21T01:34:55.Z\n2026-11-21T01:34:55+0530\n2026-11-21T01:34:55+24:"
			"00\n"
			"2026-11-21T01:34:55+05:60\n2026-11-21T1:34:55Z\n2026-02-30T00:00:00Z\n"
			"yesterday\n2026-11-21T01:34Z\n2026-11-21T01:34:55Z "},
		{"duration", "P1D\nPT30M\nP1W\nP1Y2M3DT4H5M6S\nPT0S\nP1DT1H\nP4Y",
			"P\nPT\n1D\nP1\nP1DT\nP1WD\nP2D1Y\nPT1D\nP1H\np1d\nP1.5D\nP-1D\nP1W2D\n"
			"P1Y2D\nPT1H1S\n"},
		{"uri",
			"https://github.com/acme/shop/pull/7\nhttp://localhost:8080/?q=1#f\n"
			"http://u:p@[::1]:80/\nhttp://[2001:db8::192.0.2.1]/\nmailto:a@b.c\n"
			"urn:isbn:0451450523\nfile:///etc/hosts\nhttp://a/%20\nhttp://[v1.x:y]/\n"
			"HTTPS://EXAMPLE.COM\nssh://git@host/x.git\nhttp://[1:2:3:4:5:6:7:8]/\nx:",
			"github.com/acme/shop\n/pull/7\n//github.com/x\nhttp://\nhttp:///x\n"
			"https:github.com\nhttp://a "
			"b/\nhttp://a/\xc3\xa4\nhttp://a/%2\nhttp://a/%zz\n"
			"http://a:b/\nhttp://[::1\nhttp://[:::]/\nhttp://[1:2:3:4:5:6:7:8:9]/\n"
			"http://[12345::]/\nhttp://[::1::]/\nhttp://a/<b>\nhttp://a/\"\n"
			"http://a\\b/\n1http://a/\n:x\nhttp://a/#a#b\nhttp://a/[x]\n"
			"http://[1:2:3:4:5:6:7:1.2.3]/\nhttp://[::256.0.0.1]/\nht_tp://a/"},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		for (int good = 0; good < 2; good++) {
			struct str rest = str_of(good ? rows[i].good : rows[i].bad), line;

			while (str_line(&rest, &line))
				if (has_format(rows[i].format, line) != good)
					fail_msg("%s: %.*s", rows[i].format, (int)line.n, line.p);
		}
	assert_null(schema_format_find("email"));
	assert_false(has_format("uri", STR("")));
	assert_false(has_format("date-time", STR("")));
	assert_false(has_format("duration", (struct str){"P1\0", 3}));
}

TEST(times_are_read)
{
	static const struct {
		const char *text;
		int64_t t;
	} rows[] = {
		{"1970-01-01T00:00:00Z", 0},
		{"2026-11-21T01:34:55Z", 1795224895},
		{"2026-11-21T01:34:55.999Z", 1795224895},
		{"2026-11-21T03:34:55+02:00", 1795224895},
		{"2026-11-20T20:04:55-05:30", 1795224895},
		{"2016-12-31T23:59:60Z", 1483228800},
		{"1969-12-31T23:59:59Z", -1},
		{"0000-01-01T00:00:00Z", -62167219200},
		{"9999-12-31T23:59:59Z", 253402300799},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t t = 1;

		assert_true(clock_parse_rfc3339(str_of(rows[i].text), &t));
		if (t != rows[i].t)
			fail_msg("%s: %lld", rows[i].text, (long long)t);
	}
}

UNIT_GROUP(NULL, arena_end)
