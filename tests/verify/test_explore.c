#include "src/base/clock.h"
#include "src/graph/manifest.h"
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
	g = (struct explore_graph){0};
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

/* States, transitions and calls: each outcome that is left out or added changes them. */
static void assert_figures(const char *figures)
{
	assert_string_equal(
		arena_printf(&arena, "%zu %zu %zu", g.nodes.n, g.edges.n, g.calls), figures);
}

static void explored(const char *text, unsigned changes, const char *figures)
{
	load(text);
	build(changes, EXPLORE_STATES);
	explore_find(&g, &arena, &found);
	assert_true(g.complete);
	assert_figures(figures);
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

#define EXPLORE_TEST(name) UNIT_TEST(name, NULL, tear_down)

/* Two extensions: three times two actions, and then three calls, of which two bring no answer. */
EXPLORE_TEST(the_budget_bounds_the_number_of_actions)
{
	explored("---\nlimits: {max_actions: 2}\nstates:\n" AGENT("a", "A", "good: on") AGENT("b",
			 "B", "good: on, bad: back") "---\n" FLOW("init --> a : go\na --> b : on\n"
								  "b --> done : on\n"
								  "b --> a : back\n"),
		0, "129 444 765");
	assert_int_equal(explore_most_actions(&g), 3 * (2 + 3));
}

#define CIRCLE(budget)                                                                             \
	"---\nlimits: {max_actions: " budget                                                       \
	"}\nstates:\n" AGENT("audit", "Audit", "good: on, bad: back") "---\n" FLOW(                \
		"init --> implementing : go\n"                                                     \
		"implementing --> audit : impl_done\naudit --> done : on\n"                        \
		"audit --> implementing : back\n")

/* Three rounds are six actions, and a seventh follows. */
EXPLORE_TEST(a_cycle_is_shown_with_three_rounds_if_the_budget_lasts)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct error err = {0};

	explored(CIRCLE("7"), 0, "160 612 1069");
	assert_string_equal(kinds(), "livelock");
	assert_int_equal(explore_trace(&g, &found.list.items[0], 1, &out, &err), 0);
	assert_non_null(strstr(out.s, "  T-1/implementing/3:"));
	explore_graph_release(&g);
	explored(CIRCLE("6"), 0, "160 612 1069");
	assert_int_equal(explore_trace(&g, &found.list.items[0], 1, &out, &err), -1);
	assert_string_equal(err.text, "the trace leads elsewhere");
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
		1, "71 270 837");
	assert_string_equal(kinds(), "");
}

#define REVIEWS(limit)                                                                             \
	"---\nevidence: []\nlimits: {review_loop: " limit                                          \
	", max_review_fix_iterations: 2}\n---\n" FLOW(                                             \
		"init --> reviewing : go\nreviewing --> done : approved\n"                         \
		"reviewing --> fixing-pr : changes_requested\nfixing-pr --> reviewing : "          \
		"fix_done\n"                                                                       \
		"fixing-pr --> failed : max_retries\nfailed --> [*]\n")

/* After the third review there is no fix left, so nothing is requested any more. */
EXPLORE_TEST(a_trigger_that_never_fires_is_noted)
{
	explored(REVIEWS("2"), 0, "469 1757 3330");
	assert_string_equal(kinds(), "");
	assert_int_equal(found.notes.n, 0);
	explore_graph_release(&g);
	explored(REVIEWS("3"), 0, "439 1640 3117");
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
		0, "69 275 518");
	for (size_t i = 0; i < g.edges.n; i++)
		if ((g.edges.items[i].flags & EDGE_TERMINATE) &&
			!g.nodes.items[g.edges.items[i].from].trigger)
			return;
	fail_msg("no violation ends the run");
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
	uint32_t node;
	bool fresh;

	explore_key_now(&g.rules, s, 0, &key);
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

/* Runs on a stage of their own. Returns their steps, each of which is one of the graph. */
static size_t play_runs(uint32_t runs)
{
	size_t steps = 0;

	for (uint32_t run = 1; run <= runs; run++) {
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
	return steps;
}

/* Anything that is not part of a key must not matter. */
EXPLORE_TEST(every_state_of_a_random_run_is_in_the_graph)
{
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
		0, "975 4311 7346");
	assert_string_equal(kinds(), "");
	assert_true(play_runs(60) > 500);
}

