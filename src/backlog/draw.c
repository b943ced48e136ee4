/* draw.c: the graph of a backlog as a diagram. */
#include "src/backlog/backlog.h"
#include "src/sys/dot.h"

static const struct {
	const char *line, *fill;
} colors[] = {[TASK_READY] = {"#0969da", "#eaf5ff"},
	[TASK_STACKED] = {"#0969da", "#eaf5ff"},
	[TASK_WAITING] = {"#57606a", "#f6f8fa"},
	[TASK_STARTED] = {"#9a6700", "#fff3b0"},
	[TASK_HELD] = {"#8c959f", "#ffffff"},
	[TASK_DONE] = {"#1a7f37", "#f6f8fa"},
	[TASK_BROKEN] = {"#cf222e", "#ffebe9"}};

static void backlog_draw_add_key(struct buf *out)
{
	buf_adds(out, "  label=<<TABLE BORDER=\"0\" CELLBORDER=\"2\" CELLSPACING=\"6\"><TR>");
	for (size_t s = 0; s < COUNT(colors); s++)
		if (s != TASK_STACKED)
			buf_addf(out, "<TD BGCOLOR=\"%s\" COLOR=\"%s\">%s</TD>", colors[s].fill,
				colors[s].line, task_state_word((enum task_state)s));
	buf_adds(out, "</TR></TABLE>>\n");
}

static void backlog_draw_add_task(const struct backlog *b, const struct task *t, struct buf *out)
{
	buf_addf(out, "  t%zu [color=\"%s\", fillcolor=\"%s\", label=<<B>", (size_t)(t - b->tasks),
		colors[t->state].line, colors[t->state].fill);
	dot_add_text(out, str_of(task_name(t)));
	buf_adds(out, t->title ? "</B><BR/>" : "</B>");
	dot_add_text(out, str_of(t->title ? t->title : ""));
	if (t->state != TASK_DONE)
		buf_addf(out, "<BR/><FONT POINT-SIZE=\"11\">%s</FONT>",
			task_priority_word(t->priority));
	buf_adds(out, ">]\n");
}

/* Done tasks are shown where an open one needs them. */
static bool is_shown(const struct backlog *b, size_t i, bool all)
{
	if (b->tasks[i].hidden)
		return false;
	if (all || b->tasks[i].state != TASK_DONE)
		return true;
	for (size_t e = b->needed_by.first[i]; e < b->needed_by.first[i + 1]; e++)
		if (b->tasks[b->needed_by.to[e]].state != TASK_DONE)
			return true;
	return false;
}

/* From what must be done first to what waits for it; red within a cycle. */
static void add_edges(const struct backlog *b, size_t i, bool all, struct buf *out)
{
	for (size_t e = b->needs.first[i]; e < b->needs.first[i + 1]; e++) {
		size_t to = b->needs.to[e];

		if (is_shown(b, to, all))
			buf_addf(out, "  t%zu -> t%zu%s\n", to, i,
				b->order.component[to] == b->order.component[i]
					? " [color=\"#cf222e\", penwidth=2]"
					: "");
	}
}

static void backlog_draw_add_missing(const struct backlog *b, size_t i, struct buf *out)
{
	const struct task *t = &b->tasks[i];

	for (size_t k = 0; k < t->n_dependencies; k++) {
		if (t->dependencies[k].task != TASK_NONE || !t->dependencies[k].id)
			continue;
		buf_addf(out, "  m%zu_%zu [color=\"%s\", style=dashed, label=<", i, k,
			colors[TASK_BROKEN].line);
		dot_add_text(out, str_of(t->dependencies[k].id));
		buf_addf(out, "<BR/>missing>]\n  m%zu_%zu -> t%zu\n", i, k, i);
	}
}

void backlog_draw_dot(const struct backlog *b, bool all, struct buf *out)
{
	buf_adds(out, "digraph backlog {\n" DOT_HEAD "  rankdir=LR\n");
	backlog_draw_add_key(out);
	for (size_t i = 0; i < b->n; i++) {
		if (!is_shown(b, i, all))
			continue;
		backlog_draw_add_task(b, &b->tasks[i], out);
		add_edges(b, i, all, out);
		backlog_draw_add_missing(b, i, out);
	}
	buf_adds(out, "}\n");
}

json *backlog_ids_json(const struct task_list *list)
{
	json *ids = json_array();

	for (size_t i = 0; i < list->n; i++)
		json_push_str(ids, str_of(task_name(list->items[i])));
	return ids;
}
