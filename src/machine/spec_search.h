/*
 * spec_search.h: which text names a work item. ADR-1 is not in ADR-10, ADR-1.2 or XADR-1, but it is
 * in `ADR-1.`, `(ADR-1)` and `_spec_ADR-1.md`.
 */
#ifndef DT_SPEC_SEARCH_H
#define DT_SPEC_SEARCH_H

#include "src/base/buf.h"

/* `id` as a whole word anywhere in `text`. */
bool text_names(struct str text, struct str id);
/* A `_spec_*.md` whose name names `id`. */
bool spec_name_names(struct str name, struct str id);
bool is_spec_name(struct str name);

#endif
