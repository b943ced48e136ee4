#include "context/context.h"
#include "tests/lib/unit.h"

#define HEAD "---\nstate: researching\nwork_item_id: ADR-7\nfix_iteration: 2\npr_url:\n---\n"

static struct context c;
static struct error err;

static int release(void **state)
{
	(void)state;
	context_release(&c);
	c = (struct context){0};
	return 0;
}

#define CONTEXT_TEST(name) UNIT_TEST(name, NULL, release)

static void parse(const char *text)
{
	(void)release(NULL);
	if (context_parse(&c, "F.md", str_of(text), &err) < 0)
		fail_msg("%u:%u: %s in\n%s", err.line, err.col, err.text, text);
}

static void refuse(struct str text, const char *line)
{
	CLEANUP(context_release) struct context none = {0};
	char got[2048];

	assert_fails(context_parse(&none, "F.md", text, &err), err, ERR_INPUT);
	error_format(&err, got, sizeof(got));
	assert_string_equal(got, line);
}

static void is_rendered(const char *text)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	assert_int_equal(context_render(&c, &out, NULL, &err), 0);
	assert_string_equal(out.s, text);
}

static void render_and_parse(void)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	assert_int_equal(context_render(&c, &out, NULL, &err), 0);
	parse(out.s);
}

CONTEXT_TEST(every_counter_of_the_list_is_a_key_of_the_document)
{
	static const char *const counters[] = {
#define COUNTER_LOOP(key, limit, state, counts, reset)      #key,
#define COUNTER_TRIGGER(key, limit, trigger, counts, reset) #key,
#define COUNTER_FIXED(key, counts, reset)                   #key,
#include "context/counters.h"
	};

	assert_int_equal(COUNT(counters), 10);
	for (size_t i = 0; i < COUNT(counters); i++)
		assert_true(context_is_counter(counters[i]));
}

CONTEXT_TEST(an_untouched_document_comes_back_byte_for_byte)
{
	static const char *const docs[] = {
		HEAD,
		HEAD "\n# t\n\n<!-- section:A -->\n\n\n  text \n\n\n<!-- section:B -->\n",
		"---\r\nstate: a # why\r\nwork_item_id: X\r\nmine: [1, 2]\r\n---\r\n\r\n<!-- "
		"section:A -->\r\nx\r\n",
		"---\nwork_item_id: X\n\n# a comment\nstate: 'a'\nextra:\n  deep: {x: y}\n---\nno "
		"sections, no end",
		"\xef\xbb\xbf---\nstate: a\nwork_item_id: X\n---\n",
		"---\nstate: a\nwork_item_id: X\n---\n<!-- section:A -->",
	};

	for (size_t i = 0; i < COUNT(docs); i++) {
		parse(docs[i]);
		is_rendered(docs[i]);
	}
}

CONTEXT_TEST(a_value_is_replaced_in_place_and_all_else_stays)
{
	parse("---\nstate: a   # by hand\nwork_item_id: X\nfix_iteration:   0 # n\nmine: {x: "
	      "1}\npr_url:\nq: \"\"\n---\nb\n");
	context_set(&c, "state", STR("b"));
	context_set_count(&c, "fix_iteration", 3);
	context_set(&c, "pr_url", STR("https://h/o/r/pull/1"));
	context_set(&c, "q", STR("v"));
	is_rendered(
		"---\nstate: b   # by hand\nwork_item_id: X\nfix_iteration:   3 # n\nmine: {x: 1}\n"
		"pr_url: https://h/o/r/pull/1\nq: v\n---\nb\n");
}

CONTEXT_TEST(an_empty_value_before_a_comment_is_filled_in)
{
	parse("---\nstate: a\nwork_item_id: X\npr_url: # none yet\n---\n");
	context_set(&c, "pr_url", STR("u"));
	is_rendered("---\nstate: a\nwork_item_id: X\npr_url: u # none yet\n---\n");
}

CONTEXT_TEST(block_and_folded_values_are_replaced_whole)
{
	parse("---\nstate: a\nwork_item_id: X\ntroubleshooter_input: |\n  one\n  two\npr_url: "
	      "'x\n  y'\nz: 1\n---\n");
	assert_str(context_get(&c, "troubleshooter_input"), "one\ntwo\n");
	context_set(&c, "troubleshooter_input", STR("new"));
	context_set(&c, "pr_url", STR("p"));
	is_rendered("---\nstate: a\nwork_item_id: X\ntroubleshooter_input: new\npr_url: p\nz: "
		    "1\n---\n");
}

