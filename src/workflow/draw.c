#include "src/sys/dot.h"
#include "src/sys/path.h"
#include "src/workflow/workflow.h"

/* Mermaid */

/* Mermaid allows no `-` in an id. The label has the name then, and workflow_parse_mermaid() reads
 * it as such. */
static void add_id(struct buf *out, const char *before, const char *name, const char *after)
{
	buf_adds(out, before);
	for (; *name; name++)
		buf_addc(out, *name == '-' ? '_' : *name);
	buf_adds(out, after);
}

static bool has_edge(const struct workflow *w, const struct workflow_state *s)
{
	for (size_t i = 0; i < w->n_edges; i++)
		if (!strcmp(w->edges[i].from, s->name) || !strcmp(w->edges[i].to, s->name))
			return true;
	return s->terminal || !strcmp(w->initial, s->name);
}

static void workflow_draw_add_state(
	const struct workflow *w, const struct workflow_state *s, struct buf *out)
{
	if (strchr(s->name, '-')) {
		buf_addf(out, "    state \"%s", s->name);
		add_id(out, "\" as ", s->name, "\n");
	}
	if (strcmp(s->label, s->name) != 0) {
		buf_adds(out, "    state \"");
		for (const char *p = s->label; *p; p++)
			buf_addc(out, *p == '"' ? '\'' : *p);
		add_id(out, "\" as ", s->name, "\n");
	} else if (!has_edge(w, s)) {
		add_id(out, "    ", s->name, "\n");
	}
}

static void workflow_draw_add_note(
	const struct workflow_state *s, const enum item_status *status, struct buf *out)
{
	const struct declared_state *d = s->declared;

	add_id(out, "    note right of ", s->name, "\n");
	for (size_t i = 0; i < d->n; i++)
		buf_addf(out, "        %s: %s\n", d->items[i].writes,
			workflow_status_name(status[i]));
	buf_adds(out, "    end note\n");
}

void workflow_draw_mermaid(
	const struct workflow *w, const struct workflow_current *at, struct buf *out)
{
	const struct workflow_state *current = at ? workflow_state(w, at->state) : NULL;

	buf_adds(out, "stateDiagram-v2\n");
	for (size_t i = 0; i < w->n_states; i++)
		workflow_draw_add_state(w, &w->states[i], out);
	add_id(out, "    [*] --> ", w->initial, "\n");
	for (size_t i = 0; i < w->n_edges; i++) {
		const struct workflow_edge *e = &w->edges[i];

		add_id(out, "    ", e->from, " --> ");
		add_id(out, "", e->to, e->trigger[0] ? " : " : "");
		buf_addf(out, "%s\n", e->trigger);
	}
	for (size_t i = 0; i < w->n_states; i++)
		if (w->states[i].terminal)
			add_id(out, "    ", w->states[i].name, " --> [*]\n");
	if (current && at->items)
		workflow_draw_add_note(current, at->items, out);
	if (current)
		add_id(out,
			"    classDef current fill:#fff3b0,stroke:#9a6700,stroke-width:3px,"
			"font-weight:bold\n    class ",
			current->name, " current\n");
}

/* DOT, the language of Graphviz */

enum {
	ITEMS_MAX = 30,   /* of the current state */
	CURVES_MAX = 200, /* with more edges curves take minutes */
};

enum draw_visit { DRAW_UNSEEN, DRAW_ON_PATH, DRAW_LEFT };

#define DOT_KEY(fill, line, text) "<TD BGCOLOR=\"" fill "\" COLOR=\"" line "\">" text "</TD>"

static void workflow_draw_add_label(
	struct buf *out, const char *before, const char *text, const char *after)
{
	buf_adds(out, before);
	dot_add_text(out, str_of(text));
	buf_adds(out, after);
}

/* What a declared state does, in a few words. */
static void workflow_draw_add_about(const struct declared_state *d, struct buf *out)
{
	buf_adds(out, "<BR/><FONT POINT-SIZE=\"11\">");
	if (d->n > 1)
		buf_addf(out, d->order ? "%zu actions" : "%zu at once", d->n);
	else if (d->items->agent)
		workflow_draw_add_label(out, "agent ", d->items->agent, "");
	else if (d->items->approve)
		workflow_draw_add_label(out, "a person approves ", d->items->approve, "");
	else if (d->items->child)
		workflow_draw_add_label(out, "child ", d->items->child, "");
	else
		workflow_draw_add_label(out, "script ", d->items->command, "");
	buf_adds(out, "</FONT>");
}

/* One line for each item. */
static void workflow_draw_add_items(
	const struct declared_state *d, const enum item_status *status, struct buf *out)
{
	static const char *const colors[] = {[ITEM_WAITING] = "#57606a",
		[ITEM_READY] = "#57606a",
		[ITEM_DISPATCHED] = "#0969da",
		[ITEM_ANSWERED] = "#1a7f37",
		[ITEM_SKIPPED] = "#8c959f"};

	for (size_t i = 0; i < d->n && i < ITEMS_MAX; i++) {
		buf_addf(out, "<BR/><FONT POINT-SIZE=\"11\" COLOR=\"%s\">", colors[status[i]]);
		workflow_draw_add_label(out, "", d->items[i].writes, ": ");
		buf_addf(out, "%s</FONT>", workflow_status_name(status[i]));
	}
	if (d->n > ITEMS_MAX)
		buf_addf(out, "<BR/><FONT POINT-SIZE=\"11\">and %zu more</FONT>", d->n - ITEMS_MAX);
}

