#include "src/workflow/workflow.h"
#include "steps/steps.h"
#include "tests/lib/scratch.h"

static struct error err;

static const struct workflow_builtin *builtin;

/* The lines that the check reports for a file `w.md`. */
static char *told(struct str text, size_t *n)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct workflow w;

	if (workflow_parse(&arena, "w.md", text, &w, &err) < 0)
		fail_msg("%u:%u: %s", err.line, err.col, err.text);
	buf_adds(&out, "");
	*n = workflow_check(&w, builtin, &out);
	return arena_dup(&arena, buf_str(&out));
}

#define assert_told(text, message) told_is(STR(text), message)
static void told_is(struct str text, const char *message)
{
	size_t n, lines = 0;
	char *got = told(text, &n);

	for (const char *p = message; *p; p++)
		lines += *p == '\n';
	assert_string_equal(got, message);
	assert_int_equal(n, lines);
}

/* The diagram's own lines begin in line 3; `work` and `rest` are built in. */
#define flow(lines)        "```mermaid\nstateDiagram-v2\n[*] --> init\n" lines "```\n"
#define front(yaml, lines) "---\n" yaml "---\n" flow(lines)

TEST(a_good_workflow_has_no_faults)
{
	assert_told(flow("init --> work : go\nwork --> done : ok\nwork --> work : bad\n"
			 "done --> [*]\n"),
		"");
}

TEST(transitions_that_a_step_never_gives_are_no_fault)
{
	assert_told(flow("init --> work : go\nwork --> done : ok\nwork --> work : bad\n"
			 "work --> done : tests_failed\ndone --> [*]\n"),
		"");
}

TEST(a_trigger_without_a_transition_is_told_at_the_state)
{
	assert_told(flow("init --> work : go\nwork --> done : ok\ndone --> [*]\n"),
		"w.md:4:10: state 'work' has no transition for its trigger 'bad'\n");
}

TEST(a_trigger_of_a_declared_state_is_told_where_it_is_declared)
{
	assert_told(front("states:\n  lint:\n    command: x\n    writes: y\n"
			  "    results: {passed: ok, failed: lint_faild}\n",
			    "init --> lint : go\nlint --> done : ok\nlint --> done : lint_failed\n"
			    "done --> [*]\n"),
		"w.md:6:35: state 'lint' has no transition for its trigger 'lint_faild'\n");
}

TEST(a_state_that_nothing_serves_is_unknown)
{
	assert_told(flow("init --> wrok : go\nwrok --> done : ok\ndone --> [*]\n"),
		"w.md:4:10: unknown state 'wrok': no step serves it and the frontmatter does not "
		"declare it\n");
}

TEST(a_declared_state_must_be_in_the_diagram)
{
	assert_told(front("states:\n  lint: {command: x, writes: y}\n",
			    "init --> rest : go\nrest --> done : ok\ndone --> [*]\n"),
		"w.md:3:3: state 'lint' is declared but not in the diagram\n");
}

TEST(a_built_in_state_cannot_be_declared)
{
	assert_told(front("states:\n  rest: {command: x, writes: y, results: {passed: ok, failed: "
			  "no}}\n",
			    "init --> rest : go\nrest --> done : ok\nrest --> done : no\n"
			    "done --> [*]\n"),
		"w.md:3:3: state 'rest' is built in and cannot be declared\n");
}

TEST(unreachable_states_are_told)
{
	assert_told(flow("init --> rest : go\nrest --> done : ok\nwork --> done : ok\n"
			 "work --> done : bad\ndone --> [*]\n"),
		"w.md:6:1: state 'work' cannot be reached from 'init'\n");
}

TEST(a_way_that_no_trigger_opens_is_no_way)
{
	assert_told(flow("init --> rest : go\nrest --> rest : ok\nrest --> done : never\n"
			 "done --> [*]\n"),
		"w.md:4:10: state 'rest' cannot reach an end\n"
		"w.md:6:10: state 'done' cannot be reached from 'init'\n");
}

TEST(states_that_go_round_for_ever_are_told)
{
	assert_told(flow("init --> work : go\nwork --> rest : ok\nwork --> done : bad\n"
			 "rest --> rest : ok\ndone --> [*]\n"),
		"w.md:5:10: state 'rest' cannot reach an end\n");
}

