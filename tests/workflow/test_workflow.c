#include "src/workflow/workflow.h"
#include "tests/lib/scratch.h"

static struct error err;

#define DIAGRAM "```mermaid\nstateDiagram-v2\n[*] --> init\ninit --> x : go\nx --> [*]\n```\n"

static struct workflow parsed(struct str text)
{
	struct workflow w;

	if (workflow_parse(&arena, "w.md", text, &w, &err) < 0)
		fail_msg("%u:%u: %s", err.line, err.col, err.text);
	return w;
}

#define assert_refused(text, message) refused(STR(text), message)
static void refused(struct str text, const char *message)
{
	struct workflow w;

	assert_fails(workflow_parse(&arena, "w.md", text, &w, &err), err, ERR_INPUT);
	assert_error(&err, message);
}

/* Frontmatter that begins in line 2, and a good diagram. */
#define front(text)                         parsed(STR("---\n" text "\n---\n" DIAGRAM))
#define assert_front_refused(text, message) refused(STR("---\n" text "\n---\n" DIAGRAM), message)
/* A state `x` whose declaration begins in line 4. */
#define assert_state_refused(text, message) assert_front_refused("states:\n  x:\n" text, message)

TEST(a_diagram_alone_is_a_workflow_with_the_default_limits)
{
	struct workflow w = parsed(STR("# Title\n\n" DIAGRAM));

	assert_string_equal(w.file, "w.md");
	assert_string_equal(w.initial, "init");
	assert_int_equal(w.edges[0].line, 6);
	assert_int_equal(w.limits.max_fix_iterations, 5);
	assert_int_equal(w.limits.max_review_fix_iterations, 3);
	assert_int_equal(w.limits.signoff_deadlock, 2);
	assert_int_equal(w.limits.review_loop, 3);
	assert_int_equal(w.limits.consecutive_failures, 3);
	assert_int_equal(w.limits.max_actions, 60);
	assert_int_equal(w.limits.lease_minutes, 120);
	assert_null(w.validate);
	assert_null(w.checks);
	assert_null(w.research_skill);
	assert_null(w.reviewer);
	assert_int_equal(w.validate_timeout_s, 0);
	assert_int_equal(w.n_declared, 0);
}

TEST(lookups_answer_by_name)
{
	struct workflow w = parsed(STR("```mermaid\nstateDiagram-v2\n[*] --> a\na --> b\n"
				       "b --> c : x\nb --> d : y\n```\n"));

	assert_string_equal(workflow_state(&w, "d")->name, "d");
	assert_null(workflow_state(&w, "e"));
	assert_string_equal(workflow_target(&w, "b", "y"), "d");
	assert_null(workflow_target(&w, "b", "z"));
	assert_null(workflow_target(&w, "c", "x"));
	assert_string_equal(workflow_only_edge(&w, "a")->to, "b");
	assert_null(workflow_only_edge(&w, "b"));
	assert_null(workflow_only_edge(&w, "c"));
}

TEST(limits_and_commands_come_from_the_frontmatter)
{
	struct workflow w = front("limits: {max_fix_iterations: 0, review_loop: 1000}\n"
				  "validate: make check   # all of it\n"
				  "validate_timeout: 7200\n"
				  "checks: ci wait\n"
				  "research_skill: my-plugin:plan.v2\n"
				  "reviewer: code-reviewer");

	assert_int_equal(w.limits.max_fix_iterations, 0);
	assert_int_equal(w.limits.review_loop, 1000);
	assert_int_equal(w.limits.max_actions, 60);
	assert_string_equal(w.validate, "make check");
	assert_int_equal(w.validate_timeout_s, 7200);
	assert_string_equal(w.checks, "ci wait");
	assert_string_equal(w.research_skill, "my-plugin:plan.v2");
	assert_string_equal(w.reviewer, "code-reviewer");
}

