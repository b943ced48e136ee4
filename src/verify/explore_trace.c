#include "src/verify/explore_graph.h"

enum { SHOWN_ROUNDS = 3 }; /* of a livelock */

/* The script, written while the path is replayed. */
struct trace {
	const struct explore_graph *graph;
	struct simulator *simulator;
	json *printed;
	struct buf answers, scripts, people;
	bool failed; /* the last step failed, as it may at the end of a path */
};

static void trace_release(struct trace *t)
{
	simulator_free(&t->simulator);
	json_free(&t->printed);
	buf_release(&t->answers);
	buf_release(&t->scripts);
	buf_release(&t->people);
}

static bool is_script(const json *action)
{
	return strcmp(json_get_str(action, "action"), "run_script") == 0;
}

static void write_answer(struct trace *t, const json *action, const struct explore_answer *answer)
{
	struct buf *out = is_script(action) ? &t->scripts : &t->answers;
	struct str text = str_of(answer->text), line;

	buf_addf(out, "  %s:  # %s: %s\n", json_get_str(action, "id"),
		json_get_str(action, "write_section"), answer->name);
	if (answer->silent) {
		buf_adds(out, "    silent: true\n");
		return;
	}
	buf_adds(out, "    text: |-\n");
	while (str_line(&text, &line))
		buf_addf(out, "%s%.*s\n", line.n ? "      " : "", (int)line.n, line.p);
	if (answer->word)
		buf_addf(out, "    result: %s\n", answer->word);
}

static int replay_answers(struct trace *t, const struct explore_label *label, struct error *err)
{
	enum answer_fate fate;
	size_t i = 0;

	if (json_len(t->printed) != label->n)
		return error_set(err, ERR_CHECK, "another array was printed");
	for (const json *a = json_first(t->printed); a; a = json_next(a), i++) {
		const struct explore_answer *answer = label->answers[i];

		write_answer(t, a, answer);
		if (!answer->silent && simulator_record(t->simulator, NULL, json_get_str(a, "id"),
					       answer->word, str_of(answer->text), &fate, err) < 0)
			return -1;
	}
	return 0;
}

static int replay_person(struct trace *t, const char *key, const char *value, struct error *err)
{
	if (!t->people.len)
		buf_adds(&t->people,
			"# Where the run stops, a person enters this and runs the same "
			"command again:\n");
	buf_addf(&t->people, "#   dev-team context set FILE %s <<< '%s'\n", key, value);
	return simulator_set(t->simulator, key, str_of(value), err);
}

static int replay_input(struct trace *t, const struct explore_label *label, struct error *err)
{
	switch (label->input) {
	case INPUT_ANSWERS:
		return replay_answers(t, label, err);
	case INPUT_USER:
		return replay_person(t, "troubleshooter_input", "Go on.", err);
	case INPUT_RESET:
		return replay_person(t, "troubleshooter_calls", "0", err);
	case INPUT_STEP:
		break;
	}
	return 0;
}

static int check_node(const struct trace *t, uint32_t node, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(buf_release) struct buf key = BUF_INIT;
	const struct explore_node *n = &t->graph->nodes.items[node];

	if (simulator_open(t->simulator, &f, err) < 0)
		return -1;
	explore_key(&t->graph->rules, &f.doc, n->changes, &key);
	if (strcmp(key.s, n->key) != 0)
		return error_set(err, ERR_CHECK, "the trace leads elsewhere");
	return 0;
}

static int replay_edges(struct trace *t, const uint32_t *edges, size_t n, struct error *err)
{
	for (size_t i = 0; i < n && !t->failed; i++) {
		const struct explore_edge *e = &t->graph->edges.items[edges[i]];
		struct simulator_call call = {.returned = e->label->input == INPUT_ANSWERS};

		if (replay_input(t, e->label, err) < 0)
			return -1;
		json_free(&t->printed);
		t->failed = simulator_step(t->simulator, &call, &t->printed, err) < 0;
		if (t->failed != (t->graph->nodes.items[e->to].kind == NODE_ERROR))
			return error_prefix(err, "the trace stops early");
		if (!t->failed && check_node(t, e->to, err) < 0)
			return -1;
	}
	return 0;
}

static int replay_finding(
	struct trace *t, struct arena *a, const struct explore_finding *f, struct error *err)
{
	uint32_t *edges;
	size_t n;

	if (!explore_path(t->graph, a, f->node, &edges, &n))
		return error_set(err, ERR_CHECK, "the budget is too large to search for a trace");
	if (replay_edges(t, edges, n, err) < 0)
		return -1;
	for (unsigned i = 0; i < SHOWN_ROUNDS && f->n_cycle; i++)
		if (replay_edges(t, f->cycle, f->n_cycle, err) < 0)
			return -1;
	return f->last == EXPLORE_NONE ? 0 : replay_edges(t, &f->last, 1, err);
}

/* Nobody answers the last actions; but a script without an entry would really run. */
static void write_last(struct trace *t)
{
	for (const json *a = json_first(t->printed); a; a = json_next(a))
		if (is_script(a))
			buf_addf(&t->scripts,
				"  %s:  # the trace ends here\n    run: exit 1\n    silent: true\n",
				json_get_str(a, "id"));
}

static void write_script(
	struct trace *t, const struct explore_finding *f, size_t number, struct buf *out)
{
	const char *end = "where this file has no answer; there the finding shows";

	if (t->failed)
		end = "with a step that fails";
	else if (strcmp(json_get_str(json_first(t->printed), "action"), "done") == 0)
		end = "with the run, or with a question";
	buf_addf(out, "# Finding %zu of 'dev-team workflow explore %s', %s:\n# %s\n", number,
		t->graph->workflow->file, explore_finding_name(f->kind), f->text);
	buf_addf(out,
		"#\n# In a scratch repository with a file _spec_T-1.md:\n"
		"#   dev-team run T-1 --workflow WORKFLOW --agents THIS-FILE --context-file "
		"scratch/T-1.md\n# It ends %s.\n",
		end);
	if (f->n_cycle)
		buf_addf(out, "# %u rounds are shown.\n", SHOWN_ROUNDS);
	buf_add(out, buf_str(&t->people));
	write_last(t);
	if (t->answers.len)
		buf_addf(out, "answers:\n%s", t->answers.s);
	if (t->scripts.len)
		buf_addf(out, "scripts:\n%s", t->scripts.s);
	if (!t->answers.len && !t->scripts.len)
		buf_adds(out, "answers: {}\n");
}

int explore_trace(const struct explore_graph *g, const struct explore_finding *f, size_t number,
	struct buf *out, struct error *err)
{
	CLEANUP(trace_release) struct trace t = {.graph = g};
	CLEANUP(arena_release) struct arena a = {0};

	if (f->node == EXPLORE_NONE)
		return error_set(err, ERR_CHECK, "no trace shows what never happens");
	t.simulator = simulator_new(g->workflow, "T-1", &simulator_memory_disk, 1);
	if (replay_finding(&t, &a, f, err) < 0)
		return -1;
	write_script(&t, f, number, out);
	return 0;
}