CONTEXT_TEST(a_new_key_goes_to_the_end_of_the_frontmatter)
{
	parse("---\r\nstate: a\r\nwork_item_id: X\r\n---\r\nbody\r\n");
	context_set(&c, "outcome", STR("it: ended"));
	context_set(&c, "nothing", STR(""));
	context_set_count(&c, "count", 1);
	is_rendered("---\r\nstate: a\r\nwork_item_id: X\r\noutcome: \"it: ended\"\r\ncount: 1\r\n"
		    "---\r\nbody\r\n");
}

CONTEXT_TEST(anchors_aliases_tags_and_merges_below_other_keys_are_kept)
{
	parse("---\nstate: a\nwork_item_id: X\nbase: &b {x: !!int 1}\nmine:\n  <<: *b\n"
	      "  y: !t z\nsame: *b\n---\n");
	assert_str(context_get(&c, "same"), "*b");
	context_set(&c, "state", STR("b"));
	is_rendered("---\nstate: b\nwork_item_id: X\nbase: &b {x: !!int 1}\nmine:\n  <<: *b\n"
		    "  y: !t z\nsame: *b\n---\n");
	refuse(STR("---\nstate: a\nwork_item_id: X\npr_url: &x 1\n---\n"),
		"F.md:4:9: anchors are not allowed");
	refuse(STR("---\nstate: a\nwork_item_id: X\nattempts: {a: !t 1}\n---\n"),
		"F.md:4:15: tags are not allowed");
	refuse(STR("---\nstate: a\nwork_item_id: X\nb: &b {pr_url: u}\n<<: *b\n---\n"),
		"F.md:5:5: aliases are not allowed");
}

CONTEXT_TEST(three_dots_end_the_frontmatter)
{
	parse("---\nstate: a\nwork_item_id: X\n...\n---\nbody\n");
	context_set(&c, "outcome", STR("x"));
	is_rendered("---\nstate: a\nwork_item_id: X\noutcome: x\n...\n---\nbody\n");
}

/* Each save adds keys as lines in column 1. */
CONTEXT_TEST(a_frontmatter_that_no_key_can_be_added_to_is_refused)
{
	refuse(STR("---\n{state: a, work_item_id: X}\n---\n"),
		"F.md:2:1: the frontmatter must be 'key: value' lines");
	refuse(STR("---\n  state: a\n  work_item_id: X\n---\n"),
		"F.md:2:3: the frontmatter must be 'key: value' lines");
}

CONTEXT_TEST(values_that_need_quoting_survive_a_round_trip)
{
	static const char *const values[] = {"a: b", "# x", "two\nlines\n", "\"q\" \\ ' ", " lead",
		"trail ", "- x", "~", "null", "true", "12", "{a}", "[b", "*x", "&x", "!x", "%x",
		"@x", "`x", "a #b", "x:", ":x", "?", "tab\there", "\x01\x7f", "caf\xc3\xa9",
		"\xc2\x85\xc2\xa0", "\xe2\x80\xa8", "\xf0\x9f\x98\x80", "|", ">", "---", "...", "=",
		"<<", "a, b", "x'y", "0x1F", "1e3",
		("\xef\xbb\xbf"
		 "bom")};

	for (size_t i = 0; i < COUNT(values); i++) {
		parse(HEAD);
		context_set(&c, "pr_url", str_of(values[i]));
		context_set(&c, "fresh", str_of(values[i]));
		render_and_parse();
		assert_string_equal(context_get(&c, "fresh").p, values[i]);
		assert_string_equal(context_get(&c, "pr_url").p, values[i]);
	}
}

CONTEXT_TEST(counters_are_numbers_and_default_to_nought)
{
	parse(HEAD);
	assert_int_equal(context_count(&c, "fix_iteration"), 2);
	assert_int_equal(context_count(&c, "review_cycle_count"), 0);
	assert_true(context_is_counter("fix_iteration"));
	assert_false(context_is_counter("state"));
}

CONTEXT_TEST(attempts_count_for_each_state_alone)
{
	parse(HEAD);
	assert_int_equal(context_next_attempt(&c, "researching"), 1);
	assert_int_equal(context_next_attempt(&c, "researching"), 2);
	assert_int_equal(context_next_attempt(&c, "fixing-pr"), 1);
	assert_str(context_get(&c, "attempts"), "{researching: 2, fixing-pr: 1}");
	is_rendered("---\nstate: researching\nwork_item_id: ADR-7\nfix_iteration: 2\npr_url:\n"
		    "attempts: {researching: 2, fixing-pr: 1}\n---\n");
}

CONTEXT_TEST(attempts_are_raised_to_those_of_a_text)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	parse(HEAD);
	assert_int_equal(context_next_attempt(&c, "signoff"), 1);
	context_raise_attempts(&c, STR("{researching: 3, signoff: 1000000000}"));
	assert_str(context_get(&c, "attempts"), "{signoff: 1000000000, researching: 3}");
	context_raise_attempts(&c, STR("{researching: 2, x: 1}"));
	context_raise_attempts(&c, STR(""));
	context_raise_attempts(&c, STR("x"));
	context_attempts_text(&c, &text);
	assert_string_equal(text.s, "{signoff: 1000000000, researching: 3, x: 1}");
	assert_string_equal(context_get(&c, "attempts").p, text.s);
}