/* at NULL: the work item is in another state. */
static void add_box(
	const struct workflow_state *s, const struct workflow_current *at, struct buf *out)
{
	const char *line = "#57606a", *fill = "#f6f8fa";
	bool current = at != NULL;

	if (s->declared) {
		line = "#0969da";
		fill = "#eaf5ff";
	}
	if (s->terminal)
		line = strcmp(s->name, "done") ? "#cf222e" : "#1a7f37";
	buf_addf(out, "  \"%s\" [color=\"%s\", fillcolor=\"%s\", peripheries=%d%s, label=<",
		s->name, line, current ? "#fff3b0" : fill, s->terminal ? 2 : 1,
		current ? ", penwidth=4" : "");
	workflow_draw_add_label(out, current ? "<B>" : "", s->label, current ? "</B>" : "");
	if (s->declared && current && at->items)
		workflow_draw_add_items(s->declared, at->items, out);
	else if (s->declared)
		workflow_draw_add_about(s->declared, out);
	buf_adds(out, ">]\n");
}

/* Sets back[i] for each edge i that leads to a state on the path of the depth-first search, which
 * starts at `state` and follows the order of the file. */
static void find_back_edges(
	const struct workflow *w, size_t state, enum draw_visit *seen, bool *back)
{
	seen[state] = DRAW_ON_PATH;
	for (size_t i = 0; i < w->n_edges; i++) {
		const struct workflow_edge *e = &w->edges[i];

		if (e->from_state != state)
			continue;
		back[i] = seen[e->to_state] == DRAW_ON_PATH && e->to_state != state;
		if (seen[e->to_state] == DRAW_UNSEEN)
			find_back_edges(w, e->to_state, seen, back);
	}
	seen[state] = DRAW_LEFT;
}

static bool same_line(const struct workflow_edge *a, const struct workflow_edge *b)
{
	return a->from_state == b->from_state && a->to_state == b->to_state;
}

/* The edges from one state to another share a line, which the first of them draws. Graphviz gets a
 * line that leads back the other way round, so that it puts it below its target. */
static void workflow_draw_add_line(
	const struct workflow *w, size_t first, bool back, struct buf *out)
{
	const struct workflow_edge *e = &w->edges[first];
	const char *before = "&#160;";

	for (size_t i = 0; i < first; i++)
		if (same_line(&w->edges[i], e))
			return;
	buf_addf(out, "  \"%s\" -> \"%s\" [%slabel=<", back ? e->to : e->from,
		back ? e->from : e->to, back ? "dir=back, style=dashed, color=\"#8250df\", " : "");
	for (size_t i = first; i < w->n_edges; i++)
		if (same_line(&w->edges[i], e)) {
			workflow_draw_add_label(out, before, w->edges[i].trigger, "");
			before = "<BR/>&#160;";
		}
	buf_adds(out, ">]\n");
}

/* The title, and below it what the colours mean. */
static void add_title(const struct workflow *w, bool current, struct buf *out)
{
	workflow_draw_add_label(out,
		"  label=<<TABLE BORDER=\"0\" CELLBORDER=\"2\" CELLSPACING=\"6\"><TR>"
		"<TD BORDER=\"0\" COLSPAN=\"5\"><B>",
		path_base(w->file).p, "</B></TD></TR><TR>");
	if (current)
		buf_adds(out, DOT_KEY("#fff3b0", "#57606a", "current state"));
	if (w->n_declared)
		buf_adds(out, DOT_KEY("#eaf5ff", "#0969da", "declared in the file"));
	buf_adds(out, DOT_KEY("#f6f8fa", "#1a7f37", "end: success"));
	buf_adds(out, DOT_KEY("#f6f8fa", "#cf222e", "end: failed"));
	buf_adds(out, DOT_KEY("#ffffff", "#8250df\" STYLE=\"dashed", "goes back"));
	buf_adds(out, "</TR></TABLE>>\n");
}

void workflow_draw_dot(const struct workflow *w, const struct workflow_current *at, struct buf *out)
{
	const struct workflow_state *current = at ? workflow_state(w, at->state) : NULL;
	struct arena a = {0};
	enum draw_visit *seen = arena_alloc(&a, w->n_states * sizeof(*seen));
	bool *back = arena_alloc(&a, w->n_edges * sizeof(*back) + 1);

	find_back_edges(w, (size_t)(workflow_state(w, w->initial) - w->states), seen, back);
	buf_adds(out, "digraph workflow {\n" DOT_HEAD);
	if (w->n_edges > CURVES_MAX)
		buf_adds(out, "  graph [splines=line, nslimit=1, mclimit=0.1]\n");
	add_title(w, current != NULL, out);
	buf_adds(out, "  \"[*]\" [shape=circle, width=0.2, fillcolor=\"#1f2328\", label=\"\"]\n");
	for (size_t i = 0; i < w->n_states; i++)
		add_box(&w->states[i], &w->states[i] == current ? at : NULL, out);
	buf_addf(out, "  \"[*]\" -> \"%s\"\n", w->initial);
	for (size_t i = 0; i < w->n_edges; i++)
		workflow_draw_add_line(w, i, back[i], out);
	buf_adds(out, "}\n");
	arena_release(&a);
}

int workflow_draw_svg(const struct workflow *w, const struct workflow_current *at, struct buf *out,
	struct error *err)
{
	CLEANUP(buf_release) struct buf dot = BUF_INIT;

	workflow_draw_dot(w, at, &dot);
	return dot_draw_svg(buf_str(&dot), "--format dot or mermaid", out, err);
}
