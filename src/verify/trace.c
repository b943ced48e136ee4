#include "src/verify/trace.h"

enum { ROUNDS = 3 }; /* of a livelock that are shown */

/* What is written of a path while it is played. */
struct telling {
	const struct walk *k;
	struct stage *stage;
	json *printed;
	struct buf answers, scripts, people;
	const char *workflow;
};

static void release(struct telling *t)
{
	stage_free(&t->stage);
	json_free(&t->printed);
	buf_release(&t->answers);
	buf_release(&t->scripts);
	buf_release(&t->people);
}

static void add_text(struct buf *out, struct str text)
{
	struct str line;

	buf_adds(out, "    text: |-\n");
	while (str_line(&text, &line))
		buf_addf(out, "%s%.*s\n", line.n ? "      " : "", (int)line.n, line.p);
}

static void tell_form(struct telling *t, const json *action, const struct form *f)
{
	bool script = strcmp(json_get_str(action, "action"), "run_script") == 0;
	struct buf *out = script ? &t->scripts : &t->answers;

	buf_addf(out, "  %s:  # %s: %s\n", json_get_str(action, "id"),
		json_get_str(action, "write_section"), f->name);
	if (f->silent) {
		buf_adds(out, "    silent: true\n");
		return;
	}
	add_text(out, str_of(f->text));
	if (f->word)
		buf_addf(out, "    result: %s\n", f->word);
}

static void tell_person(struct telling *t, const char *what)
{
	if (!t->people.len)
		buf_adds(&t->people,
			"# Where the run stops, a person does this, and runs the same command "
			"again:\n");
	buf_addf(&t->people, "#   dev-team context set FILE %s\n", what);
}

static int play_answers(struct telling *t, const struct label *l, struct error *err)
{
	enum answer_fate fate;
	size_t i = 0;

	if (json_len(t->printed) != l->n)
		return error_set(err, ERR_CHECK, "another array was printed");
	for (const json *a = json_first(t->printed); a; a = json_next(a), i++) {
		const struct form *f = l->forms[i];

		tell_form(t, a, f);
		if (!f->silent && stage_record(t->stage, NULL, json_get_str(a, "id"), f->word,
					  str_of(f->text), &fate, err) < 0)
			return -1;
	}
	return 0;
}

/* 1: the step failed, as it may at the end of a path. */
static int play_edge(struct telling *t, const struct edge_to *e, struct error *err)
{
	struct stage_call call = {.returned = e->label->op == LABEL_ANSWERS};
	int rc = 0;

	if (e->label->op == LABEL_ANSWERS)
		rc = play_answers(t, e->label, err);
	if (e->label->op == LABEL_USER) {
		tell_person(t, "troubleshooter_input <<< 'Go on.'");
		rc = stage_set(t->stage, "troubleshooter_input", STR("Go on."), err);
	} else if (e->label->op == LABEL_RESET) {
		tell_person(t, "troubleshooter_calls <<< 0");
		rc = stage_set(t->stage, "troubleshooter_calls", STR("0"), err);
	}
	if (rc < 0)
		return -1;
	json_free(&t->printed);
	return stage_step(t->stage, &call, &t->printed, err) < 0 ? 1 : 0;
}

static int arrived(const struct telling *t, uint32_t node, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(buf_release) struct buf key = BUF_INIT;
	const struct node *n = &t->k->nodes[node];

	if (stage_look(t->stage, &f, err) < 0)
		return -1;
	key_of(&t->k->rules, &f.doc, n->changes, &key);
	if (strcmp(key.s, n->key) != 0)
		return error_set(err, ERR_CHECK, "the trace leads elsewhere");
	return 0;
}

static int play_edges(
	struct telling *t, const uint32_t *edges, size_t n, bool *failed, struct error *err)
{
	for (size_t i = 0; i < n && !*failed; i++) {
		const struct edge_to *e = &t->k->edges[edges[i]];
		int rc = play_edge(t, e, err);

		if (rc < 0)
			return -1;
		*failed = rc > 0;
		if (*failed != (t->k->nodes[e->to].kind == NODE_ERROR) || (*failed && i + 1 < n))
			return error_prefix(err, "the trace stops early");
		if (!*failed && arrived(t, e->to, err) < 0)
			return -1;
	}
	return 0;
}