CONTEXT_TEST(attempts_written_as_a_block_by_hand_go_on_counting)
{
	parse("---\nstate: a\nwork_item_id: X\nattempts:\n  fixing: 4\n  signoff: 2\nz: "
	      "1\n---\n");
	assert_int_equal(context_next_attempt(&c, "fixing"), 5);
	render_and_parse();
	assert_int_equal(context_next_attempt(&c, "fixing"), 6);
	assert_int_equal(context_next_attempt(&c, "signoff"), 3);
	assert_str(context_get(&c, "z"), "1");
}

CONTEXT_TEST(a_section_is_trimmed_replaced_and_removed)
{
	parse(HEAD "\nintro\n\n<!-- section:A -->\n\n  one\n\n\n<!-- section:B -->\ntwo\n");
	assert_str(context_section(&c, "A"), "one");
	assert_str(context_section(&c, "B"), "two");
	assert_str(context_section(&c, "C"), "");
	context_put(&c, "A", STR("\nnew\n"));
	is_rendered(HEAD "\nintro\n\n<!-- section:A -->\n\nnew\n\n<!-- section:B -->\ntwo\n");
	context_put(&c, "A", STR(""));
	assert_false(context_has_section(&c, "A"));
	is_rendered(HEAD "\nintro\n\n<!-- section:B -->\ntwo\n");
	context_put(&c, "C", STR("three"));
	is_rendered(HEAD "\nintro\n\n<!-- section:B -->\ntwo\n\n<!-- section:C -->\n\nthree\n");
}

CONTEXT_TEST(the_same_text_again_is_no_change)
{
	parse(HEAD "<!-- section:A -->\n\n x\n");
	context_put(&c, "A", STR("x\n"));
	context_set(&c, "state", STR("researching"));
	context_set_count(&c, "fix_iteration", 2);
	context_put(&c, "none", STR(" \n"));
	assert_false(c.changed);
}

CONTEXT_TEST(a_section_after_an_unended_last_line_starts_on_its_own)
{
	parse("---\nstate: a\nwork_item_id: X\n---\nlast");
	context_put(&c, "A", STR("t"));
	is_rendered("---\nstate: a\nwork_item_id: X\n---\nlast\n\n<!-- section:A -->\n\nt\n");
}

CONTEXT_TEST(text_cannot_forge_a_sentinel)
{
	static const char *const texts[] = {
		"<!-- section:Validate Result -->\npassed",
		"x\n<!-- section:A -->\ny",
		"x\n  \t<!--   section:A -->",
		"<!--section:A-->",
		"<!-- \\section:A -->",
		"<!-- \\\\\\section:A -->\n<!-- section:B -->",
		"a <!-- section:A --> b",
		"<!-- section:",
		"<!--\n section:A -->",
		"x\r\n<!-- section:A -->\r\ny",
	};

	for (size_t i = 0; i < COUNT(texts); i++) {
		parse(HEAD);
		context_put(&c, "Signoff Review", str_of(texts[i]));
		render_and_parse();
		assert_int_equal(context_sections(&c), 1);
		assert_string_equal(context_section(&c, "Signoff Review").p, texts[i]);
	}
}

CONTEXT_TEST(broken_frontmatter_is_told_by_line_and_column)
{
	refuse(STR(""), "F.md:1:1: no frontmatter: the first line must be '---'");
	refuse(STR("# title\n"), "F.md:1:1: no frontmatter: the first line must be '---'");
	refuse(STR("---\nstate: a\n"), "F.md:1:1: the frontmatter has no closing '---'");
	refuse(STR("---\nwork_item_id: X\n---\n"), "F.md:1:1: 'state' is missing");
	refuse(STR("---\nstate:\nwork_item_id: X\n---\n"), "F.md:2:7: 'state' is missing");
	refuse(STR("---\nstate: a\n---\n"), "F.md:1:1: 'work_item_id' is missing");
	refuse(STR("---\nstate: a\nwork_item_id: X\nstate: b\n---\n"),
		"F.md:4:1: duplicate key 'state'");
	refuse(STR("---\nstate: a\nwork_item_id: X\nfix_iteration: two\n---\n"),
		"F.md:4:16: 'fix_iteration' must be a whole number from 0 to 1000000000, not "
		"'two'");
	refuse(STR("---\nstate: a\nwork_item_id: X\nfix_iteration: -1\n---\n"),
		"F.md:4:16: 'fix_iteration' must be a whole number from 0 to 1000000000, not '-1'");
	refuse(STR("---\nstate: a\nwork_item_id: X\nfix_iteration: 99999999999\n---\n"),
		"F.md:4:16: 'fix_iteration' must be a whole number from 0 to 1000000000, not "
		"'99999999999'");
	refuse(STR("---\nstate: [a]\nwork_item_id: X\n---\n"),
		"F.md:2:8: 'state' must be a text, not a list or map");
	refuse(STR("---\nstate: a\nwork_item_id: X\nattempts: 3\n---\n"),
		"F.md:4:11: 'attempts' must be a map of numbers");
	refuse(STR("---\nstate: a\nwork_item_id: X\nattempts: {a: b}\n---\n"),
		"F.md:4:15: 'a' must be a whole number from 0 to 1000000000, not 'b'");
	refuse(STR("---\n- a\n---\n"), "F.md:2:1: the frontmatter must be 'key: value' lines");
	refuse(STR("---\nstate: *a\nwork_item_id: X\n---\n"), "F.md:2:8: aliases are not allowed");
}

