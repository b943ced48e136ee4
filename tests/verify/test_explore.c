#include "src/base/clock.h"
#include "src/verify/explore.h"
#include "tests/lib/scratch.h"
#include "tests/lib/wire.h"

#define FLOW(lines) "```mermaid\nstateDiagram-v2\n[*] --> init\n" lines "done --> [*]\n```\n"
#define AGENT(state, section, results)                                                             \
	"  " state ": {agent: a, skill: s, writes: " section ", results: {" results "}}\n"

static struct workflow w;
static struct explore_graph g;
static struct explore_findings found;

static int tear_down(void **state)
{
	explore_graph_release(&g);
	clock_fix(-1);
	return arena_end(state);
}

static void load(const char *text)
{
	struct error err;

	if (workflow_parse(&arena, "w.md", str_of(text), &w, &err) < 0)
		fail_msg("%u:%u: %s", err.line, err.col, err.text);
}

static void build(unsigned changes, size_t states)
{
	struct explore_options options = {.changes = changes, .states = states};

	explore_graph_build(&g, &w, &options, &simulator_in_memory);
}

static void explored(const char *text, unsigned changes)
{
	load(text);
	build(changes, EXPLORE_STATES);
	explore_find(&g, &arena, &found);
	assert_true(g.complete);
}

/* The kinds of the findings, each once, in the order of enum explore_finding_kind. */
static const char *kinds(void)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	buf_adds(&text, "");
	for (unsigned kind = 0; kind <= FINDING_TRANSITION; kind++)
		for (size_t i = 0; i < found.list.n; i++)
			if (found.list.items[i].kind == kind) {
				buf_addf(&text, "%s%s", text.len ? ", " : "",
					explore_finding_name(kind));
				break;
			}
	return arena_dup(&arena, buf_str(&text));
}

static const struct explore_finding *first(enum explore_finding_kind kind, size_t *number)
{
	for (size_t i = 0; i < found.list.n; i++)
		if (found.list.items[i].kind == kind) {
			*number = i + 1;
			return &found.list.items[i];
		}
	fail_msg("no finding '%s'", explore_finding_name(kind));
	return NULL;
}

/* The script; it runs before it is written. */
static const char *trace(enum explore_finding_kind kind)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct error err = {0};
	size_t number;
	const struct explore_finding *f = first(kind, &number);

	if (explore_trace(&g, f, number, &out, &err) < 0)
		fail_msg("%s", err.text);
	return arena_dup(&arena, buf_str(&out));
}

#define EXPLORE_TEST(name) UNIT_TEST(name, NULL, tear_down)

EXPLORE_TEST(a_good_workflow_is_free_of_findings)
{
	explored("---\nstates:\n" AGENT("work", "Work", "good: on, bad: off") "---\n" FLOW(
			 "init --> work : go\nwork --> done : on\nwork --> failed : off\n"
			 "failed --> [*]\n"),
		0);
	assert_string_equal(kinds(), "");
	assert_int_equal(explore_least_actions(&g), 1);
}

/* Silent three times, a call, and so on: three calls, and then a question to the user. */
EXPLORE_TEST(the_largest_number_of_actions_is_exact)
{
	explored("---\nstates:\n" AGENT("work", "Work", "good: on") "---\n" FLOW(
			 "init --> work : go\nwork --> done : on\n"),
		0);
	assert_int_equal(explore_most_actions(&g), 3 + 1 + 3 + 1 + 3 + 1 + 3);
}

/* Two extensions: three times two actions, and then three calls, of which two bring no answer. */
EXPLORE_TEST(the_budget_bounds_the_number_of_actions)
{
	explored("---\nlimits: {max_actions: 2}\nstates:\n" AGENT("a", "A", "good: on") AGENT("b",
			 "B", "good: on, bad: back") "---\n" FLOW("init --> a : go\na --> b : on\n"
								  "b --> done : on\n"
								  "b --> a : back\n"),
		0);
	assert_int_equal(explore_most_actions(&g), 3 * (2 + 3));
}

