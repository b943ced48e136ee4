#include "src/workflow/workflow.h"

/* Mermaid's own reader takes no `-` in an id; the label then carries the name, and is read back as
 * such. */
static void add_id(struct buf *out, const char *name)
{
	for (; *name; name++)
		buf_addc(out, *name == '-' ? '_' : *name);
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
		buf_addf(out, "    state \"%s\" as ", s->name);
		add_id(out, s->name);
		buf_addc(out, '\n');
	}
	if (strcmp(s->label, s->name) != 0) {
		buf_adds(out, "    state \"");
		for (const char *p = s->label; *p; p++)
			buf_addc(out, *p == '"' ? '\'' : *p);
		buf_adds(out, "\" as ");
		add_id(out, s->name);
		buf_addc(out, '\n');
	} else if (!has_edge(w, s)) {
		buf_adds(out, "    ");
		add_id(out, s->name);
		buf_addc(out, '\n');
	}
}

static void add_edge(const struct workflow_edge *e, struct buf *out)
{
	buf_adds(out, "    ");
	add_id(out, e->from);
	buf_adds(out, " --> ");
	add_id(out, e->to);
	if (e->trigger[0])
		buf_addf(out, " : %s", e->trigger);
	buf_addc(out, '\n');
}

void workflow_draw_mermaid(const struct workflow *w, const char *current, struct buf *out)
{
	buf_adds(out, "stateDiagram-v2\n");
	for (size_t i = 0; i < w->n_states; i++)
		add_state(w, &w->states[i], out);
	buf_adds(out, "    [*] --> ");
	add_id(out, w->initial);
	buf_addc(out, '\n');
	for (size_t i = 0; i < w->n_edges; i++)
		add_edge(&w->edges[i], out);
	for (size_t i = 0; i < w->n_states; i++) {
		if (!w->states[i].terminal)
			continue;
		buf_adds(out, "    ");
		add_id(out, w->states[i].name);
		buf_adds(out, " --> [*]\n");
	}
	if (!current || !workflow_state(w, current))
		return;
	buf_adds(out, "    classDef current fill:#fff3b0,stroke:#9a6700,stroke-width:3px,"
		      "font-weight:bold\n    class ");
	add_id(out, current);
	buf_adds(out, " current\n");
}
