/*
 * Random manifests, played through the real engine on a simulated disk: after each answer what is
 * outstanding, and at the end the result and what is cancelled, are as the model says.
 */
#include "src/graph/manifest.h"
#include "src/base/clock.h"
#include "src/verify/simulator.h"
#include "tests/graph/plays.h"
#include "tests/lib/graph_model.h"
#include "tests/lib/scratch.h"

enum { PLAYS = 2000 };

static struct error err;

static const char *const on_words[] = {"success", "validation_fail", "failure", "always"};
static const char *const block_names[] = {NULL, "p", "q", "s", "u"};

/* All blocks are within a parallel one, so that no two routes exclude each other. */
static void add_blocks(struct buf *out, const struct graph_model *g)
{
	static const char *const kinds[] = {
		NULL, "parallel", "hierarchical", "sequential", "retry-unrolled"};
	bool used[MODEL_BLOCKS] = {false};

	for (int i = 0; i < g->n; i++)
		used[g->block[i]] = true;
	for (int b = 1; b < MODEL_BLOCKS; b++)
		if (used[b])
			buf_addf(out, "    - {name: %s, kind: %s, within: all}\n", block_names[b],
				kinds[b]);
}

static const char *text_of(const struct graph_model *g)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	buf_adds(&out, "apiVersion: dev-team/v1\nkind: AgentManifest\nmetadata: {name: m}\nspec:\n"
		       "  personas: [{name: w, systemPrompt: Work.}]\n  topology:\n    blocks:\n"
		       "    - {name: all, kind: parallel}\n");
	add_blocks(&out, g);
	buf_adds(&out, "  relationships: [{parent: w, child: w}]\n  nodes:\n");
	for (int i = 0; i < g->n; i++)
		buf_addf(&out, "  - {id: n%d, persona: w, block: %s, join: %s, maxRetries: %d}\n",
			i, block_names[g->block[i]], g->any[i] ? "any" : "all", g->retries[i]);
	buf_adds(&out, "  edges:\n");
	for (int e = 0; e < g->n_edges; e++)
		buf_addf(&out, "  - {from: n%d, to: n%d, on: %s%s%s}\n", g->edges[e].from,
			g->edges[e].to, on_words[g->edges[e].on],
			g->edges[e].event ? ", event: tasks_planned" : "",
			g->edges[e].had ? ", when: [{type: history_has_event, event: "
					  "validation_failed}]"
					: "");
	return arena_dup(&arena, buf_str(&out));
}

/* One that the check accepts: no node is impossible. */
static bool make_workflow(struct random *r, struct graph_model *g, struct workflow *w)
{
	graph_model_make(r, g);
	if (g->n < MODEL_NODES / 2)
		return false;
	for (int i = 0; i < g->n; i++)
		g->block[i] = g->block[i] ? g->block[i] : MODEL_PARALLEL;
	for (int e = 0; e < g->n_edges; e++)
		if (g->edges[e].on == 2 && g->block[g->edges[e].from] == MODEL_SEQUENTIAL)
			g->edges[e].on = MODEL_ALWAYS;
	return manifest_workflow_parse(&arena, "m.yaml", str_of(text_of(g)), w, &err) == 0;
}

static int node_of(const json *action)
{
	return json_get_str(action, "node")[1] - '0';
}

/* What is printed is what the model has open from now on. */
static void check_array(struct graph_model *g, const json *printed)
{
	enum model_status status[MODEL_NODES];
	bool there[MODEL_NODES] = {false};

	graph_model_status(g, status);
	for (const json *a = json_first(printed); a; a = json_next(a))
		there[node_of(a)] = true;
	for (int i = 0; i < g->n; i++) {
		bool open = status[i] == MODEL_OPEN || status[i] == MODEL_READY;

		if (there[i] != open)
			fail_msg("node %d is %soutstanding\n%s", i, there[i] ? "" : "not ",
				text_of(g));
		g->open[i] = open;
	}
}

static void check_end(const struct graph_model *g, const json *done)
{
	size_t open = 0;

	for (int i = 0; i < g->n; i++)
		open += g->open[i];
	assert_int_equal(json_len(json_get(done, "cancel")), g->aborted ? open : 0);
	if (json_str_is(done, "result", "success") != graph_model_succeeds(g))
		fail_msg("the result is '%s'\n%s", json_get_str(done, "result"), text_of(g));
}

/* A random open node answers. */
static void answer_one(
	struct random *r, struct graph_model *g, struct simulator *s, const json *printed)
{
	const json *action = json_at(printed, random_below(r, (unsigned)json_len(printed)));
	int status = random_below(r, 3) ? (int)random_below(r, NODE_STATUSES) : 0;
	bool event = random_below(r, 2);
	const char *text = arena_printf(&arena, "{\"status\": \"%s\"%s}", on_words[status],
		event ? ", \"events\": [\"tasks_planned\"]" : "");
	struct simulator_call record = {.action = json_get_str(action, "id"), .text = str_of(text)};

	if (simulator_invoke(s, &record, NULL, &err) < 0)
		fail_msg("%s", err.text);
	graph_model_answer(g, node_of(action), status, event);
}

static void play(struct random *r, struct graph_model *g, const struct workflow *w)
{
	CLEANUP(simulator_free)
	struct simulator *s = simulator_new(w, "A-1", &simulator_in_memory);
	bool over = false;

	while (!over) {
		CLEANUP(json_free) json *printed = NULL;

		if (simulator_invoke(s, &(struct simulator_call){0}, &printed, &err) < 0)
			fail_msg("%s\n%s", err.text, text_of(g));
		over = json_str_is(json_first(printed), "action", "done");
		if (over) {
			check_end(g, json_first(printed));
		} else {
			check_array(g, printed);
			answer_one(r, g, s, printed);
		}
	}
}

void play_manifests(unsigned seed, unsigned n)
{
	struct random r = {seed};

	for (unsigned i = 0; i < n;) {
		struct graph_model g;
		struct workflow w;

		if (!make_workflow(&r, &g, &w))
			continue;
		play(&r, &g, &w);
		arena_release(&arena);
		i++;
	}
	clock_fix(-1);
}

TEST(random_manifests_run_as_the_model_says)
{
	play_manifests(7, PLAYS);
}