EXPLORE_TEST(a_dead_end_is_found_with_the_way_into_it)
{
	size_t number;

	explored("---\nstates:\n" AGENT("work", "Work", "good: on, bad: astray") AGENT(
			 "lost", "Lost", "on: on")
			 AGENT("found", "Found", "back: back") "---\n" FLOW(
				 "init --> work : go\nwork --> done : on\nwork --> lost : astray\n"
				 "lost --> found : on\nfound --> lost : back\n"),
		0);
	assert_string_equal(kinds(), "dead end, livelock");
	assert_string_equal(first(FINDING_DEAD_END, &number)->text,
		"from 'lost', 'found' no answer leads to an end; only the troubleshooter can end "
		"the run");
	assert_non_null(strstr(trace(FINDING_DEAD_END),
		"answers:\n  T-1/work/1:  # Work: bad\n    text: |-\n      The result is bad.\n"
		"    result: bad\n"));
}

EXPLORE_TEST(a_trigger_without_a_transition_is_a_dead_end)
{
	explored(FLOW("init --> validating : go\nvalidating --> done : clean\n"), 0);
	assert_string_equal(kinds(), "dead end");
	assert_non_null(strstr(trace(FINDING_DEAD_END), "scripts:\n  T-1/validating/1:"));
	assert_non_null(strstr(trace(FINDING_DEAD_END), "# It ends with a step that fails."));
}

EXPLORE_TEST(a_cycle_that_only_the_budget_ends_is_found_with_its_rounds)
{
	size_t number;

	explored("---\nstates:\n" AGENT("audit", "Audit", "good: on, bad: back") "---\n" FLOW(
			 "init --> implementing : go\nimplementing --> audit : impl_done\n"
			 "audit --> done : on\naudit --> implementing : back\n"),
		0);
	assert_string_equal(kinds(), "livelock");
	assert_string_equal(first(FINDING_LIVELOCK, &number)->text,
		"'audit' -> 'implementing' -> 'audit' repeats for as long as agents answer, 2 "
		"actions a round; no limit but the budget ends it");
	assert_non_null(strstr(trace(FINDING_LIVELOCK), "  T-1/implementing/4:"));
}

EXPLORE_TEST(a_cycle_without_an_action_is_found)
{
	explored("---\nlimits: {max_fix_iterations: 1}\n---\n" FLOW(
			 "init --> validating : go\nvalidating --> done : clean\n"
			 "validating --> fixing : build_failed\nfixing --> validating : fix_done\n"
			 "fixing --> fixing : max_retries\n"),
		0);
	assert_string_equal(kinds(), "livelock");
	assert_non_null(strstr(trace(FINDING_LIVELOCK), "runs in a circle"));
}

EXPLORE_TEST(a_cycle_that_a_limit_ends_is_no_livelock)
{
	explored("---\nlimits: {max_fix_iterations: 2}\n---\n" FLOW(
			 "init --> validating : go\nvalidating --> done : clean\n"
			 "validating --> fixing : build_failed\nfixing --> validating : fix_done\n"
			 "fixing --> failed : max_retries\nfailed --> [*]\n"),
		0);
	assert_string_equal(kinds(), "");
}

EXPLORE_TEST(a_state_that_only_a_limit_leaves_is_found)
{
	explored("---\nlimits: {max_fix_iterations: 1}\nstates:\n" AGENT("work", "Work",
			 "good: on") "---\n" FLOW("init --> work : go\nwork --> fixing : "
						  "on\n"
						  "fixing --> work : fix_done\n"
						  "fixing --> failed : max_retries\n"
						  "failed --> [*]\n"),
		0);
	assert_string_equal(kinds(), "only a limit, unreachable state");
	assert_non_null(strstr(trace(FINDING_LIMIT), "# It ends with the run"));
	assert_non_null(strstr(trace(FINDING_LIMIT), "  T-1/fixing/1:"));
}

