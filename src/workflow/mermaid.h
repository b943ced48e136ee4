/*
 * mermaid.h: the text of a stateDiagram-v2 to the states and edges of a workflow. A line is read,
 * or it is refused at its own line and column; nothing is skipped in silence except what only
 * changes how the diagram looks (docs/workflow-language.md has the list).
 */
#ifndef DT_MERMAID_H
#define DT_MERMAID_H

#include "src/workflow/workflow.h"

/*
 * Fills initial, states and edges of *w; the rest is left alone. `text` begins at `line` of `file`.
 * -1: ERR_INPUT with FILE:LINE:COL.
 */
int mermaid_parse(struct arena *a, const char *file, unsigned line, struct str text,
	struct workflow *w, struct error *err);

#endif