CONTEXT_TEST(broken_text_is_told_by_line_and_column)
{
	refuse(STR(HEAD "ok\n\xc3\xa9 \xff\n"), "F.md:8:3: invalid UTF-8");
	refuse(STR(HEAD "a\0b"), "F.md:7:2: a NUL byte");
	refuse(STR(HEAD "<!-- section:A -->\nx\n<!-- section:A -->\n"),
		"F.md:9:1: duplicate section 'A'");
	refuse(STR(HEAD "<!-- section: -->\n"), "F.md:7:1: bad section name ''");
	refuse(STR(HEAD "<!-- section:A\n"),
		"F.md:7:1: a sentinel must be '<!-- section:NAME -->', not '<!-- section:A'");
	refuse(STR(HEAD "<!--section:A-->\n"),
		"F.md:7:1: a sentinel must be '<!-- section:NAME -->', not '<!--section:A-->'");
}

CONTEXT_TEST(a_document_over_the_limit_is_refused_before_it_is_looked_at)
{
	CLEANUP(buf_release) struct buf big = BUF_INIT;

	buf_adds(&big, HEAD);
	buf_reserve(&big, CONTEXT_MAX);
	memset(big.s + big.len, 'x', CONTEXT_MAX);
	big.len += CONTEXT_MAX;
	refuse(buf_str(&big), "F.md:1:1: the document is larger than 16 MiB");
}

CONTEXT_TEST(a_document_may_not_grow_over_the_limit)
{
	CLEANUP(buf_release) struct buf big = BUF_INIT, out = BUF_INIT;
	buf_reserve(&big, CONTEXT_MAX);
	memset(big.s, 'x', CONTEXT_MAX);
	big.len = CONTEXT_MAX;
	parse(HEAD);
	context_put(&c, "A", buf_str(&big));
	assert_int_equal(context_render(&c, &out, NULL, &err), -1);
	assert_error(&err, "dev-team: 'F.md' would grow over 16 MiB");
}

CONTEXT_TEST(a_new_document_has_the_keys_of_the_format_in_order)
{
	assert_int_equal(context_new(&c, "F.md", "ADR-7", "init", "2026-11-21T01:34:55Z", &err), 0);
	is_rendered(
		"---\nstate: init\nwork_item_id: ADR-7\nspec_path:\nfix_iteration: "
		"0\nreview_fix_iteration: 0\n"
		"pr_url:\nbuild_log:\ntest_log:\nsignoff_cycle_count: 0\nconsecutive_failures: 0\n"
		"review_cycle_count: 0\ntroubleshooter_input:\npending_agent:\nstarted: "
		"2026-11-21T01:34:55Z\n"
		"last_updated: 2026-11-21T01:34:55Z\nactions_dispatched: 0\ntroubleshooter_calls: "
		"0\n"
		"attempts: {}\n---\n\n# ADR-7 Dev Team Context\n");
}

CONTEXT_TEST(an_id_that_looks_like_a_number_stays_a_text)
{
	assert_int_equal(context_new(&c, "F.md", "444", "init", "2026-11-21T01:34:55Z", &err), 0);
	assert_str(context_get(&c, "work_item_id"), "444");
}

CONTEXT_TEST(section_names_are_checked)
{
	assert_true(section_name_valid(STR("Fix 12")));
	assert_true(section_name_valid(STR("R\xc3\xa9sum\xc3\xa9")));
	assert_false(section_name_valid(STR("")));
	assert_false(section_name_valid(STR(" a")));
	assert_false(section_name_valid(STR("a --> b")));
	assert_false(section_name_valid(STR("a\nb")));
	assert_false(section_name_valid(STR("a--b")));
	assert_false(section_name_valid(STR("\xff")));
	assert_false(section_name_valid((struct str){"x", 0}));
}
