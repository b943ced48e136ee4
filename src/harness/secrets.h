/*
 * secrets.h: what must never be seen: the values of those variables of an environment that hold
 * keys, and what looks like a key whoever it is of.
 */
#ifndef DT_SECRETS_H
#define DT_SECRETS_H

#include "src/base/buf.h"

/* Everything that is cut is masked before: of half a secret nobody knows that it is one. */
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
size_t secrets_longest(const struct secrets *s); /* bytes */
/* `text` with each of the values struck out, appended to `out`: for what an agent wrote. */
void secrets_mask_values(const struct secrets *s, struct str text, struct buf *out);
/* And with all that looks like a key, and logins in URLs: for texts about what went wrong. */
void secrets_mask(const struct secrets *s, struct str text, struct buf *out);

#endif
