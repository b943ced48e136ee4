/*
 * draw.c: the nodes of a manifest as a flowchart: blocks as boxes around them, edges with what they
 * are taken on, and, of a run, where each node is. Of a large manifest the blocks are folded.
 */
#include "src/graph/manifest.h"
#include "src/sys/dot.h"
#include "src/sys/path.h"

enum { FOLD_ABOVE = 200 }; /* nodes; a folded block is one box */

static const char *const block_kinds[] = {
	"sequential", "parallel", "hierarchical", "retry-unrolled"};

static const char *worker(const struct manifest_node *n)
{
	return n->persona   ? n->persona
	       : n->command ? "script"
	       : n->merge   ? "merge"
	       : n->close   ? "close"
			    : n->workflow;
}

/* What an edge is taken on: `validation_fail, event api_changed, flag ready`. Empty: on success. */
static void add_taken_on(const struct manifest_edge *e, struct buf *out)
{
	static const char *const kinds[] = {"always", "flag", "had", "file"};

	if (strcmp(e->status, "success") != 0)
		buf_adds(out, e->status);
	if (e->event)
		buf_addf(out, "%sevent %s", out->len ? ", " : "", e->event);
	for (size_t i = 0; i < e->n_when; i++) {
		const struct manifest_condition *w = &e->when[i];
		const char *what = w->kind == CONDITION_FLAG    ? w->flag
				   : w->kind == CONDITION_EVENT ? w->event
				   : w->kind == CONDITION_FILE  ? w->path
								: "";

		buf_addf(out, "%s%s%s%s%s",
			!out->len     ? ""
			: i && e->any ? " or "
				      : ", ",
			w->is ? "" : "not ", kinds[w->kind], *what ? " " : "", what);
	}
}

/* `success, 12 s, 2 attempts`. */
static void graph_draw_add_state(const struct node_drawn *d, struct buf *out)
{
	buf_adds(out, d->how ? d->how : workflow_status_name(d->at));
	if (d->begin && d->end)
		buf_addf(out, ", %lld s", (long long)(d->end - d->begin));
	if (d->attempts > 1)
		buf_addf(out, ", %zu attempts", d->attempts);
}

/* ---- mermaid ---- */

/* Text in quotes, in which mermaid knows `#quot;`. */
static void graph_draw_add_quoted(struct buf *out, const char *text)
{
	for (; *text; text++)
		if (*text == '"')
			buf_adds(out, "#quot;");
		else
			buf_addc(out, *text);
}

static void add_mermaid_node(const struct manifest *m, size_t i, const struct node_drawn *run,
	const char *indent, struct buf *out)
{
	const struct manifest_node *n = &m->nodes[i];

	buf_addf(out, "%sn%zu[\"%s<br/>", indent, i, n->id);
	graph_draw_add_quoted(out, worker(n));
	if (run) {
		buf_adds(out, "<br/>");
		graph_draw_add_state(&run[i], out);
	}
	buf_adds(out, "\"]\n");
}

static void add_mermaid_block(const struct manifest *m, const struct manifest_block *b,
	const struct node_drawn *run, const char *indent, struct buf *out)
{
	char inner[64];

	(void)snprintf(inner, sizeof(inner), "%s    ", indent);
	buf_addf(out, "%ssubgraph b%zu[\"%s: %s\"]\n", indent, (size_t)(b - m->blocks), b->name,
		block_kinds[b->kind]);
	for (size_t i = 0; i < m->n_nodes; i++)
		if (m->nodes[i].block == b)
			add_mermaid_node(m, i, run, inner, out);
	for (size_t i = 0; i < m->n_blocks; i++)
		if (m->blocks[i].within && !strcmp(m->blocks[i].within, b->name))
			add_mermaid_block(m, &m->blocks[i], run, inner, out);
	buf_addf(out, "%send\n", indent);
}