EXPLORE_TEST(what_is_never_entered_or_taken_is_found)
{
	size_t number;

	explored("---\nstates:\n" AGENT("work", "Work", "good: on")
			 AGENT("never", "Never", "good: on") "---\n" FLOW(
				 "init --> work : go\nwork --> done : on\nwork --> never : off\n"
				 "never --> done : on\n"),
		0);
	assert_string_equal(kinds(), "unreachable state");
	assert_string_equal(first(FINDING_STATE, &number)->text, "state 'never' is never entered");
	assert_int_equal(found.notes.n, 1);
}

/* Two changes of any kind by the troubleshooter cannot remove the bound of the budget. */
EXPLORE_TEST(changes_by_the_troubleshooter_are_explored)
{
	size_t without;
	int64_t most;

	load("---\nstates:\n" AGENT("work", "Work", "good: on") "---\n" FLOW(
		"init --> work : go\nwork --> done : on\n"));
	build(0, EXPLORE_STATES);
	without = g.nodes.n;
	most = explore_most_actions(&g);
	explore_graph_release(&g);
	build(2, EXPLORE_STATES);
	explore_find(&g, &arena, &found);
	assert_true(g.nodes.n > 2 * without);
	assert_string_equal(kinds(), "");
	assert_true(explore_most_actions(&g) >= most);
}

/* A state whose effects fail, entered by a change. */
EXPLORE_TEST(effects_after_a_change_are_explored)
{
	explored("---\nlimits: {consecutive_failures: 1}\nstates:\n" AGENT("work", "Work",
			 "good: on") "---\n" FLOW("init --> work : go\n"
						  "work --> spec-finding : on\n"
						  "spec-finding --> done : spec_found\n"),
		1);
	assert_string_equal(kinds(), "");
}

#define REVIEWS(limit)                                                                             \
	"---\nlimits: {review_loop: " limit ", max_review_fix_iterations: 2}\n---\n" FLOW(         \
		"init --> reviewing : go\nreviewing --> done : approved\n"                         \
		"reviewing --> fixing-pr : changes_requested\nfixing-pr --> reviewing : "          \
		"fix_done\n"                                                                       \
		"fixing-pr --> failed : max_retries\nfailed --> [*]\n")

/* After the third review there is no fix left, so nothing is requested any more. */
EXPLORE_TEST(a_trigger_that_never_fires_is_noted)
{
	explored(REVIEWS("2"), 0);
	assert_string_equal(kinds(), "");
	assert_int_equal(found.notes.n, 0);
	explore_graph_release(&g);
	explored(REVIEWS("3"), 0);
	assert_int_equal(found.notes.n, 1);
	assert_string_equal(found.notes.items[0], "trigger 'review_loop' never fires: no action is "
						  "requested with 'review_cycle_count' at 3");
}

/* An answer that ends the run must not be merged with one that only fails. */
EXPLORE_TEST(a_violation_that_ends_the_run_is_explored)
{
	explored(
		"---\nsecurity: {policy: build, violation: hard_abort}\nvalidate: make\n---\n" FLOW(
			"init --> validating : go\nvalidating --> done : clean\n"
			"validating --> done : build_failed\n"),
		0);
	for (size_t i = 0; i < g.edges.n; i++)
		if ((g.edges.items[i].flags & EDGE_TERMINATE) &&
			!g.nodes.items[g.edges.items[i].from].trigger)
			return;
	fail_msg("no violation ends the run");
}

EXPLORE_TEST(an_incomplete_graph_is_reported)
{
	load("---\nstates:\n" AGENT("work", "Work", "good: on") "---\n" FLOW(
		"init --> work : go\nwork --> done : on\n"));
	build(0, 10);
	assert_false(g.complete);
}