TEST(an_agent_state_is_declared_whole)
{
	struct workflow w = front("states:\n"
				  "  x:\n"
				  "    agent: reviewer\n"
				  "    skill: reviewer-audit\n"
				  "    args: [ID, SPEC_PATH, --deep]\n"
				  "    reads: [Researcher Brief, Fix 1]\n"
				  "    writes: Security Audit\n"
				  "    results: {approved: clean, changes_requested: bad}");
	const struct declared_state *d = workflow_state(&w, "x")->declared;
	const struct declared_action *it = d->items;

	assert_ptr_equal(d, w.declared);
	assert_string_equal(d->name, "x");
	assert_int_equal(d->line, 3);
	assert_int_equal(d->n, 1);
	assert_string_equal(it->agent, "reviewer");
	assert_string_equal(it->skill, "reviewer-audit");
	assert_int_equal(it->n_args, 3);
	assert_string_equal(it->args[2], "--deep");
	assert_int_equal(it->n_reads, 2);
	assert_string_equal(it->reads[1], "Fix 1");
	assert_string_equal(it->writes, "Security Audit");
	assert_null(it->command);
	assert_int_equal(it->n_outcomes, 2);
	assert_string_equal(it->outcomes[0].word, "approved");
	assert_string_equal(it->outcomes[1].trigger, "bad");
	assert_null(workflow_state(&w, "init")->declared);
}

TEST(a_script_state_has_a_timeout_and_two_words)
{
	struct workflow w = front("states:\n  x: {command: make lint, writes: Lint}");
	const struct declared_action *it = w.declared->items;

	assert_null(it->agent);
	assert_string_equal(it->command, "make lint");
	assert_int_equal(it->timeout_s, 600);
	assert_int_equal(it->n_outcomes, 2);
	assert_string_equal(it->outcomes[0].word, "passed");
	assert_string_equal(it->outcomes[0].trigger, "passed");
	assert_string_equal(it->outcomes[1].trigger, "failed");
	w = front("states:\n  x: {command: a, timeout: 86400, writes: L,\n"
		  "      results: {failed: good, passed: bad}}");
	it = w.declared->items;
	assert_int_equal(it->timeout_s, 86400);
	assert_string_equal(it->outcomes[0].word, "failed");
	w = front("states:\n  x: {command: a, writes: L, results: {small: s, large: l, huge: h}}");
	it = w.declared->items;
	assert_int_equal(it->n_outcomes, 3);
	assert_string_equal(it->outcomes[2].word, "huge");
}

TEST(several_at_once_are_a_list)
{
	struct workflow w = front(
		"states:\n  x:\n    all:\n"
		"      - {agent: reviewer, skill: s, reads: [], writes: A, results: {yes: ok}}\n"
		"      - {command: make check, timeout: 60, writes: B}");

	assert_int_equal(w.declared->n, 2);
	assert_string_equal(w.declared->items[0].agent, "reviewer");
	assert_int_equal(w.declared->items[0].n_reads, 0);
	assert_string_equal(w.declared->items[1].command, "make check");
	assert_int_equal(w.declared->items[1].line, 6);
}

TEST(a_thousand_items_are_read_and_one_more_is_refused)
{
	struct buf b = BUF_INIT;
	struct workflow w;

	buf_adds(&b, "---\nstates:\n  x:\n    all:\n");
	for (unsigned i = 0; i < WORKFLOW_ACTIONS_MAX; i++)
		buf_addf(&b, "      - {command: 'true', writes: S%u}\n", i);
	buf_adds(&b, "---\n" DIAGRAM);
	w = parsed(buf_str(&b));
	assert_int_equal(w.declared->n, WORKFLOW_ACTIONS_MAX);
	b.len -= sizeof("---\n" DIAGRAM) - 1;
	buf_adds(&b, "      - {command: 'true', writes: More}\n---\n" DIAGRAM);
	refused(buf_str(&b), "w.md:5:7: 'all' must have 1 to 1000 entries, not 1001");
	buf_release(&b);
}

TEST(unknown_and_duplicate_keys_are_refused_at_their_own_place)
{
	assert_front_refused("limit: {}", "w.md:2:1: unknown key 'limit'");
	assert_front_refused("limits:\n  max_fixes: 2", "w.md:3:3: unknown key 'max_fixes'");
	assert_front_refused("validate: a\nvalidate: b", "w.md:3:1: duplicate key 'validate'");
	assert_state_refused("    agnt: y", "w.md:4:5: unknown key 'agnt'");
	assert_state_refused("    all: [{comand: y}]", "w.md:4:12: unknown key 'comand'");
	assert_front_refused(
		"states:\n  x: {command: a, writes: b}\n  x: {}", "w.md:4:3: duplicate key 'x'");
	assert_state_refused("    results: {a: b, a: c}", "w.md:4:21: duplicate key 'a'");
}