/* What a node that has ended was answered must not matter, nor how often it was tried. */
EXPLORE_TEST(every_state_of_a_random_run_of_a_manifest_is_in_the_graph)
{
	struct error err;
	static const char text[] =
		"apiVersion: dev-team/v1\nkind: AgentManifest\nmetadata: {name: m}\nspec:\n"
		"  maxActions: 14\n  personas: [{name: p, systemPrompt: Work.}]\n"
		"  topology: {blocks: [{name: b, kind: parallel}]}\n"
		"  nodes: [{id: start, persona: p}, {id: a, persona: p, block: b, maxRetries: 1}, "
		"{id: c, command: x, "
		"block: b}, {id: d, merge: origin/x, resolver: p, maxRetries: 1, join: any}, "
		"{id: e, persona: p}]\n"
		"  edges: [{from: start, to: a}, {from: start, to: c}, {from: a, "
		"to: d, on: always}, {from: c, to: d}, {from: d, to: e, on: always, when: [{type: "
		"history_has_event, event: validation_failed}]}]\n";

	if (manifest_workflow_parse(&arena, "m.yaml", str_of(text), &w, &err) < 0)
		fail_msg("%u:%u: %s", err.line, err.col, err.text);
	build(0, EXPLORE_STATES);
	assert_true(g.complete);
	assert_true(play_runs(200) > 500);
}

EXPLORE_TEST(effects_and_denials_are_explored)
{
	explored("---\nlimits: {max_review_fix_iterations: 1, consecutive_failures: 1}\n"
		 "security: {policy: build}\n---\n" FLOW(
			 "init --> spec-finding : go\nspec-finding --> validating : spec_found\n"
			 "validating --> reviewing : clean\nvalidating --> failed : build_failed\n"
			 "reviewing --> done : approved\n"
			 "reviewing --> fixing-pr : changes_requested\n"
			 "fixing-pr --> reviewing : fix_done\nfixing-pr --> failed : max_retries\n"
			 "failed --> [*]\n"),
		0, "187 712 1313");
}

#define SCRIPT(section)                                                                            \
	"      - {command: make, writes: " section ", results: {passed: on, failed: off}}\n"
#define FOUR(a, b, c, d) SCRIPT(#a) SCRIPT(#b) SCRIPT(#c) SCRIPT(#d)
#define SCRIPTS(list)                                                                              \
	"---\nlimits: {consecutive_failures: 1}\nstates:\n  work:\n    all:\n" list "---\n" FLOW(  \
		"init --> work : go\nwork --> done : on\nwork --> failed : off\nfailed --> [*]\n")

/* Of three all, of four to eight at most two, of nine at most one has another outcome than the good
 * one. The exploration stops exactly where it should. */
EXPLORE_TEST(some_combinations_of_many_actions_are_explored)
{
	static const struct {
		const char *flow;
		uint32_t outcomes; /* of the first array */
	} rows[] = {
		{SCRIPTS(SCRIPT("A") SCRIPT("B") SCRIPT("C")), 59},
		{SCRIPTS(FOUR(A, B, C, D)), 68},
		{SCRIPTS(FOUR(A, B, C, D) FOUR(E, F, G, H)), 278},
		{SCRIPTS(FOUR(A, B, C, D) FOUR(E, F, G, H) SCRIPT("I")), 29},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		explore_graph_release(&g);
		load(rows[i].flow);
		build(0, 200);
		assert_false(g.complete);
		assert_int_equal(g.nodes.n, 200);
		assert_int_equal(g.nodes.items[1].n_edges, rows[i].outcomes);
	}
}

