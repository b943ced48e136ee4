/*
 * secrets.h: keeps credentials out of logs, events and reports. Masks the values of the environment
 * variables that hold credentials, and text that has the shape of an API key, a bearer token or a
 * login in a URL.
 *
 * Mask a text before truncating it: half of a secret is not recognised.
 */
#ifndef DT_SECRETS_H
#define DT_SECRETS_H

#include "src/base/vec.h"

#define SECRETS_MASK "****"

/* The values to mask, longest first. Items live in the arena given to secrets_add(). */
struct secrets {
	const char **items;
	size_t n, cap;
};

/*
 * Adds the secret values of `env` (`NAME=value`, NULL-terminated; may be NULL). A variable is
 * secret if its name says so (KEY, TOKEN, SECRET, PASSWORD, ...) or is in `names` (NULL-terminated;
 * may be NULL). Values of fewer than 6 bytes are not masked. May be called for several
 * environments.
 */
void secrets_add(
	struct arena *a, struct secrets *s, const char *const *env, const char *const *names);
/* From now on secrets_add() adds this value too, for this process and its children: a secret whose
 * variable has no telling name, or that is in no variable. */
void secrets_know(struct str value);
/* Length of the longest value in bytes; 0 if there is none. */
size_t secrets_longest(const struct secrets *s);
/* Appends `text` to `out` with the known values masked. For text written by an agent. */
void secrets_mask_values(const struct secrets *s, struct str text, struct buf *out);
/* True if a file of this path holds credentials, as its name tells: `.env`, private keys, the files
 * in which programs keep logins. Not `.env.example`, `.env.sample`,
 * `.env.template` and public keys. */
bool secrets_is_file(struct str path);
/* Also masks everything that looks like a credential. For error texts. */
void secrets_mask(const struct secrets *s, struct str text, struct buf *out);

/* Output that goes to a file line by line, since half of a secret is not recognised. */
struct masked_output {
	int fd;              /* -1: nowhere */
	size_t max, written; /* bytes; what is over the limit is dropped */
	const char *cut;     /* is written in its place; NULL: nothing */
	bool credentials;    /* masks also what looks like one */
	struct secrets secrets;
	struct buf partial; /* a line that has not ended */
};
/* Complete lines are written. Best effort. */
void masked_output_add(struct masked_output *m, struct str piece);
/* The rest is written; `m` has no memory then. */
void masked_output_end(struct masked_output *m);

#endif