void manifest_draw_mermaid(const struct manifest *m, const struct node_drawn *run, struct buf *out)
{
	buf_adds(out, "flowchart TD\n");
	for (size_t i = 0; i < m->n_nodes; i++)
		if (!m->nodes[i].block)
			add_mermaid_node(m, i, run, "    ", out);
	for (size_t i = 0; i < m->n_blocks; i++)
		if (!m->blocks[i].within)
			add_mermaid_block(m, &m->blocks[i], run, "    ", out);
	for (size_t i = 0; i < m->n_edges; i++) {
		CLEANUP(buf_release) struct buf on = BUF_INIT;

		add_taken_on(&m->edges[i], &on);
		buf_addf(out, "    n%zu -->", m->edges[i].from_node);
		if (on.len) {
			buf_adds(out, "|\"");
			graph_draw_add_quoted(out, on.s);
			buf_adds(out, "\"|");
		}
		buf_addf(out, " n%zu\n", m->edges[i].to_node);
	}
}

/* ---- DOT ---- */

static const struct {
	const char *fill, *line;
} colors[] = {[ITEM_WAITING] = {"#f6f8fa", "#57606a"},
	[ITEM_READY] = {"#f6f8fa", "#57606a"},
	[ITEM_DISPATCHED] = {"#fff3b0", "#9a6700"},
	[ITEM_ANSWERED] = {"#dafbe1", "#1a7f37"},
	[ITEM_SKIPPED] = {"#ffffff", "#d0d7de"}};

static bool is_bad(const struct node_drawn *d)
{
	return d->how && strcmp(d->how, "success") != 0;
}

static const char *line_color(const struct node_drawn *d)
{
	return is_bad(d) ? "#cf222e" : colors[d->at].line;
}

static void graph_draw_add_label(
	struct buf *out, const char *before, const char *text, const char *after)
{
	buf_adds(out, before);
	dot_add_text(out, str_of(text));
	buf_adds(out, after);
}

static void add_dot_node(
	const struct manifest *m, size_t i, const struct node_drawn *run, struct buf *out)
{
	const char *line = run ? line_color(&run[i]) : colors[ITEM_WAITING].line;

	buf_addf(out, "  \"n%zu\" [color=\"%s\", fillcolor=\"%s\"%s, label=<", i, line,
		!run              ? "#eaf5ff"
		: is_bad(&run[i]) ? "#ffebe9"
				  : colors[run[i].at].fill,
		run && run[i].at == ITEM_SKIPPED ? ", style=\"rounded,filled,dashed\"" : "");
	graph_draw_add_label(out, "<B>", m->nodes[i].id, "</B>");
	graph_draw_add_label(out, "<BR/><FONT POINT-SIZE=\"11\">", worker(&m->nodes[i]), "</FONT>");
	if (run) {
		buf_addf(out, "<BR/><FONT POINT-SIZE=\"11\" COLOR=\"%s\">", line);
		graph_draw_add_state(&run[i], out);
		buf_adds(out, "</FONT>");
	}
	buf_adds(out, ">]\n");
}

/* Of a folded block: how many of its nodes are where. */
static void add_folded(const struct manifest *m, const struct manifest_block *b,
	const struct node_drawn *run, struct buf *out)
{
	size_t n[ITEM_SKIPPED + 1] = {0}, all = 0;

	for (size_t i = 0; i < m->n_nodes; i++)
		if (m->nodes[i].block == b) {
			all++;
			n[run ? run[i].at : ITEM_WAITING]++;
		}
	if (!all)
		return;
	buf_addf(out, "  \"b%zu\" [shape=box3d, fillcolor=\"#eaf5ff\", color=\"#0969da\", label=<",
		(size_t)(b - m->blocks));
	graph_draw_add_label(out, "<B>", b->name, "</B>");
	buf_addf(out, "<BR/><FONT POINT-SIZE=\"11\">%zu nodes, %s</FONT>", all,
		block_kinds[b->kind]);
	for (size_t s = 0; run && s < COUNT(n); s++)
		if (n[s])
			buf_addf(out, "<BR/><FONT POINT-SIZE=\"11\" COLOR=\"%s\">%zu %s</FONT>",
				colors[s].line, n[s], workflow_status_name(s));
	buf_adds(out, ">]\n");
}

