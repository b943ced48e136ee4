#include "src/workflow/workflow.h"
#include "tests/lib/scratch.h"

static struct error err;

static struct workflow parsed(struct str text)
{
	struct workflow w = {0};

	if (workflow_parse_mermaid(&arena, "w.md", 10, text, &w, &err) < 0)
		fail_msg("%u:%u: %s", err.line, err.col, err.text);
	return w;
}

/* Each text begins in line 10 of `w.md`, as the diagram of a real file does. */
#define assert_refused(text, message) refused(STR(text), message)
static void refused(struct str text, const char *message)
{
	struct workflow w = {0};

	assert_fails(workflow_parse_mermaid(&arena, "w.md", 10, text, &w, &err), err, ERR_INPUT);
	assert_error(&err, message);
}

/* `text` follows a header and a good frame of two lines, so that it begins in line 13. */
#define assert_line_refused(text, message)                                                         \
	refused(STR("stateDiagram-v2\n[*] --> init\ninit --> a : go\n" text "\n"), message)

static struct workflow framed(const char *text)
{
	return parsed(str_of(arena_printf(&arena, "stateDiagram-v2\n[*] --> init\n%s", text)));
}

TEST(edges_and_states_are_read_in_the_order_of_the_file)
{
	struct workflow w = parsed(STR("stateDiagram-v2\n"
				       "    [*] --> init\n"
				       "    init --> work : start\n"
				       "    work --> done : ok\n"
				       "    done --> [*]\n"));

	assert_string_equal(w.initial, "init");
	assert_int_equal(w.n_states, 3);
	assert_string_equal(w.states[1].name, "work");
	assert_string_equal(w.states[1].label, "work");
	assert_false(w.states[1].terminal);
	assert_string_equal(w.states[2].name, "done");
	assert_true(w.states[2].terminal);
	assert_int_equal(w.n_edges, 2);
	assert_string_equal(w.edges[1].from, "work");
	assert_string_equal(w.edges[1].to, "done");
	assert_string_equal(w.edges[1].trigger, "ok");
	assert_int_equal(w.edges[1].line, 13);
	assert_int_equal(w.edges[1].col, 21);
}

TEST(blanks_and_line_ends_are_free)
{
	struct workflow w =
		parsed(STR("\r\n \t\r\nstateDiagram-v2\r\n[*]-->init\r\n"
			   "\tinit-->a-b:go\r\n  a-b  -->  done  :  ok  \r\ndone-->[*]"));

	assert_int_equal(w.n_edges, 2);
	assert_string_equal(w.edges[0].to, "a-b");
	assert_string_equal(w.edges[0].trigger, "go");
	assert_string_equal(w.edges[1].trigger, "ok");
	assert_int_equal(w.edges[1].line, 15);
}

TEST(what_only_changes_the_looks_is_passed_over)
{
	static const char *const lines[] = {"%% a comment", "%%{init: {'theme': 'base'}}%%",
		"%%{init: {\n  'theme': 'base'\n}}%%", "# a comment", "direction TB",
		"direction LR", "classDef bad fill:#f00,color:white", "class init,a bad",
		"style a fill:#f9f", "click a \"https://example.org\" \"tip\"",
		"click a href \"https://example.org\"", "scale 350 width", "hide empty description",
		"title A title", "accTitle: how it goes", "accDescr: a --> b is not an edge",
		"accDescr {\n a --> b : no\n}", "note right of a : x --> y : z",
		"note left of a\n a --> b : not an edge\n} {\nend note", "note \"floating\" as N1",
		"a:::bad", "init:::bad", ""};

	for (size_t i = 0; i < COUNT(lines); i++) {
		struct workflow w = framed(arena_printf(
			&arena, "init --> a : go\n%s\na --> done : ok\ndone --> [*]\n", lines[i]));

		assert_int_equal(w.n_states, 3);
		assert_int_equal(w.n_edges, 2);
		assert_string_equal(w.edges[1].trigger, "ok");
	}
}