TEST(where_the_file_begins_does_not_matter)
{
	assert_told(flow("rest --> work : ok\nwork --> rest : ok\ninit --> work : go\n"
			 "work --> rest : bad\ndone --> [*]\n"),
		"w.md:4:1: state 'rest' cannot reach an end\n"
		"w.md:4:10: state 'work' cannot reach an end\n"
		"w.md:8:1: state 'done' cannot be reached from 'init'\n");
}

TEST(the_initial_state_has_exactly_one_way_out)
{
	assert_told(flow("done --> [*]\nrest --> done : ok\n"),
		"w.md:3:9: initial state 'init' must have exactly one way out, not 0\n"
		"w.md:4:1: state 'done' cannot be reached from 'init'\n"
		"w.md:5:1: state 'rest' cannot be reached from 'init'\n");
	assert_told(flow("init --> rest : go\ninit --> done : stop\nrest --> done : ok\n"
			 "done --> [*]\n"),
		"w.md:3:9: initial state 'init' must have exactly one way out, not 2\n");
}

TEST(nothing_leads_back_to_the_initial_state)
{
	assert_told(flow("init --> work : go\nwork --> init : bad\nwork --> done : ok\n"
			 "done --> [*]\n"),
		"w.md:5:17: edge leads back to the initial state 'init', which no step serves\n");
}

TEST(a_step_in_the_initial_state_or_at_an_end_would_never_run)
{
	assert_told("```mermaid\nstateDiagram-v2\n[*] --> rest\nrest --> done : ok\n"
		    "done --> [*]\n```\n",
		"w.md:3:9: state 'rest' is left at once, so its step never runs\n");
	assert_told(flow("init --> work : go\nwork --> done : ok\nwork --> rest : bad\n"
			 "rest --> [*]\ndone --> [*]\n"),
		"w.md:6:10: state 'rest' is an end, so its step never runs\n");
}

TEST(there_must_be_an_end_that_is_success)
{
	assert_told(flow("init --> rest : go\nrest --> rest : ok\n"),
		"w.md:3:9: no state is an end: 'done --> [*]' is missing\n");
	assert_told(flow("init --> rest : go\nrest --> finished : ok\nfinished --> [*]\n"),
		"w.md:3:9: no end is called 'done', so that this workflow can never succeed\n");
}

TEST(all_good_words_of_several_at_once_give_one_trigger)
{
	assert_told(front("states:\n  gates:\n    all:\n"
			  "      - {agent: a, skill: s, args: [x], writes: A, results: {good: ok, "
			  "bad: no}}\n"
			  "      - {command: b, writes: B, results: {passed: fine, failed: no}}\n",
			    "init --> gates : go\ngates --> done : ok\ngates --> done : fine\n"
			    "gates --> done : no\ndone --> [*]\n"),
		"w.md:6:51: good word 'passed' gives 'fine', but 'good' in line 5 gives 'ok': "
		"all items of 'gates' must agree\n");
}

#define NO_TASK                                                                                    \
	"gets no task: it reads no section that was written before, has no argument but the id, "  \
	"and no state 'spec-finding' comes before\n"

TEST(an_agent_without_a_task_is_told)
{
#define WAYS              "init --> a : go\na --> b : ok\nb --> done : ok\ndone --> [*]\n"
#define AGENT(name, args) "  " name ": {agent: x, skill: s, " args "writes: y, results: {w: ok}}\n"
	assert_told(
		front("states:\n" AGENT("a", "args: [ID], ") AGENT("b", "reads: [Spec], "), WAYS),
		"w.md:3:6: the agent 'x' " NO_TASK);
	assert_told(
		front("states:\n" AGENT("a", "args: [Plan], ") AGENT("b", "args: [SPEC_PATH], "),
			WAYS),
		"w.md:4:6: 'SPEC_PATH' is not set here: no state 'spec-finding' comes before\n");
}

/* What a state writes is cleared when it is entered, and nothing has failed before the first one.
 */