static const char *replaced(const char *text, const char *old, const char *new)
{
	const char *at = strstr(text, old);

	assert_non_null(at);
	return arena_printf(&arena, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
}

/* ---- the reviews of a task ---- */

/* Decisions for good and against: what was explored must have had both. */
static unsigned approvals, rejections; /* that end the run; that lead to a repair */

static bool is_good(const char *word)
{
	return strcmp(word, "approved") == 0 || strcmp(word, "validated") == 0 ||
	       strcmp(word, "passed") == 0;
}

/* Of the step that leaves a state of reviews with `approved`: each reviewer has approved, and one
 * that a script requires is among them. */
static void assert_approved(const struct context *before, const char *state)
{
	CLEANUP(json_free) json *actions = NULL;
	unsigned required = 0, reviewers = 0;
	struct error err;

	assert_int_equal(action_load(before, &actions, &err), 0);
	for (const json *a = json_first(actions); a; a = json_next(a)) {
		const char *word = arena_dup(&arena, action_word(before, a));
		bool selects =
			strncmp(state, "inspecting", 10) == 0 && action_kind(a) == ACTION_SCRIPT;

		assert_true(action_answered(before, a));
		reviewers += action_kind(a) != ACTION_SCRIPT;
		required += selects && strcmp(word, "failed") == 0;
		if (!selects && !is_good(word))
			fail_msg("'%s' gave 'approved' though '%s' answered '%s'", state,
				json_get_str(a, "write_section"), word);
	}
	assert_true(reviewers >= required);
}

static int reviewed_invoke(
	struct simulator *s, const struct simulator_call *c, json **printed, struct error *err)
{
	CLEANUP(context_release) struct context before = {0}, after = {0};
	bool looks = !c->action && !c->key && simulator_read(s, &before, err) == 0;
	const char *from, *to;

	if (simulator_invoke(s, c, printed, err) < 0)
		return -1;
	if (!looks || simulator_read(s, &after, err) < 0)
		return 0;
	from = context_get(&before, "state").p;
	to = context_get(&after, "state").p;
	if (strcmp(to, "done") == 0 ||
		(strcmp(from, "inspecting") && strcmp(to, "inspecting") == 0)) {
		assert_int_equal(s->environment.refuted, 0);
		assert_false(s->environment.moved);
		assert_approved(&before, from);
		approvals += strcmp(to, "done") == 0;
	}
	rejections += strcmp(from, to) != 0 && strcmp(to, "fixing-pr") == 0;
	return 0;
}

#define FEW_REPEATS                                                                                \
	"limits: {consecutive_failures: 1, review_loop: 1, signoff_deadlock: 1, "                  \
	"max_review_fix_iterations: 1}\n"

/* The shipped workflow with another beginning and its later loop cut: together all of its reviews.
 * That each path to `done` has these decisions is a property of the diagram
 * (tests/workflow/test_check.c). */
EXPLORE_TEST(no_task_is_approved_against_a_reviewer_or_the_evidence)
{
	static const struct {
		const char *begin, *edge, *instead;
	} rows[] = {
		{"validating", "fixing_pr --> signoff", "fixing_pr --> failed"},
		{"signoff", "signoff --> inspecting", "signoff --> done"},
	};
	struct simulator_kind kind = simulator_in_memory;

	kind.invoke = reviewed_invoke;
	for (size_t i = 0; i < COUNT(rows); i++) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;
		struct explore_options options = {.states = EXPLORE_STATES};

		explore_graph_release(&g);
		assert_true(tree_read("workflows/backlog-task.md", &text));
		load(replaced(replaced(replaced(text.s, "---\n", "---\n" FEW_REPEATS),
				      "init --> researching",
				      arena_printf(&arena, "init --> %s", rows[i].begin)),
			rows[i].edge, rows[i].instead));
		approvals = rejections = 0;
		explore_graph_build(&g, &w, &options, &kind);
		assert_true(g.complete && approvals && rejections);
	}
}

/* ---- approvals ---- */

static unsigned passed; /* by a change after the user's answer */

static int approved_invoke(
	struct simulator *s, const struct simulator_call *c, json **printed, struct error *err)
{
	CLEANUP(context_release) struct context before = {0}, after = {0};
	bool looks = !c->action && !c->key && simulator_read(s, &before, err) == 0;

	if (simulator_invoke(s, c, printed, err) < 0)
		return -1;
	if (!looks || simulator_read(s, &after, err) < 0 ||
		!str_is(context_get(&before, "state"), "build") ||
		!str_is(context_get(&after, "state"), "deploy"))
		return 0;
	assert_true(context_get(&before, WIRE_INPUT_KEY).n);
	passed++;
	return 0;
}

