/*
 * secrets.h: what must never be seen: the values of those variables of an environment that hold
 * keys, and what looks like a key whoever it is of.
 */
#ifndef DT_SECRETS_H
#define DT_SECRETS_H

#include "src/base/buf.h"

#define SECRET_MASK "****"

struct secrets {
	const char **list; /* longest first; in the arena */
	size_t n;
};

/* Whether the variable's name says that its value is secret: KEY, TOKEN, SECRET, PASSWORD, ... */
bool secret_name(struct str name);
/* Takes up the secret values of `env` (`NAME=value`, NULL-ended; may be NULL). May be called again
 * for another one. `names`: variables that are secret whatever their name; may be NULL. */
void secrets_add(
	struct arena *a, struct secrets *s, const char *const *env, const char *const *names);
/* `text` with each of them struck out, appended to `out`. */
void secrets_mask(const struct secrets *s, struct str text, struct buf *out);
/* The same in place. */
void secrets_mask_buf(const struct secrets *s, struct buf *b);

#endif