TEST(numbers_out_of_range_are_refused)
{
	assert_front_refused("limits: {max_actions: lots}",
		"w.md:2:23: 'max_actions' must be a whole number from 1 to 100000, not 'lots'");
	assert_front_refused("limits: {max_actions: 0}",
		"w.md:2:23: 'max_actions' must be a whole number from 1 to 100000, not '0'");
	assert_front_refused("limits: {max_actions: 100001}",
		"w.md:2:23: 'max_actions' must be a whole number from 1 to 100000, not '100001'");
	assert_front_refused("limits: {lease_minutes: 0}",
		"w.md:2:25: 'lease_minutes' must be a whole number from 1 to 43200, not '0'");
	assert_front_refused("limits: {lease_minutes: 43201}",
		"w.md:2:25: 'lease_minutes' must be a whole number from 1 to 43200, not '43201'");
	assert_front_refused("limits: {max_fix_iterations: -1}",
		"w.md:2:30: 'max_fix_iterations' must be a whole number from 0 to 1000, not '-1'");
	assert_front_refused("limits: {review_loop: 1001}",
		"w.md:2:23: 'review_loop' must be a whole number from 1 to 1000, not '1001'");
	assert_front_refused("limits: {signoff_deadlock: 0}",
		"w.md:2:28: 'signoff_deadlock' must be a whole number from 1 to 1000, not '0'");
	assert_front_refused("limits: {consecutive_failures: 0}",
		"w.md:2:32: 'consecutive_failures' must be a whole number from 1 to 1000, not '0'");
	assert_front_refused("validate_timeout: 0",
		"w.md:2:19: 'validate_timeout' must be a whole number from 1 to 86400, not '0'");
	assert_state_refused("    command: a\n    writes: b\n    timeout: 86401",
		"w.md:6:14: 'timeout' must be a whole number from 1 to 86400, not '86401'");
}

TEST(security_binds_scripts_to_a_policy)
{
	struct workflow w = front("security: {policy: build, violation: validation_fail, except: "
				  "[checks, x]}\nstates:\n  x: {command: a, writes: b}");

	assert_string_equal(w.security.policy, "build");
	assert_string_equal(w.security.violation, "validation_fail");
	assert_int_equal(w.security.n_except, 2);
	assert_string_equal(w.security.except[1], "x");
	assert_int_equal(w.security.line, 2);
	assert_int_equal(w.security.col, 20);
	w = front("security: {policy: ./p.yaml}");
	assert_null(w.security.violation);
	assert_null(front("validate: a").security.policy);
}

TEST(security_that_is_not_clear_is_refused)
{
	assert_front_refused("security: build", "w.md:2:11: 'security' must be a map, not 'build'");
	assert_front_refused("security: {violation: hard_abort}", "w.md:2:11: 'policy' is missing");
	assert_front_refused("security: {policy: -x}",
		"w.md:2:20: 'policy' must be one line of 1 to 4096 bytes "
		"that does not begin with '-', not '-x'");
	assert_front_refused("security: {policy: \"a\\nb\"}",
		"w.md:2:20: 'policy' must be one line of 1 to 4096 bytes that does not begin with "
		"'-', not 'a\\x0ab'");
	assert_front_refused("security: {policy: a, violation: maybe}",
		"w.md:2:34: 'violation' must be 'hard_abort' or 'validation_fail', not 'maybe'");
	assert_front_refused("security: {policy: a, except: [validate, y]}",
		"w.md:2:42: 'y' is neither 'validate' nor 'checks' nor a declared state with a "
		"script");
	assert_front_refused("security: {policy: a, level: 3}",
		"w.md:2:23: unknown key 'level': must be 'policy', 'violation' or 'except'");
}