EXPLORE_TEST(no_change_by_the_troubleshooter_gets_past_an_approval)
{
	struct simulator_kind kind = simulator_in_memory;
	struct explore_options options = {.changes = 1, .states = EXPLORE_STATES};

	kind.invoke = approved_invoke;
	load("---\nevidence: []\n" FEW_REPEATS "states:\n  release: {approve: it}\n" AGENT(
		"build", "Built", "good: on") AGENT("deploy", "Deployed",
		"good: on") "---\n" FLOW("init --> build : go\nbuild --> release : on\n"
					 "release --> deploy : approved\nrelease --> build : "
					 "rejected\ndeploy --> done : on\n"));
	passed = 0;
	explore_graph_build(&g, &w, &options, &kind);
	assert_true(g.complete && passed);
}

/* ---- keys ---- */

#define ACTION(section, more)                                                                      \
	"{\"id\":\"T-1/fixing/2\",\"action\":\"spawn_agent\",\"agent\":\"a\",\"skill\":\"s\","     \
	"\"message\":\"m\",\"context_file\":\"f\",\"read_sections\":[],\"write_section\":"         \
	"\"" section "\",\"result_format\":\"fixed | question\"" more "}\n"
#define DOCUMENT                                                                                   \
	"---\nstate: fixing\nwork_item_id: T-1\nspec_path: s.md\nfix_iteration: 1\n"               \
	"review_fix_iteration: 0\npr_url:\nconsecutive_failures: 2\nsignoff_cycle_count: 4\n"      \
	"review_cycle_count: 9\nattempts: {fixing: 2}\n---\n\n# T-1\n\n"                           \
	"<!-- section:Fix 1 -->\n\nOld.\n\n<!-- section:Fix 2 -->\n\nFixed.\n\n"                   \
	"<!-- section:Last Failure -->\n\nIt failed.\n\n<!-- section:Actions -->\n\n" ACTION(      \
		"Fix 2", ",\"answered\":\"fixed\"") ACTION("Work", "")

/* The key of the document with `new` in the place of `old`. */
static const char *key_with(const struct explore_key_rules *r, const char *old, const char *new)
{
	CLEANUP(simulator_free)
	struct simulator *s = simulator_new(&w, "T-1", &simulator_in_memory);
	CLEANUP(buf_release) struct buf key = BUF_INIT;
	const char *at = strstr(DOCUMENT, old);

	assert_non_null(at);
	s->kind->put(s->backend, s->path,
		str_of(arena_printf(&arena, "%.*s%s%s", (int)(at - DOCUMENT), DOCUMENT, new,
			at + strlen(old))));
	explore_key_now(r, s, 0, &key);
	assert_true(key.len > 0);
	return arena_dup(&arena, buf_str(&key));
}

EXPLORE_TEST(a_key_has_what_decides_and_nothing_else)
{
	static const struct {
		const char *old, *new;
	} same[] = {{"T-1/fixing/2", "T-1/fixing/7"}, {"It failed.", "Otherwise."},
		{"Fixed.", "Mended."}, {"section:Fix 1", "section:Troubleshooter Log"},
		{"signoff_cycle_count: 4", "signoff_cycle_count: 5"},
		{"review_cycle_count: 9", "review_cycle_count: 8"}, {"s.md", "t.md"},
		{"attempts: {fixing: 2}", "attempts: {researching: 2}"},
		{ACTION("Fix 2", ",\"answered\":\"fixed\"") ACTION("Work", ""),
			ACTION("Work", "") ACTION("Fix 2", ",\"answered\":\"fixed\"")}},
	  other[] = {{"state: fixing", "state: validating"},
		  {"fix_iteration: 1", "fix_iteration: 0"},
		  {"consecutive_failures: 2", "consecutive_failures: 1"},
		  {"signoff_cycle_count: 4", "signoff_cycle_count: 0"},
		  {"review_cycle_count: 9", "review_cycle_count: 0"},
		  {"spec_path: s.md", "spec_path:"}, {"pr_url:", "pr_url: u"},
		  {"attempts: {fixing: 2}", "attempts: {implementing: 2}"},
		  {"pr_url:", "question: Why?\npr_url:"},
		  {"pr_url:", "question_trigger: t\npr_url:"},
		  {"pr_url:", "troubleshooter_input: Go on.\npr_url:"},
		  {"pr_url:", "troubleshooter_calls: 1\npr_url:"},
		  {"section:Fix 1", "section:Fix 3"},
		  {"section:Last Failure", "section:Review Notes"},
		  {"\"answered\":\"fixed\"", "\"answered\":\"question\""},
		  {",\"answered\":\"fixed\"", ""}, {"Fixed.", "https://git.example/o/r/pull/1"},
		  {"\"answered\":\"fixed\"", "\"answered\":\"fixed\",\"carried\":true"}};
	struct explore_key_rules r;
	const char *key;

	load(FLOW("init --> researching : go\nresearching --> implementing : research_done\n"
		  "implementing --> validating : impl_done\nvalidating --> done : clean\n"
		  "validating --> fixing : build_failed\nfixing --> implementing : fix_done\n"
		  "fixing --> failed : max_retries\nfailed --> [*]\n"));
	explore_key_rules(&arena, &w, &r);
	key = key_with(&r, "", "");
	for (size_t i = 0; i < COUNT(same); i++)
		assert_string_equal(key_with(&r, same[i].old, same[i].new), key);
	for (size_t i = 0; i < COUNT(other); i++)
		if (!strcmp(key_with(&r, other[i].old, other[i].new), key))
			fail_msg("'%s' does not matter", other[i].new);
}

