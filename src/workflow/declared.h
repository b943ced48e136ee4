/*
 * declared.h: the frontmatter of a workflow: limits, commands, and states declared without writing
 * C. Unknown keys, keys that do not fit their state, and values out of range are refused at their
 * own line and column.
 */
#ifndef DT_DECLARED_H
#define DT_DECLARED_H

#include "src/workflow/workflow.h"

/*
 * Fills limits, validate, validate_timeout_s, checks, research_skill, security and declared of
 * *w. `text` (without its `---` lines) begins at `line` of `file`. -1: ERR_INPUT with
 * FILE:LINE:COL.
 */
int declared_parse(struct arena *a, const char *file, unsigned line, struct str text,
	struct workflow *w, struct error *err);

#endif