static int play(struct telling *t, struct arena *a, const struct finding *f, bool *failed,
	struct error *err)
{
	uint32_t *edges;
	size_t n;

	if (!graph_path(t->k, a, f->node, &edges, &n))
		return error_set(err, ERR_CHECK, "the budget is too large to look for a trace");
	if (play_edges(t, edges, n, failed, err) < 0)
		return -1;
	for (unsigned i = 0; i < ROUNDS && f->n_round; i++)
		if (play_edges(t, f->round, f->n_round, failed, err) < 0)
			return -1;
	return f->last == NONE ? 0 : play_edges(t, &f->last, 1, failed, err);
}

/* For printf(1): any bytes at all. */
static void add_printf(struct buf *out, const char *text)
{
	buf_adds(out, "printf '");
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		if (*p < ' ' || *p > '~' || *p == '\'' || *p == '\\')
			buf_addf(out, "\\%03o", *p);
		else
			buf_addf(out, *p == '%' ? "%%%%" : "%c", *p);
	}
	buf_adds(out, "'");
}

/* What no answer of a script of agents can say: a late one, a second one, one that is refused. */
static void tell_offers(struct buf *out, const struct finding *f)
{
	buf_adds(out, "    run: |\n");
	for (size_t i = 0; i < f->n_offers; i++) {
		const struct offer *o = &f->offers[i];

		buf_adds(out, "      ");
		add_printf(out, o->text);
		buf_addf(out,
			" | dev-team record --context-file \"$DEV_TEAM_CONTEXT_FILE\" --action "
			"'%s'",
			o->action);
		if (o->word)
			buf_addf(out, " --result %s", o->word);
		buf_adds(out, " || true\n");
	}
	buf_adds(out, "    silent: true\n");
}

/* Nobody answers what is printed last; but a script without an entry would be really run. */
static void tell_last(struct telling *t, const struct finding *f)
{
	for (const json *a = json_first(t->printed); a; a = json_next(a)) {
		bool script = strcmp(json_get_str(a, "action"), "run_script") == 0;
		struct buf *out = script ? &t->scripts : &t->answers;
		const char *id = json_get_str(a, "id");

		if (!id || (!script && !f->n_offers))
			continue;
		buf_addf(out, "  %s:  # here the trace ends\n", id);
		if (f->n_offers && a == json_first(t->printed))
			tell_offers(out, f);
		else
			buf_addf(out, "%s    silent: true\n",
				f->n_offers ? "" : "    run: exit 1\n");
	}
}

static void put_together(
	struct telling *t, const struct finding *f, size_t number, bool failed, struct buf *out)
{
	buf_addf(out, "# Finding %zu of 'dev-team workflow explore %s', %s:\n# %s\n", number,
		t->workflow, finding_name(f->kind), f->text);
	buf_adds(out, "#\n# In a scratch repository with a file _spec_T-1.md:\n"
		      "#   dev-team run T-1 --workflow WORKFLOW --agents THIS-FILE --context-file "
		      "scratch/T-1.md\n");
	if (failed)
		buf_adds(out, "# It ends with a step that fails.\n");
	else if (strcmp(json_get_str(json_first(t->printed), "action"), "done") == 0)
		buf_adds(out, "# It ends with the run, or with a question.\n");
	else
		buf_adds(out, "# It ends where this file has no answer any more: there the finding "
			      "shows.\n");
	if (f->n_round)
		buf_addf(out, "# %u rounds are shown.\n", ROUNDS);
	buf_add(out, buf_str(&t->people));
	tell_last(t, f);
	if (t->answers.len)
		buf_addf(out, "answers:\n%s", t->answers.s);
	if (t->scripts.len)
		buf_addf(out, "scripts:\n%s", t->scripts.s);
	if (!t->answers.len && !t->scripts.len)
		buf_adds(out, "answers: {}\n");
}

int trace_write(const struct walk *k, const struct finding *f, size_t number, struct buf *out,
	struct error *err)
{
	struct telling t = {.k = k, .stage = stage_new(k->w, "T-1", 1), .workflow = k->w->file};
	struct arena a = {0};
	bool failed = false;
	int rc;

	rc = f->node == NONE ? error_set(err, ERR_CHECK, "no trace shows what never happens")
			     : play(&t, &a, f, &failed, err);
	if (rc == 0)
		put_together(&t, f, number, failed, out);
	release(&t);
	arena_release(&a);
	return rc;
}
