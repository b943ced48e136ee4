#include "context/context.h"
#include "tests/lib/unit.h"

#define HEAD "---\nstate: researching\nwork_item_id: ADR-7\nfix_iteration: 2\npr_url:\n---\n"

static void parse(struct context *c, const char *text)
{
	struct error err = {0};

	if (context_parse(c, "F.md", str_of(text), &err) < 0)
		fail_msg("%u:%u: %s", err.line, err.col, err.text);
}

static void refuse(struct str text, const char *line)
{
	struct context c;
	struct error err = {0};
	char got[2048];

	assert_int_equal(context_parse(&c, "F.md", text, &err), -1);
	error_format(&err, got, sizeof(got));
	assert_string_equal(got, line);
	assert_int_equal(err.code, ERR_INPUT);
	context_release(&c);
}

static void is_rendered(const struct context *c, const char *text)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct error err = {0};

	assert_int_equal(context_render(c, &out, NULL, &err), 0);
	assert_string_equal(out.s, text);
}

TEST(an_untouched_document_comes_back_byte_for_byte)
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
		struct context c;

		parse(&c, docs[i]);
		is_rendered(&c, docs[i]);
		context_release(&c);
	}
}

TEST(a_value_is_replaced_in_place_and_all_else_stays)
{
	struct context c;

	parse(&c, "---\nstate: a   # by hand\nwork_item_id: X\nfix_iteration:   0 # n\nmine: {x: "
		  "1}\npr_url:\nq: \"\"\n---\nb\n");
	context_set(&c, "state", STR("b"));
	context_set_count(&c, "fix_iteration", 3);
	context_set(&c, "pr_url", STR("https://h/o/r/pull/1"));
	context_set(&c, "q", STR("v"));
	is_rendered(&c,
		"---\nstate: b   # by hand\nwork_item_id: X\nfix_iteration:   3 # n\nmine: {x: 1}\n"
		"pr_url: https://h/o/r/pull/1\nq: v\n---\nb\n");
	context_release(&c);
}

TEST(an_empty_value_before_a_comment_is_filled_in)
{
	struct context c;

	parse(&c, "---\nstate: a\nwork_item_id: X\npr_url: # none yet\n---\n");
	context_set(&c, "pr_url", STR("u"));
	is_rendered(&c, "---\nstate: a\nwork_item_id: X\npr_url: u # none yet\n---\n");
	context_release(&c);
}

TEST(block_and_folded_values_are_replaced_whole)
{
	struct context c;

	parse(&c, "---\nstate: a\nwork_item_id: X\ntroubleshooter_input: |\n  one\n  two\npr_url: "
		  "'x\n  y'\nz: 1\n---\n");
	assert_str(context_get(&c, "troubleshooter_input"), "one\ntwo\n");
	context_set(&c, "troubleshooter_input", STR("new"));
	context_set(&c, "pr_url", STR("p"));
	is_rendered(&c, "---\nstate: a\nwork_item_id: X\ntroubleshooter_input: new\npr_url: p\nz: "
			"1\n---\n");
	context_release(&c);
}

TEST(a_new_key_goes_to_the_end_of_the_frontmatter)
{
	struct context c;

	parse(&c, "---\r\nstate: a\r\nwork_item_id: X\r\n---\r\nbody\r\n");
	context_set(&c, "outcome", STR("it: ended"));
	context_set(&c, "nothing", STR(""));
	context_set_count(&c, "count", 1);
	is_rendered(&c,
		"---\r\nstate: a\r\nwork_item_id: X\r\noutcome: \"it: ended\"\r\ncount: 1\r\n"
		"---\r\nbody\r\n");
	context_release(&c);
}

TEST(anchors_aliases_tags_and_merges_below_other_keys_are_kept)
{
	struct context c;

	parse(&c, "---\nstate: a\nwork_item_id: X\nbase: &b {x: !!int 1}\nmine:\n  <<: *b\n"
		  "  y: !t z\nsame: *b\n---\n");
	assert_str(context_get(&c, "same"), "*b");
	context_set(&c, "state", STR("b"));
	is_rendered(&c, "---\nstate: b\nwork_item_id: X\nbase: &b {x: !!int 1}\nmine:\n  <<: *b\n"
			"  y: !t z\nsame: *b\n---\n");
	context_release(&c);
	refuse(STR("---\nstate: a\nwork_item_id: X\npr_url: &x 1\n---\n"),
		"F.md:4:9: anchors are not allowed");
	refuse(STR("---\nstate: a\nwork_item_id: X\nattempts: {a: !t 1}\n---\n"),
		"F.md:4:15: tags are not allowed");
	refuse(STR("---\nstate: a\nwork_item_id: X\nb: &b {pr_url: u}\n<<: *b\n---\n"),
		"F.md:5:5: aliases are not allowed");
}