static void add_dot_block(const struct manifest *m, const struct manifest_block *b,
	const struct node_drawn *run, struct buf *out)
{
	buf_addf(out,
		"  subgraph \"cluster_b%zu\" {\n  style=\"rounded\"\n  color=\"#8c959f\"\n"
		"  fontsize=12\n  labeljust=l\n  label=<",
		(size_t)(b - m->blocks));
	graph_draw_add_label(out, "<B>", b->name, "</B>&#160;");
	buf_addf(out, "%s>\n", block_kinds[b->kind]);
	for (size_t i = 0; i < m->n_nodes; i++)
		if (m->nodes[i].block == b)
			add_dot_node(m, i, run, out);
	for (size_t i = 0; i < m->n_blocks; i++)
		if (m->blocks[i].within && !strcmp(m->blocks[i].within, b->name))
			add_dot_block(m, &m->blocks[i], run, out);
	buf_adds(out, "  }\n");
}

/* The box of a node: its own, or that of its folded block. */
static void graph_draw_add_end(const struct manifest *m, size_t node, bool folded, struct buf *out)
{
	const struct manifest_block *b = m->nodes[node].block;

	if (folded && b)
		buf_addf(out, "\"b%zu\"", (size_t)(b - m->blocks));
	else
		buf_addf(out, "\"n%zu\"", node);
}

static bool is_drawn(const struct manifest *m, size_t edge, bool folded, bool *seen)
{
	const struct manifest_node *from = &m->nodes[m->edges[edge].from_node],
				   *to = &m->nodes[m->edges[edge].to_node];
	size_t boxes = m->n_nodes + m->n_blocks, a, b;

	if (!folded)
		return true;
	if (from->block && from->block == to->block)
		return false;
	a = from->block ? m->n_nodes + (size_t)(from->block - m->blocks)
			: (size_t)(from - m->nodes);
	b = to->block ? m->n_nodes + (size_t)(to->block - m->blocks) : (size_t)(to - m->nodes);
	if (seen[a * boxes + b])
		return false;
	seen[a * boxes + b] = true;
	return true;
}

static void add_dot_edges(const struct manifest *m, bool folded, struct buf *out)
{
	struct arena a = {0};
	size_t boxes = folded ? m->n_nodes + m->n_blocks : 1;
	bool *seen = arena_alloc(&a, boxes * boxes);

	for (size_t i = 0; i < m->n_edges; i++) {
		CLEANUP(buf_release) struct buf on = BUF_INIT;

		if (!is_drawn(m, i, folded, seen))
			continue;
		add_taken_on(&m->edges[i], &on);
		buf_adds(out, "  ");
		graph_draw_add_end(m, m->edges[i].from_node, folded, out);
		buf_adds(out, " -> ");
		graph_draw_add_end(m, m->edges[i].to_node, folded, out);
		if (on.len && !folded)
			graph_draw_add_label(out, " [style=dashed, label=<&#160;", on.s, ">]");
		buf_addc(out, '\n');
	}
	arena_release(&a);
}

void manifest_draw_dot(
	const struct manifest *m, const char *file, const struct node_drawn *run, struct buf *out)
{
	bool folded = m->n_nodes > FOLD_ABOVE && m->n_blocks;

	buf_adds(out, "digraph manifest {\n" DOT_HEAD);
	graph_draw_add_label(out, "  label=<<B>", path_base(file).p, "</B>>\n");
	for (size_t i = 0; i < m->n_nodes; i++)
		if (!m->nodes[i].block)
			add_dot_node(m, i, run, out);
	for (size_t i = 0; i < m->n_blocks; i++)
		if (folded)
			add_folded(m, &m->blocks[i], run, out);
		else if (!m->blocks[i].within)
			add_dot_block(m, &m->blocks[i], run, out);
	add_dot_edges(m, folded, out);
	buf_adds(out, "}\n");
}