/* ---- the analysis of graphs that are made by hand ---- */

/* `0>1:2BL`: an edge from node 0 to node 1 that costs 2, with the flags B and L; sorted. */
static void make_graph(struct workflow *flow, size_t n, const char *edges)
{
	static const char letters[] = "UCTBLENP"; /* in the order of enum explore_edge_flag */

	g = (struct explore_graph){.workflow = flow};
	for (size_t i = 0; i < n; i++)
		vec_push(&g.nodes, (struct explore_node){.kind = NODE_WORK, .state = ""});
	g.complete = true;
	g.nodes.items[n - 1].kind = NODE_END;
	g.nodes.items[n - 1].success = true;
	while (*edges) {
		struct explore_edge e = {0};
		int used = 0;

		assert_int_equal(sscanf(edges, " %u>%u:%u%n", &e.from, &e.to, &e.cost, &used), 3);
		for (edges += used; *edges && *edges != ' '; edges++)
			e.flags |= 1u << (strchr(letters, *edges) - letters);
		if (!g.nodes.items[e.from].n_edges++)
			g.nodes.items[e.from].edge = (uint32_t)g.edges.n;
		vec_push(&g.edges, e);
	}
}

static void add_edges(struct buf *out, const char *what, const uint32_t *edges, size_t n)
{
	buf_addf(out, "%s", what);
	for (size_t i = 0; i < n; i++)
		buf_addf(out, "%s%u", i ? "," : " ", edges[i]);
}

/* What the analysis says: the exit of each node (0 to 3), the nodes that are reached, the path to
 * the end, each cycle with its cost, and the number of dead ends. */
static const char *analysis(size_t n, const char *edges, unsigned long budget)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct workflow flow = {.limits.max_actions = budget};
	const struct explore_cycle *cycles;
	const int64_t *exits;
	const bool *reached;
	uint32_t *path;
	size_t length;

	make_graph(&flow, n, edges);
	exits = explore_exits(&g, &arena);
	reached = explore_reached(&g, &arena);
	buf_addf(&out, "least %d most %d exits ", (int)explore_least_actions(&g),
		(int)explore_most_actions(&g));
	for (size_t i = 0; i < n; i++)
		buf_addf(&out, "%d", (int)exits[i]);
	for (size_t i = 0; i < n; i++)
		buf_addf(&out, "%s%d", i ? "" : " reached ", reached && reached[i]);
	if (explore_path(&g, &arena, (uint32_t)n - 1, &path, &length))
		add_edges(&out, " path", path, length);
	cycles = explore_cycles(&g, &arena, &length);
	for (size_t i = 0; i < length; i++) {
		add_edges(&out, " cycle", cycles[i].edges, cycles[i].n);
		buf_addf(&out, " costs %u", cycles[i].cost);
	}
	explore_find(&g, &arena, &found);
	if (found.list.n > length)
		buf_addf(&out, " dead ends %zu", found.list.n - length);
	explore_graph_release(&g);
	return arena_dup(&arena, buf_str(&out));
}