TEST(three_dots_end_the_frontmatter)
{
	struct context c;

	parse(&c, "---\nstate: a\nwork_item_id: X\n...\n---\nbody\n");
	context_set(&c, "outcome", STR("x"));
	is_rendered(&c, "---\nstate: a\nwork_item_id: X\noutcome: x\n...\n---\nbody\n");
	context_release(&c);
}

/* Each save adds keys as lines in column 1. */
TEST(a_frontmatter_that_no_key_can_be_added_to_is_refused)
{
	refuse(STR("---\n{state: a, work_item_id: X}\n---\n"),
		"F.md:2:1: the frontmatter must be 'key: value' lines");
	refuse(STR("---\n  state: a\n  work_item_id: X\n---\n"),
		"F.md:2:3: the frontmatter must be 'key: value' lines");
}

TEST(values_that_need_quoting_survive_a_round_trip)
{
	static const char *const values[] = {"a: b", "# x", "two\nlines\n", "\"q\" \\ ' ", " lead",
		"trail ", "- x", "~", "null", "true", "12", "{a}", "[b", "*x", "&x", "!x", "%x",
		"@x", "`x", "a #b", "x:", ":x", "?", "tab\there", "\x01\x7f", "caf\xc3\xa9",
		"\xc2\x85\xc2\xa0", "\xe2\x80\xa8", "\xf0\x9f\x98\x80", "|", ">", "---", "...", "=",
		"<<", "a, b", "x'y", "0x1F", "1e3",
		("\xef\xbb\xbf"
		 "bom")};

	for (size_t i = 0; i < COUNT(values); i++) {
		CLEANUP(buf_release) struct buf out = BUF_INIT;
		struct context c, again;
		struct error err = {0};

		parse(&c, HEAD);
		context_set(&c, "pr_url", str_of(values[i]));
		context_set(&c, "fresh", str_of(values[i]));
		assert_int_equal(context_render(&c, &out, NULL, &err), 0);
		context_release(&c);
		if (context_parse(&again, "F.md", buf_str(&out), &err) < 0)
			fail_msg("value %zu: %u:%u %s in\n%s", i, err.line, err.col, err.text,
				out.s);
		assert_string_equal(context_get(&again, "fresh").p, values[i]);
		assert_string_equal(context_get(&again, "pr_url").p, values[i]);
		context_release(&again);
	}
}

TEST(counters_are_numbers_and_default_to_nought)
{
	struct context c;

	parse(&c, HEAD);
	assert_int_equal(context_count(&c, "fix_iteration"), 2);
	assert_int_equal(context_count(&c, "review_cycle_count"), 0);
	assert_true(context_is_counter("fix_iteration"));
	assert_false(context_is_counter("state"));
	context_release(&c);
}

TEST(attempts_count_for_each_state_alone)
{
	struct context c;

	parse(&c, HEAD);
	assert_int_equal(context_next_attempt(&c, "researching"), 1);
	assert_int_equal(context_next_attempt(&c, "researching"), 2);
	assert_int_equal(context_next_attempt(&c, "fixing-pr"), 1);
	assert_str(context_get(&c, "attempts"), "{researching: 2, fixing-pr: 1}");
	is_rendered(&c, "---\nstate: researching\nwork_item_id: ADR-7\nfix_iteration: 2\npr_url:\n"
			"attempts: {researching: 2, fixing-pr: 1}\n---\n");
	context_release(&c);
}

TEST(attempts_are_raised_to_those_of_a_text)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct context c;

	parse(&c, HEAD);
	assert_int_equal(context_next_attempt(&c, "signoff"), 1);
	context_raise_attempts(&c, STR("{researching: 3, signoff: 1000000000}"));
	assert_str(context_get(&c, "attempts"), "{signoff: 1000000000, researching: 3}");
	context_raise_attempts(&c, STR("{researching: 2, x: 1}"));
	context_raise_attempts(&c, STR(""));
	context_raise_attempts(&c, STR("x"));
	context_attempts_text(&c, &text);
	assert_string_equal(text.s, "{signoff: 1000000000, researching: 3, x: 1}");
	assert_string_equal(context_get(&c, "attempts").p, text.s);
	context_release(&c);
}

TEST(attempts_written_as_a_block_by_hand_go_on_counting)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct context c, again;
	struct error err = {0};

	parse(&c, "---\nstate: a\nwork_item_id: X\nattempts:\n  fixing: 4\n  signoff: 2\nz: "
		  "1\n---\n");
	assert_int_equal(context_next_attempt(&c, "fixing"), 5);
	assert_int_equal(context_render(&c, &out, NULL, &err), 0);
	context_release(&c);
	parse(&again, out.s);
	assert_int_equal(context_next_attempt(&again, "fixing"), 6);
	assert_int_equal(context_next_attempt(&again, "signoff"), 3);
	assert_str(context_get(&again, "z"), "1");
	context_release(&again);
}