TEST(front_matter_comments_and_directives_may_come_first)
{
	struct workflow w = parsed(STR("---\ntitle: it\n---\n%% c\n%%{init: {}}%%\n\n"
				       "stateDiagram\n[*] --> a\n"));

	assert_string_equal(w.initial, "a");
	assert_int_equal(w.states[0].line, 17);
}

TEST(a_comment_may_follow_a_statement)
{
	struct workflow w = framed("init --> a : go %% why\nb %% alone\n");

	assert_string_equal(w.edges[0].trigger, "go");
	assert_int_equal(w.n_states, 3);
	assert_line_refused("a --> b : on%%e", "w.md:13:11: 'on%%e' is not a valid trigger: 1 to "
					       "64 letters, digits, '_' and, inside, '-'");
}

TEST(labels_come_from_state_as_and_from_descriptions)
{
	struct workflow w = framed("state \"The work: a --> b\" as work\n"
				   "init --> work:::red : go\n"
				   "rest : takes a while\n"
				   "state idle : waits\n"
				   "state plain\n"
				   "work : a second text\n");

	assert_int_equal(w.n_states, 5);
	assert_string_equal(workflow_state(&w, "work")->label, "The work: a --> b");
	assert_string_equal(workflow_state(&w, "rest")->label, "takes a while");
	assert_string_equal(workflow_state(&w, "idle")->label, "waits");
	assert_string_equal(workflow_state(&w, "plain")->label, "plain");
}

TEST(a_label_that_is_the_id_with_hyphens_is_the_name)
{
	struct workflow w = framed("init --> fixing_pr : go\n"
				   "state \"fixing-pr\" as fixing_pr\n"
				   "state \"Fixing the PR\" as fixing_pr\n"
				   "fixing_pr --> other_one : ok\n"
				   "fixing-pr --> init : again\n"
				   "state \"some-thing\" as other_one\n");

	assert_int_equal(w.n_states, 3);
	assert_string_equal(w.states[1].name, "fixing-pr");
	assert_string_equal(w.states[1].label, "Fixing the PR");
	assert_string_equal(w.edges[0].to, "fixing-pr");
	assert_string_equal(w.edges[2].from, "fixing-pr");
	assert_string_equal(w.states[2].name, "other_one");
	assert_string_equal(w.states[2].label, "some-thing");
}

TEST(words_that_are_keywords_elsewhere_can_be_states)
{
	struct workflow w = framed("init --> note : go\nnote --> class : ok\nclass --> title : ok\n"
				   "title : done soon\n");

	assert_int_equal(w.n_edges, 3);
	assert_string_equal(workflow_state(&w, "title")->label, "done soon");
}

TEST(an_edge_without_a_trigger_leads_only_out_of_the_initial_state)
{
	struct workflow w = framed("init --> a\n");

	assert_string_equal(w.edges[0].trigger, "");
	assert_line_refused("a --> b", "w.md:13:1: edge from 'a' to 'b' has no trigger");
	assert_line_refused("a --> b :", "w.md:13:1: edge from 'a' to 'b' has no trigger");
	assert_refused("stateDiagram-v2\na --> b\n[*] --> init\ninit --> a : go\n",
		"w.md:11:1: edge from 'a' to 'b' has no trigger");
}

TEST(what_is_not_a_state_diagram_is_refused)
{
	assert_refused("", "w.md:9:1: diagram is empty: 'stateDiagram-v2' must come first");
	assert_refused(
		"\n%% x\n", "w.md:11:1: diagram is empty: 'stateDiagram-v2' must come first");
	assert_refused("  graph TD\n", "w.md:10:3: 'graph TD' is not read: the diagram must begin "
				       "with 'stateDiagram-v2'");
	assert_refused("---\ntitle: x\nstateDiagram-v2\n",
		"w.md:10:1: front matter is not closed: '---' must follow");
	assert_refused("stateDiagram-v2\n",
		"w.md:10:1: no initial state: one edge must be '[*] --> NAME'");
	assert_refused("stateDiagram-v2\na --> b : go\n",
		"w.md:10:1: no initial state: one edge must be '[*] --> NAME'");
}