EXPLORE_TEST(the_analysis_of_a_graph_is_exact)
{
	static const struct {
		size_t nodes;
		const char *edges;
		unsigned long budget;
		const char *found;
	} rows[] = {
		{3, "0>1:1 1>2:0", 9, "least 1 most 1 exits 000 reached 111 path 0,1"},
		/* the cheaper way is the longer one */
		{4, "0>1:5 0>2:1 1>3:0 2>1:1", 9,
			"least 2 most 5 exits 0000 reached 1111 path 0,2"},
		/* no end */
		{3, "0>1:1 1>1:1", 9,
			"least -1 most 9 exits 330 reached 110 cycle 1 costs 1 dead ends 1"},
		{3, "0>1:1 1>1:0", 9, "least -1 most 1 exits 330 reached 110 dead ends 1"},
		/* an end by a limit, by the troubleshooter, after a person */
		{3, "0>1:1 1>2:0L", 9, "least 1 most 1 exits 110 reached 111 path 0,1"},
		{3, "0>1:1 1>2:0T", 9, "least 1 most 1 exits 220 reached 111 path 0,1 dead ends 1"},
		{3, "0>1:1C 1>2:0L", 9,
			"least -1 most 1 exits 210 reached 111 path 0,1 dead ends 1"},
		{3, "0>1:1 1>2:0U", 9, "least 1 most 1 exits 000 reached 111 path 0,1"},
		/* what hangs together is one dead end */
		{6, "0>5:0 1>4:1 2>3:1 3>4:1", 9,
			"least 0 most 0 exits 033330 reached 100001 path 0 dead ends 1"},
		{6, "0>5:0 1>3:1 2>4:1", 9,
			"least 0 most 0 exits 033330 reached 100001 path 0 dead ends 2"},
		/* the budget is spent, is extended twice and not again */
		{4, "0>1:1 1>1:1 1>2:1B 2>1:1E 2>3:0N", 2,
			"least -1 most 9 exits 2200 reached 1111 path 0,1,2,3,1,2,3,1,2,4 cycle 1 "
			"costs 1 dead ends 1"},
		{4, "0>1:1 1>1:1 1>3:0 2>3:0", 3000,
			"least 1 most 3000 exits 0000 reached 1101 path 0,2 cycle 1 costs 1"},
		{4, "0>1:1 1>1:1 1>2:1B 2>1:1E 2>3:0N", 3001,
			"least -1 most -1 exits 2200 reached 0000 cycle 1 costs 1 dead ends 1"},
		{4, "0>1:1 1>1:1 1>3:0 2>3:0", 3001,
			"least 1 most -1 exits 0000 reached 0000 path 0,2 cycle 1 costs 1"},
		/* a part of an array, where no more is left */
		{4, "0>1:1 1>2:2 1>3:1P 2>3:0", 2,
			"least 3 most 2 exits 0000 reached 1101 path 0,2"},
		{4, "0>1:1 1>2:2 1>3:1P 2>3:0", 3,
			"least 3 most 3 exits 0000 reached 1111 path 0,1,3"},
		/* cycles without a cost, beside each other, within each other */
		{4, "0>1:1 1>2:0 2>1:0 2>3:0", 9,
			"least 1 most -1 exits 0000 reached 1111 path 0,1,3 cycle 1,2 costs 0"},
		{6, "0>1:1 1>2:1 2>1:1 2>3:1 3>4:2 4>3:1 4>5:0", 9,
			"least 5 most 9 exits 000000 reached 111111 path 0,1,3,4,6 cycle 1,2 "
			"costs 2 cycle 4,5 costs 3"},
		{6, "0>1:1 1>2:1 2>3:1 2>1:1 3>1:1 3>4:0 4>5:0", 9,
			"least 3 most 9 exits 000000 reached 111111 path 0,1,2,5,6 cycle 1,3 costs "
			"2"},
		{5, "0>1:1 1>2:1 2>3:1 3>1:1U 3>4:0", 9,
			"least 3 most 3 exits 00000 reached 11111 path 0,1,2,4"},
		{5, "0>1:1 1>2:1 2>3:1 3>1:1L 3>4:0 3>3:1", 9,
			"least 3 most 9 exits 00000 reached 11111 path 0,1,2,4 cycle 1,2,3 costs "
			"3"},
		{5, "0>3:1 1>2:1 2>1:1 2>4:0 3>2:1", 9,
			"least 2 most 9 exits 00000 reached 11111 path 0,4,3 cycle 1,2 costs 2"},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_string_equal(
			analysis(rows[i].nodes, rows[i].edges, rows[i].budget), rows[i].found);
}