TEST(a_section_is_trimmed_replaced_and_removed)
{
	struct context c;

	parse(&c, HEAD "\nintro\n\n<!-- section:A -->\n\n  one\n\n\n<!-- section:B -->\ntwo\n");
	assert_str(context_section(&c, "A"), "one");
	assert_str(context_section(&c, "B"), "two");
	assert_str(context_section(&c, "C"), "");
	context_put(&c, "A", STR("\nnew\n"));
	is_rendered(&c, HEAD "\nintro\n\n<!-- section:A -->\n\nnew\n\n<!-- section:B -->\ntwo\n");
	context_put(&c, "A", STR(""));
	assert_false(context_has_section(&c, "A"));
	is_rendered(&c, HEAD "\nintro\n\n<!-- section:B -->\ntwo\n");
	context_put(&c, "C", STR("three"));
	is_rendered(&c, HEAD "\nintro\n\n<!-- section:B -->\ntwo\n\n<!-- section:C -->\n\nthree\n");
	context_release(&c);
}

TEST(the_same_text_again_is_no_change)
{
	struct context c;

	parse(&c, HEAD "<!-- section:A -->\n\n x\n");
	context_put(&c, "A", STR("x\n"));
	context_set(&c, "state", STR("researching"));
	context_set_count(&c, "fix_iteration", 2);
	context_put(&c, "none", STR(" \n"));
	assert_false(c.changed);
	context_release(&c);
}

TEST(a_section_after_an_unended_last_line_starts_on_its_own)
{
	struct context c;

	parse(&c, "---\nstate: a\nwork_item_id: X\n---\nlast");
	context_put(&c, "A", STR("t"));
	is_rendered(&c, "---\nstate: a\nwork_item_id: X\n---\nlast\n\n<!-- section:A -->\n\nt\n");
	context_release(&c);
}

TEST(text_cannot_forge_a_sentinel)
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
		CLEANUP(buf_release) struct buf out = BUF_INIT;
		struct context c, again;
		struct error err = {0};

		parse(&c, HEAD);
		context_put(&c, "Signoff Review", str_of(texts[i]));
		assert_int_equal(context_render(&c, &out, NULL, &err), 0);
		context_release(&c);
		parse(&again, out.s);
		assert_int_equal(context_sections(&again), 1);
		assert_string_equal(context_section(&again, "Signoff Review").p, texts[i]);
		context_release(&again);
	}
}

TEST(broken_frontmatter_is_told_by_line_and_column)
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

TEST(broken_text_is_told_by_line_and_column)
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

TEST(a_document_over_the_limit_is_refused_before_it_is_looked_at)
{
	CLEANUP(buf_release) struct buf big = BUF_INIT;

	buf_adds(&big, HEAD);
	buf_reserve(&big, CONTEXT_MAX);
	memset(big.s + big.len, 'x', CONTEXT_MAX);
	big.len += CONTEXT_MAX;
	refuse(buf_str(&big), "F.md:1:1: the document is larger than 16 MiB");
}

TEST(a_document_may_not_grow_over_the_limit)
{
	CLEANUP(buf_release) struct buf big = BUF_INIT, out = BUF_INIT;
	struct context c;
	struct error err = {0};

	buf_reserve(&big, CONTEXT_MAX);
	memset(big.s, 'x', CONTEXT_MAX);
	big.len = CONTEXT_MAX;
	parse(&c, HEAD);
	context_put(&c, "A", buf_str(&big));
	assert_int_equal(context_render(&c, &out, NULL, &err), -1);
	assert_error(&err, "dev-team: 'F.md' would grow over 16 MiB");
	context_release(&c);
}

TEST(a_new_document_has_the_keys_of_the_format_in_order)
{
	struct context c;
	struct error err = {0};

	assert_int_equal(context_new(&c, "F.md", "ADR-7", "init", "2026-11-21T01:34:55Z", &err), 0);
	is_rendered(&c,
		"---\nstate: init\nwork_item_id: ADR-7\nspec_path:\nfix_iteration: "
		"0\nreview_fix_iteration: 0\n"
		"pr_url:\nbuild_log:\ntest_log:\nsignoff_cycle_count: 0\nconsecutive_failures: 0\n"
		"review_cycle_count: 0\ntroubleshooter_input:\npending_agent:\nstarted: "
		"2026-11-21T01:34:55Z\n"
		"last_updated: 2026-11-21T01:34:55Z\nactions_dispatched: 0\ntroubleshooter_calls: "
		"0\n"
		"attempts: {}\n---\n\n# ADR-7 Dev Team Context\n");
	context_release(&c);
}

TEST(an_id_that_looks_like_a_number_stays_a_text)
{
	struct context c;
	struct error err = {0};

	assert_int_equal(context_new(&c, "F.md", "444", "init", "2026-11-21T01:34:55Z", &err), 0);
	assert_str(context_get(&c, "work_item_id"), "444");
	context_release(&c);
}

TEST(section_names_are_checked)
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