/* Numbers that are the same on every machine. */
static uint32_t dice(uint32_t *seed, size_t n)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 8) % (uint32_t)n;
}

/* One round on a stage whose document nobody trims and whose budget is really spent. */
static void play_round(
	struct simulator *s, enum explore_node_kind kind, json **printed, uint32_t *seed)
{
	struct simulator_call call = {.returned = kind == NODE_WORK};
	struct simulator_call user =
		explore_user_call(kind == NODE_QUESTION ? INPUT_USER : INPUT_RESET);
	struct error err;

	s->environment.running = NULL;
	for (const json *a = json_first(*printed); kind == NODE_WORK && a; a = json_next(a)) {
		struct explore_answers list;
		const struct explore_answer *answer;
		struct simulator_call record = {.action = json_get_str(a, "id")};

		explore_answers(&arena, &w, a, NULL, &list);
		answer = &list.items[dice(seed, list.n)];
		record.word = answer->word;
		record.text = str_of(answer->text);
		if (answer->running)
			s->environment.running = arena_dup(&arena, str_of(record.action));
		if (!answer->silent)
			assert_int_equal(simulator_invoke(s, &record, NULL, &err), 0);
	}
	if (kind == NODE_QUESTION || kind == NODE_GIVEN_UP)
		assert_int_equal(simulator_invoke(s, &user, NULL, &err), 0);
	json_free(printed);
	assert_int_equal(simulator_invoke(s, &call, printed, &err), 0);
}

static uint32_t node_of(const struct simulator *s)
{
	CLEANUP(buf_release) struct buf key = BUF_INIT;
	struct error err;
	uint32_t node;
	bool fresh;

	assert_int_equal(explore_key_now(&g.rules, s, 0, &key, &err), 0);
	node = explore_texts_add(&g.keys, &g.arena, key.s, &fresh)->number;
	if (fresh)
		fail_msg("the graph does not have '%s'", key.s);
	return node;
}

static bool leads(uint32_t from, uint32_t to)
{
	const struct explore_node *n = &g.nodes.items[from];

	for (uint32_t e = n->edge; e < n->edge + n->n_edges; e++)
		if (g.edges.items[e].to == to)
			return true;
	return false;
}

/* Anything that is not part of a key must not matter. */
EXPLORE_TEST(every_state_of_a_random_run_is_in_the_graph)
{
	size_t steps = 0;

	explored("---\nlimits: {max_fix_iterations: 1, max_actions: 12}\nstates:\n  gates:\n    "
		 "all:\n"
		 "      - {agent: a, skill: s, writes: A, results: {good: on, bad: off}}\n"
		 "      - {command: make, writes: B, results: {passed: on, failed: "
		 "off}}\n---\n" FLOW(
			 "init --> spec-finding : go\nspec-finding --> researching : spec_found\n"
			 "researching --> implementing : research_done\n"
			 "implementing --> gates : impl_done\ngates --> done : on\n"
			 "gates --> fixing : off\nfixing --> gates : fix_done\n"
			 "fixing --> failed : max_retries\nfailed --> [*]\n"),
		0);
	assert_string_equal(kinds(), "");
	for (uint32_t run = 1; run <= 60; run++) {
		CLEANUP(simulator_free)
		struct simulator *s = simulator_new(&w, "T-1", &simulator_in_memory);
		CLEANUP(json_free) json *printed = NULL;
		uint32_t at = 0, seed = run * 7919u;

		for (unsigned i = 0; i < 50 && g.nodes.items[at].kind != NODE_END; i++) {
			uint32_t to;

			play_round(s, g.nodes.items[at].kind, &printed, &seed);
			to = node_of(s);
			if (!leads(at, to))
				fail_msg("'%s' does not lead to '%s'", g.nodes.items[at].key,
					g.nodes.items[to].key);
			at = to;
			steps++;
		}
	}
	assert_true(steps > 500);
}