TEST(values_of_the_wrong_kind_are_refused)
{
	assert_front_refused("- a", "w.md:2:1: the frontmatter must be a map, not a list");
	assert_front_refused("limits: 3", "w.md:2:9: 'limits' must be a map, not '3'");
	assert_front_refused("validate: [a]",
		"w.md:2:11: 'validate' must be a text of 1 to 4096 bytes, not a list");
	assert_front_refused("validate:",
		"w.md:2:10: 'validate' must be a text of 1 to 4096 bytes, not nothing");
	assert_front_refused("validate: '  '",
		"w.md:2:11: 'validate' must be a text of 1 to 4096 bytes, not '  '");
	assert_front_refused("states: [x]", "w.md:2:9: 'states' must be a map, not a list");
	assert_front_refused("states:\n  x: y", "w.md:3:6: 'x' must be a map, not 'y'");
	assert_state_refused("    all: 3", "w.md:4:10: 'all' must be a list, not '3'");
	assert_state_refused("    all: []", "w.md:4:10: 'all' must have 1 to 1000 entries, not 0");
	assert_state_refused("    all: [a]", "w.md:4:11: 'all' must be a map, not 'a'");
	assert_state_refused(
		"    agent: a\n    args: ID", "w.md:5:11: 'args' must be a list, not 'ID'");
	assert_state_refused(
		"    agent: a\n    reads: X", "w.md:5:12: 'reads' must be a list, not 'X'");
	assert_state_refused("    agent: a\n    args: [\"a\\nb\"]",
		"w.md:5:12: 'args' must be one line of 1 to 4096 bytes, not 'a\\x0ab'");
	assert_state_refused(
		"    results: passed", "w.md:4:14: 'results' must be a map, not 'passed'");
}

TEST(names_are_checked)
{
	assert_front_refused("research_skill: rm -rf",
		"w.md:2:17: 'research_skill' must be 1 to 100 letters, digits and, inside, "
		"'_', '-', '.', ':', not 'rm -rf'");
	assert_front_refused("states:\n  a b: {}",
		"w.md:3:3: name 'a b' must be 1 to 64 letters, digits, '_' and, inside, '-', "
		"other than 'troubleshooter'");
	assert_front_refused("states:\n  troubleshooter: {}",
		"w.md:3:3: name 'troubleshooter' must be 1 to 64 letters, digits, '_' and, "
		"inside, '-', other than 'troubleshooter'");
	assert_state_refused("    results: {yes please: a}",
		"w.md:4:15: name 'yes please' must be 1 to 64 letters, digits, '_' and, inside, "
		"'-'");
	assert_state_refused("    results: {yes: [a]}",
		"w.md:4:20: 'yes' must be 1 to 64 letters, digits, '_' and, inside, '-', not a "
		"list");
	assert_state_refused(
		"    results: {}", "w.md:4:14: 'results' must have 1 to 32 entries, not 0");
	assert_state_refused("    writes: Actions", "w.md:4:13: 'writes' must be the name of a "
						    "section other than 'Actions', not 'Actions'");
	assert_state_refused("    agent: a\n    reads: [Actions]",
		"w.md:5:13: 'reads' must be the name of a section other than 'Actions', not "
		"'Actions'");
	assert_state_refused("    writes: a-->b", "w.md:4:13: 'writes' must be the name of a "
						  "section other than 'Actions', not 'a-->b'");
}

TEST(a_state_must_be_one_thing_and_whole)
{
	assert_state_refused(
		"    writes: a", "w.md:4:5: 'agent', 'approve', 'child' or 'command' is missing");
	assert_state_refused(
		"    agent: a\n    command: b", "w.md:5:5: 'command' does not go with 'agent'");
	assert_state_refused(
		"    agent: a\n    timeout: 9", "w.md:5:5: 'timeout' does not go with 'agent'");
	assert_state_refused(
		"    command: a\n    skill: b", "w.md:5:5: 'skill' does not go with 'command'");
	assert_state_refused(
		"    command: a\n    reads: []", "w.md:5:5: 'reads' does not go with 'command'");
	assert_state_refused("    agent: a\n    writes: b", "w.md:4:5: 'skill' is missing");
	assert_state_refused("    command: b", "w.md:4:5: 'writes' is missing");
	assert_state_refused(
		"    agent: a\n    skill: b\n    writes: c", "w.md:4:5: 'results' is missing");
	assert_state_refused("    command: a\n    writes: b\n    results: {passed: x, ok: y}",
		"w.md:6:14: 'results' of a script must be 'passed' and 'failed', or two or more "
		"words of its own");
	assert_state_refused("    command: a\n    writes: b\n    results: {passed: x}",
		"w.md:6:14: 'results' of a script must be 'passed' and 'failed', or two or more "
		"words of its own");
	assert_state_refused("    approve: a\n    writes: b\n    results: {approved: x, ok: y}",
		"w.md:6:14: 'results' of an approval must be 'approved' and 'rejected', in this "
		"order");
	assert_state_refused("    approve: a\n    writes: b\n    results: {ok: x, rejected: y}",
		"w.md:6:14: 'results' of an approval must be 'approved' and 'rejected', in this "
		"order");
	assert_state_refused("    all: [{command: a, writes: b}]\n    timeout: 3",
		"w.md:5:5: 'timeout' does not go with 'all'");
}