TEST(a_section_without_a_text_is_no_task)
{
#define FIRST "w.md:3:6: the agent 'x' " NO_TASK
#define BACK                                                                                       \
	"init --> a : go\na --> work : ok\nwork --> a : bad\nwork --> done : ok\ndone --> [*]\n"
	assert_told(front("states:\n" AGENT("a", "reads: [Last Failure], ")
				    AGENT("b", "reads: [Last Failure], "),
			    WAYS),
		FIRST);
	assert_told(front("states:\n" AGENT("a", "reads: [y, Last Failure], ")
				    AGENT("b", "reads: [y, Spec], "),
			    WAYS),
		FIRST);
	assert_told(front("states:\n" AGENT("a", "reads: [Last Failure], "), BACK), "");
	assert_told(front("states:\n" AGENT("a", "reads: [y], "), BACK), FIRST);
#define CHILD(name)                                                                                \
	"  " name ": {child: x, workflow: p, reads: [Last Failure], writes: y, results: "          \
	"{success: ok, failed: bad}}\n"
#define LOOP                                                                                       \
	"init --> a : go\na --> b : ok\na --> a : bad\nb --> done : ok\nb --> a : bad\ndone --> "  \
	"[*]\n"
	assert_told(front("states:\n" AGENT("a", "args: [Plan], ") CHILD("b"), LOOP), "");
	assert_told(front("states:\n" CHILD("a") AGENT("b", "args: [Plan], "), LOOP),
		"w.md:3:6: the child 'x' gets no task: it has no 'task', reads no section that was "
		"written before, and no state 'spec-finding' comes before\n");
#define ITEM(section, more)                                                                        \
	"      - {agent: x, skill: s, writes: " section ", results: {w: ok}, " more "}\n"
#define ALL "init --> a : go\na --> done : ok\ndone --> [*]\n"
	assert_told(front("states:\n  a:\n    all:\n" ITEM("A", "reads: [B]")
				    ITEM("B", "args: [Plan]") ITEM("C", "reads: [B], after: [B]"),
			    ALL),
		"w.md:5:9: the agent 'x' " NO_TASK);
}

TEST(a_limit_that_no_state_counts_is_told)
{
#define SMALL "init --> b : go\nb --> done : ok\ndone --> [*]\n"
#define B     "states: {b: {command: x, writes: y, results: {passed: ok, failed: ok}}}\n"
	assert_told(front("limits: {review_loop: 3, max_actions: 9}\n" B, SMALL),
		"w.md:2:23: 'review_loop' has no effect: the workflow has no state "
		"'reviewing'\n");
	assert_told(front("limits:\n  max_fix_iterations: 3\n" B, SMALL),
		"w.md:3:23: 'max_fix_iterations' has no effect: the workflow has no state "
		"'fixing'\n");
}

TEST(faults_come_in_the_order_of_the_file)
{
	assert_told(front("states:\n  b: {command: x, writes: y}\n  a: {command: x, writes: y}\n",
			    "init --> nobody : go\nnobody --> done : x\nlost --> done : y\n"
			    "done --> [*]\n"),
		"w.md:3:3: state 'b' is declared but not in the diagram\n"
		"w.md:4:3: state 'a' is declared but not in the diagram\n"
		"w.md:9:10: unknown state 'nobody': no step serves it and the frontmatter does not "
		"declare it\n"
		"w.md:11:1: unknown state 'lost': no step serves it and the frontmatter does not "
		"declare it\n"
		"w.md:11:1: state 'lost' cannot be reached from 'init'\n");
}

/* Every state leads to ten others, one to the end. */
static struct workflow large(struct buf *text)
{
	struct workflow w;

	buf_adds(text, "```mermaid\nstateDiagram-v2\n[*] --> init\ninit --> s1 : go\n"
		       "done --> [*]\n");
	for (unsigned i = 1; i <= WORKFLOW_STATES_MAX - 2; i++)
		for (unsigned k = 0; k < 10; k++)
			buf_addf(text, "s%u --> s%u : t%u\n", i,
				(i + k * k) % (WORKFLOW_STATES_MAX - 2) + 1, k);
	buf_adds(text, "s7 --> done : end\n");
	buf_adds(text, "```\n");
	if (workflow_parse(&arena, "w.md", buf_str(text), &w, &err) < 0)
		fail_msg("%u:%u: %s", err.line, err.col, err.text);
	return w;
}