#define NO_NAME    " is not a valid state name: 1 to 64 letters, digits, '_' and, inside, '-'"
#define NO_TRIGGER " is not a valid trigger: 1 to 64 letters, digits, '_' and, inside, '-'"
#define NO_CHOICE  " is not read: what a state answers decides its way out"

TEST(composites_regions_and_forks_are_refused)
{
	static const char composite[] = "w.md:13:9: composite states are not read: give the states "
					"inside 'x' to the diagram itself";

	assert_line_refused("state x {", composite);
	assert_line_refused("state x{\n a --> b : y\n}",
		"w.md:13:8: composite states are not read: give the "
		"states inside 'x' to the diagram itself");
	assert_line_refused("state \"long\" as x {",
		"w.md:13:19: composite states are not read: give the "
		"states inside 'x' to the diagram itself");
	assert_line_refused("  --", "w.md:13:3: regions ('--') are not read: declare a state with "
				    "'all:' for several at once");
	assert_line_refused("state x <<fork>>", "w.md:13:9: '<<fork>>'" NO_CHOICE);
	assert_line_refused("state x <<choice>>", "w.md:13:9: '<<choice>>'" NO_CHOICE);
	assert_line_refused("state x [[join]]", "w.md:13:9: '[[join]]'" NO_CHOICE);
}

TEST(broken_lines_are_refused_at_their_place)
{
	assert_line_refused("a -> b : x",
		"w.md:13:3: unexpected '-> b : x' after 'a': an edge is 'a --> b : trigger'");
	assert_line_refused("a --> b --> c : x",
		"w.md:13:9: unexpected '--> c : x' after 'b': an edge is 'a --> b : trigger'");
	assert_line_refused(
		"two words --> b : x", "w.md:13:5: unexpected 'words --> b : x' after 'two'");
	assert_line_refused("--> b : x", "w.md:13:1: line begins with no state");
	assert_line_refused(": x", "w.md:13:1: line begins with no state");
	assert_line_refused("a -->", "w.md:13:6: edge leads nowhere: a state must follow '-->'");
	assert_line_refused(
		"a --> : x", "w.md:13:7: edge leads nowhere: a state must follow '-->'");
	assert_line_refused("a --> b : two words", "w.md:13:11: 'two words'" NO_TRIGGER);
	assert_line_refused("a --> b : go;", "w.md:13:11: 'go;'" NO_TRIGGER);
	assert_line_refused("é/x --> b : go", "w.md:13:1: 'é/x'" NO_NAME);
	assert_line_refused("a --> é : go", "w.md:13:7: 'é'" NO_NAME);
	assert_line_refused("é : x\n", "w.md:13:1: 'é'" NO_NAME);
	assert_line_refused("}", "w.md:13:1: '}'" NO_NAME);
	assert_line_refused("a---> b : x", "w.md:13:1: 'a-'" NO_NAME);
	assert_line_refused("x\033[31m : y", "w.md:13:1: 'x?[31m'" NO_NAME);
}

TEST(broken_declarations_of_looks_are_refused)
{
	assert_line_refused("state \"x as y", "w.md:13:7: label is not closed");
	assert_line_refused(
		"state \"x\"", "w.md:13:8: label without a state: 'as NAME' must follow");
	assert_line_refused(
		"state \"x\" is y", "w.md:13:11: label without a state: 'as NAME' must follow");
	assert_line_refused("state \"x\" as y z", "w.md:13:16: unexpected 'z' after 'y'");
	assert_line_refused(
		"direction UP", "w.md:13:11: unknown direction 'UP': one of TB, BT, LR, RL");
	assert_line_refused("note about a : x",
		"w.md:13:6: note without a state: 'left of NAME' or 'right of NAME' must follow");
	assert_line_refused("  note right of a\n text",
		"w.md:13:3: note is not closed: 'end note' must follow");
	assert_line_refused("%%{init: {", "w.md:13:1: directive is not closed: '}%%' must follow");
	assert_line_refused(
		"accDescr {\nx", "w.md:13:1: description is not closed: '}' must follow");
}

