#include "src/base/vec.h"
#include "src/sys/path.h"
#include "src/workflow/layout.h"
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

static void add_state(const struct workflow *w, const struct workflow_state *s, struct buf *out)
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

void workflow_draw_mermaid(const struct workflow *w, const char *current, struct buf *out)
{
	buf_adds(out, "stateDiagram-v2\n");
	for (size_t i = 0; i < w->n_states; i++)
		add_state(w, &w->states[i], out);
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
	if (current && workflow_state(w, current))
		add_id(out,
			"    classDef current fill:#fff3b0,stroke:#9a6700,stroke-width:3px,"
			"font-weight:bold\n    class ",
			current, " current\n");
}

/* SVG */

/* Sizes in pixels. Widths of texts are estimates, rather too wide than too narrow. */
enum {
	MARGIN = 24,
	BOX_H = 34,
	BOX_H_TALL = 48, /* with a second line, which says what a declared state does */
	BOX_PAD = 32,
	BOX_MIN = 104,
	LINE = 16, /* of a label */
	TITLE = 30,
	LEGEND = 40,
	DOT = 16,
	LABEL_MAX = 48, /* characters of a text; the rest is cut */
};

struct draw_texts {
	const char **items;
	size_t n, cap;
};

struct draw_svg {
	struct arena arena;
	const struct workflow *w;
	const char *current;
	struct buf *out;
	struct layout l;
	struct draw_texts *triggers; /* of each edge of l */
};

/* Characters that XML cannot hold become spaces. */
static void add_text(struct buf *out, struct str s)
{
	static const char *const named[] = {
		['<'] = "&lt;", ['>'] = "&gt;", ['&'] = "&amp;", ['"'] = "&quot;"};
	size_t shown = 0;

	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if ((c & 0xc0) != 0x80 && ++shown > LABEL_MAX) {
			buf_adds(out, "…");
			return;
		}
		if (c < COUNT(named) && named[c])
			buf_adds(out, named[c]);
		else if (c == 0xef && i + 2 < s.n && (unsigned char)s.p[i + 1] == 0xbf &&
			 (unsigned char)s.p[i + 2] >= 0xbe)
			i += 2; /* U+FFFE, U+FFFF */
		else
			buf_addc(out, c < 0x20 || c == 0x7f ? ' ' : (char)c);
	}
}

static void draw_text(struct buf *out, const char *class, int x, int y, struct str text)
{
	buf_addf(out, "<text class=\"%s\" x=\"%d\" y=\"%d\">", class, x, y);
	add_text(out, text);
	buf_adds(out, "</text>\n");
}

/* `more`: the other attributes. */
static void draw_rect(
	struct buf *out, const char *class, int x, int y, int w, int h, const char *more)
{
	buf_addf(out, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"%s/>\n",
		class, x, y, w, h, more);
}

/* Width of a text in a font of `size` pixels. East Asian characters are wider. */
static int text_width(const char *s, int size)
{
	int tenths = 0, shown = 0;

	for (; *s && shown < LABEL_MAX + 1; s++) {
		unsigned char c = (unsigned char)*s;

		if ((c & 0xc0) == 0x80)
			continue;
		shown++;
		tenths += c >= 0xe2                                      ? 11
			  : strchr("ijlt.,:;|'! ()", c)                  ? 4
			  : c == 'm' || c == 'w' || c == 'M' || c == 'W' ? 9
									 : 7;
	}
	return tenths * size / 10;
}

static bool is_current(const struct draw_svg *g, const struct workflow_state *s)
{
	return g->current && !strcmp(s->name, g->current);
}

/* What a declared state does, in a few words. */
static const char *about(struct draw_svg *g, const struct workflow_state *s)
{
	const struct declared_state *d = s->declared;

	if (!d)
		return NULL;
	if (d->n > 1)
		return arena_printf(&g->arena, "%zu at once", d->n);
	if (d->items->agent)
		return arena_printf(&g->arena, "agent %s", d->items->agent);
	return arena_printf(&g->arena, "script %s", d->items->command);
}

static int max(int a, int b)
{
	return a > b ? a : b;
}

static void size_nodes(struct draw_svg *g)
{
	g->l.n_nodes = g->w->n_states + 1;
	g->l.nodes = arena_alloc(&g->arena, g->l.n_nodes * sizeof(*g->l.nodes));
	g->l.nodes[0] = (struct lay_node){.w = DOT, .h = DOT};
	for (size_t i = 0; i < g->w->n_states; i++) {
		const struct workflow_state *s = &g->w->states[i];
		const char *second = about(g, s);
		int w = max(text_width(s->label, 14), second ? text_width(second, 11) : 0);

		g->l.nodes[i + 1] = (struct lay_node){
			.w = max(BOX_MIN, w + BOX_PAD) & ~1, .h = second ? BOX_H_TALL : BOX_H};
	}
}

/* The edges from one state to another become one line with several labels. The lines are in the
 * order of the file, which the layout keeps where it has a choice. */
