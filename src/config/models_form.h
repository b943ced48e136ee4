/*
 * models_form.h: the forms of aliases, ids and dates. For models*.c alone.
 */
#ifndef DT_MODELS_FORM_H
#define DT_MODELS_FORM_H

#include "src/base/buf.h"

/* A letter, then letters, digits and `._-`, at the end perhaps `[...]`; at most 64 bytes. */
bool model_alias_form(struct str s);
/* A letter or digit, then letters, digits and `._:/-[]`; at most 200 bytes. It goes onto command
 * lines: no blank, no `-` in front. */
bool model_id_form(struct str s);
/* `2026-05-01`, `2026-05-01T00:00:00Z`, also with a fraction, which is dropped; after 1970. */
bool model_date(struct str s, int64_t *t);

#endif