TEST(the_start_and_the_ends_are_unambiguous)
{
	assert_line_refused("[*] --> a",
		"w.md:13:9: second initial state 'a': 'init' is the initial state since line 11");
	assert_line_refused("[*] --> [*]", "w.md:13:1: edge from '[*]' to '[*]' names no state");
	assert_line_refused("[*]", "w.md:13:1: '[*]' stands only at an end of an edge");
	assert_line_refused("[*] : x", "w.md:13:1: '[*]' stands only at an end of an edge");
	assert_line_refused("a --> [*] : ok",
		"w.md:13:13: edge to '[*]' takes no trigger: lead it to a state of its own that "
		"ends");
	assert_line_refused("a --> [*]\na --> b : ok",
		"w.md:14:11: edge out of 'a', which is an end since line 13");
	assert_line_refused("a --> b : ok\na --> [*]",
		"w.md:13:11: edge out of 'a', which is an end since line 14");
	assert_line_refused("a --> troubleshooter : x",
		"w.md:13:7: 'troubleshooter' is the machine's own and cannot be a state");
}

TEST(two_edges_with_one_meaning_are_refused_at_the_second)
{
	assert_line_refused("a --> b : x\na --> c : y\n\na --> c : x",
		"w.md:16:11: second edge from 'a' with the trigger 'x': the first is in line 13");
	assert_line_refused("a --> b : x\na --> b : x",
		"w.md:14:11: second edge from 'a' with the trigger 'x': the first is in line 13");
}

TEST(ids_that_mermaid_cannot_tell_apart_are_refused)
{
	assert_line_refused("a --> b-c : x\na --> b_c : y",
		"w.md:14:7: 'b_c' is 'b-c' in line 13: mermaid cannot tell '-' and '_' apart");
}

TEST(numbers_and_lengths_are_limited)
{
	struct buf b = BUF_INIT;
	struct workflow w = {0};
	char name[WORKFLOW_NAME_MAX + 2];

	memset(name, 'x', sizeof(name));
	assert_true(workflow_word_valid((struct str){name, WORKFLOW_NAME_MAX}));
	assert_false(workflow_word_valid((struct str){name, WORKFLOW_NAME_MAX + 1}));
	buf_adds(&b, "stateDiagram-v2\n[*] --> s0\n");
	for (unsigned i = 1; i < WORKFLOW_STATES_MAX; i++)
		buf_addf(&b, "s%u\n", i);
	for (unsigned i = 0; i < WORKFLOW_EDGES_MAX; i++)
		buf_addf(&b, "s0 --> s%u : t%u\n", i % WORKFLOW_STATES_MAX, i);
	w = parsed(buf_str(&b));
	assert_int_equal(w.n_states, WORKFLOW_STATES_MAX);
	assert_int_equal(w.n_edges, WORKFLOW_EDGES_MAX);
	buf_adds(&b, "s0 --> s1 : more\n");
	assert_int_equal(workflow_parse_mermaid(&arena, "w.md", 1, buf_str(&b), &w, &err), -1);
	assert_error(&err, "w.md:11002:13: this edge is one too many: at most 10000");
	buf_clear(&b);
	buf_adds(&b, "stateDiagram-v2\n");
	for (unsigned i = 0; i <= WORKFLOW_STATES_MAX; i++)
		buf_addf(&b, "s%u\n", i);
	assert_int_equal(workflow_parse_mermaid(&arena, "w.md", 1, buf_str(&b), &w, &err), -1);
	assert_error(&err, "w.md:1002:1: state 's1000' is one too many: at most 1000");
	buf_clear(&b);
	buf_addf(&b, "stateDiagram-v2\na : %0*d\n", WORKFLOW_LABEL_MAX + 1, 0);
	assert_int_equal(workflow_parse_mermaid(&arena, "w.md", 1, buf_str(&b), &w, &err), -1);
	assert_error(&err, "w.md:2:1: label of 'a' is longer than 200 characters");
	buf_release(&b);
}

UNIT_GROUP(NULL, arena_end)