static void size_edges(struct draw_svg *g)
{
	size_t n = g->w->n_edges + 1;
	struct lay_edge *lines = arena_alloc(&g->arena, n * sizeof(*lines));

	g->triggers = arena_alloc(&g->arena, n * sizeof(*g->triggers));
	lines[0].to = (size_t)(workflow_state(g->w, g->w->initial) - g->w->states) + 1;
	g->l.edges = lines;
	g->l.n_edges = 1;
	for (size_t i = 0; i < g->w->n_edges; i++) {
		const struct workflow_edge *e = &g->w->edges[i];
		size_t from = e->from_state + 1, to = e->to_state + 1, k = 1;

		while (k < g->l.n_edges && (lines[k].from != from || lines[k].to != to))
			k++;
		if (k == g->l.n_edges)
			lines[g->l.n_edges++] = (struct lay_edge){.from = from, .to = to};
		if (!e->trigger[0])
			continue;
		vec_push_in(&g->arena, &g->triggers[k], e->trigger);
		lines[k].w = max(lines[k].w, text_width(e->trigger, 12) + 8);
		lines[k].h += LINE;
	}
}

static void draw_head(struct draw_svg *g, int width, int height)
{
	struct str name = path_base(g->w->file);

	buf_addf(g->out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 "
		"0 "
		"%d %d\" role=\"img\" font-family=\"system-ui, -apple-system, 'Segoe UI', "
		"'DejaVu Sans', sans-serif\">\n<title>",
		width, height, width, height);
	add_text(g->out, name);
	buf_adds(g->out,
		"</title>\n<style>\n"
		".line{fill:none;stroke:#57606a;stroke-width:1.5}\n"
		".back{stroke:#8250df;stroke-dasharray:6 4}\n"
		".box{fill:#f6f8fa;stroke:#57606a;stroke-width:1.5}\n"
		".declared{fill:#eaf5ff;stroke:#0969da}\n"
		".end{stroke:#cf222e}.done{stroke:#1a7f37}\n"
		".current{fill:#fff3b0;stroke:#9a6700;stroke-width:4}\n"
		".name{font-size:14px;fill:#1f2328;text-anchor:middle}\n"
		".bold{font-weight:bold}\n"
		".about{font-size:11px;fill:#57606a;text-anchor:middle}\n"
		".label{font-size:12px;fill:#1f2328;text-anchor:middle}\n"
		".under{fill:#ffffff}\n"
		".title{font-size:16px;font-weight:bold;fill:#1f2328}\n"
		".legend{font-size:12px;fill:#57606a}\n"
		"</style>\n<defs>\n"
		"<marker id=\"tip\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"9\" "
		"markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">"
		"<path d=\"M0 0L10 5L0 10z\" fill=\"#57606a\"/></marker>\n"
		"<marker id=\"tip-back\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" "
		"markerWidth=\"9\" markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" "
		"orient=\"auto\"><path d=\"M0 0L10 5L0 10z\" fill=\"#8250df\"/></marker>\n"
		"</defs>\n");
	buf_addf(g->out, "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", width, height);
	draw_text(g->out, "title", MARGIN, MARGIN + 8, name);
}

static void draw_line(struct draw_svg *g, const struct lay_edge *e)
{
	const struct lay_node *node = &g->l.nodes[e->from];
	const char *tail = e->back ? "\" marker-end=\"url(#tip-back)\"/>\n"
				   : "\" marker-end=\"url(#tip)\"/>\n";

	buf_addf(g->out, "<path class=\"line%s\" d=\"", e->back ? " back" : "");
	if (e->from == e->to) {
		int x = node->x + node->w / 2, y = node->y + node->h / 2, out = x + LAYOUT_LOOP;

		buf_addf(g->out, "M%d %dC%d %d %d %d %d %d", x, y - 8, out, y - 20, out, y + 20, x,
			y + 8);
		buf_adds(g->out, "\" marker-end=\"url(#tip)\"/>\n");
		return;
	}
	for (size_t i = 0; i < e->n; i++) {
		const struct lay_point *p = &e->points[i];
		int middle = i ? (p[-1].y + p->y) / 2 : 0;

		if (!i)
			buf_addf(g->out, "M%d %d", p->x, p->y);
		else if (p[-1].x != p->x)
			buf_addf(g->out, "C%d %d %d %d %d %d", p[-1].x, middle, p->x, middle, p->x,
				p->y);
		else if (p[-1].y != p->y)
			buf_addf(g->out, "L%d %d", p->x, p->y);
	}
	buf_adds(g->out, tail);
}

static void draw_label(struct draw_svg *g, const struct lay_edge *e, const struct draw_texts *texts)
{
	int y = e->label.y - e->h / 2;

	if (!e->h)
		return;
	draw_rect(g->out, "under", e->label.x - e->w / 2, y, e->w, e->h, "");
	for (size_t i = 0; i < texts->n; i++, y += LINE)
		draw_text(g->out, "label", e->label.x, y + 12, str_of(texts->items[i]));
}

