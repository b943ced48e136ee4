/*
 * Any bytes as a workflow file: refused at a position inside the file, or checked and drawn;
 * reading the drawing gives the same number of states and edges.
 */
#include "src/workflow/workflow.h"
#include "tests/fuzz/fuzz.h"

static const char *const triggers[] = {"approved", "changes_requested", NULL};
static const struct workflow_builtin builtin[] = {{.state = "signoff", .triggers = triggers},
	{.state = "fixing-pr", .triggers = triggers},
	{.state = "researching", .triggers = triggers + 1}, {0}};

static void draw(struct arena *a, const struct workflow *w)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct error err = {0};
	struct workflow again;

	(void)workflow_check(w, builtin, &out);
	buf_clear(&out);
	workflow_draw_dot(
		w, &(struct workflow_current){w->states[w->n_states - 1].name, NULL}, &out);
	expect(str_utf8_fault(buf_str(&out)) == 0 && str_ends(buf_str(&out), "}\n"));
	buf_clear(&out);
	buf_adds(&out, "~~~mermaid\n");
	workflow_draw_mermaid(w, &(struct workflow_current){w->initial, NULL}, &out);
	buf_adds(&out, "~~~\n");
	expect(workflow_parse(a, "again", buf_str(&out), &again, &err) == 0);
	expect(again.n_states == w->n_states && again.n_edges == w->n_edges);
	expect(!strcmp(again.initial, w->initial));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = {0};
	struct error err = {0};
	struct workflow w;

	if (workflow_parse(&a, "w.md", (struct str){(const char *)data, size}, &w, &err) == 0) {
		draw(&a, &w);
	} else {
		expect(err.code == ERR_INPUT && err.line && err.col && err.text[0]);
		expect(str_utf8_fault(str_of(err.text)) == 0);
	}
	arena_release(&a);
	return 0;
}