static bool has(const struct buf *b, const char *text)
{
	return str_find(buf_str(b), str_of(text)) < b->len;
}

TEST(the_largest_workflow_is_checked_and_drawn_with_straight_lines)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, out = BUF_INIT;
	struct workflow w = large(&text);

	assert_int_equal(w.n_states, WORKFLOW_STATES_MAX);
	assert_int_equal(workflow_check(&w, builtin, &out), WORKFLOW_STATES_MAX - 2);
	buf_clear(&out);
	workflow_draw_dot(&w, NULL, &out);
	assert_true(has(&out, "splines=line"));
	assert_true(has(&out, "  \"s1\" -> \"s2\" [label=<&#160;t0>]\n"));
	w.n_edges = 200;
	buf_clear(&out);
	workflow_draw_dot(&w, NULL, &out);
	assert_false(has(&out, "splines=line"));
}

TEST(drawn_as_mermaid_and_read_again_it_is_the_same)
{
	CLEANUP(buf_release) struct buf once = BUF_INIT, twice = BUF_INIT;
	struct workflow w, v;

	assert_int_equal(workflow_parse(&arena, "w.md",
				 STR(flow("state \"An \\end\" as done\ninit --> fixing-pr\nalone\n"
					  "lost --> [*]\n"
					  "fixing-pr --> done : ok\ndone --> [*]\n")),
				 &w, &err),
		0);
	buf_adds(&once, "```mermaid\n");
	workflow_draw_mermaid(&w, &(struct workflow_current){"fixing-pr", NULL}, &once);
	buf_adds(&once, "```\n");
	assert_string_equal(once.s, "```mermaid\n"
				    "stateDiagram-v2\n"
				    "    state \"An \\end\" as done\n"
				    "    state \"fixing-pr\" as fixing_pr\n"
				    "    alone\n"
				    "    [*] --> init\n"
				    "    init --> fixing_pr\n"
				    "    fixing_pr --> done : ok\n"
				    "    done --> [*]\n"
				    "    lost --> [*]\n"
				    "    classDef current fill:#fff3b0,stroke:#9a6700,"
				    "stroke-width:3px,font-weight:bold\n"
				    "    class fixing_pr current\n"
				    "```\n");
	assert_int_equal(workflow_parse(&arena, "w.md", buf_str(&once), &v, &err), 0);
	buf_adds(&twice, "```mermaid\n");
	workflow_draw_mermaid(&v, &(struct workflow_current){"fixing-pr", NULL}, &twice);
	buf_adds(&twice, "```\n");
	assert_string_equal(once.s, twice.s);
}

TEST(a_dot_drawing_escapes_texts_and_marks_the_current_state)
{
	static const char text[] =
		flow("state \"<b> & 'c' \x01 \\N\" as work\ninit --> work : go\n"
		     "work --> done : ok\nwork --> work : bad\ndone --> init : x\n"
		     "other --> [*]\n");
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct workflow w;

	assert_int_equal(workflow_parse(&arena, "dir/<w>.md", STR(text), &w, &err), 0);
	workflow_draw_dot(&w, &(struct workflow_current){"work", NULL}, &out);
	assert_true(has(&out, "label=<<B>&lt;b&gt; &amp; 'c'   &#92;&#92;N</B>>"));
	assert_true(has(&out, "<B>&lt;w&gt;.md</B>"));
	assert_true(has(&out, ">current state<"));
	assert_true(has(&out, "\"init\" -> \"done\" [dir=back, "));
	assert_true(has(&out, "\"work\" -> \"work\" [label="));
	buf_clear(&out);
	workflow_draw_dot(&w, &(struct workflow_current){"nowhere", NULL}, &out);
	assert_false(has(&out, "current state"));
	assert_false(has(&out, "penwidth"));
	buf_clear(&out);
	workflow_draw_dot(&w, NULL, &out);
	assert_false(has(&out, "penwidth"));
}

/* Whether the diagram leads from a state to another one, without the edges `trigger` of `without`.
 */