TEST(two_items_of_a_state_cannot_write_one_section)
{
	assert_state_refused("    all:\n"
			     "      - {command: a, writes: B}\n"
			     "      - {command: a, writes: A}\n"
			     "      - {command: a, writes: B}",
		"w.md:7:30: section 'B' is also written by the action in line 5");
}

TEST(yaml_that_is_broken_is_refused_in_lines_of_the_file)
{
	assert_front_refused("validate: &a b", "w.md:2:11: anchors are not allowed");
	assert_front_refused(
		"validate: a\n\tb: c", "w.md:3:1: found a tab character that violates indentation");
	assert_refused("---\nvalidate: a\n" DIAGRAM,
		"w.md:1:1: frontmatter is not closed: a line '---' must follow");
}

TEST(empty_frontmatter_is_none)
{
	assert_null(parsed(STR("---\n---\n" DIAGRAM)).validate);
	assert_null(parsed(STR("---\n# nothing\n---\n" DIAGRAM)).validate);
	assert_null(parsed(STR("\n---\nvalidate: text, not frontmatter\n---\n" DIAGRAM)).validate);
}

TEST(crlf_and_a_byte_order_mark_are_read)
{
	struct workflow w = parsed(STR("\xef\xbb\xbf---\r\nvalidate: make\r\n---\r\n\r\n"
				       "```mermaid\r\nstateDiagram-v2\r\n[*] --> a\r\n```\r\n"));

	assert_string_equal(w.validate, "make");
	assert_string_equal(w.initial, "a");
	assert_int_equal(w.states[0].line, 7);
}

TEST(other_fences_hide_what_is_in_them)
{
	struct workflow w = parsed(STR("````text\n```mermaid\nx\n```\n````\n"
				       "~~~\n```mermaid\n~~~\n"
				       "    ```mermaid\n"
				       "``` mermaid `x`\n"
				       "   ~~~~ Mermaid {x}\nstateDiagram-v2\n[*] --> a\n"
				       "~~~~~\n"));

	assert_int_equal(w.states[0].line, 13);
}

TEST(the_block_must_be_there_once_and_closed)
{
	assert_refused("", "w.md:1:1: file has no fenced block 'mermaid'");
	assert_refused("---\nvalidate: a\n---\n# x\n```text\n```\n",
		"w.md:4:1: file has no fenced block 'mermaid'");
	assert_refused("```mermaidx\n```\n", "w.md:1:1: file has no fenced block 'mermaid'");
	assert_refused(
		DIAGRAM "\n" DIAGRAM, "w.md:8:1: second mermaid block: the first begins in line 1");
	assert_refused("a\n```mermaid\nstateDiagram-v2\n[*] --> a\n",
		"w.md:2:1: block is not closed: a line '```' must follow");
	assert_refused(
		DIAGRAM "~~~text\n", "w.md:7:1: block is not closed: a line '~~~' must follow");
	assert_refused("```mermaid\n```\n",
		"w.md:1:1: diagram is empty: 'stateDiagram-v2' must come first");
}

TEST(bytes_that_are_no_text_are_refused)
{
	assert_refused("# \xff\n" DIAGRAM, "w.md:1:3: byte 0xff is not UTF-8 text");
	refused((struct str){"a\nb\0c", 5}, "w.md:2:2: byte 0x00 is not UTF-8 text");
}

TEST(size_is_limited)
{
	struct buf b = BUF_INIT;

	buf_reserve(&b, WORKFLOW_MAX + 1);
	memset(b.s, ' ', WORKFLOW_MAX + 1);
	b.len = WORKFLOW_MAX + 1;
	refused(buf_str(&b), "w.md:1:1: file is larger than 1048576 bytes");
	b.len = 0;
	buf_adds(&b, "---\n");
	while (b.len < FRONTMATTER_MAX + 5)
		buf_adds(&b, "# text text text\n");
	buf_adds(&b, "---\n" DIAGRAM);
	refused(buf_str(&b), "w.md:1:1: frontmatter is larger than 262144 bytes");
	buf_release(&b);
}

TEST(a_file_that_is_not_there_is_refused)
{
	struct workflow w;

	assert_fails(workflow_load(&arena, "/no/such.md", &w, &err), err, ERR_INPUT);
	assert_error(&err, "dev-team: no workflow file '/no/such.md'");
}

UNIT_GROUP(NULL, arena_end)