static void draw_box(struct draw_svg *g, const struct workflow_state *s, const struct lay_node *n)
{
	const char *second = about(g, s), *kind = s->declared ? "box declared" : "box";
	int x = n->x - n->w / 2;

	if (s->terminal)
		kind = strcmp(s->name, "done") ? "box end" : "box done";
	draw_rect(g->out, is_current(g, s) ? arena_printf(&g->arena, "%s current", kind) : kind, x,
		n->y, n->w, n->h, " rx=\"8\"");
	if (s->terminal)
		draw_rect(g->out, kind, x + 4, n->y + 4, n->w - 8, n->h - 8,
			" rx=\"5\" style=\"fill:none\"");
	draw_text(g->out, is_current(g, s) ? "name bold" : "name", n->x, n->y + (second ? 20 : 22),
		str_of(s->label));
	if (second)
		draw_text(g->out, "about", n->x, n->y + 37, str_of(second));
}

static int draw_key(struct draw_svg *g, int x, int y, const char *class, const char *text)
{
	draw_rect(g->out, class, x, y, 18, 12, " rx=\"3\"");
	draw_text(g->out, "legend", x + 24, y + 10, str_of(text));
	return x + 24 + text_width(text, 12) + 14;
}

/* Explains the colours of this drawing. Returns its right end. */
static int draw_legend(struct draw_svg *g, int y)
{
	int x = MARGIN;
	bool back = false;

	for (size_t i = 0; i < g->l.n_edges; i++)
		back |= g->l.edges[i].back;
	if (g->current && workflow_state(g->w, g->current))
		x = draw_key(g, x, y, "box current", "here now");
	if (g->w->n_declared)
		x = draw_key(g, x, y, "box declared", "declared in the file");
	x = draw_key(g, x, y, "box done", "end: success");
	x = draw_key(g, x, y, "box end", "end: failed");
	if (!back)
		return x;
	buf_addf(g->out, "<path class=\"line back\" d=\"M%d %dL%d %d\"/>\n", x, y + 6, x + 26,
		y + 6);
	draw_text(g->out, "legend", x + 32, y + 10, STR("goes back"));
	return x + 32 + text_width("goes back", 12);
}

static void draw_graph(struct draw_svg *g)
{
	CLEANUP(buf_release) struct buf legend = BUF_INIT;
	struct buf *out = g->out;
	int top = MARGIN + TITLE, width, left;

	g->out = &legend;
	width = max(g->l.width + MARGIN, draw_legend(g, top + g->l.height + LEGEND - 12)) + MARGIN;
	g->out = out;
	left = (width - g->l.width) / 2;

	for (size_t i = 0; i < g->l.n_nodes; i++) {
		g->l.nodes[i].x += left;
		g->l.nodes[i].y += top;
	}
	for (size_t i = 0; i < g->l.n_edges; i++) {
		g->l.edges[i].label.x += left;
		g->l.edges[i].label.y += top;
		for (size_t k = 0; k < g->l.edges[i].n; k++) {
			g->l.edges[i].points[k].x += left;
			g->l.edges[i].points[k].y += top;
		}
	}
	draw_head(g, width, top + g->l.height + LEGEND + MARGIN);
	for (size_t i = 0; i < g->l.n_edges; i++)
		draw_line(g, &g->l.edges[i]);
	for (size_t i = 1; i < g->l.n_edges; i++)
		draw_label(g, &g->l.edges[i], &g->triggers[i]);
	buf_addf(g->out, "<circle cx=\"%d\" cy=\"%d\" r=\"%d\" fill=\"#1f2328\"/>\n",
		g->l.nodes[0].x, g->l.nodes[0].y + DOT / 2, DOT / 2);
	for (size_t i = 0; i < g->w->n_states; i++)
		draw_box(g, &g->w->states[i], &g->l.nodes[i + 1]);
	buf_add(out, buf_str(&legend));
}

/* A diagram that is too large to be drawn becomes a list of its edges. */
static void draw_list(struct draw_svg *g)
{
	int y = MARGIN + TITLE + LINE;

	draw_head(g, 800, y + LINE * (int)g->w->n_edges + MARGIN);
	for (size_t i = 0; i < g->w->n_edges; i++, y += LINE) {
		const struct workflow_edge *e = &g->w->edges[i];
		bool here = g->current && !strcmp(e->from, g->current);

		buf_addf(g->out, "<text class=\"legend%s\" x=\"%d\" y=\"%d\">", here ? " bold" : "",
			MARGIN, y);
		buf_addf(g->out, "%s → %s : %s</text>\n", e->from, e->to, e->trigger);
	}
}

void workflow_draw_svg(const struct workflow *w, const char *current, struct buf *out)
{
	struct draw_svg g = {.w = w, .current = current, .out = out};

	size_nodes(&g);
	size_edges(&g);
	if (layout_run(&g.arena, &g.l))
		draw_graph(&g);
	else
		draw_list(&g);
	buf_adds(out, "</svg>\n");
	arena_release(&g.arena);
}