static bool leads(const struct workflow *w, const char *from, const char *to, const char *without,
	const char *trigger)
{
	bool *reached = arena_alloc(&arena, w->n_states);
	bool more = true;

	reached[workflow_state(w, from) - w->states] = true;
	while (more) {
		more = false;
		for (size_t i = 0; i < w->n_edges; i++) {
			const struct workflow_edge *e = &w->edges[i];

			if (!reached[e->from_state] || reached[e->to_state] ||
				(strcmp(e->from, without) == 0 && strcmp(e->trigger, trigger) == 0))
				continue;
			reached[e->to_state] = more = true;
		}
	}
	return reached[workflow_state(w, to) - w->states];
}

/* A run takes only edges of its diagram: what follows does not depend on any answer or limit. */
TEST(no_path_leads_from_a_rejected_task_to_done_without_new_approvals)
{
	static const char *const rejected[] = {"fixing-pr", "inspecting-rejected"};
	struct workflow w;

	assert_int_equal(workflow_load(&arena, "workflows/backlog-task.md", &w, &err), 0);
	assert_true(leads(&w, "init", "done", "", ""));
	assert_false(leads(&w, "init", "done", "inspecting", "approved"));
	for (size_t i = 0; i < COUNT(rejected); i++) {
		assert_true(leads(&w, rejected[i], "done", "", ""));
		assert_false(leads(&w, rejected[i], "done", "signoff", "approved"));
		assert_false(leads(&w, rejected[i], "done", "inspecting", "approved"));
	}
	assert_string_equal(workflow_target(&w, "reviewing", "changes_requested"), rejected[1]);
	assert_string_equal(workflow_target(&w, "inspecting", "changes_requested"), rejected[0]);
	assert_string_equal(workflow_target(&w, "signoff", "changes_requested"), rejected[0]);
}

TEST(the_shipped_workflows_have_no_faults)
{
	static const char *const files[] = {
		"workflows/implement-task.md", "workflows/fix-issue.md"};
	static const size_t edges[] = {15, 16}, states[] = {11, 11};

	for (size_t i = 0; i < COUNT(files); i++) {
		CLEANUP(buf_release) struct buf out = BUF_INIT;
		struct workflow w;

		assert_int_equal(workflow_load(&arena, files[i], &w, &err), 0);
		assert_int_equal(workflow_check(&w, steps_builtin(), &out), 0);
		assert_int_equal(w.n_edges, edges[i]);
		assert_int_equal(w.n_states, states[i]);
		assert_string_equal(w.initial, "init");
		assert_true(workflow_state(&w, "done")->terminal);
		assert_true(workflow_state(&w, "failed")->terminal);
		assert_string_equal(
			workflow_target(&w, "init", "start"), i ? "debugging" : "spec-finding");
		assert_string_equal(workflow_target(&w, "fixing-pr", "fix_done"), "signoff");
		assert_null(workflow_target(&w, "fixing-pr", "start"));
		assert_string_equal(workflow_target(&w, "validating", "tests_failed"), "fixing");
	}
}

static int prepare(void **state)
{
	static const char *const work[] = {"ok", "bad", NULL}, *const rest[] = {"ok", NULL};
	static const struct workflow_builtin table[] = {
		{.state = "work", .triggers = work}, {.state = "rest", .triggers = rest}, {0}};

	(void)state;
	builtin = table;
	return 0;
}

UNIT_GROUP(prepare, arena_end)

TEST(an_array_larger_than_the_budget_is_told_at_its_state)
{
#define TWO                                                                                        \
	"states:\n  gates:\n    all:\n"                                                            \
	"      - {command: a, writes: A, results: {passed: ok, failed: bad}}\n"                    \
	"      - {command: b, writes: B, results: {passed: ok, failed: bad}}\n"
#define EDGES "init --> gates : go\ngates --> done : ok\ngates --> gates : bad\ndone --> [*]\n"
	assert_told(front("limits: {max_actions: 1}\n" TWO, EDGES),
		"w.md:4:3: state 'gates' has 2 actions, but 'max_actions' is 1\n");
	assert_told(front("limits: {max_actions: 2}\n" TWO, EDGES), "");
}
